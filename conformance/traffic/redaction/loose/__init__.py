"""Secrets in texts that are no JSON, or none any more: in any syntax that has names and values."""
