"""That several wrong codes leave a login session is decided on a portal whose time cannot be moved."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.run.outlook.plan import plan
from conformance.target.profile.model import load
from conformance.tests.deployment import deployed

RULE = "LOGIN-080"


@pytest.mark.parametrize(
    "faults, verdict", [([], "pass"), (["second-wrong-code-ends-session"], "warn")], ids=["lawful", "fault"]
)
def test_two_wrong_codes_decide_it(tmp_path: Path, faults: list[str], verdict: str) -> None:
    with deployed(tmp_path, seed=7, faults=faults, clock=False) as portal:
        foretold = plan(load(portal.profile), "disruptive").rules
        run = portal.run("--impact", "disruptive", "--only", RULE)

    assert RULE in foretold
    assert run.verdict(RULE) == verdict
    assert (run.out / "exchanges.jsonl").read_text(encoding="utf-8").count('"AUTH.MFA_CODE_INVALID"') <= 2
