"""What the last run on a target says of the next: how long a request takes, and what nothing decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from conformance.report.model.run import RequirementEntry, Run, moment
from conformance.run.rerun import last_in
from conformance.spec import IMPACTS, Impact
from conformance.traffic.exchange import Exchange
from conformance.verdicts.findings import UNDECIDED


@dataclass(frozen=True, slots=True)
class Pace:
    """The seconds of a request with all that the suite does for it. ``source`` is the report of the run that
    they were measured in; empty where they are assumed."""

    seconds: float
    source: str = ""


ASSUMED = Pace(0.02)
"""What is assumed of a portal of which no run is on record: 20 ms."""

MAIL_SECONDS = 2.0
"""How long a mailed code is assumed to take. The pace of a run on record holds it already."""

FEW = 3
"""Answers whose median says anything of a portal that is slow."""

FEWEST = 50
"""Requests of a run whose pace says anything."""


@dataclass(frozen=True, slots=True)
class LastRun:
    """The last whole run on a target. ``testable`` is how many musts its profile and impact let be tested;
    ``undecided`` are the rules that the answers of the target did not decide, each with the reason."""

    impact: Impact
    testable: int | None
    time_budget: str
    undecided: Mapping[str, str] = field(default_factory=dict)

    def foretells(self, impact: Impact, testable: int, time_budget: str) -> bool:
        """Whether a run would send what this one sent: with no greater impact, as much time, and a profile
        that lets as much be tested."""
        is_as_far = IMPACTS.index(self.impact) >= IMPACTS.index(impact)
        return is_as_far and self.testable == testable and self.time_budget in ("", time_budget)


def measured(answers: Sequence[Exchange]) -> Pace:
    """The pace by a few answers of a portal: as long as they take, and what is assumed for the suite."""
    if len(answers) < FEW:
        return ASSUMED
    return Pace(ASSUMED.seconds + median(answer.elapsed_ms for answer in answers) / 1000)


def pace_of(target: str, out: Path) -> Pace:
    """The pace of the last run on a target, by the report in a folder. ``target``: its address, or the name
    of the profile that stands for it."""
    last = _run_on(target, out)
    if last is None:
        return ASSUMED
    requests = sum(row.requests for row in last.timings)
    if requests < FEWEST:
        return ASSUMED
    waited = sum(row.seconds for row in last.timeline if row.kind == "wait")
    busy = moment(last.finished) - moment(last.started) - waited
    return Pace(busy / requests, str(out / "results.json")) if busy > 0 else ASSUMED


def last_run_of(target: str, out: Path) -> LastRun | None:
    """The last run on a target, as for ``pace_of``; None where it was cut short or tried a selection."""
    last = _run_on(target, out)
    if last is None or last.exit_code not in (0, 1) or last.scope.selection or last.impact not in IMPACTS:
        return None
    undecided = {row.id: _why(row) for row in last.requirements if _is_undecided(row)}
    impact = next(level for level in IMPACTS if level == last.impact)
    return LastRun(impact, last.scope.testable, last.scope.time_budget, undecided)


def _is_undecided(row: RequirementEntry) -> bool:
    """Whether it was tried in vain, for what the target answered."""
    is_silent = (row.reason or "").startswith(UNDECIDED) or row.fault_class == "target"
    return row.verdict == "untested" and is_silent


def _why(row: RequirementEntry) -> str:
    reason = row.reason or ""
    return UNDECIDED if reason.startswith(UNDECIDED) else reason


def _run_on(target: str, out: Path) -> Run | None:
    last = last_in(out)
    if last is None or last.command != "run" or target not in (last.target.url, last.target.profile):
        return None
    return last
