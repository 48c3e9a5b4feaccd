"""Currency grants, institutions and invitations (chapter of that name)."""
