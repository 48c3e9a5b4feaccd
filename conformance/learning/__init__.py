"""Learns a description of the endpoints that the specification does not describe, from recorded traffic."""
