"""The values that a template shows in one line of a list or table."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


class Cells(SimpleNamespace):
    """Named values for a template."""


def cells(**values: Any) -> Cells:
    return Cells(**values)
