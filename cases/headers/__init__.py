"""Common request headers (chapter "Common request headers")."""
