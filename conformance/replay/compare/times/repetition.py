"""Broken repetition: reads that the recording answers alike each time, and the target does not.

Times and random values of the target's own are compared by their form alone. Where the recording shows one of
them twice in answer to one request, the target is expected to show its own twice as well.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from conformance.replay.compare.difference import Difference, Steps
from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.replay.compare.times.clocks import OF_SIGN_INS, epoch_of, resolution_of
from conformance.replay.compare.written import FIELDS
from conformance.replay.recording.kinds import ISO, kind_of, magnitude
from conformance.traffic.exchange import Json
from conformance.traffic.values import is_number

MOST_PLACES = 10_000
"""Places that are remembered in all: about a megabyte."""

CONSTANTS = "/constants/"
"""Within the paths of lists without times, which are long."""

_OF_ACTIVITY = re.compile(r"last[A-Z_]")
"""Begins the names of times at which somebody last did something."""

Compared = tuple[int, Steps, Json, Json]
"""A hash of the place, the same in each response, the steps that lead there in this one, and both values."""


@dataclass(frozen=True, slots=True)
class FirstRead:
    """The first of repeated reads: when it was recorded, and by hash of a place with its recorded value that
    of the live one."""

    time: float
    values: dict[int, int]


@dataclass
class Repetitions:
    """Remembers the first of repeated reads, and compares later ones with it."""

    _reads: dict[int, FirstRead] = field(default_factory=dict)
    _places: int = 0

    def broken(self, pair: ReplayedExchange) -> Iterator[Difference]:
        """The places that the recording shows alike at each read, and the target otherwise at this one."""
        if not pair.repeats or not _is_remembered(pair):
            return
        first = self._reads.get(pair.repeats)
        if first is not None:
            yield from self._since(first, pair)
        elif self._places < MOST_PLACES:
            self._remember(pair)

    def _remember(self, pair: ReplayedExchange) -> None:
        values = {hash((place, _moment(old))): hash(_moment(new)) for place, _, old, new in _by_form(pair)}
        self._reads[pair.repeats] = FirstRead(pair.recorded.time, values)
        self._places += 1 + len(values)

    def _since(self, first: FirstRead, pair: ReplayedExchange) -> Iterator[Difference]:
        passed = pair.recorded.time - first.time
        for place, steps, old, new in _by_form(pair):
            shown = hash(_moment(new))
            if first.values.get(hash((place, _moment(old))), shown) == shown:
                continue
            if passed > min(_resolution(steps, value) for value in (old, new)):
                yield Difference("repetition", steps, old, new)


def _is_remembered(pair: ReplayedExchange) -> bool:
    """Whether the first of such reads is remembered, where they are repeated."""
    if pair.operation in OF_SIGN_INS or CONSTANTS in pair.operation:
        return False
    return pair.recorded.success and pair.live.success


def _moment(value: Json) -> Json:
    """Time as epoch seconds, independent of its zone; values of other kinds are unchanged."""
    moment = epoch_of(value)
    return value if math.isnan(moment) else moment


def _by_form(pair: ReplayedExchange) -> Iterator[Compared]:
    """The values of both responses that are compared by their form."""
    compared: list[Compared] = []
    _collect(compared, pair.recorded.data, pair.live.data, 0, ("data",))
    for each in compared:
        if (pair.operation, each[1][-1]) not in FIELDS:
            yield each


def _collect(compared: list[Compared], old: Json, new: Json, place: int, steps: Steps) -> None:
    """Adds every value that is compared by its form, with its counterpart. A record is at the place of its
    ids, wherever it stands in a list."""
    if isinstance(old, dict) and isinstance(new, dict):
        _collect_fields(compared, old, new, place, steps)
    elif isinstance(old, list) and isinstance(new, list):
        for at, (item, other) in enumerate(zip(old, new, strict=True) if len(old) == len(new) else ()):
            _collect(compared, item, other, hash((place, at)), (*steps, at))
    elif type(old) is type(new) and _is_by_form(_name(steps), old):
        compared.append((place, steps, old, new))


def _collect_fields(
    compared: list[Compared], old: dict[str, Json], new: dict[str, Json], place: int, steps: Steps
) -> None:
    if "bizId" in old and "bizId" in new:
        place = hash((str(old["bizId"]), str(new["bizId"])))
    for name, value in old.items():
        other = new.get(name)
        if type(value) in HOLDERS:
            _collect(compared, value, other, hash((place, name)), (*steps, name))
        elif type(other) is type(value) and _is_by_form(name, value):
            compared.append((hash((place, name)), (*steps, name), value, other))


HOLDERS = frozenset({dict, list})
"""The types of values in which others stand."""


def _is_by_form(name: str, value: Json) -> bool:
    """Whether a value of this name may be another one at each target, and says no activity."""
    form = _form_of(name)
    if isinstance(value, str):
        return form in ("time", "shape") or (form == "value" and ISO.match(value) is not None)
    return form is not None and is_number(value) and magnitude(value) != "a number"


def _form_of(name: str) -> str | None:
    """How values of this name are compared; None where they tell of an activity."""
    return None if _OF_ACTIVITY.match(name) else kind_of(name)


def _name(steps: Steps) -> str:
    return next((step for step in reversed(steps) if isinstance(step, str)), "")


def _resolution(steps: Steps, value: Json) -> float:
    """Returns the precision of a time's form, in seconds: moving times may look equal within it. 0: the value
    is no time."""
    if is_number(value):
        is_whole = value % 1000 == 0 or magnitude(value) == "seconds"
        return 1.0 if is_whole else 0.001
    if kind_of(_name(steps)) == "shape":
        return 0.0
    if not isinstance(value, str) or ISO.match(value) is None:
        return math.inf
    return resolution_of(value)
