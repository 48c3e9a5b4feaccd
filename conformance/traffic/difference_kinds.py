"""In what ways a replayed response can differ from the recorded one."""

from __future__ import annotations

from typing import Literal, get_args

DifferenceKind = Literal[
    "status", "code", "type", "missing", "extra", "value", "order", "length", "repetition", "time"
]
DIFFERENCE_KINDS: tuple[str, ...] = get_args(DifferenceKind)
