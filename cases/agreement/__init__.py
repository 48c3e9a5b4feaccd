"""What several answers say of the same thing (chapter "Resources and their fields")."""
