"""The cards of findings: expected and seen, the exchanges, and how to see it again."""
