"""Redaction: which values of an exchange are secrets, and how they are taken out of whatever leaves."""
