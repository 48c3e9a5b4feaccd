"""Drives the sessions of a replay: sends their requests, waits, and looks up codes, at the chosen pace."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import cast
from urllib.parse import urlsplit

from conformance.errors import TargetUnreachable, Untestable
from conformance.replay.engine.lookup import Lookups
from conformance.replay.engine.progress import Progress
from conformance.replay.engine.wire import Connection
from conformance.replay.options import Lag
from conformance.replay.rebuild.actions import (
    Action,
    Actions,
    Await,
    AwaitAllBefore,
    CannotRebuild,
    Lookup,
    Received,
    Reply,
    Send,
    WireResponse,
)
from conformance.target.portal.availability import silent, stopped, unreachable, went_away
from conformance.target.profile.model import Profile
from conformance.target.tls import tls_context

SWEEP_SECONDS = 0.5
SWEEPS_PER_TICK = 2
REFUSALS = 3
"""Refused connections one after the other, after which the target is gone."""

SILENCES = 10
"""Requests without an answer one after the other, after which the target is gone."""

DOUBTFUL_SILENCES = 3
"""Requests without an answer one after the other, after which the target is probed."""


class Driver:
    """Runs sessions in an event loop until all have ended. Knows nothing of what the requests say."""

    def __init__(
        self,
        profile: Profile,
        lookups: Lookups,
        progress: Progress,
        *,
        concurrency: int,
        probe: Callable[[], bool] = lambda: True,
        on_tick: Callable[[], None] = lambda: None,
        on_latency: Callable[[int, float], None] | None = None,
    ) -> None:
        """``probe`` asks whether the target answers at all; ``on_tick`` is called every second.
        ``on_latency`` gets the position of each request and its latency in ms, from when it was due."""
        self.on_latency = on_latency
        self.profile = profile
        self._probe = probe
        self._on_tick = on_tick
        self.lookups = lookups
        self.concurrency = concurrency
        self.lag, self.own_lag = Lag(), Lag()
        """How late requests went out, and how late those that nothing held up."""
        self.gone: str | None = None
        parts = urlsplit(profile.portal.url)
        self._context = tls_context(profile)
        self._host = parts.hostname or ""
        self._port = parts.port or (443 if self._context else 80)
        self._progress = progress
        self._waiting: dict[int, list[Runner]] = {}
        self._waiting_for_all: list[tuple[int, Runner]] = []
        self._queue: deque[Runner] = deque()
        self._ready: deque[Runner] = deque()
        self._active = 0
        self._refusals = self._silences = self._answers = self._failed_lookups = 0
        self._last_error = ""
        self._connections: set[Connection] = set()
        self._first_unended = 0
        """The place in the order of the recording before which all have ended."""
        progress.on_ended = self.ended

    async def run(self, sessions: Sequence[Actions]) -> None:
        """Sends everything. Raises TargetUnreachable where at the end nothing answers, nor the probe."""
        self.loop = asyncio.get_running_loop()
        self._began = self.loop.time()
        self._over: asyncio.Future[None] = self.loop.create_future()
        self._left = len(sessions)
        self._queue.extend(Runner(self, session) for session in sessions)
        sweeper = self.loop.create_task(self._sweep())
        self._fill()
        try:
            if self._left:
                await self._over
            if self._silences or self._failed_lookups:
                await self._raise_if_unreachable()
        finally:
            sweeper.cancel()
            for connection in list(self._connections):
                connection.close()

    async def _raise_if_unreachable(self) -> None:
        """Raises TargetUnreachable where connections were refused from the first on, or the probe has no
        answer either."""
        is_refused = self._refusals and not self._answers
        if not is_refused and await self.loop.run_in_executor(None, self._probe):
            return
        if self._answers or self._refusals:
            raise TargetUnreachable(self._refused(self._last_error or "a probe had no answer"))
        url = self.profile.portal.url
        raise TargetUnreachable(silent(url, f"no request had an answer ({self._last_error})"))

    def connection(self) -> Connection:
        connection = Connection(
            self._host,
            self._port,
            context=self._context,
            proxy=self.profile.portal.proxy,
            loop=self.loop,
            most=self.profile.limits.max_answer,
            is_trusted=self.on_latency is not None and self._answers > 0,
        )
        self._connections.add(connection)
        return connection

    def release(self, connection: Connection) -> None:
        connection.close()
        self._connections.discard(connection)

    def due_in(self, due: float) -> float:
        """Seconds until a request is due; a late one counts as lag."""
        wait = self._began + due - self.loop.time()
        self.lag.note(max(0.0, -wait))
        return wait

    # --- sessions take turns

    def _fill(self) -> None:
        """Lets sessions go on that have waited, and then others begin, as far as there are places."""
        while self._active < self.concurrency and (self._ready or self._queue):
            self._active += 1
            (self._ready or self._queue).popleft().resume(None)

    def pause(self) -> None:
        """A session waits for another: its place is free for a third."""
        self._active -= 1
        self.loop.call_soon(self._fill)

    def ended(self, position: int) -> None:
        for runner in self._waiting.pop(position, ()):
            self._resume(runner)
        if self._waiting_for_all:
            self._resume_those_for_all()

    def _resume_those_for_all(self) -> None:
        ended, order = self._progress.ended, self._progress.plan.order
        while self._first_unended < len(order) and ended[order[self._first_unended]]:
            self._first_unended += 1
        first = order[self._first_unended] if self._first_unended < len(order) else None
        numbers = self._progress.plan.number_of
        ready = [
            pair for pair in self._waiting_for_all if first is None or numbers(pair[0]) <= numbers(first)
        ]
        self._waiting_for_all = [pair for pair in self._waiting_for_all if pair not in ready]
        for _, runner in ready:
            self._resume(runner)

    def wait_for(self, position: int, runner: Runner) -> bool:
        """Whether the runner has to wait for an exchange; it is resumed when that has ended."""
        if self._progress.ended[position]:
            return False
        self._waiting.setdefault(position, []).append(runner)
        self.pause()
        return True

    def wait_for_all_before(self, position: int, runner: Runner) -> None:
        self._waiting_for_all.append((position, runner))
        self.pause()
        self.loop.call_soon(self._resume_those_for_all)

    def _resume(self, runner: Runner) -> None:
        """Has a session that waited go on as soon as a place is free."""
        self._ready.append(runner)
        self.loop.call_soon(self._fill)

    def session_over(self) -> None:
        self._active -= 1
        self._left -= 1
        if self._left == 0 and not self._over.done():
            self._over.set_result(None)
        self.loop.call_soon(self._fill)

    @property
    def is_over(self) -> bool:
        """Whether all has been sent, or the replay has failed."""
        return self._over.done()

    def fail(self, error: BaseException) -> None:
        if not self._over.done():
            self._over.set_exception(error)

    # --- the target

    def note_silence(self, response: WireResponse) -> None:
        """Stops the replay where nobody listens any more, or nothing is answered."""
        if not response.error:
            self._refusals = self._silences = self._failed_lookups = 0
            self._last_error = ""
            self._answers += 1
            return
        self._refusals = self._refusals + 1 if response.is_refused else 0
        self._silences += 1
        self._last_error = response.error
        if self._refusals >= REFUSALS:
            self.gone = self._refused(response.error)
        elif self._silences >= SILENCES:
            self.gone = self._gone_silent(SILENCES, response.error)
        elif self._silences == DOUBTFUL_SILENCES:
            probed = self.loop.run_in_executor(None, self._probe)
            probed.add_done_callback(lambda done: self._probed(done, self._last_error))
        if self.gone is not None:
            self.fail(TargetUnreachable(self.gone))

    def _probed(self, probed: asyncio.Future[bool], error: str) -> None:
        if not probed.cancelled() and probed.exception() is None and not probed.result():
            self.gone = self._gone_silent(DOUBTFUL_SILENCES, error)
            self.fail(TargetUnreachable(self.gone))

    def note_failed_lookup(self) -> None:
        """Has the target probed at the end: requests that need the code or mail are not sent."""
        self._failed_lookups += 1

    def _gone_silent(self, requests: int, error: str) -> str:
        if "refused" in error.lower():
            return self._refused(error)
        return went_away(self.profile.portal.url, f"{requests} requests in a row had no answer ({error})")

    def _refused(self, error: str) -> str:
        in_words = stopped if self._answers else unreachable
        return in_words(self.profile.portal.url, OSError(error))

    def _tick(self) -> None:
        """Ends the replay where the disk takes no more."""
        try:
            self._on_tick()
        except OSError as error:
            self.fail(error)

    async def _sweep(self) -> None:
        for sweep in itertools.count(1):
            await asyncio.sleep(SWEEP_SECONDS)
            if sweep % SWEEPS_PER_TICK == 0:
                self._tick()
            now = self.loop.time()
            for connection in [each for each in self._connections if each.deadline < now]:
                connection.expire()


class Runner:
    """Session in progress, with its own connection."""

    __slots__ = (
        "_began",
        "_connection",
        "_driver",
        "_due",
        "_late",
        "_send",
        "_session",
        "_started",
        "_ticks",
    )

    def __init__(self, driver: Driver, session: Actions) -> None:
        self._driver = driver
        self._session = session
        self._connection: Connection | None = None
        self._send: Send | None = None
        self._due: float | None = None
        self._late = 0.0

    def resume(self, reply: Reply, problem: Untestable | None = None) -> None:
        """Hands the session what it asked for, or why that cannot be had, and does what it asks next. Nothing
        where the replay is over."""
        while not self._driver.is_over:
            action = self._next_action(reply, problem)
            reply = problem = None
            if type(action) is Send:
                self._when_due(action)
                return
            if type(action) is Await or type(action) is AwaitAllBefore:
                if self._must_wait(action):
                    return
                continue
            if action is None:
                return
            lookup = cast(Lookup, action)
            if not self._driver.lookups.is_immediate(lookup):
                self._look_up(lookup)
                return
            try:
                reply = self._driver.lookups.answer(lookup)
            except Untestable as error:
                problem = error

    def _next_action(self, reply: Reply, problem: Untestable | None) -> Action | None:
        """What the session asks for next; None where it has ended, or failed."""
        try:
            if problem is None:
                return self._session.send(reply)
            return self._session.throw(CannotRebuild(problem.reason))
        except StopIteration:
            self._end()
        except BaseException as error:
            self._driver.fail(error)
        return None

    def _must_wait(self, action: Await | AwaitAllBefore) -> bool:
        if type(action) is Await:
            return self._driver.wait_for(action.position, self)
        self._driver.wait_for_all_before(action.position, self)
        return True

    def _when_due(self, send: Send) -> None:
        self._send = send
        if send.due is None:
            self._transmit(send)
            return
        wait = self._driver.due_in(send.due)
        self._due = self._driver.loop.time() + wait
        if wait > 0:
            self._driver.loop.call_later(wait, self._transmit_on_time)
        else:
            self._transmit(send)

    def _transmit_on_time(self) -> None:
        """Sends what nothing held up: where it is late, the driver is."""
        self._driver.own_lag.note(max(0.0, self._driver.loop.time() - (self._due or 0.0)))
        assert self._send is not None
        self._transmit(self._send)

    def _transmit(self, send: Send) -> None:
        driver = self._driver
        if driver.is_over:
            return
        if self._connection is None:
            self._connection = driver.connection()
        if self._due is not None:
            self._late = max(0.0, driver.loop.time() - self._due)
        self._started = driver.lookups.clock.iso()
        self._ticks = time.perf_counter()
        self._connection.send(send.head + send.body, self._answered, timeout=driver.profile.portal.timeout)

    def _answered(self, response: WireResponse) -> None:
        elapsed_ms = round((time.perf_counter() - self._ticks) * 1000, 3)
        if self._driver.on_latency is not None and self._send is not None:
            self._driver.on_latency(self._send.position, elapsed_ms + self._late * 1000)
        try:
            self._driver.note_silence(response)
        except Exception as error:
            self._driver.fail(error)
            return
        self.resume(Received(response, self._started, elapsed_ms))

    def _look_up(self, action: Lookup) -> None:
        future = self._driver.loop.run_in_executor(None, self._driver.lookups.answer, action)
        future.add_done_callback(self._looked_up)

    def _looked_up(self, future: asyncio.Future[str | None]) -> None:
        error = future.exception()
        if isinstance(error, Untestable):
            self._driver.note_failed_lookup()
            self.resume(None, error)
        elif error is not None:
            self._driver.fail(error)
        else:
            self.resume(future.result())

    def _end(self) -> None:
        if self._connection is not None:
            self._driver.release(self._connection)
            self._connection = self._send = None
        self._driver.session_over()
