"""The regressions of a replay by place: the same in many answers, or in each item of a list, is one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.report.model.marked import literal
from conformance.report.model.run import Regression, Run
from conformance.traffic.exchange import dig

KINDS = {
    "status": "another status",
    "code": "another code",
    "value": "another value",
    "missing": "field missing",
    "extra": "new field",
    "type": "another type",
    "length": "another length",
    "order": "another order",
    "time": "a time that does not fit",
    "repetition": "another value at each read",
}
"""The kinds of differences, in the words of a reader."""


def change_of(regression: Regression, longest: int, *, quoted: Callable[[str], str] = str) -> str:
    """What was recorded and what is there now, each in so many characters; ``quoted`` marks a value."""
    recorded, replayed = (
        quoted(literal(value, longest)) for value in (regression.recorded, regression.replayed)
    )
    if regression.kind == "missing":
        replayed = "left out"
    elif regression.kind == "extra":
        recorded = "left out"
    return f"recorded {recorded}, now {replayed}"


_INDEX = re.compile(r"\[\d+\]")


def pattern_of(path: str) -> str:
    """A path with ``[*]`` for each index: the same for every item of a list."""
    return _INDEX.sub("[*]", path)


@dataclass(frozen=True, slots=True)
class RegressedPlace:
    """``path`` stands for every item of a list: ``data.items[*].bizId``."""

    endpoint: str
    path: str
    kind: str
    regressions: tuple[Regression, ...]

    @property
    def first(self) -> Regression:
        return self.regressions[0]

    @property
    def meaning(self) -> str:
        """What the difference means, and on what that rests: ``breaking: the order … is not stated``. Empty
        where the results do not say."""
        return ": ".join(part for part in (self.first.meaning, self.first.basis) if part)

    @property
    def requirements(self) -> frozenset[str]:
        """The requirements that the replayed answers contradict there."""
        named = ((regression.model_extra or {}).get("requirement") for regression in self.regressions)
        return frozenset(name for name in named if isinstance(name, str))

    @property
    def exchanges(self) -> list[int]:
        """The lines of ``exchanges.jsonl`` in which it was seen."""
        return list(dict.fromkeys(regression.exchange for regression in self.regressions))


def places(run: Run) -> list[RegressedPlace]:
    """Every place, in the order in which it was seen first."""
    groups: dict[tuple[str, str, str], list[Regression]] = {}
    for regression in run.regressions:
        groups.setdefault((regression.endpoint, pattern_of(regression.path), regression.kind), []).append(
            regression
        )
    return [RegressedPlace(*key, tuple(regressions)) for key, regressions in groups.items()]


@dataclass(frozen=True, slots=True)
class ReplayedEndpoint:
    """What became of an endpoint's exchanges: how many by state, and where they regressed."""

    endpoint: str
    states: Mapping[str, int]
    places: tuple[RegressedPlace, ...]

    @property
    def is_compared(self) -> bool:
        return any(self.states.get(state) for state in ("same", "changed", "regressed"))


def by_endpoint(run: Run) -> list[ReplayedEndpoint]:
    """Every endpoint of the recording, in the order of the replay."""
    by_key: dict[str, list[RegressedPlace]] = {}
    for place in places(run):
        by_key.setdefault(place.endpoint, []).append(place)
    states = _states(run)
    return [
        ReplayedEndpoint(endpoint, states.get(endpoint, {}), tuple(by_key.get(endpoint, ())))
        for endpoint in dict.fromkeys([*states, *by_key])
    ]


def _states(run: Run) -> dict[str, dict[str, int]]:
    """How many exchanges of each endpoint ended in which state; nothing where the file does not say so."""
    endpoints = dig(run.model_extra, ("replay", "endpoints"))
    return {
        endpoint: {state: times for state, times in counts.items() if isinstance(times, int)}
        for endpoint, counts in (endpoints.items() if isinstance(endpoints, dict) else ())
        if isinstance(counts, dict)
    }


BY_VALUE = ("status", "code")
"""The kinds of differences whose values say what the cause is."""


def by_cause(rows: Iterable[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Differences as ``results.json`` has them, those of one cause together: they mean the same for the same
    reason, and the same field differs in the same way, whatever the endpoint and the object around it. Of
    another value the place counts as well."""
    causes: dict[tuple[object, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        kind, path = str(row.get("kind", "")), pattern_of(str(row.get("path", "")))
        name = path if kind == "value" else path.rpartition(".")[2]
        values = [literal(row.get(side), 60) for side in ("recorded", "replayed")] if kind in BY_VALUE else []
        key = (row.get("meaning"), row.get("basis"), row.get("accepted"), kind, name, *values)
        causes.setdefault(key, []).append(row)
    return list(causes.values())
