"""Access rights and response shape of each of the 88 endpoints."""
