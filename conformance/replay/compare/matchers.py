"""Matchers that the user adds: each decides whether the recorded and the live value at a place match."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.errors import UsageError
from conformance.replay.compare.outcome import Difference, ReplayedExchange, Steps
from conformance.replay.recording.kinds import is_alike
from conformance.rules.registry import function_of
from conformance.target.profile.model import Profile
from conformance.traffic.exchange import Json

Matcher = Callable[[Json, Json], bool]
"""A pure function of the recorded and the live value: whether they count as the same."""

KINDS: Mapping[str, Matcher] = {
    "anything": lambda recorded, live: True,
    "equal": lambda recorded, live: bool(recorded == live),
    "form": is_alike,
}


@dataclass(frozen=True, slots=True)
class PlaceMatcher:
    """A matcher of a place; of answers of every endpoint, where ``endpoint`` is empty."""

    endpoint: str
    pattern: Sequence[str]
    matches: Matcher

    def decided(self, pair: ReplayedExchange) -> Iterator[tuple[Difference, bool]]:
        """Yields each pair of values at the place, and whether it counts as the same."""
        if self.endpoint in ("", pair.endpoint):
            for place, old, new in _values(pair.recorded_body, pair.live_body, self.pattern):
                yield Difference("value", place, old, new), self.matches(old, new)


def with_matchers(
    matchers: Sequence[PlaceMatcher], pair: ReplayedExchange, differences: Sequence[Difference]
) -> list[Difference]:
    """Returns the differences after the matchers: a matcher alone decides at its place and within it."""
    decided = [each for matcher in matchers for each in matcher.decided(pair)]
    places = [difference.place for difference, _ in decided]
    others = [each for each in differences if not any(each.place[: len(place)] == place for place in places)]
    return [*others, *(difference for difference, is_same in decided if not is_same)]


def matchers_of(profile: Profile) -> tuple[PlaceMatcher, ...]:
    """The matchers that a profile names. UsageError, RuleError: one is none."""
    return tuple(_matcher(profile.source, *row) for row in profile.extend.matchers.items())


def _matcher(source: str, place: str, kind: str) -> PlaceMatcher:
    endpoint, _, path = place.rpartition(" ")
    file, colon, name = kind.rpartition(":")
    matches = function_of(Path(source).parent / file, name) if colon else KINDS.get(kind)
    if matches is None:
        raise UsageError(
            f'{source}: [extend.matchers] "{place}" = "{kind}": there is no such kind. '
            f"Write one of {', '.join(KINDS)}, or a function: matchers.py:name."
        )
    return PlaceMatcher(endpoint, re.findall(r"[^.\[\]]+", path), matches)


def _values(old: Json, new: Json, pattern: Sequence[str]) -> Iterator[tuple[Steps, Json, Json]]:
    """Yields recorded and live values at a place that both bodies have; ``*`` is each entry of a list."""
    if not pattern:
        yield (), old, new
    elif pattern[0] == "*" and isinstance(old, list) and isinstance(new, list):
        for at, items in enumerate(zip(old, new, strict=False)):
            yield from (((at, *place), *both) for place, *both in _values(*items, pattern[1:]))
    elif isinstance(old, dict) and isinstance(new, dict) and pattern[0] in old and pattern[0] in new:
        name, inner = pattern[0], _values(old[pattern[0]], new[pattern[0]], pattern[1:])
        yield from (((name, *place), *both) for place, *both in inner)
