"""The channel for encrypted bodies (chapter "Secure channel")."""
