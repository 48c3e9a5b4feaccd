"""That several wrong codes leave a login session is decided on a portal whose time cannot be moved."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.run.outlook.plan import plan
from conformance.target.profile.model import load
from conformance.tests.deployment import deployed

RULE = "LOGIN-080"


@pytest.mark.parametrize(
    "faults, verdict, is_stated",
    [(["second-wrong-code-ends-session"], "warn", False), ([], "pass", True)],
    ids=["two", "as-many-as-the-profile-says"],
)
def test_several_wrong_codes_decide_it(
    tmp_path: Path, faults: list[str], verdict: str, is_stated: bool
) -> None:
    """Two of them, or as many as the profile says that the target takes."""
    with deployed(tmp_path, seed=7, faults=faults, clock=False) as portal:
        if not is_stated:
            text = portal.profile.read_text(encoding="utf-8")
            portal.profile.write_text(re.sub(r"max_failed_sign_ins = .*\n", "", text), encoding="utf-8")
        foretold = plan(load(portal.profile), "disruptive").rules
        run = portal.run("--impact", "disruptive", "--only", RULE)

    assert RULE in foretold
    assert run.verdict(RULE) == verdict
    assert (run.out / "exchanges.jsonl").read_text(encoding="utf-8").count('"AUTH.MFA_CODE_INVALID"') <= (
        5 if is_stated else 2
    )
