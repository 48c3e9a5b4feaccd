"""Runs pytest on the cases for ``portal-conformance run``, and shows a console in place of pytest's lines."""

from __future__ import annotations

import html
import re
import sys
import time
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.cli.layout import is_screen, print_error
from conformance.cli.live.views import LiveView, LogView, RunProgress
from conformance.cli.output import RedactedStream
from conformance.errors import SuiteError, UsageError
from conformance.report.formats.html.run_page import link_cases
from conformance.report.formats.terminal import Pen, wants_colour
from conformance.report.formats.write import CASES, write_further
from conformance.report.model.visible import one_line
from conformance.run.catalogue import pytest_arguments
from conformance.run.hooks.stash import FINAL, SESSION
from conformance.run.hooks.terminal import NAME, closing_lines, say
from conformance.run.options import as_arguments, value_of
from conformance.run.planning import in_words
from conformance.target.portal.changes import LEDGER, ChangeLedger
from conformance.traffic.redaction.registries import redacted_by_all
from conformance.traffic.replacing import write_report

SHOWN_BY_PYTEST = (
    "--collect-only", "--co", "--pdb", "--trace", "--fixtures", "--fixtures-per-test", "--markers",
    "--setup-show", "--setup-only", "--setup-plan", "--verbose",
)  # fmt: skip
"""Options of pytest that ask for its own lines."""
PREFIXES = ("-v", "--durations", "--verbosity")
"""How others begin that do."""


class RunConsole:
    """Shows a run's progress, waits, findings, and result."""

    def __init__(self, stream: RedactedStream, *, quiet: bool) -> None:
        self.progress = RunProgress()
        self._stream = stream
        self._quiet = quiet
        self._view: LiveView | LogView = (
            LiveView(stream, self.progress) if is_screen(stream) else LogView(stream, self.progress)
        )
        self._is_started = False
        self._contradicted: set[str] = set()
        self._known: set[str] = set()

    # --- what a run calls

    def line(self, text: str) -> None:
        self._view.line(text)

    def finding(self, verdict: str, rule: str, text: str) -> None:
        """Shows a rule once, wherever else it is contradicted; once more where only the first was known."""
        shown = self._known if verdict == "known" else self._contradicted
        if rule in self._contradicted or rule in shown:
            return
        shown.add(rule)
        self.progress.findings[verdict] += 1
        if not self._quiet:
            self._view.line(f"{Pen(wants_colour(self._stream))(verdict.lower(), verdict)} {rule}  {text}")

    def lasting(self, seconds: float) -> None:
        self.progress.lasts = seconds

    def waiting(self, why: str, seconds: float) -> None:
        self.progress.wait(why, seconds)
        if not self._quiet:
            self._view.waits(why, seconds)

    # --- what pytest calls

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.pluginmanager.unregister(name="terminalreporter")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.progress.cases, self.progress.began = len(session.items), time.monotonic()
        if session.items and not self._quiet:
            self._view.start()
            self._is_started = True

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.progress.case = in_words(nodeid)

    def pytest_runtest_logfinish(self) -> None:
        self.progress.ended += 1

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A failure of the suite is shown with its traceback; what a portal does wrong is a finding."""
        if report.failed and not isinstance(report.longrepr, str):
            self._show(report.longreprtext)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._show(report.longreprtext)

    def pytest_internalerror(self, excrepr: Any) -> None:
        self._show(str(excrepr))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, Any, Any]:
        try:
            return (yield)
        finally:
            self._end(session)

    def _end(self, session: pytest.Session) -> None:
        if self._is_started:
            self._view.stop()
        run = session.config.stash.get(FINAL, None)
        if run is None:
            if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
                self._view.line("No case is selected. `portal-conformance requirements` lists the cases.")
            return
        for line in closing_lines(session.config, run, colour=wants_colour(self._stream)):
            self._view.line(line)

    def _show(self, text: str) -> None:
        for line in text.splitlines():
            self._view.line(line)


def console_for(words: list[str], *, quiet: bool) -> RunConsole | None:
    """The display of a run; None where options ask for pytest's own lines."""
    is_pytests = any(word in SHOWN_BY_PYTEST or word.startswith(PREFIXES) for word in words)
    if is_pytests or not isinstance(sys.stdout, RedactedStream):
        return None
    return RunConsole(sys.stdout, quiet=quiet)


