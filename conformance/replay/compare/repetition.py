"""Broken repetition: what two recorded answers show alike, and two live ones do not.

Times and random values of the target's own are compared by their form alone. Where the recording shows one of
them twice, in answer to one request or of one record, the target is expected to show its own twice as well.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from conformance.replay.compare.clocks import OF_SIGN_INS, Clocks, LastChange, epoch_of, resolution_of
from conformance.replay.compare.outcome import Difference, OtherAnswer, ReplayedExchange, Steps
from conformance.replay.compare.written import FIELDS
from conformance.replay.recording.kinds import ISO, kind_of, magnitude
from conformance.traffic.exchange import Json
from conformance.traffic.values import is_number

MOST_SHOWN = 50_000
"""Values that are remembered in all, and as many changes."""

CONSTANTS = "/constants/"
"""Within the paths of lists without times, which are long."""

ROUNDING_SECONDS = 1.0
QUARTER, FARTHEST_ZONE = 900, 14 * 3600

_OF_ACTIVITY = re.compile(r"last[A-Z_]")
"""Begins the names of times at which somebody last did something."""

Compared = tuple[int, Steps, Json, Json]
"""A hash of the place, the same in each response, the steps that lead there in this one, and both values."""


class FirstShown(NamedTuple):
    """A recorded and a live value, the number of the exchange that shows them, and a moment of it."""

    recorded: Json
    live: Json
    number: int
    moment: float


@dataclass
class ShownEarlier:
    """The values that earlier answers showed, and when records were changed, by recorded id."""

    changed: dict[str, LastChange] = field(default_factory=dict)
    _first: dict[Hashable, FirstShown] = field(default_factory=dict)

    def earlier(self, key: Hashable, shown: FirstShown) -> FirstShown | None:
        """Returns what was shown first; None where nothing was, or the recorded value was another one."""
        before = self._first.get(key)
        if before is not None and before.recorded == shown.recorded:
            return before
        if before is not None or len(self._first) < MOST_SHOWN:
            self._first[key] = shown
        return None

    def kept_since(self, key: Hashable, times: tuple[str, str]) -> float | None:
        """Returns when the target first showed a live time that stayed equal while the recorded time moved;
        None otherwise."""
        before = self._first.get(key)
        if before is None or before.live != times[1] or is_near(before.recorded, times[0]):
            return None
        return before.moment

    def note_change(self, record: str, moments: Clocks, took: float) -> None:
        """Notes that a record was changed at these moments; the live request ``took`` so many seconds."""
        before = self.changed.get(record)
        if before is not None or len(self.changed) < MOST_SHOWN:
            first = moments.live if before is None else before.first
            self.changed[record] = LastChange(*moments, moments.live - took, first)

    def broken(self, pair: ReplayedExchange) -> Iterator[Difference]:
        """Yields the places that the recording shows alike at repeated reads, and the target does not."""
        if not pair.repeats or pair.operation in OF_SIGN_INS or CONSTANTS in pair.operation:
            return
        if not (pair.recorded.success and pair.live.success):
            return
        for place, steps, old, new in _by_form(pair):
            shown = FirstShown(_moment(old), _moment(new), pair.number, pair.recorded.time)
            before = self.earlier((pair.repeats, place), shown)
            if before is None or before.live == shown.live:
                continue
            if shown.moment - before.moment > min(_resolution(steps, value) for value in (old, new)):
                yield Difference("repetition", steps, old, new, OtherAnswer(before.number))


def is_near(time: Json, other: Json) -> bool:
    """Whether two ISO 8601 times differ by no more than their rounding, or by a zone, which the judge
    decides. What is no time decides nothing."""
    if time == other:
        return True
    try:
        apart = datetime.fromisoformat(time) - datetime.fromisoformat(other)
    except (ValueError, TypeError):
        return True
    seconds = abs(apart.total_seconds())
    return seconds <= ROUNDING_SECONDS or (seconds <= FARTHEST_ZONE and seconds % QUARTER == 0)


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
