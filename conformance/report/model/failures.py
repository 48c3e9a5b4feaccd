"""What fails a run: findings that no baseline lists, outdated entries, and what fails a replay beside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from conformance.report.model.regressions import RegressedPlace, places
from conformance.report.model.run import BaselineEntry, FindingEntry, RequirementEntry, Run
from conformance.report.model.severity import RANK, gravity

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
    ``new`` are the findings that do, ``warnings`` those that would where strict, ``blockers`` the rules of
    the new ones, ``regressed`` the places where a replay differs, ``too_slow`` limits on latency."""

    accepted: frozenset[str]
    new: tuple[FindingEntry, ...]
    warnings: tuple[FindingEntry, ...]
    blockers: tuple[Blocker, ...]
    regressed: tuple[RegressedPlace, ...]
    too_slow: tuple[str, ...]
    outdated: tuple[OutdatedEntry, ...]

    @property
    def are_of_own_rules(self) -> bool:
        """Whether nothing fails the run but rules of the user's own."""
        others = self.regressed or self.too_slow or self.outdated
        return bool(self.blockers) and all(each.is_own for each in self.blockers) and not others


def failures_of(run: Run) -> RunFailures:
    """What fails a run: every FAIL that no baseline lists, every WARN where strict, and the rest."""
    base = run.baseline
    accepted = frozenset(entry.signature for entry in base.known) if base else frozenset()
    unlisted = [finding for finding in run.findings if finding.signature not in accepted]
    new = tuple(finding for finding in unlisted if finding.verdict in run.weighed)
    stale = [OutdatedEntry("stale", row, NO_LONGER) for row in base.stale] if base else []
    expired = base.expired if base else []
    return RunFailures(
        accepted=accepted,
        new=new,
        warnings=() if run.strict else tuple(each for each in unlisted if each.verdict == "warn"),
        blockers=_blockers(run, new, accepted),
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
    blockers = [
        Blocker(entry, tuple(by_requirement.get(entry.id, ())))
        for entry in run.requirements
        if entry.id in by_requirement or (entry.verdict in run.weighed and entry.id not in listed)
    ]
    return tuple(sorted(blockers, key=lambda blocker: blocker.rank))
