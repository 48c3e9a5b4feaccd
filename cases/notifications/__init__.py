"""Notification channels, their types, and the validation of mail servers (chapter "Notifications")."""
