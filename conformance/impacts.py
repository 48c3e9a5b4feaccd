"""Levels of ``--impact``, the most that a command may do to a target."""

from __future__ import annotations

from typing import Literal

Impact = Literal["read-only", "mutating", "disruptive"]
IMPACTS: tuple[Impact, ...] = ("read-only", "mutating", "disruptive")

FailOn = Literal["must", "security", "should", "description"]
FAIL_ON: tuple[FailOn, ...] = ("must", "security", "should", "description")
"""What may fail a run, the gravest first: the values of ``--fail-on``."""
