"""Compares two JSON values field by field, and learns which live identity stands for which recorded one."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from conformance.checks.access.sign_in import claims_of
from conformance.replay.compare.clocks import (
    BEGAN,
    CREATED,
    ENDS,
    OF_SIGN_INS,
    UPDATED,
    Clocks,
    is_ahead_now,
    is_not_dated,
    other_span,
)
from conformance.replay.compare.order import (
    content_key,
    is_doubtful,
    is_shifted,
    names,
    places_by_identity,
    places_of_own_sessions,
    same_in_another_order,
)
from conformance.replay.compare.outcome import Difference, OtherAnswer, ReplayedExchange
from conformance.replay.compare.repetition import FirstShown, ShownEarlier, is_near
from conformance.replay.rebuild.correlation import Correlation
from conformance.replay.recording.kinds import (
    ISO,
    SIGN_IN,
    is_address,
    is_alike,
    is_counted,
    is_opaque,
    kind_of,
    magnitude,
    record_of,
    shape_of,
)
from conformance.spec.endpoints import SESSIONS
from conformance.traffic.exchange import ABSENT, Json
from conformance.traffic.values import REDACTED, is_hidden_number, is_number

_WORD = re.compile(r"[\w.@:+-]{4,}")
_NUMBERS = re.compile(r"(?<![\w.])\d+(?![\w.])")

ADDRESSES = {"clientIp": BEGAN, "lastLoginIp": "lastLoginAt"}
"""From where somebody signed in, and the time of that sign-in, which tells it from others."""

TOLD_AGAIN = frozenset({CREATED, *ADDRESSES})
"""Fields of objects that several responses tell of alike."""

STAYING = (CREATED, UPDATED)
"""Times of a record that stay while nobody changes it."""

NUMBERS: frozenset[type] = frozenset({int})
EQUAL_AS_IS = NUMBERS | {str}
"""Types whose equal values need no further comparison."""


@dataclass(slots=True)
class JsonComparison:
    """Compares recorded JSON values with live ones. ``began``: when recording and replay began, by the
    clocks of their portals.

    ``is_stable``: it will come out alike as long as the correlation's generation lasts.
    """

    correlation: Correlation
    pair: ReplayedExchange
    earlier: ShownEarlier
    clocks: Clocks | None = None
    began: Clocks | None = None
    is_stable: bool = True
    _operation: str = ""
    _is_equal_same: bool = False
    """Whether equal objects need no further comparison."""
    _skipped: frozenset[type] = NUMBERS
    _is_doubtful: bool = False
    """Whether what is compared may belong to two records that have nothing to do with each other."""

    def differences(self, recorded: Json, live: Json) -> list[Difference]:
        """Every difference. Identities at corresponding places are paired."""
        self._prepare(recorded, live)
        return self._values(recorded, live, "")

    def align(self, recorded: Json, live: Json) -> None:
        """Only pairs the identities of what corresponds, whatever the order of records."""
        self._prepare(recorded, live)
        self._align(recorded, live, "")

    def _prepare(self, recorded: Json, live: Json) -> None:
        self._operation = self.pair.operation
        learns_of_equal = self.correlation.counts_ids or bool(self.correlation.doubtful)
        self._is_equal_same = not learns_of_equal and _flags(recorded) == _flags(live)
        self._skipped = NUMBERS if learns_of_equal else EQUAL_AS_IS

    def _values(self, old: Json, new: Json, name: str) -> list[Difference]:
        """The differences of two JSON values in a field of this name."""
        if type(old) is dict:
            if type(new) is dict:
                return self._objects(old, new)
            if is_hidden_number(old) and is_number(new):
                return []
        elif type(old) is list:
            if type(new) is list:
                return self._lists(old, new, name)
        elif old is None or new is None or _type(old) == _type(new):
            return self._scalars(old, new, name)
        return [Difference("type", (), old, new)]

    def _objects(self, old: dict[str, Json], new: dict[str, Json]) -> list[Difference]:
        if self._is_equal_same and old == new:
            return []
        differences: list[Difference] = []
        for name, value in old.items():
            other = new.get(name, ABSENT)
            kind = type(value)
            if kind is type(other) and kind in self._skipped and value == other:
                continue
            if other is ABSENT:
                differences.append(Difference("missing", (name,), value, None))
                continue
            inner = self._values(value, other, name)
            if inner:
                differences.extend(each.within(name) for each in inner)
        if not TOLD_AGAIN.isdisjoint(old):
            differences.extend(self._changed_times(old, new))
            differences.extend(self._changed_address(old, new))
        if len(new) > len(old) or differences:
            differences.extend(
                Difference("extra", (name,), None, new[name]) for name in new if name not in old
            )
        return differences

    def _changed_times(self, old: dict[str, Json], new: dict[str, Json]) -> Iterator[Difference]:
        """The times of a record that two recorded responses show alike and two live ones do not; its end."""
        if ENDS in old and self.clocks is not None:
            span = other_span(old, new, self.clocks)
            if span is not None:
                yield span
        records = old.get("bizId"), new.get("bizId")
        if records[0] is None or records[1] is None:
            return
        ids = str(records[0]), str(records[1])
        if self._is_not_dated(old, new, ids):
            yield Difference("time", (UPDATED,), old[UPDATED], new[UPDATED])
        for name in STAYING:
            recorded, live = old.get(name), new.get(name)
            if type(recorded) is not str or type(live) is not str:
                continue
            answered = math.nan if self.clocks is None else self.clocks.live
            other = self.earlier.earlier((*ids, name), FirstShown(recorded, live, self.pair.number, answered))
            if other is not None and not is_near(other.live, live):
                yield Difference("value", (name,), recorded, live, OtherAnswer(other.number, ids[0]))

    def _is_not_dated(self, old: dict[str, Json], new: dict[str, Json], ids: tuple[str, str]) -> bool:
        """Whether the last change of a record moved its time when recorded, and did not now."""
        change, times = self.earlier.changed.get(ids[0]), _texts(old, new, UPDATED)
        if change is None or times is None:
            return False
        since = self.earlier.kept_since((*ids, UPDATED), times)
        return is_not_dated(times, _texts(old, new, CREATED), since, change)

    def _changed_address(self, old: dict[str, Json], new: dict[str, Json]) -> Iterator[Difference]:
        """The address of a sign-in that two recorded responses show alike and two live ones do not. A client
        may have one of each version of IP."""
        for name, moment in ADDRESSES.items():
            times, addresses = _texts(old, new, moment), _texts(old, new, name)
            if times is None or addresses is None:
                continue
            other = self.earlier.earlier(times, FirstShown(*addresses, self.pair.number, math.nan))
            live = addresses[1]
            if other is not None and other.live != live and (":" in other.live) == (":" in live):
                yield Difference("repetition", (name,), *addresses)

    def _lists(self, old: list[Json], new: list[Json], name: str) -> list[Difference]:
        if self._is_equal_same and old == new:
            return []
        if len(old) != len(new):
            inner = self._moved(old, new, name, self._places(old, new))
            changed = (each for each in inner if each.kind != "order")
            return [Difference("length", (), len(old), len(new)), *changed]
        places = self._places(old, new)
        if any(at != place for at, place in places.items()):
            return self._moved(old, new, name, places)
        mark = len(self.correlation.journal)
        differences: list[Difference] = []
        for at, (item, other) in enumerate(zip(old, new, strict=True)):
            inner = self._items(item, other, name, is_known=at in places)
            if inner:
                differences.extend(each.within(at) for each in inner)
        if len(differences) > 1 and (same_in_another_order(old, new) or is_shifted(old, new)):
            self.correlation.forget_since(mark)
            self._learn_aligned(old, new, name)
            return [Difference("order", (), names(old), names(new))]
        return differences

    def _align(self, old: Json, new: Json, name: str) -> None:
        if isinstance(old, dict) and isinstance(new, dict):
            for key in old.keys() & new.keys():
                self._align(old[key], new[key], key)
        elif isinstance(old, list) and isinstance(new, list):
            self._learn_aligned(old, new, name)
        elif type(old) is type(new):
            self._values(old, new, name)

    def _places(self, old: list[Json], new: list[Json]) -> dict[int, int]:
        """By place in the recorded list, where the same record stands in the live one, as far as that is
        sure."""
        if self._operation == SESSIONS and self.began is not None:
            return places_of_own_sessions(old, new, self.began)
        return places_by_identity(old, new, self.correlation)

    def _moved(self, old: list[Json], new: list[Json], name: str, places: dict[int, int]) -> list[Difference]:
        """The differences of lists in which records stand at other places. Among sign-ins of others, or of
        earlier ones, the places of own ones say nothing."""
        is_order = self._operation not in OF_SIGN_INS or len(places) == len(old) == len(new)
        differences = [Difference("order", (), names(old), names(new))] if is_order else []
        for at, place in places.items():
            differences.extend(
                each.within(at) for each in self._items(old[at], new[place], name, is_known=True)
            )
        matched = set(places.values())
        rest = [item for at, item in enumerate(old) if at not in places]
        others = [item for place, item in enumerate(new) if place not in matched]
        self._learn_by_content(rest, others, name)
        return differences

    def _learn_aligned(self, old: list[Json], new: list[Json], name: str) -> None:
        """Learns the identities of the items that correspond, whatever their order."""
        self._moved(old, new, name, self._places(old, new))

    def _learn_by_content(self, old: list[Json], new: list[Json], name: str) -> None:
        there: dict[str, list[Json]] = {}
        for item in reversed(new):
            there.setdefault(content_key(item), []).append(item)
        for item in old:
            counterparts = there.get(content_key(item))
            if counterparts:
                self._items(item, counterparts.pop(), name)

    def _items(self, old: Json, new: Json, name: str, *, is_known: bool = False) -> list[Difference]:
        """The differences of two records of lists; ``is_known``: they are the same one."""
        before = self._is_doubtful
        if not is_known and type(old) is dict and type(new) is dict:
            is_anybodys = self._operation == SESSIONS and self.began is not None
            self._is_doubtful = before or is_anybodys or is_doubtful(old, new, self.correlation)
        try:
            return self._values(old, new, name)
        finally:
            self._is_doubtful = before

    def _scalars(self, old: Json, new: Json, name: str) -> list[Difference]:
        if old is None or new is None:
            return [] if old is new else [Difference("type", (), old, new)]
        kind = kind_of(name)
        if kind == "identity" or (kind == "value" and type(old) is str and is_opaque(old)):
            return self._identity(old, new, name)
        if old == new:
            return []
        if kind == "time" or (kind == "value" and type(old) is str and ISO.match(old)):
            return self._time(old, new, name)
        if kind == "shape":
            return [] if is_alike(old, new) else [Difference("type", (), old, new)]
        if kind == "address" and is_address(old) and is_address(new):
            return []
        return self._text(old, new) if type(old) is str else [Difference("value", (), old, new)]

    def _time(self, old: Json, new: Json, name: str) -> list[Difference]:
        if not _same_form_of_time(old, new):
            return [Difference("type", (), old, new)]
        is_ahead = self.clocks is not None and is_ahead_now(name, old, new, self.clocks)
        return [Difference("time", (), old, new)] if is_ahead else []

    def _identity(self, old: Json, new: Json, name: str) -> list[Difference]:
        before, after = str(old), str(new)
        if not before or not after:
            return [] if before == after else [Difference("value", (), old, new)]
        if before.startswith("eyJ") and claims_of(before) is not None and claims_of(after) is None:
            self.correlation.set(before, after)
            return [] if REDACTED.fullmatch(after) else [Difference("type", (), old, new)]
        record = record_of(name, self._operation)
        if record == SIGN_IN:
            record = f"{SIGN_IN} of {self.pair.account}"  # each account may count its own
        is_of_kind = record is not None and (is_counted(before) or is_counted(after))
        is_paired = self.correlation.pair(
            (record or "", before) if is_of_kind else before,
            after,
            is_doubtful=self._is_doubtful and (is_of_kind or before != after),
        )
        return [] if is_paired else [Difference("value", (), old, new)]

    def _text(self, old: str, new: str) -> list[Difference]:
        """Texts are the same once every recorded identity in the old one is replaced by its live one. What a
        recorder redacted may be any word."""
        translated = self._translated(old)
        is_same = self.correlation.live.get(old) == new
        if is_same or _without_numbers(translated) == _without_numbers(new) or _fills(translated, new):
            self.is_stable = False  # another word of it may be paired later
            return []
        if old in self.correlation.used and not (self._is_doubtful and "@" in old):
            self.correlation.add_weak(old, new)
        return [Difference("value", (), old, new)]

    def _translated(self, text: str) -> str:
        live = self.correlation.live
        return _WORD.sub(lambda match: live.get(match[0], match[0]), text)


def _texts(old: dict[str, Json], new: dict[str, Json], name: str) -> tuple[str, str] | None:
    """Text of a field in both objects; None where either holds another type."""
    recorded, live = old.get(name), new.get(name)
    return (recorded, live) if type(recorded) is str and type(live) is str else None


def _fills(recorded: str, live: str) -> bool:
    """Whether a text is the recorded one with words in place of what was redacted in it."""
    parts = REDACTED.split(recorded)
    return len(parts) > 1 and re.fullmatch(r"\S+".join(map(re.escape, parts)), live) is not None


def _without_numbers(text: str) -> str:
    """A message without its numbers: other seconds left are no change. A number without words is one, also
    where it has blanks, as a telephone number has."""
    return _NUMBERS.sub("#", text) if " " in text and any(map(str.isalpha, text)) else text


def _type(value: Json) -> type:
    """Whole numbers and others are one type in JSON; booleans are not numbers."""
    return float if type(value) is int else type(value)


def _same_form_of_time(old: Json, new: Json) -> bool:
    if isinstance(old, str) or isinstance(new, str):
        return isinstance(old, str) and isinstance(new, str) and shape_of(old) == shape_of(new)
    return magnitude(old) == magnitude(new)


def _flags(value: Json) -> tuple[int, int]:
    """How often true and false stand in a value: where it is the same, no equal objects hold true for 1."""
    raw = msgspec.json.encode(value)
    return raw.count(b"true"), raw.count(b"false")
