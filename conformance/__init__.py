"""A conformance suite for the System Portal Web API."""

__version__ = "0.1.0"
