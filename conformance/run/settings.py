"""Values as users write them on the command line."""

from __future__ import annotations

import re

from conformance.errors import UsageError

UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


def seconds_of(text: str) -> float:
    """``90``, ``90s``, ``10m`` or ``1h`` as seconds. Raises UsageError for anything else."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip())
    if match is None:
        raise UsageError(f"--time-budget {text}: write a number with s, m or h, such as 90s or 10m")
    return float(match[1]) * UNITS[match[2]]
