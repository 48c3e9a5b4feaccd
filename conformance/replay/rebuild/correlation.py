"""Correlation: which live value stands for which recorded one, one to one, so that a wrong one is noticed."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from conformance.checks.access.sign_in import claims_of
from conformance.replay.recording.kinds import RECORDS, record_of
from conformance.replay.recording.values import in_body, in_path, leaves, packed_text
from conformance.traffic.capture.bodies import json_in
from conformance.traffic.exchange import ABSENT, Exchange, Json

Paired = str | tuple[str, str]
"""A recorded value, or the kind and the recorded id of a record whose ids are counted for each kind."""

ROOM = 500_000
"""Pairs that are kept; the oldest are dropped first."""

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
SHORTEST_PACKED = 16
"""Characters of a text in which others may be packed."""


@dataclass
class Correlation:
    """Pairs of recorded and live values, learned from responses that correspond to each other.

    ``used`` are the values that requests send on: packed values are only searched for those.
    """

    used: Container[str]
    live: dict[Paired, str] = field(default_factory=dict)
    recorded: dict[Paired, Paired] = field(default_factory=dict)
    """By live value, with the kind of record where ids are counted for each: the recorded one."""
    ambiguous: dict[str, set[str]] = field(default_factory=dict)
    """Recorded values that two places of the recording share, and live ones do not."""
    journal: list[Paired] = field(default_factory=list)
    """What was paired, in its order."""
    generation: int = 0
    """Increases when a pair is replaced or dropped, and when a watched value gets a counterpart: a request
    that was rebuilt in this generation would be rebuilt alike."""
    counts_ids: bool = False
    """Whether the recording has ids that records of two kinds may share: then equal ones are paired too."""
    doubtful: set[Paired] = field(default_factory=set)
    """Recorded ids that are paired with those of records in their place which have another name: they may be
    somebody else's. Nothing is changed by such an id, and better evidence replaces it."""
    replaced: dict[Paired, str] = field(default_factory=dict)
    """The live ids of other records that are asked for in place of recorded ones: these may show as
    themselves as well."""
    shows_another: bool = False
    """Whether the responses that are compared show another record than the recorded one: its ids are asked
    for from then on, and no evidence of the recorded ones."""
    _themselves: dict[Paired, str] = field(default_factory=dict)
    """The live ids under which replaced records show themselves."""
    _watched: set[Paired] = field(default_factory=set)

    @property
    def other_forms(self) -> int:
        """How many recorded UUIDs are paired with ids of another form."""
        ids = ((old, new) for old, new in self.live.items() if isinstance(old, str) and UUID.fullmatch(old))
        return sum(UUID.fullmatch(new) is None for _, new in ids)

    def replace(self, recorded: Paired, live: str) -> None:
        """Lets requests ask for another record in place of a recorded one."""
        if self.replaced.get(recorded) == live:
            return
        before = self.live.get(recorded)
        if before is not None and recorded not in self.replaced:
            self._themselves[recorded] = before
        self.generation += 1
        self.replaced[recorded] = live
        self._add(recorded, live)
        if isinstance(recorded, tuple) and self.live.get(recorded[1], live) == live:
            self._add(recorded[1], live)

    def pair(self, recorded: Paired, live: str, *, is_doubtful: bool = False) -> bool:
        """Adds a pair; False where either value is paired with another one. A doubtful pair gives way to one
        that is not."""
        if self.shows_another or recorded in self.replaced:
            return self._is_another_or_itself(recorded, live)
        counterpart, other = self.live.get(recorded), self.recorded.get(_of_kind(recorded, live), recorded)
        if counterpart == live and other == recorded:
            self._note_doubt(recorded, is_doubtful and recorded in self.doubtful)
        else:
            rivals = [recorded] if counterpart not in (None, live) else []
            rivals += [other] if other != recorded else []
            if rivals and (is_doubtful or not self.doubtful.issuperset(rivals)):
                return counterpart == live
            for rival in rivals:
                self._drop(rival)
            self.set(recorded, live)
            self._note_doubt(recorded, is_doubtful)
        if isinstance(recorded, tuple):
            self._pair_of_any_kind(recorded[1], live)
        return True

    def set(self, recorded: Paired, live: str) -> None:
        """Adds a pair in place of earlier ones, and the pairs that are packed into both values."""
        before, back = self.live.get(recorded), _of_kind(recorded, live)
        is_new_of_kind = before is None and isinstance(recorded, tuple) and recorded[1] != live
        is_other = before not in (None, live) or self.recorded.get(back, recorded) != recorded
        self.generation += is_new_of_kind or is_other
        self._add(recorded, live)
        self.recorded[back] = recorded
        self.journal.append(recorded)
        if len(self.live) > ROOM:
            self._drop(next(iter(self.live)))
        if isinstance(recorded, str) and len(recorded) >= SHORTEST_PACKED:
            self._pair_packed(recorded, live)

    def add_weak(self, recorded: str, live: str) -> None:
        """Adds a pair from a place that holds no identity. Two that differ make the value ambiguous."""
        counterpart = self.live.get(recorded)
        if counterpart is None:
            self._add(recorded, live)
        elif counterpart != live:
            self.ambiguous.setdefault(recorded, {counterpart}).add(live)

    def add_unchanged(self, values: Iterable[str]) -> None:
        """Adds values that stand for themselves, where they have no counterpart."""
        for value in values:
            if value not in self.live:
                self._add(value, value)

    def watch(self, uncorrelated: Iterable[str]) -> None:
        """Starts a new generation once one of these values, without a counterpart so far, gets one."""
        self._watched.update(uncorrelated)
        if len(self._watched) > ROOM:
            self._watched.clear()
            self.generation += 1

    def forget_since(self, mark: int) -> None:
        """Drops the pairs that were added since the journal had ``mark`` entries."""
        self.generation += len(self.journal) > mark
        for paired in self.journal[mark:]:
            self.doubtful.discard(paired)
            lives = self._themselves if paired in self.replaced else self.live
            self._free(paired, lives.pop(paired, None))
        del self.journal[mark:]

    def _pair_of_any_kind(self, recorded: str, live: str) -> None:
        """Pairs a counted id without its kind as well, unless another kind uses the id."""
        if self.live.get(recorded, live) == live and self.recorded.get(live, recorded) == recorded:
            self.set(recorded, live)

    def _note_doubt(self, recorded: Paired, is_doubtful: bool) -> None:
        (self.doubtful.add if is_doubtful else self.doubtful.discard)(recorded)

    def _drop(self, recorded: Paired) -> None:
        """Takes the pair of a recorded value away."""
        self.generation += 1
        self.doubtful.discard(recorded)
        self._free(recorded, self.live.pop(recorded, None))

    def _free(self, recorded: Paired, live: str | None) -> None:
        """Lets other recorded values have a live one."""
        if live is not None and self.recorded.get(_of_kind(recorded, live)) == recorded:
            del self.recorded[_of_kind(recorded, live)]

    def _is_another_or_itself(self, recorded: Paired, live: str) -> bool:
        """Tells whether a live id belongs to the requested substitute or to the recorded record itself, and
        learns unknown ids."""
        expected = (self.live.get(recorded), self._themselves.get(recorded))
        if live in expected:
            return True
        if self.shows_another and expected == (None, None):
            self.replace(recorded, live)
            return True
        if self.shows_another or expected[1] is not None:
            return False
        is_free = self.recorded.setdefault(_of_kind(recorded, live), recorded) == recorded
        if is_free:
            self._themselves[recorded] = live
            self.journal.append(recorded)
        return is_free

    def _add(self, recorded: Paired, live: str) -> None:
        self.live[recorded] = live
        if recorded in self._watched:
            self._watched.discard(recorded)
            self.generation += 1

    def _pair_packed(self, recorded: str, live: str) -> None:
        old, new = inside(recorded), inside(live)
        if old is ABSENT or new is ABSENT:
            return
        there = dict(leaves(new, ""))
        for place, value in leaves(old, ""):
            counterpart = there.get(place)
            if counterpart is not None and value in self.used and value not in self.live:
                self.set(value, counterpart)


def _of_kind(recorded: Paired, live: str) -> Paired:
    """Returns the live id, with the record kind of the recorded id, if present."""
    return (recorded[0], live) if isinstance(recorded, tuple) else live


def inside(value: str) -> Json:
    """The content of a packed text: JSON, the claims of a JWT, base64; ABSENT where there is none."""
    inner = json_in(value)
    if inner is None:
        inner = claims_of(value)
    if inner is None and (text := packed_text(value)) is not None:
        inner = json_in(text) or text
    return ABSENT if inner is None else inner


def names_replaced(recorded: Exchange, correlation: Correlation) -> bool:
    """Whether a request names a record in whose place another one is asked for."""
    request, replaced = recorded.request, correlation.replaced
    if not replaced:
        return False
    values, key = [*in_path(request.url, request.operation), *in_body(recorded.sent)], request.operation_key
    named = [(each.place.rpartition(".")[2].partition("[")[0], each.value) for each in values]
    named += [(name.lower(), value) for name, value in request.headers if name.lower() in RECORDS]
    return any(text in replaced or (record_of(name, key or ""), text) in replaced for name, text in named)
