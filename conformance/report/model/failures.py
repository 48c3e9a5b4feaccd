"""What fails a run: findings that no baseline lists, outdated entries, what fails a replay beside; and what
differs from descriptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from conformance.impacts import FailOn
from conformance.report.model.regressions import RegressedPlace, places
from conformance.report.model.run import BaselineEntry, FindingEntry, RequirementEntry, Run
from conformance.report.model.severity import GRAVE, RANK, gravity, severity_of
from conformance.verdicts.deviations import LEARNED, YOURS
from conformance.verdicts.findings import Finding

AnyFinding = FindingEntry | Finding


class FailingRow(NamedTuple):
    """What a value of ``--fail-on`` fails, in words, and whether that is a finding."""

    words: str
    fails: Callable[[AnyFinding], bool]


def is_grave(finding: AnyFinding) -> bool:
    """Whether a should is contradicted in a way that harms whoever uses the portal."""
    return finding.verdict == "warn" and severity_of(finding) in GRAVE


FAILING: Mapping[FailOn, FailingRow] = {
    "must": FailingRow("a contradicted must", lambda finding: finding.verdict == "fail"),
    "security": FailingRow(
        "also a contradicted should that may let someone in, shows a secret or may lose data",
        lambda finding: finding.verdict == "fail" or is_grave(finding),
    ),
    "should": FailingRow(
        "any contradicted must or should", lambda finding: finding.verdict in ("fail", "warn")
    ),
    "description": FailingRow(
        "also an answer that differs from your own description, beside what `security` fails",
        lambda finding: (
            finding.verdict == "fail" or is_grave(finding) or finding.requirement.startswith(f"{YOURS}-")
        ),
    ),
}


def weighs(run: Run, finding: AnyFinding) -> bool:
    """Whether a finding fails the run where no baseline lists it."""
    return FAILING[run.fails_on].fails(finding)


def failing_rules(run: Run, *, fail_on: FailOn | None = None) -> frozenset[str]:
    """The rules that fail the run, whatever a baseline lists. ``fail_on``: what it would fail on instead."""
    fails = FAILING[fail_on or run.fails_on].fails
    by_findings = {finding.requirement for finding in run.findings if fails(finding)}
    by_verdict = ("fail", "warn") if (fail_on or run.fails_on) == "should" else ("fail",)
    return frozenset(by_findings | {row.id for row in run.requirements if row.verdict in by_verdict})


NO_LONGER = "in the baseline, but no longer fails; remove its row, or have `compare --prune` do it"


@dataclass(frozen=True, slots=True)
class Blocker:
    """One requirement that fails the run, with its findings that no baseline lists."""

    requirement: RequirementEntry
    findings: tuple[FindingEntry, ...]

    @property
    def is_own(self) -> bool:
        return self.requirement.is_own

    @property
    def rank(self) -> tuple[bool, tuple[int, bool]]:
        """Failures stand before warnings and of each the gravest first, as their cards do; of one severity,
        rules about a single answer before comparisons of two."""
        return self.requirement.verdict != "fail", min(map(gravity, self.findings), default=LEAST_GRAVE)


LEAST_GRAVE = (len(RANK), True)


class OutdatedEntry(NamedTuple):
    """An entry of the baseline that fails the run itself: ``stale`` or ``expired``, and what is wrong with
    it, to follow its signature."""

    label: str
    entry: BaselineEntry
    problem: str

    @property
    def sentence(self) -> str:
        return f"{self.entry.signature}: {self.problem}."


@dataclass(frozen=True, slots=True)
class RunFailures:
    """What fails a run. ``accepted`` are the signatures that the baseline lists: these findings fail nothing.
    ``new`` are the findings that do, ``warnings`` those of a should that do not, ``blockers`` the rules of
    the new ones, ``unlisted`` what differs from descriptions and no baseline lists, ``deviating`` of it what
    fails the run, ``regressed`` the places where a replay differs, ``too_slow`` limits on latency."""

    accepted: frozenset[str]
    new: tuple[FindingEntry, ...]
    warnings: tuple[FindingEntry, ...]
    blockers: tuple[Blocker, ...]
    unlisted: tuple[FindingEntry, ...]
    deviating: tuple[FindingEntry, ...]
    regressed: tuple[RegressedPlace, ...]
    too_slow: tuple[str, ...]
    outdated: tuple[OutdatedEntry, ...]

    @property
    def are_of_own_rules(self) -> bool:
        """Whether nothing fails the run but rules of the user's own."""
        others = self.deviating or self.regressed or self.too_slow or self.outdated
        return bool(self.blockers) and all(each.is_own for each in self.blockers) and not others


def failures_of(run: Run) -> RunFailures:
    """What fails a run: what ``--fail-on`` weighs and no baseline lists, and the rest."""
    base = run.baseline
    accepted = frozenset(entry.signature for entry in base.known) if base else frozenset()
    findings = [finding for finding in run.findings if finding.signature not in accepted]
    deviations = tuple(finding for finding in run.deviations if finding.signature not in accepted)
    new = tuple(finding for finding in findings if weighs(run, finding))
    stale = [OutdatedEntry("stale", row, NO_LONGER) for row in base.stale] if base else []
    expired = base.expired if base else []
    return RunFailures(
        accepted=accepted,
        new=new,
        warnings=tuple(each for each in findings if each.verdict == "warn" and not weighs(run, each)),
        blockers=_blockers(run, new, accepted),
        unlisted=deviations,
        deviating=tuple(each for each in deviations if weighs(run, each)),
        regressed=tuple(places(run)),
        too_slow=tuple(run.ending.too_slow),
        outdated=(
            *stale,
            *(OutdatedEntry("expired", row, f"accepted until {row.expires}") for row in expired),
        ),
    )


def _blockers(run: Run, new: tuple[FindingEntry, ...], accepted: frozenset[str]) -> tuple[Blocker, ...]:
    by_requirement: dict[str, list[FindingEntry]] = {}
    for finding in new:
        by_requirement.setdefault(finding.requirement, []).append(finding)
    listed = {finding.requirement for finding in run.findings if finding.signature in accepted}
    failing = failing_rules(run)
    blockers = [
        Blocker(entry, tuple(by_requirement.get(entry.id, ())))
        for entry in run.requirements
        if entry.id in by_requirement or (entry.id in failing and entry.id not in listed)
    ]
    return tuple(sorted(blockers, key=lambda blocker: blocker.rank))


SUBJECTS = {YOURS: "your description", LEARNED: "what was learned, which nobody has accepted"}
"""What answers differ from, by authority."""

LABELS = {YOURS: "DIFFERS", LEARNED: "DRIFT"}


def label_of(finding: FindingEntry) -> str:
    """What stands before a finding: its verdict, or which authority a deviation differs from."""
    return LABELS.get(finding.requirement.partition("-")[0], finding.verdict.upper())


def deviations_in_words(run: Run) -> str:
    """``differs from your description, in 3 places``; empty where nothing differs."""
    parts, known = [], failures_of(run).accepted
    for authority, subject in SUBJECTS.items():
        rows = [row for row in run.deviations if row.requirement.startswith(authority)]
        accepted = sum(row.signature in known for row in rows)
        listed = f", {accepted:,} of them in the baseline" if accepted else ""
        if rows:
            parts.append(f"differs from {subject}, in {len(rows):,} place{'s' * (len(rows) > 1)}{listed}")
    return "; ".join(parts)
