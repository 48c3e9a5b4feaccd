"""What is kept of an account's sign-ins: attempts, unfinished login sessions, and used codes."""
