"""What ``run`` shows while it goes on and when it ends: on a terminal, in a log, and with ``--quiet``."""

from __future__ import annotations

import io
import os
import pty
import re
import shlex
import subprocess
import time
from contextlib import AbstractContextManager, redirect_stdout
from pathlib import Path
from typing import TextIO, cast

import pytest
from rich.console import Console

from conformance.cli.layout import laid_out, print_laid_out, status_line, status_until_shown
from conformance.cli.live.running import RunConsole, wants_pytest
from conformance.cli.live.views import ENDING, LiveView, LogView, RunProgress
from conformance.cli.output import RedactedStream
from conformance.run.hooks.introduction import introduction
from conformance.run.options import RunOptions
from conformance.target.profile.model import of_target
from conformance.tests.deployment import Done, command, deployed
from conformance.traffic.redaction.redact import Secrets

FAULT, BROKEN = "countries-value-off-by-one", "CONSTANT-020"
ONE = ("--rerun", BROKEN)


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Done:
    with deployed(tmp_path_factory.mktemp("faulty"), faults=[FAULT]) as portal:
        return portal.run(*ONE)


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
    assert lines[-6].startswith(
        "Not conformant in a selection  1 requirement of the specification is contradicted. Selected: --rerun"
    )
    assert lines[-3].startswith("findings   1 FAIL · 0 WARN")
    assert lines[-2] == f"report     {faulty.out / 'report.html'}"
    assert lines[-1] == "exit code  1: 1 requirement failed"
    of_pytest = r"^\.+|=====|\d+ (passed|failed)|Generated html|test session"
    assert not re.search(of_pytest, faulty.said, re.MULTILINE)
    assert (faulty.out / "cases.html").is_file()
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


@pytest.mark.parametrize(
    "words, wanted", [(["-v"], True), (["--co"], True), (["--durations=3"], True), (["-x"], False)]
)
def test_who_asks_pytest_for_its_lines_gets_them(words: list[str], wanted: bool) -> None:
    assert wants_pytest(words) is wanted


def test_on_a_terminal_the_progress_is_drawn_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with deployed(tmp_path, faults=[FAULT]) as portal:
        words = command("run", "--profile", str(portal.profile), "--out", str(tmp_path / "out"), *ONE)
        shown = on_terminal(words, columns=60)

    assert " cases (" in shown
    assert "\x1b[2K" in shown
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 1, "the cursor comes back"
    assert shown.rstrip().endswith("exit code  1: 1 requirement failed")


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


def on_screen(line: str) -> list[str]:
    """The lines of a narrow screen that one line takes."""
    screen = io.StringIO()
    Console(file=screen, width=60).print(laid_out(line, 60))
    return screen.getvalue().splitlines()


@pytest.mark.parametrize("label", ["accounts.spare  ", "bot_challenge   ", "exit code       "])
def test_a_long_line_goes_on_below_its_text_whatever_its_label(label: str) -> None:
    first, second, *_ = on_screen(f"missing  {label}{'word ' * 20}")

    assert first.startswith(f"missing  {label}word")
    assert second.startswith(f"{' ' * 25}word")


def test_a_word_that_is_wider_than_the_terminal_is_broken_behind_a_sign() -> None:
    name = "cases/properties/test_signing_in.py::test_a_sign_in_follows_the_stated_moves"
    colons_at_the_end = on_screen(f"decided by  {'a' * 48}::test_it")

    assert [line.strip() for line in on_screen(f"decided by  {name} (needs clock)")] == [
        "decided by  cases/properties/test_signing_in.py::test_a_",
        "sign_in_follows_the_stated_moves (needs clock)",
    ]
    assert not any(line.strip().startswith(":") for line in colons_at_the_end)


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
    joined = copied.replace("\\\n", "")
    assert "\n" not in joined
    assert shlex.split(joined) == shlex.split(command)
    lines = [each for each in shown.splitlines() if "cases/x.py" not in each]
    assert all(len(each) <= width and each == each.rstrip() for each in lines)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


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


