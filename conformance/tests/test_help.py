"""The help of every command on a narrow terminal: nothing is cut, and every example can be copied."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.cli.command import CommandOption, folded
from conformance.cli.commands import BY_COMMAND
from conformance.cli.program import loaded
from conformance.tests.documents import commands

NARROW = 60


ROOT = Path(__file__).parents[2]
NOT_IN_A_TEST = ("test_help.py", "fuzzing.py")
"""This file, and the list of options that are given in any order."""


def words_of(file: Path) -> set[str]:
    """The words of a module's texts, and the attributes that it names: as that of a call."""
    words: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words.update(re.split(r"[\s=`']+", node.value))
        elif isinstance(node, ast.Attribute):
            words.add(node.attr)
    return words


def test_each_option_of_each_command_is_in_a_test_of_that_command() -> None:
    files = [file for file in ROOT.glob("*/tests/**/*.py") if file.name not in NOT_IN_A_TEST]
    tested = [*map(words_of, files), *(set(re.split(r"[\s=]+", each.text)) for each in commands())]
    options = {
        (name, parameter.opts[0])
        for name in BY_COMMAND
        for parameter in loaded(name).params
        if isinstance(parameter, CommandOption)
    }

    assert sorted(each for each in options if not any(words >= {*each} for words in tested)) == []


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
