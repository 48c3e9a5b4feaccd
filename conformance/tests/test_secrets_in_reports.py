"""No secret of a run stands in any file that it writes, in any encoding."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conformance.spec import REQUIREMENTS
from conformance.tests.deployment import deployed
from conformance.tests.planted import Listener, standing


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[set[str], Path]:
    """A whole run: the secrets that passed, and the folder it wrote."""
    folder = tmp_path_factory.mktemp("secrets")
    listener = Listener()
    with deployed(folder, wrap=listener.wrap) as portal:
        run = portal.run("--impact", "disruptive")
        listener.know(portal.running)
    assert run.code == 0, run.said
    (run.out / "terminal.txt").write_text(run.said, encoding="utf-8")
    return listener.heard, run.out


def test_secrets_of_every_kind_passed(run: tuple[set[str], Path]) -> None:
    heard, _ = run

    assert len([secret for secret in heard if re.fullmatch(r"\d{6}", secret)]) > 3
    assert len([secret for secret in heard if secret.count(".") == 2]) > 3
    assert len(heard) > 40


def test_none_stands_in_any_file_in_any_encoding(run: tuple[set[str], Path]) -> None:
    heard, folder = run
    assert standing(heard, *(path for path in folder.iterdir() if path.is_file())) == []


def test_every_statement_of_every_report_is_that_of_its_requirement(run: tuple[set[str], Path]) -> None:
    _, folder = run
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    names = {case.get("name") for case in ElementTree.parse(folder / "junit.xml").getroot().iter("testcase")}
    statements = {f"{row.id} {row.statement}" for row in REQUIREMENTS.values()}

    assert statements <= {f"{row['id']} {row['statement']}" for row in results["requirements"]}
    assert statements <= names
    for file in ("report.html", "summary.md", "terminal.txt"):
        assert not re.search(r"\[access-code-[2-9]\]", (folder / file).read_text(encoding="utf-8")), file
