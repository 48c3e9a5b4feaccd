"""The values that a template shows in one line of a list or table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Cells:
    """Values by the names that the template has for them."""

    values: Mapping[str, Any]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None


def cells(**values: Any) -> Cells:
    """One line of a list or table."""
    return Cells(values)
