"""The help of every command on a narrow terminal: nothing is cut, and every example can be copied."""

from __future__ import annotations

import pytest

from conformance.cli import main
from conformance.cli.command import folded
from conformance.cli.commands import BY_COMMAND

NARROW = 60


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(NARROW))


@pytest.mark.usefixtures("narrow")
def test_no_line_of_a_help_is_cut_or_too_long(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("", *BY_COMMAND):
        assert main([*name.split(), "--help"]) == 0

    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert [line for line in lines if line.endswith("…") or "…>" in line] == []
    assert [line for line in lines if len(line) > NARROW] == []


@pytest.mark.usefixtures("narrow")
def test_an_example_that_is_too_long_goes_on_as_a_shell_reads_it(capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", "--help"])

    shown = capsys.readouterr().out.replace(" \\\n      ", " ")
    assert f"  {BY_COMMAND['plan'].example}\n" in shown
    assert folded("portal-conformance setup", NARROW) == "  portal-conformance setup"
