"""Hostile and dying portals: a table of what they do on the wire, and a small server that does it."""
