"""The first commands of the guide to recordings, run one after the other as they stand there."""

from __future__ import annotations

import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

from conformance.check import CheckOptions, check
from conformance.tests.deployment import command, done
from conformance.tests.documents import blocks
from conformance.tests.scripted_client import walk
from reference_impl import serve as reference

GUIDE = "docs/recordings.md"
UPSTREAM = "http://127.0.0.1:8000"


def commands() -> dict[str, list[str]]:
    """By name, the commands of the section, as words."""
    section = next(block for block in blocks("sh") if block.page == GUIDE and "record " in block.text)
    lines = [line.partition(" ")[2] for line in section.text.splitlines()]
    return {line.split()[0]: shlex.split(line, comments=True) for line in lines}


def run(words: list[str], folder: Path) -> int:
    return done(command(*words), folder / "out").code


def record(words: list[str], folder: Path) -> None:
    """What a client does while the recorder runs, on a free port and before a portal of its own."""
    with reference.start(seed=1) as portal:
        asked = [portal.url if word == UPSTREAM else word for word in words]
        recorder = subprocess.Popen(
            command(*asked, "--port", "0"), cwd=folder, stdout=subprocess.PIPE, text=True
        )
        assert recorder.stdout is not None
        listening = re.search(r"at (\S+) into", recorder.stdout.readline())
        assert listening is not None
        walk(listening[1], portal.profile())
        recorder.send_signal(signal.SIGINT)
        recorder.communicate(timeout=30)
    assert recorder.returncode == 0


def _check_halves(folder: Path) -> None:
    """Checks the two halves of the recording, each into a folder of its own."""
    lines = (folder / "today.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    for number, half in enumerate((lines[: len(lines) // 2], lines[len(lines) // 2 :]), start=1):
        part = folder / f"half-{number}.jsonl"
        part.write_text("".join(half), encoding="utf-8")
        assert check([part], CheckOptions(out=folder / f"reports-{number}")).run.exit_code == 0


def test_what_is_recorded_is_checked_replayed_and_compared(tmp_path: Path) -> None:
    shown = commands()
    assert list(shown) == ["record", "check", "replay", "compare", "merge"]

    record(shown["record"], tmp_path)
    assert (tmp_path / "today.jsonl").stat().st_size > 10_000

    assert run(shown["check"], tmp_path) == 0

    with reference.start(seed=2) as portal:
        (tmp_path / "next.toml").write_text(portal.profile(), encoding="utf-8")
        assert run(shown["replay"], tmp_path) == 0
    assert '"regressions":[]' in (tmp_path / "reports-new/results.json").read_text().replace(" ", "")

    shutil.copytree(tmp_path / "reports-new", tmp_path / "reports-old")
    assert run(shown["compare"], tmp_path) == 0

    _check_halves(tmp_path)
    assert run(shown["merge"], tmp_path) == 0
