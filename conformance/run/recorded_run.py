"""The cases of a run once more, on its own record: what they decide there is what they decided then."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import cast

import msgspec
import pytest
from pydantic import ValidationError

from conformance.errors import SuiteError
from conformance.judging import watch
from conformance.report.model.run import Run, Timed
from conformance.run.catalogue import ids_of, pytest_arguments
from conformance.run.hooks.loop import run_all
from conformance.run.hooks.start import scope_of
from conformance.run.hooks.stash import SESSION
from conformance.run.options import set_value
from conformance.run.record import Record, RecordedClock, RecordedInbox, authenticator_secret
from conformance.run.schedule import Agenda, Due
from conformance.run.session import ActingCase, RunOptions, RunSession
from conformance.run.settings import seconds_of
from conformance.spec import REQUIREMENTS, Impact
from conformance.target.profile.model import Profile
from conformance.traffic import capture
from conformance.traffic.log import NoLog
from conformance.verdicts.findings import Ledger

BESIDE_CASES = "the requests beside the cases"


class RecordedOrder(Agenda[pytest.Item]):
    """The parts of cases in the order in which they ran."""

    def __init__(
        self, items: Mapping[str, pytest.Item], parts: Iterable[Timed], record: Record, *, is_hurried: bool
    ) -> None:
        super().__init__(())
        self.is_hurried = is_hurried
        self._items, self._record, self._parts = items, record, list(parts)[::-1]
        self._waits: dict[str, Due[pytest.Item]] = {}

    def suspend(self, item: pytest.Item, moment: float, why: str) -> None:
        self._waits[item.nodeid] = Due(moment, 0, item, why)

    def put_off(self, item: pytest.Item) -> None:
        """It begins anew where it did."""

    def next(self, *_: object, **__: object) -> Due[pytest.Item] | pytest.Item | None:
        while self._parts:
            part = self._parts.pop()
            if part.label in self._items:
                goes_on = any(each.label == part.label and each.exchanges for each in self._parts)
                last = part.exchanges[1] if part.exchanges else 0
                self._record.begin(part.label, last, goes_on=goes_on)
                self._record.clock.begin_part(part.start)
                return self._waits.pop(part.label, self._items[part.label])
        return None


class CasesOnRecord:
    """A plugin that runs the collected cases on a record. ``ledger``: what is decided; ``doubtful``: by rule
    why nothing is to be concluded of it; ``astray``: by case where it parts from the record; ``testable``:
    how many musts the profile and the impact let be tested."""

    def __init__(self, run: Run, exchanges: Path) -> None:
        self.ledger = Ledger(REQUIREMENTS)
        self.doubtful: dict[str, str] = dict.fromkeys(REQUIREMENTS, "decided by a case")
        self.astray: dict[str, str] = {"the cases": "they cannot run on it"}
        self.testable: int | None = None
        self._run, self._exchanges = run, exchanges

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        items = {item.nodeid: item for item in session.items}
        try:
            profile = profile_of(self._run)
            record = Record(capture.read(self._exchanges), self._clock(profile))
            with self._session_in(session.config, profile, record) as again:
                self.testable = scope_of(session.config, again, session.items).testable
                self._repeat(again, session, items, record)
        except (SuiteError, ValidationError, LookupError) as wrong:
            self.astray = {"the cases": f"they cannot run on it ({wrong})"}
            return
        self.astray, self.doubtful = record.astray, {}
        for case, why in chain(record.doubtful.items(), record.astray.items()):
            rules = ids_of(items[case]) if case in items else ()
            self.doubtful |= dict.fromkeys(rules, why)

    def _clock(self, profile: Profile) -> RecordedClock:
        run = self._run
        budget = seconds_of(run.scope.time_budget) if run.scope.time_budget else None
        began = datetime.fromisoformat(run.started).timestamp()
        return RecordedClock(began, time_budget=budget, is_simulated=profile.clock.advance is not None)

    def _repeat(
        self,
        again: RunSession,
        session: pytest.Session,
        items: Mapping[str, pytest.Item],
        record: Record,
    ) -> None:
        parts = [each for each in self._run.timeline if each.kind == "case"]
        first = next((each.exchanges[0] for each in parts if each.exchanges), sys.maxsize)
        record.begin(BESIDE_CASES, first - 1)
        if again.recognise():
            is_hurried = bool(self._run.scope.time_budget) and not again.clock.is_simulated
            run_all(session, again, RecordedOrder(items, parts, record, is_hurried=is_hurried))
        record.begin(BESIDE_CASES, sys.maxsize)
        again.put_back()
        record.end()

    @contextlib.contextmanager
    def _session_in(self, config: pytest.Config, profile: Profile, record: Record) -> Iterator[RunSession]:
        """A session on the record, which pytest runs, though it only collects."""
        acting = ActingCase()
        again = RunSession(
            profile,
            record.clock,
            RunOptions(impact=cast(Impact, self._run.impact), keep_ledger=False),
            judge=watch(self.ledger, case=acting),
            log=NoLog(),
            ledger=self.ledger,
            acting=acting,
            handler=record,
        )
        for name, account in profile.accounts.items():
            if account.inbox is not None:
                again.portal.account(name).read_from(RecordedInbox(record))
        for name in ("effort", "seed"):
            set_value(config, name, getattr(self._run.scope, name))
        config.option.collectonly, config.stash[SESSION] = False, again
        try:
            yield again
        finally:
            config.option.collectonly = True
            del config.stash[SESSION]


def profile_of(run: Run) -> Profile:
    """The profile of a run, as far as its results show it, with something in place of what they hide."""
    tables = msgspec.json.decode(msgspec.json.encode(run.scope.profile))
    for account in tables.get("accounts", {}).values():
        if secret := account.get("otp_secret"):
            account["otp_secret"] = authenticator_secret(secret)
    for inbox in tables.get("inboxes", {}).values():
        inbox |= {"code": "000000"} if inbox["kind"] == "fixed" else {"kind": "http", "url": run.target.url}
    return Profile.model_validate(tables)


def cases_on_record(run: Run, exchanges: Path) -> CasesOnRecord | None:
    """The cases of a run on its exchanges, with the checks; None of a command that has none."""
    if run.command != "run":
        return None
    cases, output = CasesOnRecord(run, exchanges), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        pytest.main([*pytest_arguments(), "--collect-only", "-q"], plugins=[cases])
    return cases
