"""The exchanges of a report folder judged again, by the checks alone, and compared with the results.

A case acts, or knows what no exchange shows: what cases alone decided is not recomputed. Whatever runs the
cases on recorded answers would add their verdicts to the ledger of ``judged``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from conformance.checks import CHECKS
from conformance.judging import judge_of, watch
from conformance.report.model import evidence
from conformance.report.model.run import FindingEntry, RequirementEntry, Run, finding_entry
from conformance.spec import REQUIREMENTS
from conformance.traffic import capture
from conformance.traffic.garbage_collector import rare_garbage_collection
from conformance.traffic.values import REDACTED
from conformance.verdicts.findings import Ledger, shown

BY_CHECK = "check "
"""How the name of a check begins where that of a case may stand."""

OF_MODEL = frozenset(f"{BY_CHECK}{check.name}" for check in CHECKS if check.is_of_model)
BAD = ("fail", "warn")

ON_CLAIMS = frozenset({"TOKEN-018", "TOKEN-020", "TOKEN-024", "TOKEN-025", "TOKEN-028", "TOKEN-029"})
"""Rules on what a token says: a record has a placeholder in its place."""

OF_CASES = "decided by a case"
REDACTED_TOKENS = "about what a token says, which is redacted"
OF_THE_USER = "a rule of the user's own, or a reading that the profile pins"


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
    result = Recomputed()
    result.other += _counted_otherwise(run, exchanges)
    ledger = judged(run, exchanges, result.other) if exchanges.exists() else Ledger(REQUIREMENTS)
    entries = {each.signature: each for each in map(finding_entry, ledger.findings)}
    result.other += [*_new(run, entries), *_gone(run, entries)]
    verdicts = {each.requirement.id: each.verdict.value for each in ledger.results()}
    for row in run.requirements:
        if row.verdict in (*BAD, "pass"):
            _count(row, verdicts.get(row.id), result)
    return result


def judged(run: Run, exchanges: Path, other: list[str]) -> Ledger:
    """A ledger of what the checks decide. What several answers say of the same thing is compared where the
    run did: a check does it on request."""
    cases = (case for row in run.requirements for case in row.cases)
    model = run.command == "run" or not OF_MODEL.isdisjoint(cases)
    ledger, moved = Ledger(REQUIREMENTS), 0
    judge = watch(ledger, judge=judge_of(model=model))
    with rare_garbage_collection():
        for number, exchange in enumerate(capture.read(exchanges), 1):
            moved = moved or (number if exchange.n != number else 0)
            judge(exchange)
    if moved:
        other.append(f"exchanges.jsonl: line {moved} has another number: lines were taken out or moved.")
    return ledger


def _counted_otherwise(run: Run, exchanges: Path) -> Iterator[str]:
    """Where the results count other exchanges than there are, or name one that is not there."""
    read = evidence.read(exchanges, ())
    stated = {row.endpoint: row.requests for row in run.timings}
    if stated != {row.endpoint: row.requests for row in read.timings}:
        yield "exchanges.jsonl: it has other numbers of requests than the timings of results.json."
    for finding in run.findings:
        if any(not 1 <= number <= read.total for number in finding.exchanges):
            yield f"{finding.requirement}: its finding names an exchange that is not there."


def _new(run: Run, entries: Mapping[str, FindingEntry]) -> Iterator[str]:
    """Contradictions that the exchanges show and the results do not. What came after a restart, or is not of
    a selection, a run does not count."""
    if run.ending.restarted or run.ending.unusable:
        return
    stated = {each.signature for each in run.findings}
    for signature, entry in entries.items():
        counts = not run.scope.selection or entry.requirement in run.scope.decided.get(entry.endpoint, ())
        if entry.verdict in BAD and signature not in stated and counts:
            at = f"exchange {entry.exchanges[-1]}"
            yield f"{entry.requirement}: {at} contradicts it, and results.json has no such finding."


def _gone(run: Run, entries: Mapping[str, FindingEntry]) -> Iterator[str]:
    """Findings that are a check's, and that the exchanges do not show so."""
    for stated in run.findings:
        entry = entries.get(stated.signature)
        is_by_check = stated.is_aside or (stated.case or "").startswith(BY_CHECK)
        if stated.requirement not in REQUIREMENTS:
            continue
        if entry is None and is_by_check and stated.requirement not in ON_CLAIMS:
            yield f"{stated.requirement}: no exchange shows its finding at {stated.path or stated.endpoint}."
        elif entry is not None and _is_otherwise(stated, entry):
            yield (
                f"{stated.requirement}: its finding says {shown(stated.actual)}, and exchange"
                f" {entry.exchanges[-1]} shows {shown(entry.actual)}."
            )


def _is_otherwise(stated: FindingEntry, entry: FindingEntry) -> bool:
    """Whether a finding differs from what the exchange that it names last shows. What is redacted was judged
    before it was."""
    is_redacted = REDACTED.search(f"{stated.actual} {entry.actual}") is not None
    return stated.exchanges[-1:] == entry.exchanges[-1:] and not is_redacted and stated.actual != entry.actual


def _count(row: RequirementEntry, verdict: str | None, result: Recomputed) -> None:
    result.decided[row.level] += 1
    if verdict == row.verdict:
        result.same[row.level] += 1
    elif verdict is None:
        result.not_recomputable[OF_THE_USER] += 1
    elif any(not case.startswith(BY_CHECK) for case in row.cases):
        result.not_recomputable[OF_CASES] += 1
    elif row.id in ON_CLAIMS:
        result.not_recomputable[REDACTED_TOKENS] += 1
    else:
        result.other.append(f"{row.id}: its verdict is {row.verdict}, and the exchanges make {verdict}.")
