"""Tests of the reference portal, one file per module."""
