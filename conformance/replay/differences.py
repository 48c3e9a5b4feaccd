"""Sorts a replay's differences by meaning, and decides which differences count against the target."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from conformance.errors import UsageError
from conformance.replay.compare.difference import Meaning, OtherAnswer
from conformance.replay.compare.meaning import GRAVEST_FIRST
from conformance.replay.compare.outcome import COMPARED, OutcomeTally, State
from conformance.replay.options import FailOn, ReplayOptions
from conformance.replay.stable_values import has_stable_values
from conformance.report.across.accepted import (
    INSTEAD,
    UNSEEN,
    Acceptance,
    AcceptedDifference,
    ComparedPlaces,
    Place,
    against_rows,
    key_of,
    load,
    updated,
    write,
)
from conformance.report.across.baseline import Baseline
from conformance.report.across.toml_rows import NO_REASON
from conformance.report.model.marked import literal
from conformance.report.model.regressions import BESIDE, by_cause, change_of
from conformance.report.model.run import Regression
from conformance.report.model.words import answers_in_words, listed, plural
from conformance.traffic.clip import clipped
from conformance.traffic.exchange import ABSENT, Json

DRIFT_BASIS = "state, time or data: replays of one build differ here"
MOST_NAMED = 20
"""Rows without a reason that a note names."""
LONGEST_VALUE = 60
"""Characters of a value that a terminal shows."""
PLAIN_KINDS = frozenset({"status", "code", "value", "type", "missing", "extra"})
"""The kinds of differences that both values show."""
MOST_INSTEAD = 3
"""Other values than a row accepts that a sentence names."""
SHOWN_EXCHANGES = 20
"""Exchanges of a group that ``results.json`` names."""


@dataclass(frozen=True)
class DecidedDifferences:
    """Differences held against the target, accepted differences, and the baseline that includes them."""

    acceptance: Acceptance
    differences: Sequence[Regression]
    baseline: Baseline | None
    pruned: Sequence[AcceptedDifference] = ()
    """Rows that this replay removes from the baseline."""
    rows: Sequence[AcceptedDifference] = ()
    """Rows of the profile and of the file of accepted differences."""
    file: AcceptedFile = field(default_factory=lambda: AcceptedFile())
    places: ComparedPlaces = field(default_factory=lambda: ComparedPlaces(frozenset(), {}))

    @property
    def regressions(self) -> list[Regression]:
        return list(self.acceptance.held)

    def notes(self) -> Iterator[str]:
        for row in self.pruned:
            yield f"Removed from the baseline: {row.name} ({row.reason})."
        if self.acceptance.accepted:
            places = len({row.key for _, row in self.acceptance.accepted})
            accepted = plural(len(self.acceptance.accepted), "difference")
            yield f"Accepted by a row: {accepted} at {plural(places, 'place')}.{self._beside()}"
        for row in self.acceptance.expired:
            yield f"No longer accepted since {row.expires}: {row.endpoint} {row.path} ({row.reason})."
        for row in self.acceptance.unseen:
            yield _unseen(row, self.places)
        yield from self.file.notes()
        unexplained = [row.name for row in self.rows if row.reason == NO_REASON]
        if unexplained:
            yield f"Accepted without a reason; say why in its row: {listed(unexplained, MOST_NAMED)}."

    def _beside(self) -> str:
        """How many regressed exchanges are none for the verdict, as a sentence that follows another."""
        held = {_number(each) for each in self.acceptance.held}
        count = len({_number(each) for each, _ in self.acceptance.accepted} - held)
        return f" Of {plural(count, 'regressed exchange')} nothing else is held against the target." * bool(
            count
        )

    @property
    def outdated(self) -> list[str]:
        """The rows of the file that fail the replay, as sentences."""
        return [_unseen(row, self.places) for row in self.file.stale]


def _number(difference: Regression) -> int:
    return int((difference.model_extra or {}).get("recorded_exchange", difference.exchange))


@dataclass(frozen=True)
class AcceptedFile:
    """The file of accepted differences: its ``rows``, of which ``stale`` ones list nothing any more.
    ``written`` and ``removed``: what an update did to it."""

    rows: Sequence[AcceptedDifference] = ()
    stale: Sequence[AcceptedDifference] = ()
    written: str = ""
    removed: Sequence[AcceptedDifference] = ()

    def notes(self) -> Iterator[str]:
        for row in self.removed:
            yield f"No longer seen, and removed: {row.name} ({row.reason})."
        if self.written:
            yield self.written


def _unseen(row: AcceptedDifference, places: ComparedPlaces) -> str:
    sentence = f"{UNSEEN}{row.name} ({row.reason})."
    there = places.places.get(row.key, ())
    if not row.has_values or not there:
        return sentence
    changes = dict.fromkeys(_change_in_public(each) for each in there)
    return f"{sentence}{INSTEAD}{'; '.join(sorted(changes)[:MOST_INSTEAD])}."


def _change_in_public(difference: Regression) -> str:
    """Words for a difference's stable values; other values may be personal data, for reports only."""
    return change_of(difference, LONGEST_VALUE) if has_stable_values(difference) else "other values"


