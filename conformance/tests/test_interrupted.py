"""What Ctrl-C leaves on the screen: a line, exit code 2, and never a traceback."""

from __future__ import annotations

import json
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from conformance.__main__ import main
from conformance.cli.live import running
from conformance.run import catalogue
from conformance.spec.endpoints import ACCOUNT_UPDATE
from conformance.target.portal.changes import LEDGER
from conformance.tests.deployment import options_of_run

CHANGED = json.dumps(
    {
        "event": "change", "id": 1, "kind": "changing", "key": ACCOUNT_UPDATE, "account": "admin",
        "undo_key": ACCOUNT_UPDATE, "undo_body": {}, "number": 0, "run": "r", "at": "2026-01-01T00:00:00Z",
    }
)  # fmt: skip
UNDONE = json.dumps({"event": "undone", "id": 1})


def interrupt(*_: object, **__: object) -> int:
    raise KeyboardInterrupt


class Interrupting:
    """A plugin that Ctrl-C meets while cases are collected."""

    def pytest_collection_modifyitems(self) -> None:
        raise KeyboardInterrupt


class Interrupted:
    """A finder of modules that Ctrl-C meets while the command line is imported."""

    def find_spec(self, name: str, *_: object) -> None:
        if name == "conformance.cli":
            raise KeyboardInterrupt


def test_an_interrupt_while_the_command_line_is_imported_is_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "conformance.cli")
    sys.meta_path.insert(0, Interrupted())
    try:
        code = main()
    finally:
        del sys.meta_path[0]

    assert (code, capsys.readouterr().err) == (2, "\nportal-conformance: interrupted.\n")
    scripts = entry_points(group="console_scripts", name="portal-conformance")
    assert [script.value for script in scripts] == ["conformance.__main__:main"]


def test_an_interrupt_while_cases_are_collected_is_no_error_of_the_suite(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = [*catalogue.pytest_arguments(), "--collect-only", "-q"]

    with pytest.raises(KeyboardInterrupt):
        pytest.main(words, plugins=[Interrupting(), catalogue.Interruptible()])

    assert pytest.main(words, plugins=[Interrupting()]) == pytest.ExitCode.INTERRUPTED, "pytest goes on"
    capsys.readouterr()


def test_a_run_that_is_interrupted_before_its_end_says_what_is_missing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code = running.run(options_of_run(), tmp_path, start=interrupt)
    early = capsys.readouterr().err
    ledger = tmp_path / LEDGER
    ledger.write_text(f"{CHANGED}\n", encoding="utf-8")
    running.run(options_of_run(), tmp_path, start=interrupt)
    late = capsys.readouterr().err
    ledger.write_text(f"{CHANGED}\n{UNDONE}\n", encoding="utf-8")
    running.run(options_of_run(), tmp_path, start=interrupt)
    restored = capsys.readouterr().err

    assert code == 2
    assert "interrupted before the reports were written" in early
    assert restored == early
    assert f"Not restored: what {ACCOUNT_UPDATE} changed for [accounts.admin].\n" in late
    assert f"`portal-conformance cleanup {tmp_path / LEDGER} --profile FILE` restores it" in late
