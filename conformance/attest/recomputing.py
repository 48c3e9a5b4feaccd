"""The exchanges of a report folder judged again, by the checks alone, and compared with the results.

A case acts, or knows what no exchange shows: what cases alone decided is not recomputed. Whatever runs the
cases on recorded answers would add their verdicts to the ledger of ``judged``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from conformance.checks import CHECKS
from conformance.judging import judge_of, watch
from conformance.report.model.run import FindingEntry, RequirementEntry, Run, finding_entry
from conformance.spec import REQUIREMENTS
from conformance.traffic import capture
from conformance.traffic.garbage_collector import rare_garbage_collection
from conformance.traffic.values import REDACTED
from conformance.verdicts.findings import Ledger, shown

BY_CHECK = "check "
"""How the name of a check begins where that of a case may stand."""

OF_MODEL = frozenset(f"{BY_CHECK}{check.name}" for check in CHECKS if check.is_of_model)
ON_CLAIMS = frozenset({"TOKEN-018", "TOKEN-020", "TOKEN-024", "TOKEN-025", "TOKEN-028", "TOKEN-029"})
BAD = ("fail", "warn")


@dataclass
class Recomputed:
    """What became of the decided rules: how many have the ``same`` verdict, and of how many ``decided``, by
    level; how many are not recomputable, by reason; and what is ``other``, as sentences."""

    decided: Counter[str] = field(default_factory=Counter)
    same: Counter[str] = field(default_factory=Counter)
    not_recomputable: Counter[str] = field(default_factory=Counter)
    other: list[str] = field(default_factory=list)


def recomputed(run: Run, exchanges: Path) -> Recomputed:
    """The verdicts of the exchanges beside those of the results. CaptureError: an exchange cannot be read."""
    ledger, number = judged(run, exchanges)
    entries = {each.signature: each for each in map(finding_entry, ledger.findings)}
    differences = (_beyond(run, number), _new(run, entries), _gone(run, entries))
    result = Recomputed(other=list(chain(*differences)))
    verdicts = {each.requirement.id: each.verdict.value for each in ledger.results()}
    for row in run.requirements:
        if row.verdict in (*BAD, "pass"):
            _count(row, verdicts.get(row.id), result)
    return result


def judged(run: Run, exchanges: Path) -> tuple[Ledger, int]:
    """What the checks decide, and of how many exchanges; what several answers say of the same thing, where it
    was compared before."""
    cases = (case for row in run.requirements for case in row.cases)
    model = run.command == "run" or not OF_MODEL.isdisjoint(cases)
    ledger, number = Ledger(REQUIREMENTS), 0
    judge = watch(ledger, judge=judge_of(model=model))
    with rare_garbage_collection():
        for exchange in capture.read(exchanges) if exchanges.exists() else ():
            judge(exchange)
            number += 1
    return ledger, number


def _beyond(run: Run, number: int) -> Iterator[str]:
    """Findings that name an exchange that is not there."""
    for finding in run.findings:
        if not all(1 <= each <= number for each in finding.exchanges):
            yield f"{finding.requirement}: its finding names an exchange that is not there."


def _new(run: Run, entries: Mapping[str, FindingEntry]) -> Iterator[str]:
    """Contradictions without a finding. A run does not count those after a restart, or beside a selection."""
    if run.ending.unusable or (run.ending.restarted and run.ending.inconclusive):
        return
    stated = {each.signature for each in run.findings}
    for signature, entry in entries.items():
        counts = not run.scope.selection or entry.requirement in run.scope.decided.get(entry.endpoint, ())
        if entry.verdict in BAD and signature not in stated and counts:
            yield f"{entry.requirement}: exchange {entry.exchanges[-1]} contradicts it, and no finding does."


def _gone(run: Run, entries: Mapping[str, FindingEntry]) -> Iterator[str]:
    """Findings of checks that the exchanges do not show so. What is redacted was judged before it was."""
    for stated in (each for each in run.findings if each.requirement in REQUIREMENTS.keys() - ON_CLAIMS):
        entry, is_by_check = entries.get(stated.signature), (stated.case or "").startswith(BY_CHECK)
        if entry is None and (stated.is_aside or is_by_check):
            yield f"{stated.requirement}: no exchange shows its finding at {stated.path}."
        elif entry is None or stated.actual == entry.actual or stated.exchanges[-1:] != entry.exchanges[-1:]:
            continue
        elif REDACTED.search(f"{stated.actual} {entry.actual}") is None:
            said, seen = shown(stated.actual), shown(entry.actual)
            yield f"{stated.requirement}: its finding says {said}, and exchange {entry.exchanges[-1]} {seen}."


def _count(row: RequirementEntry, verdict: str | None, result: Recomputed) -> None:
    result.decided[row.level] += 1
    if verdict == row.verdict:
        result.same[row.level] += 1
    elif verdict is None:
        result.not_recomputable["a rule of the user's own, or a reading that the profile pins"] += 1
    elif any(not case.startswith(BY_CHECK) for case in row.cases):
        result.not_recomputable["decided by a case"] += 1
    elif row.id in ON_CLAIMS:
        result.not_recomputable["about what a token says, which is redacted"] += 1
    else:
        result.other.append(f"{row.id}: its verdict is {row.verdict}, and the exchanges make {verdict}.")
