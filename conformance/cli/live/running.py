"""Runs pytest on the cases for ``portal-conformance run``; its page of cases goes to the reports."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from conformance.cli.layout import print_error
from conformance.cli.live.console import RunConsole, console_for
from conformance.errors import SuiteError, UsageError
from conformance.report.formats.html import link_cases
from conformance.report.formats.write import replace
from conformance.report.model.visible import one_line
from conformance.run.catalogue import pytest_arguments
from conformance.run.hooks.display import NAME
from conformance.run.hooks.stash import FINAL
from conformance.run.options import value_of
from conformance.target.portal.changes import LEDGER, ChangeLedger
from conformance.traffic.redaction.registries import redacted_by_all

PAGE = "cases.html"
QUIETLY = ("-q", "--tb=short", "--no-header", "--disable-warnings")
PLUGINS = ("-p", "pytest_metadata.plugin", "-p", "pytest_html.plugin")


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
    usage error of ours, which pytest would print otherwise than other commands do."""

    def __init__(self) -> None:
        self.reports: Path | None = None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_cmdline_parse(self) -> Generator[None, Any, Any]:
        return (yield from _with_own_errors())

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_cmdline_main(self) -> Generator[None, Any, Any]:
        return (yield from _with_own_errors())

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        self.reports = value_of(config, "out") if FINAL in config.stash else None


def run(
    options: Iterable[str],
    *,
    further: Sequence[str],
    out: Path,
    quiet: bool,
    start: Callable[..., int] = pytest.main,
) -> int:
    """Runs the cases; the exit code. ``start`` runs pytest, whose plugin pytest-html writes its page at once:
    it is moved to the reports when there are some."""
    ending, console = Ending(), console_for(list(further), quiet=quiet)
    with TemporaryDirectory() as folder:
        page = Path(folder, PAGE)
        pages = (f"--html={page}", "--self-contained-html")
        words = [*pytest_arguments(), *QUIETLY, *PLUGINS, *pages, *further, *options]
        try:
            if console is None:
                code = start(words, plugins=[ending])
            else:  # what is shown leaves by the stream that pytest would capture otherwise
                code = start([*words, "--capture=sys"], plugins=[ending, Display(console)])
        except KeyboardInterrupt:  # a second one, while the run ends
            code = pytest.ExitCode.INTERRUPTED
        if code == pytest.ExitCode.INTERRUPTED and ending.reports is None:
            print_error(_interrupted(out))
        if ending.reports is not None:
            replace(ending.reports / PAGE, _redacted(page.read_text(encoding="utf-8")))
            with suppress(OSError):  # the report's page could not be written
                link_cases(ending.reports, PAGE)
    return int(code)


def _redacted(page: str) -> str:
    """The page of pytest-html without secrets; its data stand as JSON in an attribute of HTML."""
    parts = DATA.split(page)
    for at in range(1, len(parts), 2):
        parts[at] = html.escape(redacted_by_all(html.unescape(parts[at])))
    return redacted_by_all("".join(parts))


def _with_own_errors() -> Generator[None, Any, Any]:
    """A part of pytest, with its usage errors as ours."""
    try:
        return (yield)
    except pytest.UsageError as wrong:
        text = "\n".join(map(str, wrong.args))
        of_option = OF_OPTION.search(text)
        problem = (
            f"{of_option[1]}. `portal-conformance run --help` shows what there is." if of_option else text
        )
        raise UsageError(f"run: {problem}") from None


def _pending(ledger: Path) -> list[str]:
    """The changes that a ledger lists as not restored, in words."""
    if not ledger.exists():
        return []
    try:
        with closing(ChangeLedger.read(ledger)) as changes:
            return [change.subject for change in changes.pending]
    except SuiteError:
        return ["what it changed"]


def _interrupted(out: Path) -> str:
    """What is said of a run that was interrupted before it had anything to show, or once more at its end."""
    ledger = out / LEDGER
    pending = list(dict.fromkeys(_pending(ledger)))
    if pending:
        restore = f"`portal-conformance cleanup {ledger} --profile FILE` restores it"
        left = "\n".join(f"Not restored: {one_line(subject, 600)}." for subject in pending)
        return f"\n{left}\nportal-conformance run: interrupted before everything was restored. {restore}."
    return "\nportal-conformance run: interrupted before the reports were written."
