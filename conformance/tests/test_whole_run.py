"""A whole run in a process of its own, on the bundled portal and on one over a socket."""

from __future__ import annotations

from pathlib import Path

from conformance.tests.deployment import Done, command, deployed, done


def test_the_bundled_portal_and_one_in_another_process_are_conformant(tmp_path: Path) -> None:
    """That further runs on one portal find the same: ``test_harm.py``."""
    bundled = done(command("run", "--out", str(tmp_path / "bundled")), tmp_path / "bundled")
    with deployed(tmp_path) as portal:
        other = portal.run("--impact", "disruptive")

    untried = [
        one["id"]
        for one in bundled.results["requirements"]
        if one["verdict"] == "untested" and not one.get("untestable")
    ]
    assert (bundled.code, other.code) == (0, 0), bundled.said + other.said
    assert bundled.results["summary"]["fail"] == bundled.results["summary"]["warn"] == 0
    assert untried == []
    assert _verdicts(bundled) == _verdicts(other)


def _verdicts(run: Done) -> dict[str, str]:
    return {one["id"]: one["verdict"] for one in run.results["requirements"]}
