"""Values as users write them on the command line."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from conformance.errors import UsageError

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def text(value: str) -> str:
    """Rejects an empty option value: it comes from an unset variable."""
    if not value.strip():
        raise argparse.ArgumentTypeError("the value is empty. Is the variable that it comes from set?")
    return value


def path(value: str) -> Path:
    """The file or folder that an option names. An empty name is an error."""
    return Path(text(value))


def seconds_of(text: str, *, option: str = "--time-budget") -> float:
    """``90s``, ``10m`` or ``1h`` as seconds. Raises UsageError for anything else, also for a number without a
    unit: 10 may be meant as minutes."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh])", text.strip())
    if match is None:
        raise UsageError(f"{option} {text}: write a number with s, m or h, such as 90s or 10m.")
    return float(match[1]) * UNITS[match[2]]