def decided(
    tally: OutcomeTally,
    options: ReplayOptions,
    accepted: Sequence[Mapping[str, Any]],
    baseline: Baseline | None,
    *,
    drift: Collection[tuple[str, str, str]] = (),
    is_complete: bool = True,
) -> DecidedDifferences:
    """Decides what is held against the target. ``accepted`` are the profile's rows; the file of accepted
    differences and the baseline are written where the user asks for that. ``drift`` are places whose
    difference is none; a replay that is not complete says nothing of a difference that it did not see.
    UsageError: one cannot be used."""
    differences = list(weighed_differences(tally))
    weighty = held_from(differences, options.fail_on)
    compared = _compared(tally, is_complete=is_complete)
    places = ComparedPlaces.of(compared, differences, drift)
    file = _file(options, weighty, places)
    rows = [*_profile_rows(accepted), *file.rows]
    listing = list(rows)
    pruned: list[AcceptedDifference] = []
    if baseline is not None:
        if options.baseline_prune:
            pruned = [row for row in baseline.regressions if _is_gone(row, places)]
            baseline = _without(baseline, pruned)
        if options.baseline_update:
            stale = places.compared(baseline.regressions).stale
            baseline = _updated(_without(baseline, stale), against_rows(weighty, rows).held)
        baseline = replace(baseline, compared=places.compared(baseline.regressions))
        listing.extend(baseline.regressions)
    acceptance = against_rows(weighty, listing)
    return DecidedDifferences(acceptance, differences, baseline, pruned, rows, file, places)


def _is_gone(row: AcceptedDifference, places: ComparedPlaces) -> bool:
    """Whether no answer of the row's endpoint differs so any more, and each of them was compared."""
    return places.is_decided(row) and not places.is_seen(row)


def _without(baseline: Baseline, rows: Collection[AcceptedDifference]) -> Baseline:
    return replace(baseline, regressions=tuple(row for row in baseline.regressions if row not in rows))


def _compared(tally: OutcomeTally, *, is_complete: bool) -> frozenset[str]:
    """The endpoints of which all answers were compared; none where the replay is not complete."""
    endpoints = tally.endpoints.items() if is_complete else ()
    return frozenset(endpoint for endpoint, counts in endpoints if counts and COMPARED.issuperset(counts))


def _updated(baseline: Baseline, differences: Sequence[Regression]) -> Baseline:
    """The baseline with these differences. Expired rows stay: only a person may give them more time."""
    return replace(baseline, regressions=updated(baseline.regressions, differences))


def _profile_rows(accepted: Sequence[Mapping[str, Any]]) -> Iterator[AcceptedDifference]:
    yield from (AcceptedDifference(**row) for row in accepted)


def _file(options: ReplayOptions, weighty: Sequence[Regression], places: ComparedPlaces) -> AcceptedFile:
    """The file of accepted differences; an update adds rows, and removes those that list nothing any more."""
    path = options.accept
    if path is None:
        return AcceptedFile()
    before = load(path) if path.exists() or not options.accept_update else ()
    stale = places.compared(before).stale
    if not options.accept_update:
        return AcceptedFile(before, stale)
    kept = [row for row in before if row not in stale]
    rows = updated(kept, weighty, has_stable_values)
    write(rows, path)
    added = len(rows) - len(kept)
    written = f"Written to {path}: {plural(len(rows), 'row')}, {added} of them new."
    if added:
        written += " Say in each new row why it is accepted (reason) and until when (expires)."
    return AcceptedFile(rows, written=written, removed=stale)


