"""A whole run in a process of its own, on the bundled portal and on one over a socket: what it says, what it
leaves, and what its files show."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from conformance.spec import REQUIREMENTS
from conformance.tests.deployment import Deployment, Done, command, deployed, done
from conformance.tests.planted import Listener, standing
from reference_impl.offered import dump


def test_a_whole_run_is_conformant_leaves_its_target_as_it_was_and_shows_no_secret(tmp_path: Path) -> None:
    bundled = done(command("run", "--out", str(tmp_path / "bundled")), tmp_path / "bundled")
    listener = Listener()
    with deployed(tmp_path, wrap=listener.wrap) as portal:
        before = _state(portal)
        other = portal.run("--impact", "disruptive")
        after = _state(portal)
        listener.know(portal.running)

    assert (bundled.code, other.code) == (0, 0), bundled.said + other.said
    assert bundled.results["summary"]["fail"] == bundled.results["summary"]["warn"] == 0
    assert _untried(bundled) == []
    assert _verdicts(bundled) == _verdicts(other)

    assert after == before

    (other.out / "terminal.txt").write_text(other.said, encoding="utf-8")
    _assert_that_secrets_of_every_kind_passed(listener.heard)
    assert standing(listener.heard, *(path for path in other.out.iterdir() if path.is_file())) == []

    _assert_that_statements_are_those_of_the_requirements(other.out)


def _untried(run: Done) -> list[str]:
    rows = run.results["requirements"]
    return [row["id"] for row in rows if row["verdict"] == "untested" and not row.get("untestable")]


def _verdicts(run: Done) -> dict[str, str]:
    return {row["id"]: row["verdict"] for row in run.results["requirements"]}


def _state(portal: Deployment) -> dict[str, Any]:
    """What an endpoint of the document could take back, by the portal's own records."""
    state, people = portal.running.portal, portal.running.seeded.sign_ins.values()
    return {
        "records": dump(state)["state"],
        "passwords": [state.passwords[each.account_id].matches(each.password) for each in people],
        "secrets": [state.security(each.account_id)["otpSecret"] for each in people],
    }


def _assert_that_secrets_of_every_kind_passed(heard: set[str]) -> None:
    assert len([secret for secret in heard if re.fullmatch(r"\d{6}", secret)]) > 3
    assert len([secret for secret in heard if secret.count(".") == 2]) > 3
    assert len(heard) > 40


def _assert_that_statements_are_those_of_the_requirements(folder: Path) -> None:
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    names = {case.get("name") for case in ElementTree.parse(folder / "junit.xml").getroot().iter("testcase")}
    statements = {f"{row.id} {row.statement}" for row in REQUIREMENTS.values()}

    assert statements <= {f"{row['id']} {row['statement']}" for row in results["requirements"]}
    assert statements <= names
    for file in ("report.html", "summary.md", "terminal.txt"):
        assert not re.search(r"\[access-code-[2-9]\]", (folder / file).read_text(encoding="utf-8")), file
