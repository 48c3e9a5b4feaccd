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
@pytest.mark.parametrize("name", ["", *BY_COMMAND])
def test_no_line_of_a_help_is_cut_or_too_long(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    main([*filter(None, [name]), "--help"])

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


def test_a_profile_in_the_place_of_an_option_is_an_error_that_names_the_option(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "portal.toml"])

    assert ended.value.code == 4
    assert "Write --profile portal.toml." in capsys.readouterr().err
