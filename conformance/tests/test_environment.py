"""Commands in a poor environment: no space, no terminal, no home, few file descriptors, a plain locale."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.tests.traffic import account, answer
from conformance.traffic import capture

CHECK = [sys.executable, "-m", "conformance.cli", "check", "capture.jsonl"]
RUN = [sys.executable, "-m", "conformance.cli", "run", "--out", "out", "--only", "CONSTANT-*"]
CRAMPED = 'export PYTHONDONTWRITEBYTECODE=1; ulimit -f 4; exec "$@"'
"""No file above 4 kB; a compiled module would be cut off, and every later command fail."""
PLAIN_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a small recording."""
    with capture.Writer(tmp_path / "capture.jsonl") as recording:
        recording.write(answer("GET /web/v1/system/profile", account()))
    return tmp_path


def ended(
    command: list[str], folder: Path, *, shell: str = 'exec "$@"', **environment: str
) -> subprocess.CompletedProcess[str]:
    """A command as ``shell`` starts it; ``environment`` is added to this process's."""
    return subprocess.run(
        ["bash", "-c", shell, "bash", *command],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_a_plain_locale_shows_escapes_in_place_of_what_it_cannot_print(folder: Path) -> None:
    process = ended(CHECK, folder, **PLAIN_LOCALE)

    assert process.returncode == 0
    assert "\\xb7" in process.stdout
    assert process.stderr == ""


def test_a_closed_standard_output_changes_no_exit_code(folder: Path) -> None:
    process = ended(CHECK, folder, shell='exec "$@" >&-')

    assert (process.returncode, process.stderr) == (0, "")
    assert (folder / "reports" / "results.json").exists()


def test_an_output_without_space_is_named_in_one_sentence_after_the_reports(folder: Path) -> None:
    process = ended(CHECK, folder, shell='exec "$@" >/dev/full')

    assert process.returncode == 4
    assert process.stderr.splitlines() == [
        "portal-conformance: Cannot write the output: no space left on device. Choose another --out or file."
    ]
    assert (folder / "reports" / "results.json").exists()


def test_a_missing_home_is_not_needed(folder: Path) -> None:
    assert ended(CHECK, folder, shell='unset HOME; exec "$@"').returncode == 0


def test_sixty_four_file_descriptors_are_enough(folder: Path) -> None:
    process = ended(RUN, folder, shell='ulimit -n 64; exec "$@"')

    assert process.returncode == 0, process.stdout + process.stderr


def test_a_disk_that_is_full_ends_a_check_in_one_sentence(folder: Path) -> None:
    process = ended(CHECK, folder, shell=CRAMPED)

    assert process.returncode == 4
    assert len(process.stderr.splitlines()) == 1
    assert "Traceback" not in process.stdout + process.stderr
