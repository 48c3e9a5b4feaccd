"""Every command of the README and of ``docs/`` is run as it stands there.

What cannot be run here, as it takes Docker, minutes or a cluster, is checked as far as it can be.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from conformance.check import CheckOptions, check
from conformance.cli import main
from conformance.cli.commands import COMMANDS as ROWS
from conformance.cli.program import loaded
from conformance.report.across import history
from conformance.report.formats.write import write_all
from conformance.tests.deployment import command, done
from conformance.tests.documents import GENERATED, ROOT, Command, blocks, commands, is_command
from conformance.tests.installation import BIN, Installation, shared, wheel
from conformance.tests.sample_run import conformant, with_rows
from conformance.tests.test_descriptions import described
from conformance.tests.test_recordings_guide import commands as commands_of_recordings
from conformance.tests.test_recordings_guide import record
from conformance.tests.test_undescribed import envelope, wallets
from reference_impl import serve as reference

UPSTREAM = "http://127.0.0.1:8000"
"""What the pages call the portal that they speak of."""

RULE = "CONSTANT-020"
"""A run of one rule is a run: what a whole one does is proven elsewhere."""

IN_A_SHELL = re.compile(r"eval|portal-conformance (record|serve(?! --list)|run\b.* --watch)\b")
"""Commands that go on until they are interrupted, and the one that only a shell understands."""

EXIT_CODES = dict.fromkeys(("portal-conformance setup", "portal-conformance setup --profile next.toml"), (4,))
"""Where it is not 0: ``setup`` asks its questions on a terminal alone."""

REPOSITORY = "git+https://example.test/OWNER/portal-conformance"
"""What the pages call the repository of the suite."""

PLACEHOLDER = re.compile(r"(?<=\s)[A-Z][A-Z-]+(?=\s|$)")
"""A word that stands for another one, such as FAULT-NAME."""

COMMANDS = {each.text: each for each in commands()}
"""Each once, however many pages show it."""


def of(*programs: str) -> list[str]:
    return [text for text, each in COMMANDS.items() if each.program in programs and not each.needs]


def run_in_sequence() -> set[str]:
    """The commands that the test of the guide to recordings runs."""
    return {shlex.join(["portal-conformance", *words]) for words in commands_of_recordings().values()}


def is_run_elsewhere(text: str) -> bool:
    return shlex.join(shlex.split(text)) in run_in_sequence()


RUN_HERE = [
    text
    for text in of("portal-conformance", "eval")
    if not PLACEHOLDER.search(text) and not is_run_elsewhere(text)
]
SHORT = re.compile(
    r"portal-conformance (setup|init|validate|doctor|plan|history|compare|requirements|explain"
    r"|openapi|docs|completion)\b"
)
"""Commands that this process can run as well as one of their own, which would take a second to begin."""


@dataclass(frozen=True)
class Workshop:
    """A folder with all that the commands of the pages read, and the portal that they speak of."""

    folder: Path
    url: str

    def start(self, text: str, folder: Path) -> subprocess.Popen[str]:
        """Starts a command in a shell, as a user of a fresh terminal does."""
        line = text.replace(UPSTREAM, self.url).replace("--port 8000", "--port 0")
        return subprocess.Popen(
            ["bash", "-c", f"set -e; exec {line}" if line.startswith("portal-") else f"set -e; {line}"],
            cwd=folder,
            env={**os.environ, **environment(text, folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


def environment(text: str, folder: Path) -> dict[str, str]:
    """The variables that a command needs. A run is limited to one rule, where it does not say which."""
    variables = {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder)}
    if re.match(r"portal-conformance (run|plan)\b", text) and not re.search(r"--(failed|rerun|only)\b", text):
        variables["PORTAL_CONFORMANCE_ONLY"] = RULE
    if text.startswith("portal-conformance record"):
        variables["PORTAL_CONFORMANCE_PORT"] = "0"
    return variables


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    folder = tmp_path_factory.mktemp("workshop") / "folder"
    shutil.copytree(shared(tmp_path_factory, "workshop", _furnish), folder)
    with reference.start(seed=1) as portal:
        for name in ("portal.toml", "next.toml"):
            (folder / name).write_text(portal.profile(), encoding="utf-8")
        yield Workshop(folder, portal.url)


@pytest.fixture
def folder(workshop: Workshop, tmp_path: Path) -> Path:
    """A copy of it, of the test's own."""
    return Path(shutil.copytree(workshop.folder, tmp_path / "folder"))


