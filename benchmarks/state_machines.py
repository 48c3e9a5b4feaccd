"""Which faults of state the state machines find by themselves, with none of the scenario cases.

    .venv/bin/python benchmarks/state_machines.py [--jobs 2]

Writes ``benchmarks/state_machines.md``: each fault, the machine that found it at each effort, and how long it
took.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from conformance.target.bundled import FAULTS
from conformance.tests.machines import Alone, left_alone

WRITTEN = Path(__file__).with_suffix(".md")
EFFORTS = ("quick", "normal")
MACHINES = {
    "test_a_sign_in_follows_the_stated_moves_in_any_order": "sign-in",
    "test_an_invitation_is_answered_once": "invitations",
    "test_a_record_is_as_it_was_last_changed": "channels and types",
}


def page(alone: Mapping[str, Alone], seconds: Mapping[str, float]) -> Iterator[str]:
    yield "# What the state machines find by themselves\n"
    yield (
        "Made by `benchmarks/state_machines.py`. State faults are those that break a requirement which a "
        "machine decides and no single answer tells. Only `cases/properties/test_signing_in.py`, "
        "`test_inviting.py` and `test_records.py` run, and of those the one that declares the requirement.\n"
    )
    yield "| effort | state faults | found | in a portal without a fault | seconds |"
    yield "|---|---|---|---|---|"
    for effort, results in alone.items():
        number = sum(bool(finders) for finders in results.found.values())
        wrongly = len(results.clean.turned)
        yield f"| {effort} | {len(results.outcomes)} | {number} | {wrongly} | {seconds[effort]:.0f} |"
    yield f"\n| fault | breaks | {' | '.join(EFFORTS)} |"
    yield f"|---|---|{'---|' * len(EFFORTS)}"
    for name in alone[EFFORTS[0]].outcomes:
        cells = " | ".join(_cell(results, name) for results in alone.values())
        yield f"| {name} | {' '.join(FAULTS[name].breaks)} | {cells} |"


def _cell(alone: Alone, name: str) -> str:
    finders = ", ".join(MACHINES.get(finder, finder) for finder in alone.found[name])
    return f"{finders or 'not found'}, {alone.outcomes[name].seconds:.1f} s"


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = options.parse_args()
    alone, seconds = {}, {}
    for effort in EFFORTS:
        began = time.perf_counter()
        alone[effort] = left_alone(effort=effort, jobs=asked.jobs)
        seconds[effort] = time.perf_counter() - began
    WRITTEN.write_text("\n".join(page(alone, seconds)) + "\n", encoding="utf-8")
    print(WRITTEN.read_text(encoding="utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
