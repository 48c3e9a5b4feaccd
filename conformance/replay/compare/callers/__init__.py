"""Who sends a request: with which secrets, what is theirs, and what the target offers them."""
