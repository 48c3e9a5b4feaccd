"""How much a command may do to a target: no more than its ``--impact``."""

from __future__ import annotations

from typing import Literal

Impact = Literal["read-only", "mutating", "disruptive"]
IMPACTS: tuple[Impact, ...] = ("read-only", "mutating", "disruptive")
