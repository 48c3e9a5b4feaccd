"""Error codes, and requests that no endpoint takes (chapter "Errors")."""
