"""Runs cases against an ASGI application in this process, within a test of somebody else's."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from starlette.types import ASGIApp

from conformance.embed.bridge import ApplicationTransport
from conformance.errors import UsageError
from conformance.judging import watch
from conformance.report.model.run import Run, Scope
from conformance.run.catalogue import ids_of, pytest_arguments
from conformance.run.hooks.loop import run_all
from conformance.run.hooks.stash import SESSION
from conformance.run.session import ActingCase, RunOptions, RunSession
from conformance.spec import REQUIREMENTS, Impact
from conformance.target.clock import Clock
from conformance.target.profile.model import Profile, load, of_target
from conformance.traffic.http_library import httpx
from conformance.traffic.log import ExchangeLog
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.findings import Ledger
from conformance.verdicts.selection import RuleSelection, select_rules

ADDRESS = "http://localhost"
"""What stands in the requests where no profile names an address; nothing is sent there."""

WITHIN = ("--collect-only", "-q", "--capture=no", "-p", "no:faulthandler", "-p", "no:logging")
"""pytest within pytest: what is global stays with the outer one. The cases are run once collected."""


@dataclass
class ApplicationCases:
    """Runs cases against an application, and writes the reports of the last run to ``out``."""

    out: Path

    def __call__(
        self,
        app: ASGIApp,
        *,
        profile: Profile | Path | str | None = None,
        only: Sequence[str] = (),
        skip: Sequence[str] = (),
        impact: Impact = "read-only",
        time_budget: float = 60.0,
    ) -> Run:
        """Runs the cases that decide the selected rules. Without a profile nothing signs in.

        ``time_budget`` is how many seconds the run may take; what needs more is left untested. UsageError:
        a pattern names no rule; ProfileError: the profile cannot be used.
        """
        target = of_target(ADDRESS) if profile is None else profile
        target = target if isinstance(target, Profile) else load(Path(target))
        options = RunOptions(self.out, impact, profile_name="in process", rules=select_rules(only, skip))
        transport = ApplicationTransport(app)
        try:
            return _run(_session(target, options, transport, time_budget=time_budget), options.rules)
        finally:
            transport.close()


def _session(
    profile: Profile, options: RunOptions, handler: httpx.BaseTransport, *, time_budget: float
) -> RunSession:
    secrets, acting, ledger = Secrets(), ActingCase(), Ledger(REQUIREMENTS, selection=options.rules)
    return RunSession(
        profile,
        Clock(time_budget),
        options,
        judge=watch(ledger, case=acting),
        log=ExchangeLog(options.out / "exchanges.jsonl", secrets),
        ledger=ledger,
        secrets=secrets,
        acting=acting,
        handler=handler,
    )


class _Collected:
    """A plugin that runs the collected cases in a session that is open already."""

    def __init__(self, run: RunSession, rules: RuleSelection | None) -> None:
        self._run = run
        self._rules = rules
        self.problem: Exception | None = None
        self.has_run = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        run, rules = self._run, self._rules
        session.items = [
            item for item in session.items if rules is None or not rules.rules.isdisjoint(ids_of(item))
        ]
        if not session.items:
            raise pytest.UsageError("no case decides these rules alone; select their endpoint instead.")
        run.scope = Scope(selection="" if rules is None else rules.text)
        session.config.option.collectonly = False
        session.config.stash[SESSION] = run
        try:
            if run.recognise():
                run_all(session, run)
            self.has_run = True
        finally:
            del session.config.stash[SESSION]
            session.config.option.collectonly = True


def _run(run: RunSession, rules: RuleSelection | None) -> Run:
    plugin, output = _Collected(run, rules), io.StringIO()
    with _environment_kept(), contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        pytest.main([*pytest_arguments(), *WITHIN], plugins=[plugin])
    if not plugin.has_run:
        run.finish(crashed=True)
        raise UsageError(f"The cases did not run:\n{output.getvalue().strip()}")
    return run.finish()


@contextlib.contextmanager
def _environment_kept() -> Iterator[None]:
    """The environment as it was: pytest, and what makes it ignore other plugins, set variables in it."""
    before = dict(os.environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
