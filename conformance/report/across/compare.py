"""Compares two runs, or two replays, of one target or release after the other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from math import inf

from pydantic import JsonValue

from conformance.report.across.baseline import Baseline
from conformance.report.across.models import ComparedRun, FrozenModel, ScopeChange, scope_changes
from conformance.report.latency import SAMPLES_BEYOND
from conformance.report.model.failures import failing_rules
from conformance.report.model.json_differences import differences_in
from conformance.report.model.regressions import place_of
from conformance.report.model.run import (
    FindingEntry,
    ObservationEntry,
    OperationTime,
    Regression,
    RequirementEntry,
    Run,
    Since,
    VerdictName,
)
from conformance.report.model.words import is_left_out

BAD: tuple[VerdictName, ...] = ("fail", "warn")
UNTRIED = ("untested", None)
SLOWER_FACTOR = 1.5
"""By which factor the median must have grown or shrunk to be reported."""

AT_LEAST_MS = 20.0
"""By how many milliseconds the median must have grown or shrunk to be reported."""

FEWEST_REQUESTS = 2 * SAMPLES_BEYOND
"""Requests to an endpoint in each run without which a median says nothing: half of them lie beyond it."""

SHORTEST_MS = 5.0
"""Milliseconds of a median below which a factor says more of the machine than of the portal."""


class VerdictChange(FrozenModel):
    """A requirement whose verdict changed. ``endpoints`` are those of its findings in either run."""

    requirement: str
    level: str
    statement: str
    old: VerdictName | None
    new: VerdictName | None
    endpoints: list[str] = []
    message: str = ""


class ReadingChange(FrozenModel):
    """``gone`` are the values of the old run only, ``added`` those of the new run only; ``differences`` are
    the places that differ where each run has one long value."""

    key: str
    old: list[JsonValue]
    new: list[JsonValue]
    gone: list[JsonValue] = []
    added: list[JsonValue] = []
    differences: list[str] = []


class TimeChange(FrozenModel):
    """Median milliseconds of one endpoint in both runs."""

    endpoint: str
    old_ms: float
    new_ms: float
    requests: int
    old_requests: int = 0

    @property
    def factor(self) -> float:
        return self.new_ms / self.old_ms if self.old_ms else inf

    @property
    def is_slower(self) -> bool:
        return self._differs and self.factor >= SLOWER_FACTOR

    @property
    def is_faster(self) -> bool:
        return self._differs and self.factor <= 1 / SLOWER_FACTOR

    @property
    def _differs(self) -> bool:
        is_known = min(self.requests, self.old_requests) >= FEWEST_REQUESTS
        return is_known and abs(self.new_ms - self.old_ms) >= AT_LEAST_MS

    @property
    def times(self) -> str:
        """By which factor it changed: ``2.5 times``, ``0.03 times``; empty where a median is too short."""
        if min(self.old_ms, self.new_ms) < SHORTEST_MS:
            return ""
        return f"{self.factor:.1f} times" if self.factor >= 1 else f"{self.factor:.2g} times"


class Comparison(FrozenModel):
    """What fails now and did not is newly failing, also where the old run could not try it; what the new run
    could not try is neither worse nor fixed. ``scope_changes`` are what the two runs were told differently;
    ``left_out_by_new`` and ``left_out_by_old`` are the rules that only the other run tested because this one
    is a selection: they are neither no longer nor newly tested."""

    old: ComparedRun
    new: ComparedRun
    scope_changes: list[ScopeChange] = []
    left_out_by_new: list[str] = []
    left_out_by_old: list[str] = []
    newly_failing: list[VerdictChange] = []
    new_warnings: list[VerdictChange] = []
    fixed: list[VerdictChange] = []
    new_places: list[FindingEntry] = []
    """Findings of one run only, whose requirement fails in both."""
    gone_places: list[FindingEntry] = []
    no_longer_tested: list[VerdictChange] = []
    newly_tested: list[VerdictChange] = []
    changed_readings: list[ReadingChange] = []
    new_observations: list[ObservationEntry] = []
    gone_observations: list[ObservationEntry] = []
    new_regressions: list[Regression] = []
    fixed_regressions: list[Regression] = []
    slower: list[TimeChange] = []
    faster: list[TimeChange] = []
    timings: list[TimeChange] = []

    @property
    def is_worse(self) -> bool:
        """Whether something fails that did not: what makes `compare` end with exit code 1."""
        return bool(self.newly_failing or self.new_places or self.new_regressions)


def compare(old: Run, new: Run, baseline: Baseline | None = None) -> Comparison:
    """What changed from one run to the other, without what a baseline lists of the new one. What fails is
    what failed the new run."""
    sides = {"old": ComparedRun.of(old), "new": ComparedRun.of(new)}
    old, new = (old, new) if baseline is None else _unlisted(old, new, baseline)
    failed, fails = failing_rules(old, fail_on=new.fails_on), failing_rules(new)
    before, after = ({row.id: row for row in run.requirements} for run in (old, new))
    changes = [_change(before.get(name), after.get(name), old, new) for name in {**before, **after}]
    fixed = [
        row
        for row in changes
        if (row.requirement in failed and row.new in ("pass", "open"))
        or (row.old == "warn" and row.new == "pass")
    ]
    lost, left_out_by_new = _divided(
        [row for row in changes if row.new in UNTRIED and row.old not in UNTRIED], new
    )
    gained, left_out_by_old = _divided(
        [row for row in changes if row.old in UNTRIED and row.new == "pass"], old
    )
    times = sorted(_times(old.timings, new.timings), key=lambda row: (not row.times, -row.factor))
    return Comparison(
        **sides,
        scope_changes=scope_changes(old, new),
        left_out_by_new=left_out_by_new,
        left_out_by_old=left_out_by_old,
        newly_failing=[row for row in changes if row.requirement in fails - failed],
        new_warnings=[row for row in changes if _is_new_warning(row, fails)],
        fixed=fixed,
        new_places=_places(new, old, failed & fails),
        gone_places=_places(old, new, failed & fails),
        no_longer_tested=sorted(lost, key=lambda row: row.old not in BAD),
        newly_tested=gained,
        changed_readings=_readings(old, new),
        new_observations=_observations(new, old),
        gone_observations=_observations(old, new),
        new_regressions=_regressions(new, old),
        fixed_regressions=_regressions(old, new),
        slower=[row for row in times if row.is_slower],
        faster=[row for row in reversed(times) if row.is_faster],
        timings=times,
    )


def _unlisted(old: Run, new: Run, baseline: Baseline) -> tuple[Run, Run]:
    """The runs without the findings and regressions of the new one that a baseline lists, and without the
    rules that it contradicts in no other place."""
    today = datetime.now(UTC).date()
    listed = [finding for finding in new.findings if baseline.row_of(finding, today) is not None]
    findings = [finding for finding in new.findings if finding not in listed]
    bad = {finding.requirement for finding in findings if finding.verdict in BAD}
    rules = {finding.requirement for finding in listed} - bad

    def without_rules(run: Run) -> list[RequirementEntry]:
        return [entry for entry in run.requirements if entry.id not in rules]

    rows = baseline.by_place(today)
    regressions = [
        each for each in new.regressions if not any(row.accepts(each) for row in rows.get(place_of(each), ()))
    ]
    changes = {"requirements": without_rules(new), "findings": findings, "regressions": regressions}
    return old.model_copy(update={"requirements": without_rules(old)}), new.model_copy(update=changes)


def _divided(changes: Iterable[VerdictChange], untested_by: Run) -> tuple[list[VerdictChange], list[str]]:
    """Changes of rules that the run selected, and ids of the rules outside its selection."""
    left_out = {row.id for row in untested_by.requirements if is_left_out(untested_by, row)}
    rows = list(changes)
    return (
        [row for row in rows if row.requirement not in left_out],
        [row.requirement for row in rows if row.requirement in left_out],
    )


def _is_new_warning(change: VerdictChange, fails: frozenset[str]) -> bool:
    """Whether it warns only now, which makes nothing worse but is seen."""
    return change.new == "warn" and change.old != "warn" and change.requirement not in fails


def since(old: Run, new: Run) -> Since:
    """The changes that a run's own report shows, of rules that both runs could decide. A selection fixes
    findings only at endpoints that it called again; a rule breaks only at endpoints that were called
    before."""
    comparison = compare(old, new)
    asked = {timing.endpoint for timing in new.timings}
    before = {timing.endpoint for timing in old.timings}

    def decided(changes: Iterable[VerdictChange]) -> list[str]:
        return [
            row.requirement
            for row in changes
            if row.old not in (None, "untested")
            and not (old.scope.selection and before.isdisjoint(row.endpoints))
        ]

    places = [row.requirement for row in comparison.new_places if row.endpoint in before]
    return Since(
        started=old.started,
        newly_failing=list(dict.fromkeys([*decided(comparison.newly_failing), *places])),
        newly_warned=decided(comparison.new_warnings),
        fixed=[
            row.requirement
            for row in comparison.fixed
            if not new.scope.selection or asked.issuperset(row.endpoints)
        ],
        no_longer_tested=[row.requirement for row in comparison.no_longer_tested],
        changed_readings=[row.key for row in comparison.changed_readings],
    )


def _change(
    old: RequirementEntry | None, new: RequirementEntry | None, before: Run, after: Run
) -> VerdictChange:
    row = new or old
    assert row is not None  # every name comes from one of the two
    findings = _findings_of(after, row.id) or _findings_of(before, row.id)
    return VerdictChange(
        requirement=row.id,
        level=row.level,
        statement=row.statement,
        old=old.verdict if old else None,
        new=new.verdict if new else None,
        endpoints=list(dict.fromkeys(finding.endpoint for finding in findings)),
        message=findings[0].message if findings else "",
    )


def _findings_of(run: Run, requirement: str) -> list[FindingEntry]:
    return [
        finding for finding in run.findings if finding.requirement == requirement and finding.verdict in BAD
    ]


def _places(has: Run, lacks: Run, requirements: frozenset[str]) -> list[FindingEntry]:
    others = {finding.signature for finding in lacks.findings}
    return [
        finding
        for finding in has.findings
        if finding.requirement in requirements and finding.signature not in others and finding.verdict in BAD
    ]


def _readings(old: Run, new: Run) -> list[ReadingChange]:
    """Readings with a value of each run alone. One that has more values, or fewer, may be that of a run that
    came across more of the portal, or less."""
    before = {reading.key: reading.observed for reading in old.readings}
    changes = [
        _reading(reading.key, before[reading.key], reading.observed)
        for reading in new.readings
        if reading.key in before
    ]
    return [each for each in changes if each.gone and each.added]


def _reading(key: str, old: list[JsonValue], new: list[JsonValue]) -> ReadingChange:
    gone = [value for value in old if _set([value]) - _set(new)]
    added = [value for value in new if _set([value]) - _set(old)]
    places = differences_in(gone[0], added[0]) if len(gone) == len(added) == 1 else []
    return ReadingChange(
        key=key, old=old, new=new, gone=gone, added=added, differences=[each.text for each in places]
    )


def _set(values: list[JsonValue]) -> set[str]:
    return {json.dumps(value, sort_keys=True) for value in values}


def _observations(has: Run, lacks: Run) -> list[ObservationEntry]:
    """Those that one run alone made, of what both saw in some way: the other may not have come to it."""
    readings = {row.key for row in (*has.readings, *lacks.readings)}
    others = {_key(row) for row in lacks.observations}
    both = {(row.topic, row.endpoint) for row in lacks.observations}
    return [
        row
        for row in has.observations
        if row.topic not in readings and (row.topic, row.endpoint) in both and _key(row) not in others
    ]


def _key(row: ObservationEntry) -> tuple[str, str, str]:
    return (row.topic, row.endpoint, json.dumps(row.observed, sort_keys=True))


def _regressions(has: Run, lacks: Run) -> list[Regression]:
    others = {(row.endpoint, row.path, row.kind) for row in lacks.regressions}
    return [row for row in has.regressions if (row.endpoint, row.path, row.kind) not in others]


def _times(old: list[OperationTime], new: list[OperationTime]) -> Iterator[TimeChange]:
    before: Mapping[str, OperationTime] = {timing.endpoint: timing for timing in old}
    for timing in new:
        if timing.endpoint in before:
            yield TimeChange(
                endpoint=timing.endpoint,
                old_ms=before[timing.endpoint].median_ms,
                new_ms=timing.median_ms,
                requests=timing.requests,
                old_requests=before[timing.endpoint].requests,
            )
