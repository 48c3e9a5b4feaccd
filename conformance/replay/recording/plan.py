"""What a replay will do: who the recorded clients were, what they handed over, and in which order it went."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property

from conformance.replay.recording.lines import PlanLine, line_of
from conformance.replay.recording.omissions import LeftOut
from conformance.replay.recording.store import Store
from conformance.spec import IMPACTS, Impact
from conformance.spec.endpoints import PORTAL_PATH
from conformance.target.portal.cipher import sealed_payload
from conformance.traffic.exchange import ABSENT, UNKNOWN_FORMS, Exchange

ASIDE = "another path"
UNWANTED = ("not among --only", "named by --skip")


def is_unwanted(refusal: str) -> bool:
    """Whether it is the user who left an exchange out, or it is none of the portal's."""
    return refusal == ASIDE or refusal in UNWANTED or "--impact allows" in refusal


@dataclass(frozen=True)
class Choice:
    """Which exchanges the user wants replayed. Patterns are those of an endpoint, or numbers such as 3-17."""

    only: Sequence[str] = ()
    skip: Sequence[str] = ()
    impact: Impact = "read-only"

    @property
    def is_of_some(self) -> bool:
        """Whether some exchanges are named."""
        return bool(self.only or self.skip)

    def refusal(self, number: int, key: str) -> str | None:
        """Why an exchange is not wanted, or None."""
        if self.only and not any(_matches(pattern, number, key) for pattern in self.only):
            return UNWANTED[0]
        if any(_matches(pattern, number, key) for pattern in self.skip):
            return UNWANTED[1]
        return None


@dataclass
class Plan:
    """Positions are those in the store; numbers, from 1, are positions in the order of the replay."""

    store: Store
    order: array[int] = field(default_factory=lambda: array("i"))
    session_of: array[int] = field(default_factory=lambda: array("i"))
    moments: array[float] = field(default_factory=lambda: array("d"))
    """When each was sent, on the recorded portal's clock where it tells that (epoch seconds)."""
    started: array[float] = field(default_factory=lambda: array("d"))
    requests: array[int] = field(default_factory=lambda: array("q"))
    """A hash of each request but for its id."""
    answers: array[int] = field(default_factory=lambda: array("q"))
    """A hash of each answer but for its moment."""
    refused: dict[int, str] = field(default_factory=dict)
    """Positions that are not replayed, and why."""
    given: dict[str, int] = field(default_factory=dict)
    """Values that an answer gave and a later request sent, with the first answer that gave them."""
    handles: set[str] = field(default_factory=set)
    """Those of them that mean nothing by themselves: ids, tokens. The others are texts that both may know."""
    passwords: dict[str, str] = field(default_factory=dict)
    """By email, the password that was accepted."""
    accepted: set[str] = field(default_factory=set)
    """What stands in place of secrets that requests sent and were not refused for."""
    emails: dict[str, None] = field(default_factory=dict)
    left_out: LeftOut = field(default_factory=LeftOut)
    access_code: str | None = None
    hosts: Counter[str] = field(default_factory=Counter)
    set_aside: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    @cached_property
    def sessions(self) -> int:
        return max(self.session_of, default=-1) + 1

    def number_of(self, position: int) -> int:
        return self._numbers[position]

    def __post_init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def exchanges(self) -> Iterator[Exchange]:
        """The portal's, in the order of the replay."""
        return (self.store.exchange(at) for at in self.order if self.session_of[at] >= 0)

    def leave_out(self, position: int, line: PlanLine) -> None:
        """Remembers that an exchange is not replayed, for those that may differ without it."""
        status = line.response.status if line.response else None
        self.left_out.note(self.started[position], line.request.method, line.path, status=status)

    def line(self, position: int) -> PlanLine:
        return line_of(self.store.line(position))


def refusal_of(line: PlanLine, choice: Choice, number: int) -> str | None:
    """Why an exchange cannot, or may not, be replayed."""
    path = line.path
    if PORTAL_PATH not in path:
        return ASIDE
    operation = line.operation
    key = operation.key if operation else f"{line.request.method} {path}"
    unwanted = choice.refusal(number, key)
    if unwanted:
        return unwanted
    needed = line.impact
    if IMPACTS.index(needed) > IMPACTS.index(choice.impact):
        return f"it is {needed}, and --impact allows {choice.impact}"
    if line.request.form in UNKNOWN_FORMS:
        return f"its body is {line.request.form} in the recording"
    if sealed_payload(line.request.body) is not None and (line.plain is None or line.plain.request is ABSENT):
        return "its body is encrypted, and the recording has no plaintext (record with --open-channel)"
    return None


def _matches(pattern: str, number: int, key: str) -> bool:
    numbers = re.fullmatch(r"(\d+)(?:-(\d+))?", pattern)
    if numbers:
        return int(numbers[1]) <= number <= int(numbers[2] or numbers[1])
    if any(letter in pattern for letter in "*?["):
        return fnmatchcase(key, pattern)
    return pattern in key
