"""What differs between a recorded answer and the one of the replay: by structure, place and kind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from conformance.replay.compare.kinds import (
    ISO,
    is_address,
    is_alike,
    is_opaque,
    kind_of,
    magnitude,
    shape_of,
)
from conformance.replay.compare.noise import Noise
from conformance.replay.compare.order import fingerprint, names, same_in_another_order
from conformance.replay.rebuild.correlation import Identities
from conformance.spec.endpoints import SESSIONS, SESSIONS_HISTORY
from conformance.traffic.exchange import ABSENT, Exchange, Json, Response

Change = Literal["status", "code", "type", "missing", "extra", "value", "order", "length"]
Place = tuple[str | int, ...]

MOST = 50
"""Differences of one answer that are told; more of them say nothing new."""


GROWING = frozenset({SESSIONS, SESSIONS_HISTORY})
"""Lists that every sign-in makes longer, that of the recording and that of the replay as well."""

COUNTS = frozenset({"totalRecords", "totalPages", "hasNext"})

KEPT = 100_000
"""Pairs of answers that are remembered as the same."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the answers differ. ``place`` is empty for the body as a whole."""

    kind: Change
    place: Place
    recorded: Json
    replayed: Json

    @property
    def path(self) -> str:
        """As reports write it: ``data.items[0].bizId``, ``status``, ``headers.content-type``."""
        return shown(self.place)

    def within(self, *steps: str | int) -> Difference:
        return Difference(self.kind, (*steps, *self.place), self.recorded, self.replayed)


@dataclass(slots=True)
class Comparer:
    """Compares answers, learning on the way which live identity stands for which recorded one.

    ``operation`` is the key of the one at hand. ``excused`` collects what learned noise made weaker.
    """

    identities: Identities
    noise: Noise
    operation: str = ""
    _same_flags: bool = True
    _is_lasting: bool = True
    _same: dict[tuple[int, int], int] = field(default_factory=dict)

    def answers(
        self, recorded: Exchange, replayed: Exchange, pair: tuple[int, int] | None = None
    ) -> list[Difference]:
        """Every difference of two answered exchanges, the most telling first.

        ``pair``: the hashes of what both answers say. Where two of the same did not differ they are not
        compared again: identities stay once they are paired.
        """
        if pair is not None and self.knows(pair):
            return []
        self._is_lasting = True
        found = self._answers(recorded, replayed)
        if pair is not None and not found and self._is_lasting:
            if len(self._same) >= KEPT:
                self._same.clear()
            self._same[pair] = self.identities.turns
        return found

    def knows(self, pair: tuple[int, int]) -> bool:
        """Whether two that say this need not be compared: they are the same."""
        return self._same.get(pair) == self.identities.turns

    def _answers(self, recorded: Exchange, replayed: Exchange) -> list[Difference]:
        old, new = recorded.response, replayed.response
        assert old is not None
        assert new is not None
        found: list[Difference] = []
        if old.status != new.status:
            found.append(Difference("status", ("status",), old.status, new.status))
        found.extend(_media_types(old, new))
        before, after = recorded.envelope, replayed.envelope
        if before is None or after is None:
            if recorded.response.is_unknown:  # type: ignore[union-attr]
                return found
            return [*found, *self._bodies(_body(recorded), _body(replayed))]
        if before.get("success") is not after.get("success") or before.get("code") != after.get("code"):
            return [*found, *self._verdicts(before, after)]
        return [*found, *self._bodies(before, after)][:MOST]

    def _verdicts(self, before: dict[str, Json], after: dict[str, Json]) -> Iterator[Difference]:
        """One succeeded and the other did not, or for another reason: what else differs follows from that."""
        if before.get("code") != after.get("code"):
            yield Difference("code", ("code",), before.get("code"), after.get("code"))
        if before.get("success") is not after.get("success"):
            kind: Change = "value" if isinstance(after.get("success"), bool) else "type"
            yield Difference(kind, ("success",), before.get("success"), after.get("success"))

    def _bodies(self, old: Json, new: Json) -> list[Difference]:
        self._same_flags = _flags(old) == _flags(new)
        found = self.values(old, new, "")
        if found:
            self._is_lasting = False  # what is excused is counted each time
        if self.operation in GROWING and any(_counts_use(one) for one in found):
            found = [one for one in found if not self._is_of_use(one)]
        return [one for one in found if not self.noise.excuses(self.operation, one)]

    def _is_of_use(self, found: Difference) -> bool:
        """Whether a list that every sign-in makes longer holds more or less, or other entries."""
        is_of_use = _counts_use(found) or _is_of_another_entry(found)
        if is_of_use:
            self.noise.note(self.operation, found)
        return is_of_use

    def values(self, old: Json, new: Json, name: str) -> list[Difference]:
        """The differences of two JSON values in a field of this name."""
        if type(old) is dict:
            if type(new) is dict:
                return self._objects(old, new)
        elif type(old) is list:
            if type(new) is list:
                return self._lists(old, new, name)
        elif old is None or new is None or _type(old) == _type(new):
            return self._scalars(old, new, name)
        return [Difference("type", (), old, new)]

    def _objects(self, old: dict[str, Json], new: dict[str, Json]) -> list[Difference]:
        if self._same_flags and old == new:
            return []
        found: list[Difference] = []
        for name, value in old.items():
            other = new.get(name, ABSENT)
            if other is value:
                continue
            if other is ABSENT:
                found.append(Difference("missing", (name,), value, None))
                continue
            kind = type(value)
            if kind is str or kind is int:
                if kind is type(other) and value == other:
                    continue
                inner = (
                    self._scalars(value, other, name)
                    if kind is type(other)
                    else self.values(value, other, name)
                )
            else:
                inner = self.values(value, other, name)
            if inner:
                found.extend(one.within(name) for one in inner)
        if len(new) > len(old) or found:
            found.extend(Difference("extra", (name,), None, new[name]) for name in new if name not in old)
        return found

    def _lists(self, old: list[Json], new: list[Json], name: str) -> list[Difference]:
        if self._same_flags and old == new:
            return []
        if len(old) != len(new):
            self._learn_aligned(old, new, name)
            return [Difference("length", (), len(old), len(new))]
        mark = len(self.identities.journal)
        found: list[Difference] = []
        for at, (item, other) in enumerate(zip(old, new, strict=True)):
            inner = self.values(item, other, name)
            if inner:
                found.extend(one.within(at) for one in inner)
        if len(found) > 1 and same_in_another_order(old, new):
            self.identities.forget_since(mark)
            self._learn_aligned(old, new, name)
            return [Difference("order", (), names(old), names(new))]
        return found

    def align(self, recorded: Exchange, replayed: Exchange, mark: int) -> None:
        """Takes back the identities that were learned since the journal had ``mark`` entries, and learns
        those of what corresponds: where records are missing, others stand in their places."""
        self.identities.forget_since(mark)
        self._learn_alike(_body(recorded), _body(replayed), "")

    def _learn_alike(self, old: Json, new: Json, name: str) -> None:
        if isinstance(old, dict) and isinstance(new, dict):
            for key in old.keys() & new.keys():
                self._learn_alike(old[key], new[key], key)
        elif isinstance(old, list) and isinstance(new, list):
            self._learn_aligned(old, new, name)
        elif type(old) is type(new):
            self.values(old, new, name)

    def _learn_aligned(self, old: list[Json], new: list[Json], name: str) -> None:
        """Learns the identities of the items that correspond, whatever their order."""
        there: dict[str, list[Json]] = {}
        for item in reversed(new):
            there.setdefault(fingerprint(item), []).append(item)
        for item in old:
            counterparts = there.get(fingerprint(item))
            if counterparts:
                self.values(item, counterparts.pop(), name)

    def _scalars(self, old: Json, new: Json, name: str) -> list[Difference]:
        if old is None or new is None:
            return [] if old is new else [Difference("type", (), old, new)]
        kind = kind_of(name)
        if kind == "identity" or (kind == "value" and type(old) is str and is_opaque(old)):
            return self._identity(old, new)
        if old == new:
            return []
        if kind == "time" or (kind == "value" and type(old) is str and ISO.match(old)):
            return [] if _same_form_of_time(old, new) else [Difference("type", (), old, new)]
        if kind == "shape":
            return [] if is_alike(old, new) else [Difference("type", (), old, new)]
        if kind == "address" and is_address(old) and is_address(new):
            return []
        return self._said(old, new) if type(old) is str else [Difference("value", (), old, new)]

    def _identity(self, old: Json, new: Json) -> list[Difference]:
        before, after = str(old), str(new)
        if not before or not after:
            return [] if before == after else [Difference("value", (), old, new)]
        return [] if self.identities.pair(before, after) else [Difference("value", (), old, new)]

    def _said(self, old: str, new: str) -> list[Difference]:
        """Texts: the same, once every recorded identity in the old one is replaced by its live one."""
        if self.identities.live.get(old) == new or _without_numbers(
            self._translated(old)
        ) == _without_numbers(new):
            self._is_lasting = False  # another word of it may be paired later
            return []
        if old in self.identities.used:
            self.identities.also(old, new)
        return [Difference("value", (), old, new)]

    def _translated(self, text: str) -> str:
        live = self.identities.live
        return _WORD.sub(lambda found: live.get(found[0], found[0]), text)


