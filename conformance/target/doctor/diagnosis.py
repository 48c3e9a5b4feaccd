"""What the doctor finds out of one part of a profile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from conformance.errors import FaultClass
from conformance.target.portal import Portal
from conformance.traffic.exchange import Json

State = Literal["works", "missing", "wrong"]


@dataclass(frozen=True)
class Diagnosis:
    """One part of a profile: ``works``; ``missing``, so that what needs it stays untested; or ``wrong``.

    ``message`` says what was found and what to do. ``fault_class`` is None for what works. ``learned`` are
    values that the profile does not have, by their key in the part's table.
    """

    part: str
    state: State
    message: str
    fault_class: FaultClass | None = None
    learned: Mapping[str, Json] = field(default_factory=dict)


Check = Callable[[Portal], Iterator[Diagnosis]]
"""Tries one part of a profile, or several of a kind."""
