"""Roles and their permissions (chapter "Roles")."""
