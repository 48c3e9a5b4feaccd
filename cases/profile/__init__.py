"""The caller's own profile, invitations and workspaces (chapter "Profile and workspaces")."""
