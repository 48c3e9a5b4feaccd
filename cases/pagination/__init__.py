"""Listings that come in pages (chapter "Pagination forms")."""
