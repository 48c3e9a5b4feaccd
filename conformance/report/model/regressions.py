"""Regressions of a replay by place: repeats in many answers or list items count as one place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.report.model.marked import literal
from conformance.report.model.run import Regression, Run, short_id
from conformance.traffic.exchange import Json, dig

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


def kind_in_words(kind: str, recorded: Json, replayed: Json) -> str:
    """The kind of a difference in the words of a reader. A list with other records is in no other order."""
    lists = [sorted(map(literal, side)) for side in (recorded, replayed) if isinstance(side, list)]
    if kind == "order" and len(lists) == 2 and lists[0] != lists[1]:
        return "other records"
    return KINDS.get(kind, kind)


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
    """The path with ``[*]`` in place of each index, equal for all items of a list."""
    return _INDEX.sub("[*]", path)


Place = tuple[str, str, str]
"""The endpoint, the path with ``[*]`` for each index, and the kind of a difference."""
WHOLE_BODY = "body"
"""The path of a difference that is no place within the body."""


def place_of(regression: Regression) -> Place:
    return regression.endpoint, pattern_of(regression.path) or WHOLE_BODY, regression.kind


def difference_id(regression: Regression) -> str:
    """The id by which all differences of a place are accepted; it stays the same from replay to replay."""
    return short_id(*place_of(regression))


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
    def words(self) -> str:
        """The kind, in the words of a reader."""
        return kind_in_words(self.kind, self.first.recorded, self.first.replayed)

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


def of_one_refusal(places: Iterable[RegressedPlace]) -> list[tuple[RegressedPlace, ...]]:
    """The places, the status and the code of the same answers together: one refusal replaces another."""
    by_answers: dict[tuple[object, ...], list[RegressedPlace]] = {}
    for place in places:
        own = (place.first.meaning,) if place.kind in BY_VALUE else (place.path, place.kind)
        by_answers.setdefault((place.endpoint, tuple(place.exchanges), *own), []).append(place)
    return [tuple(same) for same in by_answers.values()]


def of_one_cause(places: Iterable[RegressedPlace]) -> list[list[tuple[RegressedPlace, ...]]]:
    """Groups places by refusal, and refusals by cause, as ``by_cause`` does."""
    causes: dict[tuple[object, ...], list[tuple[RegressedPlace, ...]]] = {}
    for same in of_one_refusal(places):
        causes.setdefault(tuple(_cause_of(each.first.model_dump()) for each in same), []).append(same)
    return list(causes.values())


def sentence_of(same: Sequence[RegressedPlace], where: str = "") -> str:
    """Describes places of one cause: recorded value, replayed value, meaning."""
    changes = (
        f"{place.path or 'the answer'}: {place.words}: {change_of(place.first, 200)}" for place in same
    )
    meanings = "; ".join(dict.fromkeys(place.meaning for place in same))
    return f"{'; '.join(changes)}{where}. {meanings}".rstrip()


BESIDE = "beside"
"""The key of a row of another status under which the row of another code of the same answers stands."""
BY_VALUE = ("status", "code")
"""The kinds of differences whose values say what the cause is."""


def by_cause(rows: Iterable[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Differences as ``results.json`` has them, those of one cause together: they mean the same for the same
    reason, and the same field differs in the same way, whatever the endpoint and the object around it. Of
    another value the place counts as well. Another status and another code of the same answers are one row,
    with the second ``beside`` the first."""
    causes: dict[tuple[object, ...], list[Mapping[str, Any]]] = {}
    for row in _with_codes(list(rows)):
        causes.setdefault((*_cause_of(row), *_cause_of(row.get(BESIDE, {}))), []).append(row)
    return list(causes.values())


def answers_in(rows: Iterable[Mapping[str, Any]]) -> tuple[int, bool]:
    """How many answers show differences that ``results.json`` has in rows, and whether these are all: the
    places of one answer are in it together, and of many answers a row names only the first."""
    by_endpoint: dict[object, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_endpoint.setdefault(row.get("endpoint"), []).append(row)
    count, is_exact = 0, True
    for same in by_endpoint.values():
        named = {number for row in same for number in row.get("exchanges") or ()}
        times = [int(row.get("times", 0)) for row in same]
        is_exact &= len(same) == 1 or all(
            len(row.get("exchanges") or ()) == row.get("times", 0) for row in same
        )
        count += max(len(named), *times)
    return count, is_exact


def _cause_of(row: Mapping[str, Any]) -> tuple[object, ...]:
    kind, path = str(row.get("kind", "")), pattern_of(str(row.get("path", "")))
    name = path if kind == "value" else path.rpartition(".")[2]
    values = [literal(row.get(side), 60) for side in ("recorded", "replayed")] if kind in BY_VALUE else []
    return row.get("meaning"), row.get("basis"), row.get("accepted"), kind, name, *values


def _with_codes(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Rows in which a changed error code stands beside the changed status of the same answers."""
    codes = {_answers_of(row): row for row in rows if row.get("kind") == "code" and row.get("exchanges")}
    statuses = {_answers_of(row) for row in rows if row.get("kind") == "status"}
    paired = codes.keys() & statuses
    joined: list[Mapping[str, Any]] = []
    for row in rows:
        answers = _answers_of(row)
        if row.get("kind") == "status" and answers in paired:
            joined.append({**row, BESIDE: codes[answers]})
        elif row.get("kind") != "code" or answers not in paired:
            joined.append(row)
    return joined


def _answers_of(row: Mapping[str, Any]) -> tuple[object, ...]:
    """The answers in which a row was seen, of one meaning and accepted alike."""
    names = ("endpoint", "meaning", "accepted", "times")
    return *(row.get(name) for name in names), *(row.get("exchanges") or ())
