"""Sorts a replay's differences by meaning, into groups for the reports and lines for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from conformance.replay.accepted import Acceptance
from conformance.replay.compare.meaning import GRAVEST_FIRST
from conformance.replay.compare.outcome import Meaning, OtherAnswer, OutcomeTally, State
from conformance.replay.options import FailOn
from conformance.report.model.marked import literal
from conformance.report.model.regressions import (
    BESIDE,
    Place,
    by_cause,
    difference_id,
    kind_in_words,
    place_of,
)
from conformance.report.model.run import Regression
from conformance.report.model.words import answers_in_words, listed, plural
from conformance.traffic.clip import clipped
from conformance.traffic.exchange import ABSENT, Json

DRIFT_BASIS = "state, time or data: replays of one build differ here"
LONGEST_VALUE = 60
"""Characters of a value that a terminal shows."""
PLAIN_KINDS = frozenset({"status", "code", "value", "type", "missing", "extra"})
"""The kinds of differences that both values show."""
SHOWN_IDS = 3
"""Ids of differences that a line names."""
SHOWN_EXCHANGES = 20
"""Exchanges of a group that ``results.json`` names."""


def weighed_differences(tally: OutcomeTally) -> Iterator[Regression]:
    """Every difference of compared exchanges with its meaning, in the order of the recording."""
    for outcome in sorted(tally.kept, key=lambda outcome: outcome.number):
        if outcome.state not in (State.REGRESSED, State.CHANGED):
            continue
        stated = dict(outcome.requirements)
        for difference, meaning in zip(outcome.differences, outcome.meanings, strict=True):
            more: dict[str, Any] = {"recorded_exchange": outcome.number}
            if difference.path in stated:
                more["requirement"] = stated[difference.path]
            if difference.other is not None:
                more["other"] = _other_place(difference.other)
            yield Regression(
                exchange=outcome.line or 0,
                endpoint=outcome.endpoint,
                path=difference.path,
                kind=difference.kind,
                recorded=clipped(none_if_absent(difference.recorded)),
                replayed=clipped(none_if_absent(difference.replayed)),
                meaning=meaning.meaning.value,
                basis=meaning.basis,
                **more,
            )


def _other_place(other: OtherAnswer) -> dict[str, Json]:
    return {"recorded_exchange": other.number, "endpoint": other.endpoint, "path": other.path}


def held_from(differences: Iterable[Regression], fail_on: FailOn) -> list[Regression]:
    """The differences that are at least as grave as the user asks for."""
    grave = GRAVEST_FIRST[: GRAVEST_FIRST.index(Meaning(fail_on)) + 1]
    return [each for each in differences if each.meaning in grave]


JUDGED = (Meaning.CONTRADICTION, Meaning.BREAKING)


def groups_of(
    differences: Sequence[Regression], acceptance: Acceptance, drift: Mapping[Place, int]
) -> list[dict[str, Json]]:
    """A row for each difference, however many answers show it, the gravest first; what is held against the
    target has the ``id`` by which it is accepted. ``drift`` counts what is none, by place; a rule that such a
    place contradicts all the same makes it a difference, and no drift."""
    reasons = {id(each): row.reason for each, row in acceptance.accepted}
    held = {id(each) for each in acceptance.held}
    groups: dict[tuple[str | None, ...], dict[str, Json]] = {}
    for each in differences:
        reason = reasons.get(id(each))
        key = (each.meaning, *place_of(each), reason)
        if key not in groups:
            values = {"recorded": each.recorded, "replayed": each.replayed}
            values |= {"other": other} if (other := (each.model_extra or {}).get("other")) else {}
            values |= {"id": difference_id(each)} if id(each) in held else {}
            groups[key] = _row(each.meaning, place_of(each), each.basis) | values | {"accepted": reason}
        elif (each.recorded, each.replayed) != (groups[key]["recorded"], groups[key]["replayed"]):
            groups[key]["varies"] = True
        _count(groups[key], each.exchange)
    for group in groups.values():
        group.pop("last", None)
    times_judged = Counter(place_of(each) for each in differences if each.meaning in JUDGED)
    for place, times in (Counter(drift) - times_judged).items():
        groups[Meaning.DRIFT, *place] = _row(Meaning.DRIFT.value, place, DRIFT_BASIS) | {"times": times}
    return sorted(groups.values(), key=lambda group: GRAVEST_FIRST.index(Meaning(group["meaning"])))


def _row(meaning: str, place: Place, basis: str) -> dict[str, Json]:
    """Row of a difference with a count of zero. Drift, of which only places are counted, has no values."""
    names = dict(zip(("endpoint", "path", "kind"), place, strict=True))
    return {"meaning": meaning, **names, "basis": basis, "times": 0, "exchanges": [], "accepted": None}


def _count(group: dict[str, Json], exchange: int) -> None:
    """Counts an answer once, however many of its items differ alike."""
    if group.get("last") != exchange:
        group["times"] += 1
        group["last"] = exchange
        if len(group["exchanges"]) < SHOWN_EXCHANGES:
            group["exchanges"].append(exchange)


def lines_of(groups: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    """Terminal lines of the groups: one line per cause, then one per reason of permitted or accepted
    differences."""
    counted: dict[tuple[str, str], list[Mapping[str, Json]]] = {}
    causes: list[Mapping[str, Json]] = []
    for group in groups:
        if group.get("accepted"):
            counted.setdefault(("accepted", group["accepted"]), []).append(group)
        elif group["meaning"] == Meaning.PERMITTED:
            counted.setdefault((group["meaning"], group["basis"]), []).append(group)
        else:
            causes.append(group)
    for same in by_cause(causes):
        group = same[0]
        others = len({each["endpoint"] for each in same}) - 1
        more = f" and {others} more endpoint{'s' if others > 1 else ''}" if others else ""
        both = [group, group[BESIDE]] if BESIDE in group else [group]
        place = f"{group['endpoint']}{more}  {' and '.join(map(_change, both))}, in {answers_in_words(same)}"
        place += ", also with other values" if any(each.get("varies") for each in same) else ""
        basis = "; ".join(dict.fromkeys(each["basis"] for each in both))
        yield f"{group['meaning'].upper()} {place}: {basis}{_ids((*same, *both))}"
    for (label, reason), same in counted.items():
        extent = f"{plural(len(same), 'place')} in {answers_in_words(same)}"
        example = f"such as {same[0]['endpoint']}  {_change(same[0])}{_ids(same)}"
        yield f"{label.upper()} {reason}: {extent}, {example}"


def _ids(groups: Iterable[Mapping[str, Json]]) -> str:
    """The ids by which ``--accept`` takes differences."""
    ids = listed(dict.fromkeys(each["id"] for each in groups if "id" in each), SHOWN_IDS)
    return f"  id {ids}" if ids else ""


def _change(group: Mapping[str, Json]) -> str:
    """Such as ``status 200 → 404``, ``data.total 10 → 9``, ``data.name "A" → left out``."""
    path, kind = group["path"] or "body", group["kind"]
    before, after = literal(group["recorded"], LONGEST_VALUE), literal(group["replayed"], LONGEST_VALUE)
    words = kind if kind != "order" else kind_in_words(kind, group["recorded"], group["replayed"])
    place = path if kind in PLAIN_KINDS or path == kind else f"{path} {words}"
    return (
        f"{place} {'left out' if kind == 'extra' else before} → {'left out' if kind == 'missing' else after}"
    )


def none_if_absent(value: Json) -> Json:
    return None if value is ABSENT else value
