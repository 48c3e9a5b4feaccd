"""One fault run: the cases against a reference portal within this process, and which of them found what."""

from __future__ import annotations

import asyncio
import tempfile
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from conformance.judging import watch
from conformance.run.hooks.loop import forget_run, run_all
from conformance.run.hooks.stash import SESSION
from conformance.run.session import ActingCase, Listener, RunOptions, RunSession
from conformance.selftest.choice import function_of
from conformance.spec import REQUIREMENTS, Impact, operation_of
from conformance.target.bundled import VARIANTS, InProcess, in_process
from conformance.target.clock import Clock, SimulatedClock
from conformance.target.portal.inboxes import NothingArrived
from conformance.traffic.exchange import Exchange
from conformance.traffic.http_library import httpx
from conformance.traffic.log import NoLog
from conformance.verdicts.findings import Comparison, Finding, Ledger, Verdict


class Turned(msgspec.Struct):
    """A requirement that a fault run contradicts: the verdict, what decided so, and its first finding."""

    verdict: str
    sources: list[str]
    message: str
    endpoint: str


class FaultOutcome(msgspec.Struct):
    """The result of a fault run. ``touched``: the operations that each case called; ``read_beside``: those
    that it only read to see what its requests leave as it was; ``departs``: the rules that may warn."""

    name: str
    turned: dict[str, Turned] = {}
    verdicts: dict[str, int] = {}
    untested: list[str] = []
    errors: dict[str, str] = {}
    touched: dict[str, list[str]] = {}
    read_beside: dict[str, list[str]] = {}
    seconds: float = 0.0
    departs: frozenset[str] = frozenset()

    def note_call(self, case: str | None, exchange: Exchange, *, is_beside: bool) -> None:
        operation = operation_of(exchange.request.method, exchange.request.path)
        called = (self.read_beside if is_beside else self.touched).setdefault(case or "", [])
        if operation is not None and operation.key not in called:
            called.append(operation.key)


class Direct(httpx.BaseTransport):
    """Calls an ASGI application without a socket. Requests of other threads have an event loop each."""

    def __init__(self, app: Any) -> None:
        self._inner = httpx.ASGITransport(app)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.get_ident()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        is_apart = threading.get_ident() != self._thread
        called = self._answer(request)
        return asyncio.run(called) if is_apart else self._loop.run_until_complete(called)

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        request.stream = httpx.ByteStream(request.read())
        response = await self._inner.handle_async_request(request)
        assert isinstance(response.stream, httpx.AsyncByteStream)
        body = httpx.ByteStream(b"".join([part async for part in response.stream]))  # as it was sent
        return httpx.Response(response.status_code, headers=response.headers, stream=body)

    def close(self) -> None:
        self._loop.close()


class FaultRunClock(SimulatedClock):
    """The target's clock moves, and so does ours: a pause takes no time either."""

    def __init__(self, target: InProcess) -> None:
        super().__init__(target.advance)
        self._paused = 0.0

    def ticks(self) -> float:
        return time.perf_counter() + self._paused

    def pause(self, seconds: float, why: str) -> None:
        self._paused += max(0.0, seconds)


class Outbox:
    """Emailed codes, read where the portal keeps them."""

    def __init__(self, target: InProcess, email: str) -> None:
        self._target, self._email = target, email

    def mark(self) -> object:
        return next(self._coded(), None)

    def code_after(self, mark: object, clock: Clock) -> str:
        newest = next(self._coded(), None)
        if newest is None or newest is mark:
            raise NothingArrived(f"no code for {self._email} arrived")
        return str(newest["code"])

    def has_code_after(self, mark: object) -> bool:
        newest = next(self._coded(), None)
        return newest is not None and newest is not mark

    def _coded(self) -> Iterator[dict[str, Any]]:
        """The mails with a code, the newest first; the portal keeps only so many."""
        return (mail for mail in self._target.mails(self._email) if mail["code"])


