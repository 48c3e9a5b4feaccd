"""Compares recorded and replayed responses, and says what a difference means."""