INTERRUPTED = pytest.ExitCode.INTERRUPTED
QUIETLY = ("-q", "--tb=short", "--no-header", "--disable-warnings")
PYTEST_HTML = ("-p", "pytest_metadata.plugin", "-p", "pytest_html.plugin", "--self-contained-html")


DATA = re.compile(r'(?<=data-jsonblob=")([^"]*)(?=")')
OF_OPTION = re.compile(r"^\S+: error: (.*)$", re.MULTILINE)
"""What pytest says of its own options, below its usage."""


class Display:
    """A plugin that registers the display of a run by its name."""

    def __init__(self, console: RunConsole) -> None:
        self._console = console

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.pluginmanager.register(self._console, NAME)


class Ending:
    """A plugin that notes whether a run ended with reports, and where. A wrong option ends it before: as a
    usage error of ours, which pytest would print otherwise than other commands do. A round of ``--watch`` in
    which the target restarted is dropped: it has no report."""

    def __init__(self, *, is_round: bool) -> None:
        self.reports: Path | None = None
        self.restart: SuiteError | None = None
        self._is_round = is_round

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_cmdline_parse(self) -> Generator[None, Any, Any]:
        try:
            return (yield)
        except pytest.UsageError as wrong:
            text = "\n".join(map(str, wrong.args))
            if of_option := OF_OPTION.search(text):
                text = f"{of_option[1]}. `portal-conformance run --help` shows what there is."
            raise UsageError(f"run: {text}") from None

    pytest_cmdline_main = pytest_cmdline_parse

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, Any, Any]:
        run, is_interrupted = session.config.stash.get(SESSION, None), session.exitstatus == INTERRUPTED
        if self._is_round and run is not None and run.restarted and not is_interrupted:
            self.restart = run.gone
            del session.config.stash[SESSION]
            for left in run.drop():
                say(session.config, f"Not restored: {one_line(left, 600)}.")
        return (yield)

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        self.reports = value_of(config, "out") if FINAL in config.stash else None


def run(
    options: SimpleNamespace, out: Path, *, is_round: bool = False, start: Callable[..., int] = pytest.main
) -> int:
    """Runs the cases with the options of the command; the exit code. ``start`` runs pytest, whose plugin
    pytest-html writes its page at once: it is moved to the reports when there are some. TargetRestarted: this
    was a round of ``--watch``."""
    options.out = out
    ending, console = Ending(is_round=is_round), console_for(options.further, quiet=options.brief)
    with TemporaryDirectory() as folder:
        page = Path(folder, CASES)
        pages = (*PYTEST_HTML, f"--html={page}") if "cases" in options.formats else ()
        words = [*pytest_arguments(), *QUIETLY, *pages, *options.further, *as_arguments(options)]
        try:
            if console is None:
                code = start(words, plugins=[ending])
            else:  # what is shown leaves by the stream that pytest would capture otherwise
                code = start([*words, "--capture=sys"], plugins=[ending, Display(console)])
        except KeyboardInterrupt:  # a second one, while the run ends
            code = INTERRUPTED
        if code == INTERRUPTED and ending.reports is None:
            print_error(_interrupted(out))
        if ending.reports is not None:
            if page.exists():
                write_report(ending.reports / CASES, _redacted(page.read_text(encoding="utf-8")))
                with suppress(OSError):  # the report's page could not be written
                    link_cases(ending.reports, CASES)
            write_further(ending.reports, options.formats)
    if ending.restart is not None:
        raise ending.restart
    return int(code)


def _redacted(page: str) -> str:
    """The page of pytest-html without secrets; its data stand as JSON in an attribute of HTML."""
    parts = DATA.split(page)
    for at in range(1, len(parts), 2):
        parts[at] = html.escape(redacted_by_all(html.unescape(parts[at])))
    return redacted_by_all("".join(parts))


def _pending(ledger: Path) -> list[str]:
    if not ledger.exists():
        return []
    try:
        with closing(ChangeLedger.read(ledger)) as changes:
            return [change.subject for change in changes.pending]
    except SuiteError:
        return ["what it changed"]


def _interrupted(out: Path) -> str:
    """The message after an interruption, also repeated at the end of the run."""
    ledger = out / LEDGER
    pending = list(dict.fromkeys(_pending(ledger)))
    if pending:
        restore = f"`portal-conformance cleanup {ledger} --profile FILE` restores it"
        left = "\n".join(f"Not restored: {one_line(subject, 600)}." for subject in pending)
        return f"\n{left}\nportal-conformance run: interrupted before everything was restored. {restore}."
    return "\nportal-conformance run: interrupted before the reports were written."