class AttributingLedger(Ledger):
    """A ledger that notes which check or case found each contradiction, and which case acted: without it a
    check would have had nothing to judge."""

    def __init__(self, acting: ActingCase) -> None:
        super().__init__(REQUIREMENTS)
        self.sources: dict[str, dict[str, None]] = {}
        self._acting = acting

    def decide(self, requirement: str, comparison: Comparison, *, case: str | None = None) -> Finding | None:
        finding = super().decide(requirement, comparison, case=case)
        if finding is not None:
            names = dict.fromkeys(function_of(name) for name in (case, self._acting()) if name)
            self.sources.setdefault(requirement, {}).update(names)
        return finding


def session_on(
    target: InProcess, folder: Path, listeners: Sequence[Listener], impact: Impact = "disruptive"
) -> RunSession:
    """A run session on a portal within this process, which writes nothing."""
    acting = ActingCase()
    ledger = AttributingLedger(acting)
    run = RunSession(
        target.profile,
        FaultRunClock(target),
        RunOptions(out=folder, impact=impact, keep_ledger=False),
        # Checks sign their findings themselves, instead of with the case that acts.
        judge=watch(ledger),
        log=NoLog(),
        ledger=ledger,
        acting=acting,
        listeners=listeners,
        handler=Direct(target.app),
    )
    for name, account in target.profile.accounts.items():
        if account.inbox is not None:
            run.portal.account(name).read_from(Outbox(target, account.email))
    return run


def attempt(
    session: pytest.Session,
    items: Sequence[pytest.Item],
    name: str,
    *,
    faults: Sequence[str] = (),
    variants: Sequence[str] = (),
    watched: bool = False,
    impact: Impact = "disruptive",
) -> FaultOutcome:
    """Runs cases against a portal with these faults and variants; ``watched``: notes what each case calls.

    The portal draws its ids and tokens from a seed made of the name: the order of records depends on their
    ids, and with it which case meets a fault first.
    """
    began = time.perf_counter()
    departs = frozenset[str]().union(*(VARIANTS[each].departs for each in variants))
    outcome = FaultOutcome(name, departs=departs)

    def note_call(case: str | None, exchange: Exchange) -> None:
        outcome.note_call(case, exchange, is_beside=run.portal.is_reading_beside)

    with tempfile.TemporaryDirectory(prefix="selftest-") as folder:
        target = in_process(faults=faults, variants=variants, seed=zlib.crc32(name.encode()))
        run = session_on(target, Path(folder), [note_call] if watched else [], impact)
        with _cases_of(session, items, run):
            run_all(session, run)
        run.portal.close()
    _fill(outcome, run)
    outcome.seconds = round(time.perf_counter() - began, 3)
    return outcome


@contextmanager
def _cases_of(session: pytest.Session, items: Sequence[pytest.Item], run: RunSession) -> Iterator[None]:
    """Gives the cases and the run to the pytest session, then restores the session. It only collects, and
    would otherwise go on with a closed portal."""
    config = session.config
    before, session.items = session.items, list(items)
    collects, config.option.collectonly = config.option.collectonly, False
    config.stash[SESSION] = run
    forget_run(items)
    try:
        yield
    finally:
        session.items, config.option.collectonly = before, collects
        del config.stash[SESSION]


def _fill(outcome: FaultOutcome, run: RunSession) -> None:
    ledger = run.ledger
    assert isinstance(ledger, AttributingLedger)
    for result in ledger.results():
        verdict = result.verdict
        outcome.verdicts[verdict.value] = outcome.verdicts.get(verdict.value, 0) + 1
        if verdict is Verdict.UNTESTED:
            outcome.untested.append(result.requirement.id)
    for finding in ledger.findings:
        if finding.verdict in (Verdict.FAIL, Verdict.WARN) and finding.requirement not in outcome.turned:
            outcome.turned[finding.requirement] = Turned(
                finding.verdict.value,
                list(ledger.sources.get(finding.requirement, {})),
                finding.message,
                finding.endpoint,
            )
    outcome.errors = dict(ledger.errors)
