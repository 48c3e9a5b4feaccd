"""Constants lists (chapter "Constants lists")."""
