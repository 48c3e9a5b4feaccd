"""File records (chapter "Files")."""
