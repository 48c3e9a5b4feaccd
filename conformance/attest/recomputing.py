"""The exchanges of a report folder judged again, by checks and by cases, and compared with the results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from math import inf
from pathlib import Path
from typing import Protocol

from conformance.checks import CHECKS
from conformance.judging import judge_of, watch
from conformance.report.model.run import Run
from conformance.report.model.words import listed
from conformance.spec import REQUIREMENTS
from conformance.traffic import capture
from conformance.traffic.exchange import Exchange
from conformance.traffic.garbage_collector import rare_garbage_collection
from conformance.traffic.log import line_of
from conformance.traffic.values import REDACTED
from conformance.verdicts.findings import Ledger, shown

BY_CHECK = "check "
"""How the name of a check begins where that of a case may stand."""

OF_MODEL = frozenset(f"{BY_CHECK}{check.name}" for check in CHECKS if check.is_of_model)
ON_CLAIMS = frozenset(
    {"TOKEN-018", "TOKEN-019", "TOKEN-020", "TOKEN-024", "TOKEN-025", "TOKEN-028", "TOKEN-029"}
)
NUMBERS = re.compile(r"\w*\d\w*")
"""What may differ in the reasons of two runs: seconds, times of day, made-up names."""

FIRST_SEEN = re.compile(r"first seen in #(\d+)")
BY_A_CASE, OF_CLAIMS = "decided by a case", "about what a token says, which is redacted"
OF_THE_USER = "a rule of the user's own, or a reading that the profile pins"
BAD = ("fail", "warn")


class OnRecord(Protocol):
    """Cases that ran on what was recorded: by rule why nothing is concluded of it; by case where it parts
    from the record; and how many musts the profile and the impact let be tested."""

    ledger: Ledger
    doubtful: dict[str, str]
    astray: dict[str, str]
    testable: int | None


Cases = Callable[[Run, Path], OnRecord | None]
"""Runs the cases of a run on its exchanges; None where it had none."""


def no_cases(run: Run, exchanges: Path) -> None:
    """Runs none: those of this build may not be those of the run."""


@dataclass
class Recomputed:
    """What became of the decided rules: how many have the ``same`` verdict, and of how many ``decided``, by
    level; how many are not recomputable, by reason; and what is ``other``, as sentences."""

    decided: Counter[str] = field(default_factory=Counter)
    same: Counter[str] = field(default_factory=Counter)
    not_recomputable: Counter[str] = field(default_factory=Counter)
    other: list[str] = field(default_factory=list)


def recomputed(run: Run, exchanges: Path, cases: Cases) -> Recomputed:
    """The verdicts of the exchanges beside those of the results. CaptureError: an exchange cannot be read."""
    result, ledger = Recomputed(), Ledger(REQUIREMENTS)
    result.other += judged(run, exchanges, ledger)
    by_checks = _run_of(ledger, run)
    again = cases(run, exchanges)
    made = by_checks if again is None else _run_of(again.ledger, run)
    doubtful = _left(run, is_by_checks=again is None) | dict.fromkeys(ON_CLAIMS, OF_CLAIMS)
    if again is not None:
        doubtful |= again.doubtful
        result.other += _astray(run, again)
    result.other += dict.fromkeys([*_by_checks(run, by_checks), *_otherwise(run, made, doubtful)])
    verdicts = {row.id: row.verdict for row in made.requirements}
    for row in (each for each in run.requirements if each.verdict in (*BAD, "pass")):
        result.decided[row.level] += 1
        if row.verdict == verdicts.get(row.id):
            result.same[row.level] += 1
        elif row.id in doubtful or row.id not in verdicts:
            result.not_recomputable[doubtful.get(row.id, OF_THE_USER)] += 1
    return result


def _run_of(ledger: Ledger, run: Run) -> Run:
    return Run.of(
        ledger.results(),
        ledger.findings,
        ledger.observations,
        target_url="",
        target_profile="",
        started=run.started,
        finished=run.finished,
        impact=run.impact,
        fail_on="must",
    )


def _left(run: Run, *, is_by_checks: bool) -> dict[str, str]:
    """The rules of which a selection tells nothing, and of which checks alone do not."""
    left = {"untested", "open"} if is_by_checks else {"untested"} if run.scope.selection else set()
    return {
        row.id: BY_A_CASE
        for row in run.requirements
        if row.verdict in left or (is_by_checks and not all(map(_is_check, row.cases)))
    }


def _is_check(name: str) -> bool:
    return name.startswith(BY_CHECK)


def judged(run: Run, exchanges: Path, ledger: Ledger) -> Iterator[str]:
    """Has the checks decide; what several answers say of the same thing, where it was compared before. Yields
    what is other in where the exchanges are, and when."""
    cases = (case for row in run.requirements for case in row.cases)
    model = run.command == "run" or not OF_MODEL.isdisjoint(cases)
    number, first, last = 0, inf, -inf
    judge, first_seen = watch(ledger, judge=judge_of(model=model)), dict[int, list[str]]()
    for placeholder, origin in run.secrets.items():
        if found := FIRST_SEEN.search(origin):
            first_seen.setdefault(int(found[1]), []).append(placeholder)
    with rare_garbage_collection():
        for exchange in capture.read(exchanges) if exchanges.exists() else ():
            judge(exchange)
            number += 1
            for placeholder in (
                each for each in first_seen.get(exchange.n, ()) if each not in _line(exchange)
            ):
                yield f"results.json: exchange {exchange.n} does not hold {placeholder}."
            first, last = min(first, exchange.time), max(last, exchange.time)
    for finding in run.findings:
        if not all(1 <= each <= number for each in finding.exchanges):
            yield f"{finding.requirement}: its finding names an exchange that is not there."
    began, ended = (datetime.fromisoformat(each).timestamp() for each in (run.started, run.finished))
    is_moved = run.command != "run" or run.scope.bundled or "clock" in run.scope.profile
    if number and not is_moved and not began - 1 <= first <= last <= ended + 1:
        yield f"results.json: it is of {run.started} to {run.finished}, and some exchanges are not."


def _line(exchange: Exchange) -> str:
    return line_of(exchange).decode()


def _astray(run: Run, again: OnRecord) -> Iterator[str]:
    if run.scope.testable != again.testable:
        yield (
            f"results.json: it says that {run.scope.testable} musts could be tested, and its profile and its "
            f"impact let {again.testable} be."
        )
    yield from (f"{case}, run on what was recorded: {why}." for case, why in again.astray.items())
    ran = {part.label for part in run.timeline}
    for row in run.requirements:
        if idle := [case for case in row.cases if case not in ran and not _is_check(case)]:
            yield f"{row.id}: by its results {listed(idle, 3)} decided it, and did not run."


def _by_checks(run: Run, made: Run) -> Iterator[str]:
    """Findings that say another value than checks see, and contradictions without a finding. A run does not
    count those after a restart, or beside a selection."""
    stated, seen = ({each.signature: each for each in of.findings} for of in (run, made))
    for said, found in ((stated[key], seen[key]) for key in stated.keys() & seen.keys()):
        values, number = (shown(said.actual), shown(found.actual)), found.exchanges[-1]
        is_open = REDACTED.search("".join(values)) is None and said.exchanges[-1:] == [number]
        if is_open and values[0] != values[1]:
            yield f"{said.requirement}: its finding says {values[0]}, and exchange {number} {values[1]}."
    if run.ending.unusable or (run.ending.restarted and run.ending.inconclusive):
        return
    for entry in (seen[key] for key in seen.keys() - stated.keys() if seen[key].verdict in BAD):
        if not run.scope.selection or entry.requirement in run.scope.decided.get(entry.endpoint, ()):
            yield f"{entry.requirement}: exchange {entry.exchanges[-1]} contradicts it, and no finding does."


def _otherwise(run: Run, made: Run, doubtful: Collection[str]) -> Iterator[str]:
    """What the results say of rules, and what was recorded does not; and the reverse."""
    stated, found = ({each for each in _statements(of) if each[0] not in doubtful} for of in (run, made))
    for rule, sentence in sorted(stated - found):
        yield f"{rule}: {sentence}. What was recorded does not make it so."
    for rule, sentence in sorted(found - stated):
        yield f"{rule}: by what was recorded, {sentence}. The results do not say so."


def _statements(run: Run) -> Iterator[tuple[str, str]]:
    """What a run says of its rules, each with its rule."""
    for row in run.requirements:
        reason = NUMBERS.sub("…", f" ({row.fault_class}: {row.reason})")
        yield row.id, f"its verdict is {row.verdict}{reason if row.verdict == 'untested' else ''}"
    for each in run.findings:
        yield each.requirement, f"{each.endpoint} contradicts it at {each.path}, {each.times} times"
    rules = {row.reading: row.id for row in run.requirements if row.reading}
    for seen in run.observations:
        yield rules.get(seen.topic, ""), f"{seen.topic} at {seen.endpoint} is {shown(seen.observed)}"
    for reading in run.readings:
        yield reading.requirement or "", f"{reading.key} is {shown(reading.observed)}"
