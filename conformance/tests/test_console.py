"""What ``run`` shows while it goes on and when it ends: on a terminal, in a log, and with ``--quiet``."""

from __future__ import annotations

import io
import os
import pty
import re
import shlex
import subprocess
import time
from pathlib import Path

import pytest
from rich.console import Console

from conformance.cli.layout import print_laid_out
from conformance.cli.live.running import RunConsole
from conformance.cli.live.views import LiveView, LogView, RunProgress
from conformance.cli.output import RedactedStream
from conformance.tests.deployment import Done, command, deployed
from conformance.tests.test_report_terminal import Terminal
from conformance.traffic.redaction.redact import Secrets

FAULT, BROKEN = "countries-value-off-by-one", "CONSTANT-020"
ONE = ("--rerun", BROKEN)


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Done:
    with deployed(tmp_path_factory.mktemp("faulty"), faults=[FAULT]) as portal:
        return portal.run(*ONE, "--formats", "cases, sarif")


def test_the_first_lines_say_what_is_judged_before_anything_is_sent(faulty: Done) -> None:
    first = faulty.said.splitlines()

    assert re.fullmatch(r"portal-conformance \d+\.\d+\.\d+", first[0])
    assert re.fullmatch(r"target    http://127\.0\.0\.1:\d+", first[1])
    assert first[2].startswith("profile   ")
    assert first[3].startswith("impact    ")
    assert re.match(r"rules     \d+ selected, \d+ of them can be tried", first[4])


def test_a_finding_is_shown_once_as_it_comes_and_the_last_block_counts_it(faulty: Done) -> None:
    lines = faulty.said.splitlines()

    came = [line for line in lines if line.startswith(f"FAIL {BROKEN}  ")]
    assert len(came) == 2, "as it comes, and in the summary"
    assert lines[-4].startswith(
        "Not conformant in a selection  1 cause that breaks a client. Selected: --rerun"
    )
    assert lines[-3].startswith("tested     1 of 1 selected musts · ")
    assert lines[-2] == f"report     {faulty.out / 'report.html'}"
    assert lines[-1] == "exit code  1: the specification is contradicted"
    of_pytest = r"^\.+|=====|\d+ (passed|failed)|Generated html|test session"
    assert not re.search(of_pytest, faulty.said, re.MULTILINE)
    assert (faulty.out / "cases.html").is_file()
    assert (faulty.out / "results.sarif").is_file()
    assert '<a href="cases.html">' in (faulty.out / "report.html").read_text(encoding="utf-8")


def test_quiet_is_one_line_and_a_selection_without_cases_is_named(tmp_path: Path) -> None:
    with deployed(tmp_path, faults=[FAULT]) as portal:
        run = portal.run(*ONE, "--quiet")
        of_none = portal.run("-k", "no_case_has_this_name")

    assert len(run.said.splitlines()) == 1
    assert run.said.startswith("Not conformant in a selection: ")
    assert " · exit code 1: " in run.said
    assert of_none.code == 5
    assert "No case is selected." in of_none.said


def test_on_a_terminal_the_progress_is_drawn_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with deployed(tmp_path, faults=[FAULT]) as portal:
        words = command("run", "--profile", str(portal.profile), "--out", str(tmp_path / "out"), *ONE)
        shown = on_terminal(words, columns=60)

    assert " cases (" in shown
    assert "\x1b[2K" in shown
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 1, "the cursor comes back"
    assert shown.rstrip().endswith("exit code  1: the specification is contradicted")


def on_terminal(words: list[str], *, columns: int) -> str:
    """What a command writes to a terminal of this width."""
    ours, theirs = pty.openpty()
    environ = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm"}
    process = subprocess.Popen(words, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL, env=environ)
    os.close(theirs)
    pieces: list[bytes] = []
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        pieces.append(piece)
    process.wait()
    os.close(ours)
    return b"".join(pieces).decode()


CASE = "'cases/x.py::test_it[POST /web/v1/system/accounts/admin/query of a portal that is far away]'"
RERUN = (
    f"portal-conformance run --rerun {CASE} --target http://127.0.0.1:36277 --profile portal.toml --strict"
)
SERVE = (
    "portal-conformance serve --port 8000 --profile-out local.toml --fault an-email-filter-that-is-ignored"
)


@pytest.mark.parametrize("width", [60, 100])
@pytest.mark.parametrize(
    "before, line, command",
    [
        ("     exchanges 598, 599 · reproduce:", "{before} {command}", RERUN),
        ("WARN", "{before}        {command}", SERVE),
        ("Next:", "{before} `{command}` shows what a run on this target would do.", SERVE),
        (
            "It is done. Next:",
            "{before} `{command}`, and then come back to this place.",
            "portal-conformance plan",
        ),
    ],
)
def test_a_command_is_printed_so_that_what_is_copied_runs(
    before: str, line: str, command: str, width: int
) -> None:
    screen = io.StringIO()

    print_laid_out(Console(file=screen, width=width), line.format(before=before, command=command))

    shown = screen.getvalue()
    copied = shown[shown.index("portal-conformance") :].partition("`")[0].rstrip("\n")
    assert "\n" not in copied
    assert shlex.split(copied) == shlex.split(command)


def test_a_secret_is_redacted_before_a_line_is_broken_and_no_target_moves_the_cursor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    secrets, screen = Secrets(), Terminal()
    secrets.add("a-planted-secret-of-forty-characters-or-so", "password")
    view = LiveView(RedactedStream(screen, [secrets]), RunProgress())

    view.line("waits for a-planted-secret-of-forty-characters-or-so")
    view.line("FAIL \x1b[2A\x1b[?25l gone")

    assert "planted" not in screen.getvalue()
    assert "[password-1]" in screen.getvalue()
    assert "\x1b[2A" not in screen.getvalue()
    assert "\x1b[?25l" not in screen.getvalue()


def test_a_finding_that_the_baseline_lists_is_known_and_no_fail_of_the_progress() -> None:
    log = io.StringIO()
    console = RunConsole(RedactedStream(log, []), quiet=False)

    for verdict, rule in (("known", BROKEN), ("known", BROKEN), ("FAIL", BROKEN), ("known", BROKEN)):
        console.finding(verdict, rule, "a statement")
    console.finding("known", "PAGE-002", "another")

    shown = [f"known {BROKEN}  a statement", f"FAIL {BROKEN}  a statement", "known PAGE-002  another"]
    assert log.getvalue().splitlines() == shown
    assert " · 1 FAIL · 2 known · " in console.progress.numbers


def test_a_log_says_every_few_seconds_how_far_the_run_is_and_less_often_while_no_case_ends() -> None:
    log, progress = io.StringIO(), RunProgress(cases=4, ended=1, case="a case")
    view, began = LogView(RedactedStream(log, []), progress), time.monotonic()

    for second in range(60):
        progress.ended = min(1 + second // 4, 3)
        view.tick(began + second)

    lines = log.getvalue().splitlines()
    assert [line.partition(" · ")[0] for line in lines] == [
        "2 of 4 cases (50 %)",
        "3 of 4 cases (75 %)",
        "3 of 4 cases (75 %)",
    ]
    assert all(line.endswith(" · a case") for line in lines)
