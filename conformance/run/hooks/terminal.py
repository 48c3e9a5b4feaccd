"""What a run prints: waits as they begin, the findings of a case, and how the run ended. A display that the
command has registered shows it in place of pytest's own lines."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Protocol, cast

import pytest

from conformance.report.formats.closing import ended_lines, verdict_line
from conformance.report.formats.terminal import waiting
from conformance.report.model.run import Run
from conformance.report.model.visible import one_line
from conformance.report.model.words import plural
from conformance.run.catalogue import ids_of
from conformance.run.hooks.stash import SESSION
from conformance.run.options import value_of
from conformance.run.session import RunSession
from conformance.target.clock import SimulatedClock, wall
from conformance.verdicts.findings import Finding, Verdict

SHORT_WAIT = 3.0
"""Seconds of a wait that is not worth a line."""

NAME = "portal-conformance-display"
"""The name of the plugin that is the display."""


class RunDisplay(Protocol):
    """Shows a run. Every text is redacted already."""

    def line(self, text: str) -> None:
        """Shows a line at once."""

    def finding(self, verdict: str, rule: str, text: str) -> None:
        """Shows what contradicts a rule, as it comes; ``verdict`` is FAIL or WARN, or ``known`` where the
        baseline lists it."""

    def lasting(self, seconds: float) -> None:
        """Takes how long the waits will make the run last."""

    def waiting(self, why: str, seconds: float) -> None:
        """Shows a wait that begins."""


def display_of(config: pytest.Config) -> RunDisplay | None:
    """The display of a run; None where pytest's own terminal shows it."""
    return cast(RunDisplay | None, config.pluginmanager.get_plugin(NAME))


def say(config: pytest.Config, line: str) -> None:
    """Prints a separate line between the dots immediately, even during a wait or under output capture."""
    if value_of(config, "brief"):
        return
    display = display_of(config)
    if display is not None:
        display.line(line)
        return
    if not config.pluginmanager.has_plugin("terminalreporter"):
        return
    terminal, capture = config.get_terminal_writer(), config.pluginmanager.get_plugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture else contextlib.nullcontext():
        if terminal.width_of_current_line:
            terminal.line()
        terminal.line(line)
        terminal.flush()


def wait_announcer(config: pytest.Config) -> Callable[[float, str], None]:
    """Notes each wait of the run that takes real time, and prints the long ones as they begin."""

    def announce(seconds: float, why: str) -> None:
        run = config.stash.get(SESSION, None)
        if run is None or isinstance(run.clock, SimulatedClock):
            return
        run.waited(why, seconds, wall())
        display = display_of(config)
        if display is not None:
            display.waiting(one_line(run.secrets.redact(why), 120), seconds)
        elif seconds >= SHORT_WAIT:
            say(config, waiting(why, seconds))

    return announce


def announce_interrupt(config: pytest.Config, run: RunSession) -> None:
    """Says at once that an interrupted run restores what it changed: that may take a while."""
    count = len(run.portal.changes.own_pending)
    due = f"{plural(count, 'change')} to restore first" if count else "nothing is left to restore"
    say(config, f"Interrupted: {due}, then the reports are written. Press Ctrl-C again to stop.")


def show_findings(config: pytest.Config, run: RunSession, findings: Sequence[Finding]) -> None:
    """Shows what contradicts the specification for the first time, where the run has a display."""
    display = display_of(config)
    if display is None or not findings or value_of(config, "brief"):
        return
    today = datetime.now(UTC).date()
    for finding in findings:
        if finding.times == 1 and finding.verdict in (Verdict.FAIL, Verdict.WARN):
            statement = run.ledger.requirements[finding.requirement].statement
            text = one_line(run.secrets.redact(f"{statement} ({finding.endpoint})"), 300)
            is_known = run.baseline is not None and run.baseline.row_of(finding, today) is not None
            verdict = "known" if is_known else finding.verdict.value.upper()
            display.finding(verdict, finding.requirement, text)


def finding_text(run: RunSession, finding: Finding) -> str:
    """A finding as pytest shows it below the case that brought it to light."""
    requirement = run.ledger.requirements[finding.requirement]
    numbers = ", ".join(str(number) for number in finding.exchanges)
    text = (
        f"{finding.verdict.value.upper()} {finding.requirement} {requirement.statement}\n"
        f"     {finding.endpoint}: {finding.message} (exchanges {numbers})"
    )
    return run.secrets.redact(text)


def case_properties(item: pytest.Item, findings: Sequence[Finding]) -> Iterator[tuple[str, object]]:
    """What a case is about, for the columns of ``cases.html`` and for pytest's own reports."""
    verdicts = sorted({f"{finding.requirement} {finding.verdict.value}" for finding in findings})
    yield "requirements", ", ".join(ids_of(item))
    yield "verdicts", ", ".join(verdicts) or "pass"
    yield "exchanges", ", ".join(str(number) for finding in findings for number in finding.exchanges)


def closing_lines(config: pytest.Config, run: Run, *, colour: bool) -> Iterator[str]:
    """What is printed of an ended run, as the options ask for."""
    brief, out = value_of(config, "brief"), value_of(config, "out")
    if brief:
        yield verdict_line(run, out)
        return
    yield from ended_lines(run, out, colour=colour)
