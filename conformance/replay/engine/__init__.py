"""Sends the rebuilt requests and takes the answers."""