def _furnish(folder: Path) -> None:
    """Writes what the commands read, but for the profiles of a portal that runs."""
    _write_recording(folder)
    _write_runs(folder)
    for place in (".zfunc", ".config/fish/completions"):
        (folder / place).mkdir(parents=True)
    for language in ("toml", "python"):
        rules = next(each.text for each in blocks(language) if each.page == "docs/rest-of-your-portal.md")
        (folder / f"rules.{'py' if language == 'python' else language}").write_text(rules, encoding="utf-8")
    (folder / "known.toml").touch()
    (folder / "more.json").write_text(json.dumps(described()), encoding="utf-8")
    (folder / "reports" / "changes.jsonl").touch()


def _write_recording(folder: Path) -> None:
    """A recording, and the reports of a check of it, under each name that the pages have for such."""
    record(["record", "--upstream", UPSTREAM, "--out", "today.jsonl", "--open-channel"], folder)
    with (folder / "today.jsonl").open("ab") as lines:
        lines.write(msgspec.json.encode(wallets(envelope())) + b"\n")
    first, *others = (folder / f"reports-{name}" for name in ("old", "new", "1", "2", "3"))
    check([folder / "today.jsonl"], CheckOptions(out=first))
    for other in others:
        shutil.copytree(first, other)


def _write_runs(folder: Path) -> None:
    """The reports of a run with a failure, compared with a baseline, and a history that holds it."""
    example = conformant()
    example.contradict(RULE, example.exchanges[-1], path="data", expected=[], message="not found")
    run = write_all(
        with_rows(example.run()), folder / "reports", exchanges=example.write(folder / "exchanges.jsonl")
    )
    history.record(run, folder / "runs.db")


@pytest.mark.parametrize("text", [text for text in RUN_HERE if SHORT.match(text)])
def test_a_short_command_runs_as_it_is_printed(
    text: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    for name, value in environment(text, folder).items():
        monkeypatch.setenv(name, value)
    words, _, redirected = text.partition(" > ")

    code = main(shlex.split(words)[1:])

    assert code in EXIT_CODES.get(text, (0,))
    assert not redirected or Path(redirected).expanduser().parent.is_dir()


LONGER = [text for text in RUN_HERE if not SHORT.match(text)]


@pytest.mark.parametrize("text", [text for text in LONGER if not IN_A_SHELL.match(text)])
def test_a_longer_command_runs_as_it_is_printed(text: str, folder: Path) -> None:
    if text.startswith("portal-conformance replay"):  # the portal that it calls has no further endpoint
        recording = folder / "today.jsonl"
        recording.write_bytes(b"".join(recording.read_bytes().splitlines(keepends=True)[:-1]))

    ended = done(command(*shlex.split(text)[1:]), folder / "reports", environment(text, folder))

    assert ended.code == 0, ended.said


@pytest.mark.parametrize("text", [text for text in LONGER if IN_A_SHELL.match(text)])
def test_a_command_that_serves_or_needs_its_shell_runs_as_it_is_printed(
    text: str, workshop: Workshop, folder: Path
) -> None:
    if text.startswith("portal-conformance record"):
        (folder / "today.jsonl").unlink()  # it overwrites no capture

    process = workshop.start(text, folder)
    begin = ""
    if not text.startswith("eval"):
        assert process.stdout is not None
        begin = process.stdout.readline()
        process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=600)

    # 2 where the interrupt comes before the first connection is awaited
    assert process.returncode in (0, 2), begin + output


def test_the_commands_of_the_recordings_guide_are_run_in_their_order() -> None:
    elsewhere = [text for text in of("portal-conformance") if is_run_elsewhere(text)]

    assert len(elsewhere) == len(run_in_sequence()) == 5
    assert not set(elsewhere) & set(RUN_HERE)


