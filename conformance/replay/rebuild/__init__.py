"""Rebuilds each recorded request for the target: correlation, headers, sign-ins, secure channels."""
