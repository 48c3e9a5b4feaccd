"""Wrong usage: each gets one clear line that names what is wrong, exit code 4, and no traceback."""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from conformance.cli import MODULES, main

NOWHERE = "/dev/null/reports"


@pytest.mark.parametrize(
    "words, said",
    [
        (["nope"], "invalid choice: 'nope'"),
        (["serve", "--fault", "roles-without-tokn"], "the nearest are roles-without-token"),
        (["serve", "--variant", "gzipp"], "the nearest are gzip"),
        (["serve", "--port", "70000"], '"70000" is no port'),
        (["serve", "--limit", "window=1"], 'there is no limit "window"'),
        (["run", "--effort", "huge"], "--effort: invalid choice: 'huge'"),
        (["run", "--out", NOWHERE], f"Cannot write {NOWHERE}: not a directory. Choose another --out"),
        (["selftest", "--only", "nope"], 'no fault and no variant "nope"'),
        (
            ["selftest", "--only", "gzip", "--out", NOWHERE],
            f"Cannot write {NOWHERE}: not a directory. Choose another --out",
        ),
        (["selftest", "gzip"], "unknown option or argument: gzip"),
        (["plan", "--profile", "/dev/null/portal.toml"], "/dev/null/portal.toml"),
        (["check", "/dev/null/today.jsonl"], "/dev/null/today.jsonl"),
        (["compare", "/dev/null/a", "/dev/null/b"], "/dev/null/a"),
        (["matrix", "/dev/null/a"], "/dev/null/a"),
        (["history", "--history", "/dev/null/runs.db"], "there is no such database"),
        (["record", "--upstream", "portal", "--out", "x.jsonl"], "--upstream portal: give an address"),
        (["cleanup", "/dev/null/changes.jsonl", "--profile", "/dev/null/portal.toml"], "/dev/null/"),
    ],
)
def test_wrong_usage_is_said_in_a_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code: object = main(words)
    except SystemExit as ended:
        code = ended.code

    told = capsys.readouterr().err
    assert code == 4
    assert said in told
    assert len(told.splitlines()[-1]) < 1_000


def test_no_one_is_shown_a_traceback_where_a_file_stands_in_the_place_of_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "reports").write_text("a file")

    assert main(["matrix", "--out", str(tmp_path / "reports" / "x"), str(tmp_path)]) == 4
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["run", "--target", ""],
        ["run", "--profile", ""],
        ["run", "--rerun", " "],
        ["plan", "--profile", ""],
        ["doctor", "--profile", ""],
        ["replay", "x.jsonl", "--profile", ""],
        ["replay", "x.jsonl", "--target", ""],
        ["check", ""],
        ["check", "x.jsonl", "--target", ""],
        ["record", "--upstream", "", "--out", "x.jsonl"],
    ],
)
def test_an_empty_value_is_an_unset_variable_and_a_usage_error(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)

    assert ended.value.code == 4
    assert "the value is empty" in capsys.readouterr().err


@pytest.mark.parametrize("part", MODULES)
def test_each_part_has_just_the_commands_that_it_is_imported_for(part: str) -> None:
    commands = argparse.ArgumentParser().add_subparsers()

    import_module(f"conformance.cli.{part}").add_commands(commands)

    assert sorted(commands.choices) == sorted(MODULES[part])


def test_what_judges_files_imports_nothing_that_sends_or_serves_or_runs_cases() -> None:
    told = "import sys, conformance.cli.files; print(*sys.modules)"
    imported = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True).stdout

    assert not {"httpx", "aiohttp", "uvicorn", "cryptography", "jwt", "pytest"} & set(imported.split())