@pytest.mark.parametrize("text", [text for text in of("portal-conformance") if PLACEHOLDER.search(text)])
def test_a_command_with_a_placeholder_is_understood(text: str) -> None:
    words = shlex.split(text)[1:]

    assert loaded(words[0]).make_context(words[0], words[1:]).args == []


@pytest.mark.parametrize("text", [text for text in of("pytest") if "--pyargs" in text])
def test_a_command_of_pytest_runs_the_cases_from_an_installation(
    text: str, folder: Path, installed: Installation
) -> None:
    """One chapter is a suite: to collect all cases takes most of the time."""
    rule, chapter = ("LOGIN-030", "authentication") if "login" in text else (RULE, "constants")
    (folder / "pytest.ini").write_text(f"[pytest]\nconformance_only = {rule}\n", encoding="utf-8")

    run = subprocess.run(
        ["bash", "-c", text.replace("--pyargs cases ", f"--pyargs cases.{chapter} ")],
        cwd=folder,
        env=installed.environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("text", of("pip", "pipx", "uvx"))
def test_a_command_that_installs_finds_the_suite(
    text: str, installed: Installation, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    file = wheel(tmp_path_factory)
    place = str(file.parent)
    tools = {"UV_FIND_LINKS": place, "PIP_FIND_LINKS": place, "PIP_DRY_RUN": "1", "HOME": str(tmp_path)}
    path = f"{installed.bin}{os.pathsep}{BIN}{os.pathsep}{os.environ['PATH']}"

    run = subprocess.run(
        ["bash", "-c", re.sub(f"{re.escape(REPOSITORY)}(@v[0-9.]+)?", file.as_uri(), text)],
        cwd=tmp_path,
        env={**installed.environment(), **tools, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stdout + run.stderr
    assert ("Usage: portal-conformance" in run.stdout) == (not text.startswith("pip ")), run.stdout


def test_the_targets_of_make_exist() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)

    assert {text.split()[1] for text in of("make")} - {".venv/ready"} <= {*targets}


@pytest.mark.parametrize("text", [text for text in of("pytest") if "--pyargs" not in text])
def test_the_tests_that_a_command_names_exist(text: str) -> None:
    words = [*shlex.split(text)[1:], "--collect-only", "-q"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert run.returncode == 0, run.stdout


OF_A_CHECKOUT = [text for text in COMMANDS if re.match(r"python |\.venv/bin/", text)]


@pytest.mark.parametrize("text", OF_A_CHECKOUT)
def test_a_command_of_a_checkout_names_what_is_there(text: str) -> None:
    program, *words = shlex.split(text)
    scripts = [word for word in words if "/" in word]

    assert (BIN / Path(program).name).exists()
    assert all((ROOT / script).is_file() for script in scripts)
    for script in scripts:
        compile((ROOT / script).read_text(encoding="utf-8"), script, "exec")
    if Path(program).name == "portal-conformance":
        assert loaded(words[0]).make_context(words[0], words[1:]).args == []


def test_every_command_has_a_test() -> None:
    tested = {
        *RUN_HERE,
        *OF_A_CHECKOUT,
        *of("pytest", "pip", "pipx", "uvx", "make"),
        *(text for text in of("portal-conformance") if PLACEHOLDER.search(text) or is_run_elsewhere(text)),
        *(text for text, each in COMMANDS.items() if each.needs),
    }

    assert set(COMMANDS) - tested == set()
    assert {each.needs for each in COMMANDS.values()} == {"", "docker"}


def test_each_shell_block_holds_commands_alone() -> None:
    lines = [Command(block.page, line) for block in blocks("sh") for line in block.text.splitlines() if line]

    assert [line for line in lines if not is_command(line.text)] == []


def test_the_guides_show_every_command() -> None:
    guides = {each.text.split()[1] for each in commands() if each.page not in GENERATED}

    assert {row.name for row in ROWS} <= guides
