"""What Schemathesis finds of the faults that a schema tool could see at all, and what this suite finds.

    .venv/bin/python benchmarks/third_opinion.py [--seed 4] [--number 40]

Both meet the same faulty portals over a loopback socket, and both are told which endpoints the fault touches.
Writes ``benchmarks/third_opinion.md``.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from conformance.run.catalogue import pytest_arguments
from conformance.run.hooks.loop import forget_run, run_all
from conformance.run.hooks.stash import SESSION
from conformance.run.options import RunOptions
from conformance.run.planning import ids_of
from conformance.run.session import RunSession
from conformance.selftest import QUIET, workers
from conformance.selftest.choice import a_few_of_each, touching
from conformance.selftest.fault_run import FaultOutcome, attempt
from conformance.spec.openapi import document
from conformance.target.bundled import FAULTS, Fault, running_portal
from conformance.target.portal.transport import clock_of
from conformance.tests.third_opinion import opinion_of
from conformance.verdicts.findings import Verdict

WRITTEN = Path(__file__).with_suffix(".md")

OF_THE_ENVELOPE = (
    "ENV-001 ENV-002 ENV-003 ENV-004 ENV-005 ENV-006 ENV-008 ENV-009 ENV-010"  # its schemas
    " ENV-015"  # its media type
    " ENV-018"  # not_a_server_error, of any document
)
OF_REQUESTS = (
    "AUTHN-001 AUTHN-004"  # security
    " HEADER-001"  # a required header
    " LOGIN-043 LOGIN-044 LOGIN-045 LOGIN-046 LOGIN-047 LOGIN-048 LOGIN-051 LOGIN-053"  # the body of initiate
)
SHAPELESS = "-is-not-offered"
"""Of an endpoint that is not there a document with an error for any other status says nothing."""


def visible() -> list[Fault]:
    """The faults that break what the document states: ids at its schemas, the envelope, security, bodies."""
    stated = set(re.findall(r"'x-requirement': '([\w-]+)'", str(document())))
    stated |= {*OF_THE_ENVELOPE.split(), *OF_REQUESTS.split()}
    return [
        fault
        for fault in FAULTS.values()
        if stated.intersection(fault.breaks)
        or (fault.breaks[0].startswith("OP-") and not fault.name.endswith(SHAPELESS))
    ]


@dataclass(frozen=True)
class Row:
    """``theirs``: the checks of Schemathesis that object; ``ours``: the requirements that turn."""

    fault: Fault
    theirs: list[str]
    their_seconds: float
    ours: list[str]
    our_seconds: float


def theirs(fault: Fault) -> tuple[list[str], float]:
    with running_portal(seed=1, faults=[fault.name]) as profile:
        began = time.perf_counter()
        opinion = opinion_of(profile, operations=fault.operations)
        seconds = time.perf_counter() - began
    return sorted({objection.check for objection in opinion.objections}), seconds


def ours(session: pytest.Session, items: Sequence[pytest.Item], fault: Fault) -> tuple[list[str], float]:
    forget_run(items)
    with running_portal(seed=1, faults=[fault.name]) as profile, tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        options = RunOptions(out=Path(folder), impact="disruptive")
        run = RunSession.open(profile, clock_of(profile), options)
        session.config.option.collectonly = False
        session.config.stash[SESSION] = run
        session.items = list(items)
        run_all(session, run)
        seconds = time.perf_counter() - began
        run.portal.close()
        run.log.close()
        del session.config.stash[SESSION]
    weighs = (Verdict.FAIL, Verdict.WARN)
    found = {one.requirement for one in run.ledger.findings if one.verdict in weighs}
    return sorted(found & {*fault.breaks, *fault.also}), seconds


@dataclass
class Comparing:
    """Runs inside pytest, once it has collected the cases."""

    faults: Sequence[Fault]
    rows: list[Row] = field(default_factory=list)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        items = [item for item in session.items if ids_of(item)]
        clean = next(workers.run([("", lambda: attempt(session, items, "", watched=True))], workers=1))
        for fault in self.faults:
            self.rows.append(self._row(session, items, clean, fault))
            print(f"{fault.name}: {self.rows[-1].theirs}, {self.rows[-1].ours}", file=sys.stderr, flush=True)

    def _row(
        self, session: pytest.Session, items: list[pytest.Item], clean: FaultOutcome, fault: Fault
    ) -> Row:
        their, their_seconds = theirs(fault)
        if fault.operations:
            cases = touching(items, fault.operations, clean.touched)
        else:
            cases = a_few_of_each(items, fault.breaks)
        own, own_seconds = ours(session, cases, fault)
        return Row(fault, their, their_seconds, own, own_seconds)


def compared(faults: Sequence[Fault]) -> list[Row]:
    comparing = Comparing(faults)
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main([*pytest_arguments(), *QUIET], plugins=[comparing])
    return comparing.rows


def page(rows: list[Row], *, possible: int, seed: int) -> Iterator[str]:
    their, own = [row for row in rows if row.theirs], [row for row in rows if row.ours]
    yield "# A third opinion: Schemathesis and this suite on the same faults\n"
    yield (
        f"Made by `benchmarks/third_opinion.py --seed {seed} --number {len(rows)}`. Of {len(FAULTS)} faults "
        f"{possible} are such that a schema tool could see them at all: they break a requirement that the "
        "OpenAPI document states (an `x-requirement` at one of its schemas, the schema or media type of the "
        "envelope, security, the required header, the body of initiate, the schema of an endpoint's answer, "
        "no 5xx). "
        f"{len(rows)} of them were drawn. Schemathesis gets the document, a token, the profile's bodies as "
        "examples and its ids for paths, and both are told the endpoints that a fault touches.\n"
    )
    yield "| | found | seconds in all | seconds a fault, median |"
    yield "|---|---|---|---|"
    for name, found, seconds in (
        ("Schemathesis", their, [row.their_seconds for row in rows]),
        ("this suite", own, [row.our_seconds for row in rows]),
    ):
        middle = sorted(seconds)[len(seconds) // 2]
        yield f"| {name} | {len(found)} of {len(rows)} | {sum(seconds):.0f} | {middle:.1f} |"
    ratio = sum(row.their_seconds for row in rows) / sum(row.our_seconds for row in rows)
    yield f"\nSchemathesis takes {ratio:.1f} times as long.\n"
    yield "| fault | breaks | Schemathesis | s | this suite | s |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        said = ", ".join(row.theirs) or "nothing"
        turned = " ".join(row.ours) or "nothing"
        yield (
            f"| {row.fault.name} | {' '.join(row.fault.breaks)} | {said} | {row.their_seconds:.1f} "
            f"| {turned} | {row.our_seconds:.1f} |"
        )


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--seed", type=int, default=4)
    options.add_argument("--number", type=int, default=40)
    asked = options.parse_args()
    possible = visible()
    chosen = random.Random(asked.seed).sample(possible, min(asked.number, len(possible)))
    rows = compared([fault for fault in possible if fault in chosen])
    text = "\n".join(page(rows, possible=len(possible), seed=asked.seed))
    WRITTEN.write_text(text + "\n", encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
