"""Sign-in, tokens and passwords (chapters "Authentication endpoints", "Authentication", "Limits")."""
