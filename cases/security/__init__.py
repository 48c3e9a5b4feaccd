"""IP whitelist, factors, backup codes, sessions and history of the caller (chapter "Security endpoints")."""
