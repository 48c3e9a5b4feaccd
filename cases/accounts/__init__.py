"""Accounts as an administrator sees them (chapter "Admin accounts")."""
