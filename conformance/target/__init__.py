"""The target: what is known of it, and the only door to it."""
