"""The pytest side of a run: the hooks, each of which calls the part of ``conformance.run`` that does it."""

from __future__ import annotations

import inspect
from collections.abc import Generator, Sequence
from html import escape
from typing import Any

import pytest

from conformance.errors import SuiteError
from conformance.run.catalogue import ids_of
from conformance.run.hooks.loop import goes_on, guarded, run_all, step_through
from conformance.run.hooks.selection import (
    counted_rules,
    declared_marks,
    keep_chosen,
    mark_by_rules,
    own_rules_by_options,
    refuse_parallel_cases,
    rules_by_options,
)
from conformance.run.hooks.start import open_session, scope_of
from conformance.run.hooks.stash import DESELECTED, FINAL, OWN, RULES, SESSION, VERIFY
from conformance.run.hooks.terminal import (
    announce_interrupt,
    case_properties,
    closing_lines,
    finding_text,
    say,
    show_findings,
)
from conformance.run.options import add_to_pytest
from conformance.run.planning import is_generator
from conformance.verdicts.findings import Verdict

__all__ = ["say"]

pytest_plugins = ["conformance.run.hooks.fixtures"]

COLUMNS = ("requirements", "verdicts", "exchanges")
"""Further columns of pytest-html's ``cases.html``: what each case is about."""


def pytest_addoption(parser: pytest.Parser) -> None:
    add_to_pytest(parser)


def pytest_configure(config: pytest.Config) -> None:
    for line in declared_marks():
        config.addinivalue_line("markers", line)
    refuse_parallel_cases(config)


def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> list[pytest.Item] | None:
    """A case that waits is a generator, which pytest itself would refuse."""
    is_case = any(mark.name == "requirement" for mark in getattr(obj, "pytestmark", []))
    if inspect.isgeneratorfunction(obj) and name.startswith("test") and is_case:
        return list(collector._genfunctions(name, obj))  # noqa: SLF001 (pytest has no public way)
    return None


def pytest_itemcollected(item: pytest.Item) -> None:
    mark_by_rules(item)


@pytest.hookimpl(trylast=True)  # after pytest's own options have left cases out
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The run begins."""
    if config.option.collectonly or not any(ids_of(item) for item in items):
        return
    try:
        own = config.stash[OWN] = own_rules_by_options(config)
        rules = rules_by_options(config, own)
        selected = keep_chosen(config, items, rules)
        config.stash[RULES] = counted_rules(config, rules)
        run = config.stash[SESSION] = open_session(config, items)
        run.selected = selected
    except SuiteError as error:
        raise pytest.UsageError(str(error)) from None
    except OSError as error:
        file, reason = error.filename or "the reports", (error.strerror or str(error)).lower()
        message = f"Cannot write {file}: {reason}. Choose another --out or --history."
        raise pytest.UsageError(message) from None


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    for config in {item.config for item in items}:
        config.stash[DESELECTED] = config.stash.get(DESELECTED, 0) + len(items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    run = session.config.stash.get(SESSION, None)
    if run is None or session.config.option.collectonly or session.testsfailed:
        return None
    run.scope = scope_of(session.config, run, session.items)
    if run.scope.selection:
        say(session.config, f"A selection of the cases: {run.scope.selection}.")
    if run.recognise():
        run_all(session, run)
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not is_generator(pyfuncitem):
        return None
    step_through(pyfuncitem, pyfuncitem.config.stash[SESSION])
    return True


pytest_runtest_setup = pytest_runtest_call = pytest.hookimpl(wrapper=True)(guarded)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """A case in which something new contradicts the specification is shown as failed, with what was seen."""
    report = yield
    run, verify = item.config.stash.get(SESSION, None), item.stash.get(VERIFY, None)
    if run is None or verify is None or call.when != "call" or goes_on(item):
        return report
    new = [row for row in (*verify.findings, *run.new_findings) if run.ledger.counts(row)]
    run.new_findings.clear()
    show_findings(item.config, run, new)
    failures = [finding for finding in new if finding.verdict is Verdict.FAIL and finding.times == 1]
    if report.outcome == "passed" and failures:
        report.outcome = "failed"
        report.longrepr = "\n".join(finding_text(run, finding) for finding in failures)
    report.user_properties.extend(case_properties(item, new))
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """The run ends."""
    config = session.config
    run = config.stash.get(SESSION, None)
    if run is None or config.option.collectonly:
        return
    is_interrupted = exitstatus == pytest.ExitCode.INTERRUPTED
    if is_interrupted:
        announce_interrupt(config, run)
    is_crashed = exitstatus == pytest.ExitCode.INTERNAL_ERROR
    final = config.stash[FINAL] = run.finish(interrupted=is_interrupted, crashed=is_crashed)
    session.exitstatus = final.exit_code


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    run = config.stash.get(FINAL, None)
    if run is None:
        return
    terminalreporter.section("conformance")
    for line in closing_lines(config, run, colour=terminalreporter.hasmarkup):
        terminalreporter.write_line(line)


@pytest.hookimpl(optionalhook=True)
def pytest_html_results_table_header(cells: list[str]) -> None:
    cells[2:2] = [f"<th>{name.capitalize()}</th>" for name in COLUMNS]


@pytest.hookimpl(optionalhook=True)
def pytest_html_results_table_row(report: pytest.TestReport, cells: list[str]) -> None:
    properties = dict(getattr(report, "user_properties", ()))
    cells[2:2] = [f"<td>{escape(str(properties.get(name, '')))}</td>" for name in COLUMNS]
