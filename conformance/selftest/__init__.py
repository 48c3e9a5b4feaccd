"""Tests the suite itself: every fault is caught, every variant passes, every check and case can fail.

A fault run is a run of cases in a process of its own, forked from one that has imported and collected
everything, against a reference portal within that process.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from conformance.checks import CHECKS
from conformance.errors import UsageError
from conformance.report.model.words import plural
from conformance.run.catalogue import Interruptible, ids_of, pytest_arguments
from conformance.selftest import workers
from conformance.selftest.choice import (
    MANY_OPERATIONS,
    a_few_of_each,
    function_of,
    once_at_each_endpoint,
    own_first,
    touching,
    without_other_searches,
)
from conformance.selftest.fault_run import FaultOutcome, attempt
from conformance.selftest.verdicts import (
    OF_RECORDINGS,
    ProofMatrix,
    by_name,
    is_clear,
    is_doubted,
    judge,
    write,
)
from conformance.spec import BY_KEY, REQUIREMENTS
from conformance.target.bundled import FAULTS, VARIANTS, Fault, drawn, grouped

CLEAN = "clean"
SEEDS = range(5)
TRIES = 8
"""With how many faults a case is tried alone."""
AT_ONCE = 12
"""How many variants are tried in one fault run."""
QUIET = (
    "--collect-only", "--capture=no", "-p", "no:terminal", "-p", "no:logging", "-p", "no:warnings",
    "-p", "no:html",
)  # fmt: skip

Printer = Callable[[str], None]


def run(
    *,
    out: Path | None = None,
    only: Sequence[str] | None = None,
    jobs: int | None = None,
    thorough: bool = False,
    tell: Printer = print,
) -> int:
    """Makes the fault runs, prints what is not proven, writes its reports to ``out``.

    ``only``: these faults and variants. ``jobs``: how many fault runs at a time; by default one more than
    there are cores, as a fault run waits now and then. ``thorough``: every case for every variant.
    Several variants share a fault run, and each is tried alone only where their run shows a contradiction, or
    tests less than the others. Gives 0, or 1 where anything is not proven. Raises UsageError.
    """
    if not hasattr(os, "fork"):
        raise UsageError("selftest: this system has no fork(). Run it on Linux or macOS.")
    names = tuple(only or ())
    unknown = [name for name in names if name not in FAULTS and name not in VARIANTS]
    if unknown:
        raise UsageError(
            f'selftest: there is no fault and no variant "{unknown[0]}". `serve --list-faults` names them.'
        )
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    runs = FaultRuns(names, thorough, jobs or (os.cpu_count() or 1) + 1)
    matrix = matrix_of(runs)
    judge(matrix, deciders=runs.deciders, whole=not names)
    if out is not None:
        write(matrix, out)
    _tell(matrix, tell)
    return 1 if matrix.problems else 0


@dataclass
class FaultRuns:
    """Runs inside pytest, once it has collected the cases."""

    names: tuple[str, ...]
    thorough: bool
    jobs: int
    matrix: ProofMatrix | None = None
    deciders: set[str] = field(default_factory=set)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        began = time.perf_counter()
        items = [item for item in session.items if ids_of(item)]
        self.deciders = _deciders(items)
        gc.collect()
        # In this process, so that the fault runs forked from it find warm what is made when it is first used.
        clean = attempt(session, items, CLEAN, watched=True)
        outcomes = list(workers.run(self._jobs(session, items, clean), workers=self.jobs))
        outcomes += workers.run(self._doubted(session, items, clean, outcomes), workers=self.jobs)
        outcomes += self._members(session, self._cases_of_variants(items), clean, outcomes)
        self.matrix = ProofMatrix(
            clean,
            by_name(outcomes, FAULTS),
            by_name(outcomes, VARIANTS),
            by_name(outcomes, map(_combination, SEEDS)),
        )
        if not self.names:
            self.matrix.alone = self._tried_alone(session, items, clean, self.matrix)
        self.matrix.seconds = time.perf_counter() - began

    def _tried_alone(
        self, session: pytest.Session, items: list[pytest.Item], clean: FaultOutcome, matrix: ProofMatrix
    ) -> list[tuple[str, FaultOutcome]]:
        """A case that found nothing is tried alone: others may always find the same before it does."""
        proven = {source for sources in matrix.proofs.values() for source in sources}
        jobs: list[tuple[str, workers.Job]] = []
        for function in sorted(self.deciders - proven):
            own = [item for item in items if function_of(item.nodeid) == function]
            declared = {requirement for item in own for requirement in ids_of(item)}
            called = {
                key
                for item in own
                for key in (*clean.touched.get(item.nodeid, ()), *clean.read_beside.get(item.nodeid, ()))
            }
            meant = [
                fault
                for fault in FAULTS.values()
                if declared & set(fault.breaks)
                and (not fault.operations or not called.isdisjoint(fault.operations))
            ]
            jobs += [(f.name, _job(session, own, f.name, faults=[f.name])) for f in meant[:TRIES]]
        return [(outcome.name, outcome) for outcome in workers.run(jobs, workers=self.jobs)]

    def _jobs(
        self, session: pytest.Session, items: list[pytest.Item], clean: FaultOutcome
    ) -> Iterator[tuple[str, workers.Job]]:
        """The long fault runs first, so that the last ones to end are short."""
        representative = self._cases_of_variants(items)
        for group in self._groups():
            yield _group(group), _job(session, representative, _group(group), variants=group)
        if not self.names:
            for seed in SEEDS:
                variants = [variant.name for variant in drawn(VARIANTS.values(), seed)]
                yield _combination(seed), _job(session, representative, _combination(seed), variants=variants)
        for name, fault in sorted(FAULTS.items(), key=lambda row: bool(row[1].operations)):
            if self._wanted(name):
                cases_of = _all_cases if self.names else _near_cases
                yield name, _job(session, cases_of(items, fault, clean), name, faults=[name])

    def _doubted(
        self,
        session: pytest.Session,
        items: list[pytest.Item],
        clean: FaultOutcome,
        outcomes: Sequence[FaultOutcome],
    ) -> Iterator[tuple[str, workers.Job]]:
        """Faults with which the near cases showed anything else than the fault lists, or whose check they did
        not prove, with all cases."""
        if self.names:
            return
        by_fault = by_name(outcomes, FAULTS)
        proven = {source for sources in ProofMatrix(clean, by_fault).proofs.values() for source in sources}
        named = {f"check {check.name}": check.requirement for check in CHECKS}
        unproven = {named[check] for check in named.keys() - proven - OF_RECORDINGS}
        for name, outcome in by_fault.items():
            fault = FAULTS[name]
            if is_doubted(fault, outcome) or not unproven.isdisjoint(fault.breaks):
                yield name, _job(session, _all_cases(items, fault, clean), name, faults=[name])

    def _cases_of_variants(self, items: list[pytest.Item]) -> list[pytest.Item]:
        return items if self.thorough else a_few_of_each(items)

    def _groups(self) -> list[list[str]]:
        wanted = [variant for variant in VARIANTS.values() if self._wanted(variant.name)]
        return [[variant.name for variant in group] for group in grouped(wanted, AT_ONCE)]

    def _members(
        self,
        session: pytest.Session,
        cases: list[pytest.Item],
        clean: FaultOutcome,
        outcomes: Sequence[FaultOutcome],
    ) -> Iterator[FaultOutcome]:
        """The outcome of each variant: of the smallest group that it was tried in. A group that shows a
        problem is halved until what shows it is alone."""
        by_group = {outcome.name: outcome for outcome in outcomes}
        groups = [(group, by_group[_group(group)]) for group in self._groups()]
        while groups:
            halves: list[list[str]] = []
            for group, outcome in groups:
                if len(group) == 1:
                    yield msgspec.structs.replace(outcome, name=group[0])
                elif is_clear(outcome, clean):
                    yield from (_of_member(outcome, name) for name in group)
                else:
                    half = len(group) // 2
                    halves += [group[:half], group[half:]]
            jobs = [(_group(half), _job(session, cases, _group(half), variants=half)) for half in halves]
            by_group = {outcome.name: outcome for outcome in workers.run(jobs, workers=self.jobs)}
            groups = [(half, by_group[_group(half)]) for half in halves]

    def _wanted(self, name: str) -> bool:
        return not self.names or name in self.names


def _of_member(outcome: FaultOutcome, name: str) -> FaultOutcome:
    """The outcome of a variant of a group: the warnings of the rules that it departs from are its own."""
    departs = VARIANTS[name].departs
    turned = {rule: each for rule, each in outcome.turned.items() if rule in departs}
    return msgspec.structs.replace(outcome, name=name, turned=turned, departs=departs)


def _near_cases(items: list[pytest.Item], fault: Fault, clean: FaultOutcome) -> list[pytest.Item]:
    if not fault.operations:
        return own_first(once_at_each_endpoint(items, fault.breaks, touched=clean.touched), fault.breaks)
    cases = touching(items, fault, touched=clean.touched, read_beside=clean.read_beside, most=MANY_OPERATIONS)
    return own_first(without_other_searches(cases, fault.breaks), fault.breaks)


def _all_cases(items: list[pytest.Item], fault: Fault, clean: FaultOutcome) -> list[pytest.Item]:
    cases = items
    if fault.operations:
        cases = touching(items, fault, touched=clean.touched, read_beside=clean.read_beside)
    return own_first(without_other_searches(cases, fault.breaks), fault.breaks)


def _job(
    session: pytest.Session,
    cases: list[pytest.Item],
    name: str,
    *,
    faults: Sequence[str] = (),
    variants: Sequence[str] = (),
) -> workers.Job:
    return lambda: attempt(session, cases, name, faults=faults, variants=variants)


def _group(names: Sequence[str]) -> str:
    return " + ".join(names)


def _combination(seed: int) -> str:
    return f"variants drawn with seed {seed}"


def matrix_of(runs: FaultRuns) -> ProofMatrix:
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        pytest.main([*pytest_arguments(), *QUIET], plugins=[runs, Interruptible()])
    if runs.matrix is None:
        raise RuntimeError(f"the cases cannot be collected:\n{output.getvalue()}")
    return runs.matrix


def _deciders(items: Sequence[pytest.Item]) -> set[str]:
    """Every check and case that can turn a requirement at an endpoint of the reference portal, which has none
    that the specification does not describe."""
    turning = {row.id for row in REQUIREMENTS.values() if row.level != "open" and not row.untestable}
    cases = {function_of(item.nodeid) for item in items if turning & set(ids_of(item))}
    checks = {
        f"check {check.name}"
        for check in CHECKS
        if check.requirement in turning and check.on.keys & BY_KEY.keys()
    }
    return cases | checks | {"check shape"}


def _tell(matrix: ProofMatrix, tell: Printer) -> None:
    for problem in matrix.problems:
        tell(problem)
    totals = matrix.totals
    tell(
        f"{plural(totals['faults'], 'fault')}, {plural(totals['variants'], 'variant')}, "
        f"{plural(totals['combinations'], 'combination')} in "
        f"{matrix.seconds:.0f} s: {totals['musts proven']} of {totals['testable musts']} musts and "
        f"{totals['shoulds proven']} of {totals['testable shoulds']} shoulds are proven able to fail, "
        f"{plural(len(matrix.problems), 'problem')}"
    )
