"""A run set against what is known: only what no row of its baseline lists fails it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from conformance.errors import ExitCode, UsageError
from conformance.report.across.baseline_rows import UNEXPLAINED, BaselineRow, RowKey, load
from conformance.report.model.failures import weighs
from conformance.report.model.regressions import Place, by_endpoint, place_of
from conformance.report.model.run import BaselineEntry, BaselineOutcome, FindingEntry, Run
from conformance.report.model.words import listed
from conformance.spec import BY_KEY
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

    A row whose rule this run did not decide at its endpoint is neither known to hold nor stale.
    """
    contradictions = [finding for finding in run.findings if finding.verdict in ("fail", "warn")]
    current = [*contradictions, *run.deviations]
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
        if row.key in decided - shown and not row.flaky:
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
    """The rows that a run decided: of a selection what its checks decided at an endpoint, and rules of no
    other endpoint, as what it sends to sign in shows little of the rest."""
    if run.exit_code in CUT_SHORT:
        return frozenset()
    rules = {entry.id: entry for entry in run.requirements if entry.verdict != "untested"}
    is_replay, is_part = run.command == "replay", run.command == "run" and bool(run.scope.selection)
    called = (
        {each.endpoint for each in by_endpoint(run) if each.is_compared} if is_replay else run.scope.called
    )

    def is_decided(row: BaselineRow) -> bool:
        if row.kind and (is_replay or not row.rule):
            return row.key in baseline.compared.decided
        rule = rules.get(row.rule)
        if rule is None or (called and row.endpoint in BY_KEY and row.endpoint not in called):
            return False
        is_there = rule.id in run.scope.decided.get(row.endpoint, ()) or rule.operations == [row.endpoint]
        return not is_part or (is_there and row.endpoint in BY_KEY)

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
