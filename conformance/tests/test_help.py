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


TESTS = Path(__file__).parent


def words_of(source: str) -> set[str]:
    """The words of a module's texts, and the functions that it calls by their last names."""
    words: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words.update(re.split(r"[\s=`']+", node.value))
        elif isinstance(node, ast.Attribute):
            words.add(node.attr)
    return words


def test_each_option_of_each_command_is_in_a_test_of_that_command() -> None:
    used = [
        words_of(file.read_text(encoding="utf-8")) for file in TESTS.rglob("*.py") if file != Path(__file__)
    ]
    used += [set(re.split(r"[\s=]+", each.text)) for each in commands()]
    options = {
        (name, parameter.opts[0])
        for name in BY_COMMAND
        for parameter in loaded(name).params
        if isinstance(parameter, CommandOption)
    }

    lacking = {
        (name, spelling) for name, spelling in options if not any({name, spelling} <= each for each in used)
    }
    assert sorted(lacking) == []


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
