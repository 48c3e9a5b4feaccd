"""That no input, however broken, ends a command in a traceback, a hang, or an internal error."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.tests.deployment import command, done
from conformance.tests.fuzzing import SUBJECTS, fuzz, prepared, trial

CORPUS = Path(__file__).parent / "corpus"
SAVED = [(path.parent.name, path) for path in sorted(CORPUS.glob("*/*"))]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fuzz")
    options = ("--out", "run", "--history", "run/history.db", "--only", "CONSTANT-*")
    assert done(command("run", *options), folder / "run").code == 0
    prepared(folder / "inputs", run=folder / "run")
    return folder / "inputs"


@pytest.mark.parametrize(("kind", "saved"), SAVED, ids=[f"{kind}-{path.name}" for kind, path in SAVED])
def test_an_input_that_once_broke_a_command_breaks_none(kind: str, saved: Path, files: Path) -> None:
    assert trial(kind, files, saved.read_bytes()) == []


@pytest.mark.parametrize("kind", [*SUBJECTS, "options"])
def test_mutated_inputs_end_in_a_stated_exit_code(kind: str, files: Path) -> None:
    assert list(fuzz(kind, files, range(15))) == []


@pytest.mark.parametrize("kind", SUBJECTS)
def test_a_correct_input_is_accepted(kind: str, files: Path) -> None:
    assert trial(kind, files, (files / kind).read_bytes()) == []
