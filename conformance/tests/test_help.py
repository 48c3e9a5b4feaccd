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


def test_the_help_names_an_argument_as_the_usage_does(capsys: pytest.CaptureFixture[str]) -> None:
    main(["validate", "--help"])

    shown = capsys.readouterr().out
    assert "validate [OPTIONS] [FILE]..." in shown
    assert "PROFILES" not in shown


def test_the_help_names_a_variable_of_the_command_itself(capsys: pytest.CaptureFixture[str]) -> None:
    main(["history", "--help"])
    of_history = capsys.readouterr().out
    main(["openapi", "--help"])
    of_openapi = capsys.readouterr().out

    assert "PORTAL_CONFORMANCE_HISTORY" in of_history
    assert "environment variable" not in of_openapi
