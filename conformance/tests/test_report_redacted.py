"""A run is redacted, and every statement in every report is that of its requirement."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conformance.report.formats.write import FORMATS, FURTHER, redacted, write_all, write_further
from conformance.spec import REQUIREMENTS
from conformance.tests.sample_run import PROFILE, envelope, exchange, finding, sample
from conformance.tests.test_redact import secrets as secrets_of
from conformance.traffic.exchange import Json

WORDS = sorted({word for row in REQUIREMENTS.values() for word in re.findall(r"[A-Za-z]{4,}", row.statement)})


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reports of a run whose secrets are the very words of the requirements."""
    folder = tmp_path_factory.mktemp("reports")
    secrets = secrets_of(*((word, "access-code") for word in WORDS), ("staging.toml", "password"))
    builder = sample()
    write_all(builder.run(), folder, exchanges=builder.write(folder / "exchanges.jsonl"), secrets=secrets)
    write_further(folder, FURTHER)
    return folder


def test_every_report_shows_each_statement_as_it_is(reports: Path) -> None:
    statements = {row.id: row.statement for row in REQUIREMENTS.values()}
    results = json.loads((reports / "results.json").read_text(encoding="utf-8"))
    cases = ElementTree.parse(reports / "junit.xml").getroot().iter("testcase")
    page = (reports / "report.html").read_text(encoding="utf-8").replace("<wbr>", "")
    pairs = re.findall(r'<span class="id">([A-Z0-9-]+)</span>.*?<span class="statement">(.*?)</span>', page)
    summary = (reports / "summary.md").read_text(encoding="utf-8")
    blocking = re.findall(r"^- \*\*FAIL ([A-Z0-9-]+)\*\* (.*)$", summary, re.MULTILINE)

    assert {row["id"]: row["statement"] for row in results["requirements"]} == statements
    assert {case.get("name") for case in cases} == {f"{id} {text}" for id, text in statements.items()}
    assert {id: unescape(re.sub(r"</?code>", "`", text)) for id, text in pairs} == statements
    assert blocking
    assert dict(blocking).items() <= statements.items()


@pytest.mark.parametrize("name", sorted([*FORMATS, *(file for file, _ in FURTHER.values())]))
def test_a_secret_is_redacted_beside_them(reports: Path, name: str) -> None:
    assert "staging.toml" not in (reports / name).read_text(encoding="utf-8")


def test_redaction_reaches_every_text_of_a_run() -> None:
    builder = sample()
    seen = exchange(60, PROFILE, answer=envelope({"planted-secret": "planted-secret"}))
    fields = {"path": "data.planted-secret", "expected": "planted-secret", "message": "a planted-secret"}
    builder.contradict("ENV-008", seen, **fields)
    builder.ledger.observe("extra-fields", seen, "planted-secret")
    builder.ledger.leave_untested("EVENT-001", "planted-secret")
    case = {"kind": "case", "label": "planted-secret", "start": 0, "end": 1}
    run = builder.run(notes=["a planted-secret"], timeline=[case])

    clean = redacted(run, secrets_of(("planted-secret", "token"), ("staging.toml", "password")))

    assert "planted-secret" not in clean.text()
    assert "staging.toml" not in clean.text()
    assert clean.notes == ["a [token-1]"]


@pytest.mark.parametrize(
    "path, actual, shown",
    [
        ("data.password", "other", "[code-1]"),
        ("data.kind", "other", "other"),
        ("data", {"password": "other", "kind": "other"}, {"password": "[code-1]", "kind": "other"}),
        ("data.total", 123456, {"[code-2]": "a number"}),
    ],
)
def test_a_value_is_redacted_by_the_name_of_its_place(path: str, actual: Json, shown: Json) -> None:
    run = sample().run().model_copy(update={"findings": [finding(path=path, actual=actual)]})

    assert redacted(run, secrets_of(("other", "code"), ("123456", "code"))).findings[0].actual == shown
