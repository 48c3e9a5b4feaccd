"""Drives the sessions of a replay: sends their requests, waits, and looks up codes, at the chosen pace."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from conformance.errors import TargetUnreachable, Untestable
from conformance.replay.engine.lookup import Lookups
from conformance.replay.engine.progress import Places, Progress
from conformance.replay.engine.wire import Connection, Server
from conformance.replay.options import Lag
from conformance.replay.rebuild.actions import (
    Action,
    Actions,
    Await,
    CannotRebuild,
    Lookup,
    Received,
    Reply,
    Send,
)
from conformance.target.http1 import WireResponse
from conformance.target.portal.availability import silent, stopped, unreachable
from conformance.target.profile.model import Profile
from conformance.target.tls import tls_context

TICK_SECONDS = 1.0
REFUSALS = 3
"""Refused connections one after the other, after which the target is gone."""

SILENCES = 10
"""Requests without an answer one after the other, after which the target is gone."""

DOUBTFUL_SILENCES = 3
"""Requests without an answer one after the other, after which the target is probed."""


class TargetHealth:
    """Notices that nobody listens at a target any more, or that nothing is answered. ``probe`` asks whether
    the target answers at all."""

    def __init__(self, url: str, probe: Callable[[], bool]) -> None:
        self._url = url
        self._probe = probe
        self._refusals = self._silences = self._answers = self._failed_lookups = 0
        self._last_error = ""

    def note(self, response: WireResponse) -> None:
        """Notes a response or the lack of one. Raises TargetUnreachable where the target is gone."""
        if not response.error:
            self._refusals = self._silences = self._failed_lookups = 0
            self._last_error = ""
            self._answers += 1
            return
        self._refusals = self._refusals + 1 if response.is_refused else 0
        self._silences += 1
        self._last_error = response.error
        if self._refusals >= REFUSALS:
            raise TargetUnreachable(self._refused())
        if self._silences >= SILENCES:
            raise TargetUnreachable(self._gone_silent())

    @property
    def is_doubtful(self) -> bool:
        """Whether so many requests in a row had no answer that the target is to be probed."""
        return self._silences == DOUBTFUL_SILENCES

    async def probe(self) -> None:
        """Raises TargetUnreachable where the probe has no answer either."""
        if not await self._is_there():
            raise TargetUnreachable(self._gone_silent())

    def note_failed_lookup(self) -> None:
        """Has the target probed at the end: requests that need the code or mail are not sent."""
        self._failed_lookups += 1

    async def confirm(self) -> None:
        """Raises TargetUnreachable where connections were refused from the first on, or where nothing was
        answered at the end and the probe has no answer either."""
        if not self._silences and not self._failed_lookups:
            return
        is_refused = self._refusals and not self._answers
        if not is_refused and await self._is_there():
            return
        if self._answers or self._refusals:
            self._last_error = self._last_error or "a probe had no answer"
            raise TargetUnreachable(self._refused())
        raise TargetUnreachable(silent(self._url, f"no request had an answer ({self._last_error})"))

    async def _is_there(self) -> bool:
        return await asyncio.get_running_loop().run_in_executor(None, self._probe)

    def _gone_silent(self) -> str:
        if "refused" in self._last_error.lower():
            return self._refused()
        why = f"{self._silences} requests in a row had no answer ({self._last_error})"
        return silent(self._url, why, what="went away")

    def _refused(self) -> str:
        in_words = stopped if self._answers else unreachable
        return in_words(self._url, OSError(self._last_error))


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
        self.health = TargetHealth(profile.portal.url, probe)
        self.lag, self.own_lag = Lag(), Lag()
        """How late requests went out, and how late those that nothing held up."""
        self._portal = profile.portal
        self._server = _server_of(profile)
        self._lookups = lookups
        self._progress = progress
        self._concurrency = concurrency
        self._on_tick = on_tick
        self._on_latency = on_latency

    async def run(self, sessions: Sequence[Actions]) -> None:
        """Sends everything. Raises TargetUnreachable where the target is gone, or where at the end nothing
        answers, nor the probe."""
        loop = asyncio.get_running_loop()
        self._began, self._left = loop.time(), len(sessions)
        self._over: asyncio.Future[None] = loop.create_future()
        tasks = {loop.create_task(self._ticks())}

        def start(session: Actions) -> None:
            task = loop.create_task(self._attended(session))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        self._places = Places(self._progress, self._concurrency, start)
        self._places.begin(sessions)
        try:
            if sessions:
                await self._over
            await self.health.confirm()
        finally:
            for task in tasks:
                task.cancel()

    def _fail(self, error: BaseException) -> None:
        if not self._over.done():
            self._over.set_exception(error)

    async def _ticks(self) -> None:
        """Ends the replay where the disk takes no more."""
        while True:
            await asyncio.sleep(TICK_SECONDS)
            try:
                self._on_tick()
            except OSError as error:
                self._fail(error)

    async def _attended(self, session: Actions) -> None:
        """Has a session go to its end, and ends the replay after the last, or with its error."""
        connection = Connection(self._server)
        try:
            await self._perform(session, connection)
        except BaseException as error:
            self._fail(error)
        finally:
            connection.close()
        self._left -= 1
        if not self._over.done():
            self._places.release()
            if not self._left:
                self._over.set_result(None)

    async def _perform(self, session: Actions, connection: Connection) -> None:
        """Performs the actions of a session, unless the replay is over."""
        reply: Reply = None
        problem: Untestable | None = None
        while not self._over.done():
            try:
                if problem is None:
                    action = session.send(reply)
                else:
                    action = session.throw(CannotRebuild(problem.reason))
            except StopIteration:
                return
            reply = problem = None
            try:
                reply = await self._performed(action, connection)
            except Untestable as error:
                problem = error

    async def _performed(self, action: Action, connection: Connection) -> Reply:
        """What an action results in. Raises Untestable where a lookup has no result."""
        if isinstance(action, Send):
            return await self._sent(action, connection)
        if isinstance(action, Await):
            await self._places.wait_for(action.position)
        elif self._lookups.is_immediate(action):
            return self._lookups.answer(action)
        else:
            return await self._looked_up(action)
        return None

    async def _sent(self, send: Send, connection: Connection) -> Received:
        late = 0.0 if send.due is None else await self._lateness(send.due)
        started, ticks = self._lookups.clock.iso(), time.perf_counter()
        response = await connection.ask(send.head + send.body, timeout=self._portal.timeout)
        elapsed_ms = round((time.perf_counter() - ticks) * 1000, 3)
        if self._on_latency is not None:
            self._on_latency(send.position, elapsed_ms + late * 1000)
        self.health.note(response)
        if self.health.is_doubtful:
            await self.health.probe()
        return Received(response, started, elapsed_ms)

    async def _lateness(self, due: float) -> float:
        """Waits until a request is due; returns the seconds by which it is late."""
        now = asyncio.get_running_loop().time
        wait = self._began + due - now()
        self.lag.note(max(0.0, -wait))
        if wait <= 0:
            return -wait
        await asyncio.sleep(wait)
        late = max(0.0, now() - self._began - due)
        self.own_lag.note(late)  # nothing held it up: where it is late, the driver is
        return late

    async def _looked_up(self, lookup: Lookup) -> str | None:
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(None, self._lookups.answer, lookup)
        except Untestable:
            self.health.note_failed_lookup()
            raise


def _server_of(profile: Profile) -> Server:
    portal, context = profile.portal, tls_context(profile)
    parts = urlsplit(portal.url)
    port = parts.port or (443 if context else 80)
    return Server(parts.hostname or "", port, context, portal.proxy, profile.limits.max_answer)
