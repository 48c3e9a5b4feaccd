"""What ``portal-conformance run`` shows in place of pytest's own lines: a plugin of pytest."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from typing import Any

import pytest

from conformance.cli.layout import is_screen
from conformance.cli.live.views import LiveView, LogView, RunProgress, RunView
from conformance.cli.output import RedactedStream
from conformance.report.formats.terminal import Pen, wants_colour
from conformance.run.hooks.stash import FINAL
from conformance.run.hooks.terminal import closing_lines
from conformance.run.planning import in_words

SHOWN_BY_PYTEST = (
    "--collect-only", "--co", "--pdb", "--trace", "--fixtures", "--fixtures-per-test", "--markers",
    "--setup-show", "--setup-only", "--setup-plan", "--verbose",
)  # fmt: skip
"""Options of pytest that ask for its own lines."""


def wants_pytest(words: list[str]) -> bool:
    """Whether options passed on to pytest ask for its own lines: these, ``-v`` and ``--durations``."""
    return any(
        word in SHOWN_BY_PYTEST or word.startswith(("-v", "--durations", "--verbosity")) for word in words
    )


class RunConsole:
    """Shows a run: how far it is, what it waits for, what is found, and how it ended."""

    def __init__(self, stream: RedactedStream, *, quiet: bool) -> None:
        self.progress = RunProgress()
        self._stream = stream
        self._quiet = quiet
        self._view: RunView = (
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
    if wants_pytest(words) or not isinstance(sys.stdout, RedactedStream):
        return None
    return RunConsole(sys.stdout, quiet=quiet)
