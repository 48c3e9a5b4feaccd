"""A whole run in a process of its own, on the bundled portal and on one over a socket, which it leaves as it
was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conformance.tests.deployment import Deployment, Done, command, deployed, done
from reference_impl.offered import dump


def test_the_bundled_portal_and_one_in_another_process_are_conformant(tmp_path: Path) -> None:
    bundled = done(command("run", "--out", str(tmp_path / "bundled")), tmp_path / "bundled")
    with deployed(tmp_path) as portal:
        before = _state(portal)
        other = portal.run("--impact", "disruptive")
        after = _state(portal)

    untried = [
        one["id"]
        for one in bundled.results["requirements"]
        if one["verdict"] == "untested" and not one.get("untestable")
    ]
    assert (bundled.code, other.code) == (0, 0), bundled.said + other.said
    assert bundled.results["summary"]["fail"] == bundled.results["summary"]["warn"] == 0
    assert untried == []
    assert _verdicts(bundled) == _verdicts(other)
    assert after == before


def _verdicts(run: Done) -> dict[str, str]:
    return {one["id"]: one["verdict"] for one in run.results["requirements"]}


def _state(portal: Deployment) -> dict[str, Any]:
    """What an endpoint of the document could take back, by the portal's own records."""
    state, people = portal.running.portal, portal.running.seeded.sign_ins.values()
    return {
        "records": dump(state)["state"],
        "passwords": [state.passwords[each.account_id].matches(each.password) for each in people],
        "secrets": [state.security(each.account_id)["otpSecret"] for each in people],
    }
