"""What Ctrl-C leaves on the screen: a line, exit code 2, and never a traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.cli.live import running
from conformance.run import catalogue
from conformance.spec.endpoints import ACCOUNT_UPDATE
from conformance.target.portal.changes import LEDGER

CHANGED = json.dumps(
    {
        "event": "change", "id": 1, "kind": "changing", "key": ACCOUNT_UPDATE, "account": "admin",
        "undo_key": ACCOUNT_UPDATE, "undo_body": {}, "number": 0, "run": "r", "at": "2026-01-01T00:00:00Z",
    }
)  # fmt: skip
UNDONE = json.dumps({"event": "undone", "id": 1})


def interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_an_interrupt_while_cases_are_collected_is_no_error_of_the_suite(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(catalogue, "_row", interrupt)

    code = main(["explain", "LOGIN-022"])

    assert code == 2
    assert capsys.readouterr().err == "\nportal-conformance: interrupted.\n"


def test_a_run_that_is_interrupted_before_its_end_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(pytest, "main", interrupt)

    code = running.run([], further=[], out=tmp_path, quiet=True)
    early = capsys.readouterr().err
    ledger = tmp_path / LEDGER
    ledger.write_text(f"{CHANGED}\n", encoding="utf-8")
    running.run([], further=[], out=tmp_path, quiet=True)
    late = capsys.readouterr().err
    ledger.write_text(f"{CHANGED}\n{UNDONE}\n", encoding="utf-8")
    running.run([], further=[], out=tmp_path, quiet=True)
    restored = capsys.readouterr().err

    assert code == 2
    assert "interrupted before the reports were written" in early
    assert restored == early
    assert f"`portal-conformance cleanup {tmp_path / LEDGER} --profile FILE` restores it" in late
