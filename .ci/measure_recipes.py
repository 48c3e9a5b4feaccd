"""Renews ``conformance/run/outlook/recipes.json``: what ``explain`` prints for rules whose own cases do not
meet their first fault (two minutes).

    .venv/bin/python .ci/measure_recipes.py

``make check`` does without it; a test follows a sample of the printed recipes.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from conformance.run.catalogue import pytest_arguments
from conformance.run.planning import ids_of, impact_of
from conformance.run.testable import deciding
from conformance.selftest import QUIET
from conformance.selftest.fault_run import attempt
from conformance.spec import IMPACTS, REQUIREMENTS
from conformance.target.bundled import FAULTS

FILE = Path(__file__).parents[1] / "conformance" / "run" / "outlook" / "recipes.json"
TRIED = 4
"""How many faults of a rule are tried with each case."""


class Measuring:
    """Runs inside pytest, once it has collected the cases."""

    def __init__(self) -> None:
        self.recipes: dict[str, Mapping[str, str]] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        items = [item for item in session.items if ids_of(item)]
        proofs = json.loads((files("conformance.selftest") / "proofs.json").read_text(encoding="utf-8"))
        for rule, row in REQUIREMENTS.items():
            faults = [fault.name for fault in FAULTS.values() if rule in fault.breaks]
            if faults and row.level != "open":
                ways = _ways(rule, faults, items, proofs.get(rule, []))
                self._choose(session, rule, first=faults[0], ways=ways)

    def _choose(self, session: pytest.Session, rule: str, *, first: str, ways: Iterator[Any]) -> None:
        for fault, case, cases in ways:
            if _shows_both(session, rule, fault, cases):
                if case or fault != first:
                    self.recipes[rule] = {"fault": fault} | ({"case": case} if case else {})
                return
        print(f"no recipe shows both verdicts of {rule}", file=sys.__stderr__)


def _ways(rule: str, faults: list[str], items: list[pytest.Item], proven: list[str]) -> Iterator[Any]:
    """Faults with the cases to run: those of the rule, and then each proven one alone, the mildest first."""
    wanted = deciding({rule}, (each for item in items for each in ids_of(item)))
    own = [item for item in items if not wanted.isdisjoint(ids_of(item))]
    yield from ((fault, "", own) for fault in faults)
    alone = {name: [item for item in items if name in item.nodeid] for name in proven if "::" in name}
    for name, cases in sorted(alone.items(), key=lambda row: (IMPACTS.index(_impact(row[1])), len(row[1]))):
        yield from ((fault, name, cases) for fault in faults[:TRIED])


def _impact(cases: list[pytest.Item]) -> Any:
    return max(map(impact_of, cases), key=IMPACTS.index, default="read-only")


def _shows_both(session: pytest.Session, rule: str, fault: str, cases: list[pytest.Item]) -> bool:
    impact = _impact(cases)
    failing = attempt(session, cases, fault, faults=[fault], impact=impact).turned.get(rule)
    if failing is None or failing.verdict != ("fail" if REQUIREMENTS[rule].level == "must" else "warn"):
        return False
    passing = attempt(session, cases, "clean", impact=impact)
    return rule not in passing.turned and rule not in passing.untested


if __name__ == "__main__":
    measuring = Measuring()
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main([*pytest_arguments(), *QUIET], plugins=[measuring])
    FILE.write_text(json.dumps(measuring.recipes, indent=1) + "\n", encoding="utf-8")
