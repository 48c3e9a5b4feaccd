"""What is known to fail: a run set against its rows, of which only what is not listed fails it; new rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import chain
from pathlib import Path

from conformance.errors import ExitCode, UsageError
from conformance.report.across.baseline_rows import (
    NOISE,
    UNEXPLAINED,
    BaselineRow,
    RowKey,
    load,
    scalar_of,
    write,
)
from conformance.report.model.failures import weighs
from conformance.report.model.marked import literal
from conformance.report.model.regressions import Place, by_endpoint, difference_id, pattern_of, place_of
from conformance.report.model.run import BaselineEntry, BaselineOutcome, FindingEntry, Regression, Run
from conformance.report.model.words import listed, plural
from conformance.verdicts.findings import Finding

CUT_SHORT = frozenset(
    {
        ExitCode.INTERRUPTED,
        ExitCode.INTERNAL_ERROR,
        ExitCode.USAGE,
        ExitCode.INCONCLUSIVE,
        ExitCode.UNREACHABLE,
    }
)
"""Exit codes of runs that say nothing of a failure that they did not see."""


@dataclass(frozen=True, slots=True)
class ComparedRows:
    """What a replay says of rows of differences, by their keys: ``shown`` are those whose difference it
    shows, ``decided`` those whose place it compared in all answers."""

    shown: Set[RowKey] = frozenset()
    decided: Set[RowKey] = frozenset()


@dataclass(frozen=True, slots=True)
class Baseline:
    """Rows of a file, and the places that a replay compared."""

    file: str
    rows: tuple[BaselineRow, ...] = ()
    compared: ComparedRows = field(default_factory=ComparedRows)

    def row_of(self, finding: Finding | FindingEntry, today: date) -> BaselineRow | None:
        """The row that lists a finding on this day."""
        return next((row for row in self.rows if row.lists(finding) and not row.is_expired(today)), None)

    def by_place(self, today: date) -> Mapping[Place, Sequence[BaselineRow]]:
        """The rows of differences that hold on this day."""
        places: dict[Place, list[BaselineRow]] = {}
        for row in self.rows:
            if row.kind and not row.is_expired(today):
                places.setdefault(row.place, []).append(row)
        return places


def outcome_of(run: Run, baseline: Baseline, today: date) -> BaselineOutcome:
    """Sets what fails a run, and its warnings, against the rows.

    A row whose rule this run did not decide at its endpoint is neither known to hold nor stale, nor is a row
    of values at a place that now differs in others.
    """
    current = _contradictions(run)
    pairs = [(finding, baseline.row_of(finding, today)) for finding in current]
    unlisted = [finding for finding, row in pairs if row is None]
    regressed = dict.fromkeys(map(place_of, run.regressions))
    outcome: dict[str, list[BaselineEntry]] = {
        "new": [
            *(_of_finding(each) for each in unlisted if weighs(run, each)),
            *(BaselineRow("", endpoint, path, kind, reason="").entry() for endpoint, path, kind in regressed),
        ],
        "warned": [
            _of_finding(each) for each in unlisted if each.verdict == "warn" and not weighs(run, each)
        ],
        "known": [_of_finding(each, row) for each, row in pairs if row is not None],
        **{name: [] for name in ("stale", "expired", "undecided")},
    }
    shown = baseline.compared.shown | {row.key for row in baseline.rows if any(map(row.lists, current))}
    decided = _decided(run, baseline)
    for row in baseline.rows:
        is_otherwise = row.has_values and row.place in regressed
        if row.key in decided - shown and not row.flaky and not is_otherwise:
            outcome["stale"].append(row.entry())
        elif row.is_expired(today):
            outcome["expired"].append(row.entry())
        elif row.key not in shown:
            outcome["undecided"].append(row.entry())
        elif row.kind:
            outcome["known"].append(row.entry())
    return BaselineOutcome(file=baseline.file, **outcome)


def _of_finding(finding: FindingEntry, row: BaselineRow | None = None) -> BaselineEntry:
    names = {"signature": finding.signature, "requirement": finding.requirement, "id": finding.id}
    return (row or BaselineRow(reason="")).entry().model_copy(update={**names, "endpoint": finding.endpoint})


def _decided(run: Run, baseline: Baseline) -> frozenset[RowKey]:
    """The rows that a run decided. Of a selection, and of rules about every endpoint, what its checks decided
    at an endpoint: what it sends to sign in, or a success alone, shows little of the rest."""
    if run.exit_code in CUT_SHORT:
        return frozenset()
    rules = {entry.id: entry for entry in run.requirements if entry.verdict != "untested"}
    is_replay, is_part = run.command == "replay", run.command == "run" and bool(run.scope.selection)
    called = (
        {each.endpoint for each in by_endpoint(run) if each.is_compared} if is_replay else run.scope.called
    )

    checked = frozenset(chain.from_iterable(run.scope.decided.values()))

    def is_decided(row: BaselineRow) -> bool:
        if row.kind and (is_replay or not row.rule):
            return row.key in baseline.compared.decided
        rule = rules.get(row.rule)
        if rule is None or (called and row.endpoint not in called):
            return False
        needs_place = is_part or (not rule.operations and rule.id in checked)
        is_there = rule.id in run.scope.decided.get(row.endpoint, ()) or rule.operations == [row.endpoint]
        return is_there or not needs_place

    return frozenset(row.key for row in baseline.rows if is_decided(row))


def baseline_of(path: Path | None, *, is_strict: bool) -> Baseline | None:
    """The baseline to compare a run with. UsageError: as ``load``; where strict, a row lacks a reason of its
    own."""
    if path is None:
        return None
    rows = load(path)
    unexplained = [row.signature for row in rows if row.reason in UNEXPLAINED]
    if is_strict and unexplained:
        raise UsageError(
            f"{path}: with --strict each row needs a reason of its own. Say why it is accepted: "
            f"{listed(unexplained, 3)}."
        )
    return Baseline(str(path), rows)


EACH, NOISY = "all", "noise"
"""In place of an id: all that fails the run, and what may differ between two replays of one build."""
NEVER_NOISE = frozenset({"status", "code", "type", "missing"})
"""Kinds of difference that are never noise."""
MOST_VALUES = 5
"""Pairs of values that get rows of their own; a place with more of them gets one row without values."""
MOST_NAMED = 20

IsStable = Callable[[Regression], bool]
"""Whether a difference has the same values in every replay of two builds."""


def accept(run: Run, path: Path, ids: Sequence[str], *, is_pruned: bool, is_stable: IsStable) -> list[str]:
    """Writes rows for the findings and differences with these ids, removes stale rows, and gives sentences on
    what changed. UsageError: the run shows no such id, or the file cannot be read or written."""
    ids = [id for each in ids for id in each.split(",")]
    before = load(path) if path.exists() or not ids else ()
    removed = _stale(run, before) if is_pruned else []
    kept = [row for row in before if row not in removed]
    new = _accepted(run, kept, _asked_for(run, kept, ids), is_stable)
    rows = [*kept, *new]
    write(rows, path)
    sentences = [f"Removed from {path}: {row.signature} ({row.reason})." for row in removed]
    if is_pruned and not removed:
        sentences.append(f"No row of {path} is stale by this run.")
    sentences.append(f"{path}: {plural(len(rows), 'row')}, {len(new)} of them new.")
    if EACH in ids and not new and (left := [each.id for each in run.findings if each.verdict == "warn"]):
        rule = "Warnings fail no run without --strict"
        sentences.append(f"{rule}: --accept takes each by its id ({listed(left, MOST_NAMED)}).")
    if unexplained := [row.signature for row in rows if row.reason in UNEXPLAINED]:
        sentences.append(f"Say in its row why each is accepted (reason): {listed(unexplained, MOST_NAMED)}.")
    return sentences


def _stale(run: Run, rows: Sequence[BaselineRow]) -> list[BaselineRow]:
    if run.baseline is None:
        raise UsageError("--prune needs a run with --known FILE: this one decided no row.")
    stale = {entry.signature for entry in run.baseline.stale}
    return [row for row in rows if row.signature in stale]


def _asked_for(run: Run, rows: Sequence[BaselineRow], ids: Sequence[str]) -> set[str]:
    """The ids; in place of a rule those of its findings, and in place of ``all`` those of what fails the run
    and no row lists. UsageError: the run does not show one."""
    findings = _contradictions(run)
    shown = {name for finding in findings for name in (finding.id, finding.requirement)}
    shown |= {difference_id(each) for each in run.regressions}
    for id in ids:
        if id not in shown and id not in (EACH, NOISY):
            raise UsageError(
                f"--accept {id}: the run shows no finding or difference with this id. The terminal and "
                f"report.html name them; {EACH} takes all that fails the run."
            )
    outcome = outcome_of(run, Baseline("", tuple(rows)), date.min)
    of_rules = (finding.id for finding in findings if finding.requirement in ids)
    return {*ids, *of_rules, *(entry.id for entry in outcome.new if EACH in ids)}


def _contradictions(run: Run) -> list[FindingEntry]:
    """What a row with a rule may list: contradictions, and deviations from descriptions."""
    return [*(each for each in run.findings if each.verdict in ("fail", "warn")), *run.deviations]


def _accepted(run: Run, rows: Sequence[BaselineRow], ids: Set[str], is_stable: IsStable) -> list[BaselineRow]:
    """New rows for what has these ids. The row of a contradiction that a replay shows covers its rule, and is
    asked for by the id of the finding as well."""
    meant = {
        (each.requirement, each.endpoint, pattern_of(each.path))
        for each in _contradictions(run)
        if each.id in ids
    }
    listing = Baseline("", tuple(rows)).by_place(date.min)
    places: dict[Place, list[Regression]] = {}
    for each in run.regressions:
        if not any(row.accepts(each) for row in listing.get(place_of(each), ())):
            places.setdefault(place_of(each), []).append(each)
    new: list[BaselineRow] = []
    for place, same in places.items():
        row = BaselineRow(_rule(same), *place)
        if NOISY in ids and _may_be_noise(same[0]):
            new.append(replace(row, reason=NOISE, flaky=True))
        elif difference_id(same[0]) in ids or (row.rule, row.endpoint, row.path) in meant:
            is_varying = bool(listing.get(place))  # other values of it are accepted already
            new += [row] if is_varying else _with_values(row, same, is_stable)
    for finding in _contradictions(run):
        if finding.id in ids and not any(row.lists(finding) for row in (*rows, *new)):
            new.append(BaselineRow(finding.requirement, finding.endpoint, pattern_of(finding.path)))
    return new


def _rule(differences: Sequence[Regression]) -> str:
    """The rule that differences contradict; empty where they do not."""
    rules = (str((each.model_extra or {}).get("requirement", "")) for each in differences)
    return next(filter(None, rules), "") if differences[0].meaning == "contradiction" else ""


def _may_be_noise(difference: Regression) -> bool:
    """Whether a difference may be one of two equal builds; ``code`` and ``value`` say what a coded field
    means."""
    is_coded = difference.kind == "value" and difference.path.rpartition(".")[2] in ("code", "value")
    return difference.kind not in NEVER_NOISE and not is_coded


def _with_values(
    row: BaselineRow, differences: Sequence[Regression], is_stable: IsStable
) -> list[BaselineRow]:
    """A row per pair of values if the pairs are few and stable, else a row for any values."""
    pairs = dict.fromkeys((literal(each.recorded), literal(each.replayed)) for each in differences)
    if len(pairs) > MOST_VALUES or not all(map(is_stable, differences)):
        return [row]
    rows = [replace(row, was=scalar_of(each.recorded), now=scalar_of(each.replayed)) for each in differences]
    return list({each.key: each for each in rows}.values())
