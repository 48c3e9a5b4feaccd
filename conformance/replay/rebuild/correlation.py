"""Correlation: which live value stands for which recorded one, one to one, so that a wrong one is noticed."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from conformance.checks.access.sign_in import claims_of
from conformance.replay.recording.values import leaves, packed_text
from conformance.traffic.capture.bodies import json_in
from conformance.traffic.exchange import ABSENT, Json

Paired = str | tuple[str, str]
"""A recorded value, or the kind and the recorded id of a record whose ids are counted for each kind."""

ROOM = 500_000
"""Pairs that are kept; the oldest are dropped first."""

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MOST_TIMES = 50_000
ROUNDING_SECONDS = 1.0
QUARTER, FARTHEST_ZONE = 900, 14 * 3600


@dataclass
class Correlation:
    """Pairs of recorded and live values, learned from responses that correspond to each other.

    ``used`` are the values that requests send on: packed values are only searched for those.
    """

    used: Container[str]
    live: dict[str, str] = field(default_factory=dict)
    recorded: dict[str, str] = field(default_factory=dict)
    ambiguous: dict[str, set[str]] = field(default_factory=dict)
    """Recorded values that two places of the recording share, and live ones do not."""
    journal: list[Paired] = field(default_factory=list)
    """What was paired, in its order."""
    generation: int = 0
    """Increases when a pair is replaced or dropped, and when a watched value gets a counterpart: a request
    that was rebuilt in this generation would be rebuilt alike."""
    other_forms: int = 0
    """How many recorded UUIDs are paired with ids of another form."""
    counts_ids: bool = False
    """Whether the recording has ids that records of two kinds may share: then equal ones are paired too."""
    doubtful: set[Paired] = field(default_factory=set)
    """Recorded ids that are paired with those of records in their place which have another name: they may be
    somebody else's. Nothing is changed by such an id, and better evidence replaces it."""
    counted: dict[tuple[str, str], str] = field(default_factory=dict)
    """The live ids of records, by kind and recorded id, where ids are counted for each kind."""
    replaced: dict[Paired, str] = field(default_factory=dict)
    """The live ids of other records that are asked for in place of recorded ones: these may show as
    themselves as well."""
    shows_another: bool = False
    """Whether the responses that are compared show another record than the recorded one: its ids are asked
    for from then on, and no evidence of the recorded ones."""
    changed_instead: set[tuple[str | None, str]] = field(default_factory=set)
    """By kind and id, the records of which one was changed in place of another."""
    _themselves: dict[Paired, str] = field(default_factory=dict)
    """The live ids under which replaced records show themselves."""
    _counted_back: dict[tuple[str, str], str] = field(default_factory=dict)
    _watched: set[str] = field(default_factory=set)
    _times: dict[tuple[str, str, str], tuple[str, str, int, float]] = field(default_factory=dict)
    """By recorded and live record, and field, its recorded and its live time, and the number of the exchange
    that showed them first, and when that was answered."""
    _addresses: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    """By the recorded and the live time of a sign-in, the recorded and the live address that it came from."""
    changed: dict[str, tuple[float, float, float, float]] = field(default_factory=dict)
    """By recorded id, when the recording and the replay last changed the record, by the portals' clocks, when
    that was asked for, and when the replay changed it first."""

    def replace(self, recorded: Paired, live: str) -> None:
        """Lets requests ask for another record in place of a recorded one."""
        if self.replaced.get(recorded) == live:
            return
        before = self._counterpart(recorded)
        if before is not None and recorded not in self.replaced:
            self._themselves[recorded] = before
        self.generation += 1
        self.replaced[recorded] = live
        if isinstance(recorded, tuple):
            self.counted[recorded] = live
            recorded = recorded[1]
            if self.live.get(recorded, live) != live:
                return
        self._add(recorded, live)

    def pair(self, recorded: str, live: str, *, is_doubtful: bool = False) -> bool:
        """Adds a pair; False where either value is paired with another one. A doubtful pair gives way to one
        that is not."""
        if self.shows_another or recorded in self.replaced:
            return self._is_another_or_itself(recorded, live)
        counterpart, other = self.live.get(recorded), self.recorded.get(live, recorded)
        if counterpart == live and other == recorded:
            self._note_doubt(recorded, is_doubtful and recorded in self.doubtful)
            return True
        if counterpart not in (None, live) and (is_doubtful or recorded not in self.doubtful):
            return False
        if other != recorded:
            if is_doubtful or other not in self.doubtful:
                return counterpart == live
            self._drop_doubtful(other)
        self.set(recorded, live)
        self._note_doubt(recorded, is_doubtful)
        return True

    def pair_counted(self, kind: str, recorded: str, live: str, *, is_doubtful: bool = False) -> bool:
        """Pairs ids like ``pair``, but within a kind of records: other kinds may reuse both ids."""
        key = (kind, recorded)
        if self.shows_another or key in self.replaced:
            return self._is_another_or_itself(key, live)
        gives_way = key in self.doubtful and not is_doubtful
        if self.counted.get(key, live) != live and not gives_way:
            return False
        other = self._counted_back.get((kind, live), recorded)
        if other != recorded:
            if is_doubtful or (kind, other) not in self.doubtful:
                return False
            self._drop_doubtful((kind, other))
        if self.counted.get(key) != live:
            self.generation += recorded != live or key in self.counted
            self._counted_back.pop((kind, self.counted.get(key, "")), None)
            self.counted[key] = live
            self._counted_back[kind, live] = recorded
            self.journal.append(key)
            self._note_doubt(key, is_doubtful)
        elif not is_doubtful:
            self.doubtful.discard(key)
        if self.live.get(recorded, live) == live and self.recorded.get(live, recorded) == recorded:
            self.set(recorded, live)
        return True

    def _note_doubt(self, recorded: Paired, is_doubtful: bool) -> None:
        (self.doubtful.add if is_doubtful else self.doubtful.discard)(recorded)

    def _drop_doubtful(self, recorded: Paired) -> None:
        """Takes the pair of a recorded id away, whose live one is another's."""
        self.generation += 1
        self.doubtful.discard(recorded)
        if isinstance(recorded, tuple):
            self._counted_back.pop((recorded[0], self.counted.pop(recorded)), None)
        else:
            self.recorded.pop(self.live.pop(recorded), None)

    def set(self, recorded: str, live: str) -> None:
        """Adds a pair in place of earlier ones, and the pairs that are packed into both values."""
        if self.live.get(recorded, live) != live or self.recorded.get(live, recorded) != recorded:
            self.generation += 1
        if recorded not in self.live and UUID.fullmatch(recorded) and not UUID.fullmatch(live):
            self.other_forms += 1
        self._add(recorded, live)
        self.recorded[live] = recorded
        self.journal.append(recorded)
        if len(self.live) > ROOM:
            oldest = next(iter(self.live))
            self.generation += 1
            self.recorded.pop(self.live.pop(oldest), None)
        if len(recorded) >= 16:
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
            if paired in self.replaced:
                self._pop_itself(paired)
            elif isinstance(paired, tuple):
                kind, _ = paired
                self._counted_back.pop((kind, self.counted.pop(paired, "")), None)
            else:
                live = self.live.pop(paired, None)
                if live is not None and self.recorded.get(live) == paired:
                    del self.recorded[live]
        del self.journal[mark:]

    def kept_since(self, records: tuple[str, str], name: str, times: tuple[str, str]) -> float | None:
        """Returns when the target first showed a record's live time that stayed equal while the recorded time
        moved; None otherwise."""
        before = self._times.get((*records, name))
        if before is None or before[1] != times[1] or _is_near(before[0], times[0]):
            return None
        return before[3]

    def other_time(
        self, records: tuple[str, str], name: str, times: tuple[str, str], number: int, answered: float
    ) -> int | None:
        """The number of an exchange before this one that shows a time of a record otherwise, where both are
        alike in the recording; None where there is none.

        ``records`` are the ids of both: records that stood at the same position of two lists in different
        orders do not correspond, and say nothing of each other's times.
        """
        key = (*records, name)
        before = self._times.get(key)
        if before is not None and before[0] == times[0]:
            return None if _is_near(before[1], times[1]) else before[2]
        if before is not None or len(self._times) < MOST_TIMES:
            self._times[key] = (*times, number, answered)
        return None

    def keeps_address(self, times: tuple[str, str], addresses: tuple[str, str]) -> bool:
        """Whether the address of a sign-in, known by its times, stays in the live responses where it does in
        the recorded ones. One of each version of IP may be of one client."""
        before = self._addresses.get(times)
        if before is not None and before[0] == addresses[0]:
            return before[1] == addresses[1] or (":" in before[1]) != (":" in addresses[1])
        if before is not None or len(self._addresses) < MOST_TIMES:
            self._addresses[times] = addresses
        return True

    def note_change_instead(self, kind: str | None, recorded: str) -> None:
        """Takes down that a record was changed in place of a recorded one: then both show other values."""
        live = self.replaced.get(recorded) or self.replaced.get((kind or "", recorded))
        if live is not None and len(self.changed_instead) < MOST_TIMES:
            self.changed_instead |= {(kind, recorded), (kind, live)}

    def note_change(self, record: str, moments: tuple[float, float], took: float) -> None:
        """Takes down that a record, by its recorded id, was changed at these moments; the live request
        ``took`` so many seconds."""
        before = self.changed.get(record)
        if not self.shows_another and (before is not None or len(self.changed) < MOST_TIMES):
            first = moments[1] if before is None else before[3]
            self.changed[record] = (*moments, moments[1] - took, first)

    def _counterpart(self, recorded: Paired) -> str | None:
        return self.counted.get(recorded) if isinstance(recorded, tuple) else self.live.get(recorded)

    def _is_another_or_itself(self, recorded: Paired, live: str) -> bool:
        """Tells whether a live id belongs to the requested substitute or to the recorded record itself, and
        learns unknown ids."""
        expected = (self._counterpart(recorded), self._themselves.get(recorded))
        if live in expected:
            return True
        if self.shows_another and expected == (None, None):
            self.replace(recorded, live)
            return True
        if self.shows_another or expected[1] is not None:
            return False
        return self._add_itself(recorded, live)

    def _add_itself(self, recorded: Paired, live: str) -> bool:
        """Adds the id under which a replaced record shows itself; False where another one has it."""
        if isinstance(recorded, tuple):
            is_free = self._counted_back.setdefault((recorded[0], live), recorded[1]) == recorded[1]
        else:
            is_free = self.recorded.setdefault(live, recorded) == recorded
        if is_free:
            self._themselves[recorded] = live
            self.journal.append(recorded)
        return is_free

    def _pop_itself(self, recorded: Paired) -> None:
        live = self._themselves.pop(recorded, None)
        if live is None:
            return
        if isinstance(recorded, tuple):
            self._counted_back.pop((recorded[0], live), None)
        elif self.recorded.get(live) == recorded:
            del self.recorded[live]

    def _add(self, recorded: str, live: str) -> None:
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


def _is_near(one_time: str, other: str) -> bool:
    """Whether two ISO 8601 times differ by no more than their rounding, or by a zone, which the judge
    decides. What is no time decides nothing."""
    if one_time == other:
        return True
    try:
        apart = datetime.fromisoformat(one_time) - datetime.fromisoformat(other)
    except (ValueError, TypeError):
        return True
    seconds = abs(apart.total_seconds())
    return seconds <= ROUNDING_SECONDS or (seconds <= FARTHEST_ZONE and seconds % QUARTER == 0)


def inside(value: str) -> Json:
    """The content of a packed text: JSON, the claims of a JWT, base64; ABSENT where there is none."""
    inner = json_in(value)
    if inner is None:
        inner = claims_of(value)
    if inner is not None:
        return inner
    text = packed_text(value)
    if text is None:
        return ABSENT
    inner = json_in(text)
    return text if inner is None else inner