def check_rows(path: Path | None, *, is_updated: bool) -> None:
    """UsageError: the file of accepted differences cannot be used, or not be written where it is updated."""
    if path is None:
        return
    if path.exists() or not is_updated:
        load(path)
    elif not path.absolute().parent.is_dir():
        raise UsageError(
            f"{path}: there is no folder {path.parent}. Create it, as --accept-update writes into it."
        )


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


def groups_of(
    decision: DecidedDifferences, drift: Mapping[tuple[str, str, str], int]
) -> list[dict[str, Json]]:
    """A row for each difference, however many answers show it, the gravest first. ``drift`` counts what is
    none, by operation, place and kind."""
    accepted = decision.acceptance.accepted
    reasons = {row.key: row.reason for _, row in accepted if not row.has_values}
    by_values = {id(each): row.reason for each, row in accepted if row.has_values}
    groups: dict[tuple[str | None, ...], dict[str, Json]] = {}
    for each in decision.differences:
        endpoint, path, kind = key_of(each)
        reason = by_values.get(id(each), reasons.get((endpoint, path, kind)))
        key = (each.meaning, endpoint, path, kind, reason)
        if key not in groups:
            values = {"recorded": each.recorded, "replayed": each.replayed}
            values |= {"other": other} if (other := (each.model_extra or {}).get("other")) else {}
            groups[key] = _row(each.meaning, key_of(each), each.basis) | values | {"accepted": reason}
        _count(groups[key], each.exchange)
    for group in groups.values():
        group.pop("last", None)
    for (endpoint, path, kind), times in drift.items():
        place = endpoint, path, kind
        groups[Meaning.DRIFT, *place] = _row(Meaning.DRIFT.value, place, DRIFT_BASIS) | {"times": times}
    return sorted(groups.values(), key=lambda group: GRAVEST_FIRST.index(Meaning(group["meaning"])))


def _row(meaning: str, place: Place, basis: str) -> dict[str, Json]:
    """Row of a difference with a count of zero."""
    names = dict(zip(("endpoint", "path", "kind"), place, strict=True))
    values: dict[str, Json] = {"recorded": None, "replayed": None, "exchanges": [], "accepted": None}
    return {"meaning": meaning, **names, "basis": basis, "times": 0, **values}


def _count(group: dict[str, Json], exchange: int) -> None:
    """Counts an answer once, however many of its items differ alike."""
    if group.get("last") != exchange:
        group["times"] += 1
        group["last"] = exchange
        if len(group["exchanges"]) < SHOWN_EXCHANGES:
            group["exchanges"].append(exchange)


def lines_of(groups: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    """The groups as a terminal shows them: those of one cause in one line, and then those that are permitted
    or accepted by their reason."""
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
        basis = "; ".join(dict.fromkeys(each["basis"] for each in both))
        yield f"{group['meaning'].upper()} {place}: {basis}"
    for (label, reason), same in counted.items():
        extent = f"{plural(len(same), 'place')} in {answers_in_words(same)}"
        yield f"{label.upper()} {reason}: {extent}, such as {same[0]['endpoint']}  {_change(same[0])}"


def _change(group: Mapping[str, Json]) -> str:
    """Such as ``status 200 → 404``, ``data.total 10 → 9``, ``data.name "A" → left out``."""
    path, kind = group["path"] or "body", group["kind"]
    before, after = literal(group["recorded"], LONGEST_VALUE), literal(group["replayed"], LONGEST_VALUE)
    place = path if kind in PLAIN_KINDS or path == kind else f"{path} {kind}"
    return (
        f"{place} {'left out' if kind == 'extra' else before} → {'left out' if kind == 'missing' else after}"
    )


def none_if_absent(value: Json) -> Json:
    return None if value is ABSENT else value