_WORD = re.compile(r"[\w.@:+-]{4,}")
_NUMBERS = re.compile(r"(?<![\w.])\d+(?![\w.])")


def _counts_use(found: Difference) -> bool:
    """Whether no more differs than how much such a list holds; it cannot hold nothing."""
    if found.kind == "length":
        return bool(found.replayed)
    is_count = found.kind == "value" and bool(found.place) and found.place[-1] in COUNTS
    return is_count and (isinstance(found.replayed, bool) or bool(found.replayed))


def _is_of_another_entry(found: Difference) -> bool:
    is_null = found.kind == "type" and (found.recorded is None or found.replayed is None)
    return (found.kind == "value" or is_null) and any(isinstance(step, int) for step in found.place)


def shown(place: Place) -> str:
    text = ""
    for step in place:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def _without_numbers(text: str) -> str:
    """A message without what it counts: the seconds left are no change. A bare number is one."""
    return _NUMBERS.sub("#", text) if " " in text else text


def _type(value: Json) -> type:
    """Whole numbers and others are one type in JSON; booleans are not numbers."""
    return float if type(value) is int else type(value)


def _same_form_of_time(old: Json, new: Json) -> bool:
    if isinstance(old, str) or isinstance(new, str):
        return isinstance(old, str) and isinstance(new, str) and shape_of(old) == shape_of(new)
    return magnitude(old) == magnitude(new)


def _body(exchange: Exchange) -> Json:
    assert exchange.response is not None
    return None if exchange.response.body is ABSENT else exchange.response.body


def _media_types(old: Response, new: Response) -> Iterator[Difference]:
    before, after = old.header("content-type"), new.header("content-type")
    if before is None or old.body is ABSENT:
        return
    kinds = [(label or "").partition(";")[0].strip().lower() for label in (before, after)]
    if kinds[0] != kinds[1]:
        yield Difference("value" if after else "missing", ("headers", "content-type"), before, after)


def _flags(value: Json) -> tuple[int, int]:
    """How often true and false stand in a value: where it is the same, no equal objects hold true for 1."""
    raw = msgspec.json.encode(value)
    return raw.count(b"true"), raw.count(b"false")
