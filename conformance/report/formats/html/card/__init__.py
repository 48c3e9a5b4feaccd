"""The cards of findings: expected and seen, the exchanges, what follows, and how to see it again."""