def shown_on(stream: TextIO) -> AbstractContextManager[object]:
    """Within it a command prints to a stream, as redacted as ever."""
    return redirect_stdout(cast(TextIO, RedactedStream(stream, [])))


def test_what_a_command_does_is_shown_until_it_has_something_to_say(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, log = Terminal(), io.StringIO()

    monkeypatch.setenv("TERM", "xterm")
    for stream in (screen, log):
        with shown_on(stream), status_until_shown("judging …") as show:
            show("first")
            show("second")

    drawn, _, rest = screen.getvalue().partition("first")
    assert "judging …" in drawn
    assert rest == "\nsecond\n", "it is gone before the first line"
    assert log.getvalue() == "first\nsecond\n"


def test_a_dumb_terminal_gets_the_lines_of_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setenv("TERM", "dumb")
    line = f"exit code  {'word ' * 40}".rstrip()

    with shown_on(screen), status_until_shown("judging …") as show:
        show(line)

    assert screen.getvalue() == f"{line}\n"


def test_a_wait_is_counted_down_and_then_forgotten() -> None:
    progress = RunProgress(cases=4, ended=1, case="a case")

    progress.wait("the resend cooldown", 0.2)
    during = progress.activity
    time.sleep(0.25)

    assert during == "waiting 0.2 s for the resend cooldown"
    assert progress.activity == "a case"
    assert progress.numbers.startswith("1 of 4 cases (25 %) · ")


def test_the_few_cases_that_wait_are_most_of_the_progress() -> None:
    progress = RunProgress(cases=1000, ended=999, case="a case", lasts=300.0, began=0.0, now=lambda: 60.0)

    assert progress.numbers == "999 of 1,000 cases · 1 min 0 s of 5 min 0 s (20 %)"
    progress.lasts = 0.0
    assert progress.numbers == "999 of 1,000 cases (99 %) · 1 min 0 s"
    progress.ended = 1000
    assert (progress.share, progress.activity) == (1.0, ENDING)


def test_an_interrupt_that_a_terminal_shows_breaks_no_line_of_the_progress(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    screen = Terminal()
    view = LiveView(RedactedStream(screen, []), RunProgress(cases=3, case="a case " * 40))

    view.console.print(view._drawn())

    assert max(map(len, screen.getvalue().splitlines())) <= view.console.width - 3


def test_a_finding_that_the_baseline_lists_is_known_and_no_fail_of_the_progress() -> None:
    log = io.StringIO()
    console = RunConsole(RedactedStream(log, []), quiet=False)

    for verdict, rule in (("known", BROKEN), ("known", BROKEN), ("FAIL", BROKEN), ("known", BROKEN)):
        console.finding(verdict, rule, "a statement")
    console.finding("known", "PAGE-002", "another")

    shown = [f"known {BROKEN}  a statement", f"FAIL {BROKEN}  a statement", "known PAGE-002  another"]
    assert log.getvalue().splitlines() == shown
    assert " · 1 FAIL · 2 known · " in console.progress.numbers


def test_a_log_names_long_waits_only() -> None:
    log = io.StringIO()
    view = LogView(RedactedStream(log, []), RunProgress())

    view.waits("a code", 1.0)
    view.waits("the resend cooldown", 60.0)

    assert log.getvalue().startswith("waiting 1 min 0 s for the resend cooldown, until ")
    assert log.getvalue().count("\n") == 1


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


def test_on_a_terminal_a_line_says_what_a_command_does_now() -> None:
    screen, log = Terminal(), io.StringIO()

    for place in (screen, log):
        with redirect_stdout(place), status_line() as show:
            show("trying accounts.admin …")

    assert "trying accounts.admin …" in screen.getvalue()
    assert "\x1b[2K" in screen.getvalue(), "the line goes when the command ends"
    assert log.getvalue() == ""


def test_the_first_lines_name_the_commands_that_say_what_keeps_a_rule_from_being_tried() -> None:
    *_, rules, _cases = introduction(of_target("http://127.0.0.1:9", {}), RunOptions(), [], selection="")

    assert re.search(r"the other \d+ are left out: `plan` says by case, and `explain ID` by rule", rules)
