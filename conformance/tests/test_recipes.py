"""What ``explain`` prints to see both verdicts of a rule, followed word for word within this process."""

from __future__ import annotations

import contextlib
import io
import random
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from conformance.run.catalogue import ids_of, pytest_arguments, row_of
from conformance.run.outlook.explanation import Explanation, explain
from conformance.run.outlook.plan import deciding_cases
from conformance.selftest import QUIET
from conformance.selftest.fault_run import FaultOutcome, attempt
from conformance.spec import IMPACTS, REQUIREMENTS
from conformance.verdicts.selection import selected

ALWAYS = ("ENUM-005", "LOGIN-001", "LOGIN-077", "LOGIN-080", "OP-014")
"""Rules whose recipes once decided nothing."""


def sampled() -> list[Explanation]:
    """A rule of every chapter, drawn by a seed, and those that once went wrong. That a whole run shows the
    others, the selftest proves."""
    printed = [rule for rule in explain(REQUIREMENTS) if rule.serve_failing and "--only" in rule.judge]
    random.Random(80).shuffle(printed)
    drawn = {rule.id.partition("-")[0]: rule for rule in printed if rule.level != "open"}
    return [*drawn.values(), *(rule for rule in printed if rule.id in ALWAYS)]


@dataclass
class Followed:
    """Runs inside pytest, once it has collected the cases: what each recipe came to, with the fault and
    without."""

    outcomes: dict[str, tuple[FaultOutcome, FaultOutcome]] = field(default_factory=dict)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        items = [item for item in session.items if ids_of(item)]
        for rule in sampled():
            fault = shlex.split(str(rule.serve_failing))[-1]
            impact = next(each for each in IMPACTS if each == rule.judge.split()[-1])
            cases = meant(items, rule.judge)
            self.outcomes[rule.id] = (
                attempt(session, cases, fault, faults=[fault], impact=impact),
                attempt(session, cases, "clean", impact=impact),
            )


def meant(items: Sequence[pytest.Item], judge: str) -> list[pytest.Item]:
    """The cases that the options of a recipe select."""
    rows = {item.nodeid: row_of(item) for item in items}
    declared = [rule for row in rows.values() for rule in row.requirements]
    chosen = deciding_cases(list(rows.values()), selected([shlex.split(judge)[5]]), declared)
    return [item for item in items if rows[item.nodeid] in chosen]


@pytest.fixture(scope="module")
def followed() -> Followed:
    following = Followed()
    printed_text = io.StringIO()
    with contextlib.redirect_stdout(printed_text), contextlib.redirect_stderr(printed_text):
        pytest.main([*pytest_arguments(), *QUIET], plugins=[following])
    return following


@pytest.mark.slow
def test_each_printed_recipe_shows_both_verdicts(followed: Followed) -> None:
    wrong = {}
    for id, (failing, passing) in followed.outcomes.items():
        verdict = "fail" if REQUIREMENTS[id].level == "must" else "warn"
        turned = failing.turned.get(id)
        if turned is None or turned.verdict != verdict or id in (*passing.turned, *passing.untested):
            wrong[id] = (turned, id in failing.untested, id in passing.untested)

    assert {id.partition("-")[0] for id in followed.outcomes} >= {"LOGIN", "CHANNEL", "OP", "MODEL"}
    assert wrong == {}
