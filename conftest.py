"""Lets plain ``pytest cases`` run the suite; in CI, a skipped test of the suite itself is a failure."""

import os

import pytest

pytest_plugins = ["conformance.plugin"]

OWN_TESTS = ("conformance/tests/", "reference_impl/tests/")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = [
        report.nodeid
        for report in terminalreporter.stats.get("skipped", [])
        if report.nodeid.startswith(OWN_TESTS)
    ]
    if skipped and os.environ.get("CI"):
        terminalreporter.write_line(f"Skipped in CI, where nothing may be: {', '.join(skipped)}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    if os.environ.get("CI") and any(report.nodeid.startswith(OWN_TESTS) for report in skipped):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
