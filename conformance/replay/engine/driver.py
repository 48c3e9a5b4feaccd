"""Drives the sessions of a replay: what they ask for is sent, waited for, or looked up, at a pace."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, cast
from urllib.parse import urlsplit

from conformance.errors import TargetUnreachable, Untestable
from conformance.replay.engine.actions import Await, AwaitAllBefore, Code, Mark, Pass, Reply, Send, Steps
from conformance.replay.engine.evidence import Evidence
from conformance.replay.engine.lookup import Desk
from conformance.replay.engine.machine import Machine
from conformance.replay.engine.wire import Answer, Connection
from conformance.replay.fast_lane.answers import said_at
from conformance.replay.options import Lag
from conformance.replay.rebuild.rebuild import CannotBeMade
from conformance.target.portal.transport import unreachable, verification
from conformance.target.profile.model import Profile
from conformance.traffic.capture.bodies import answered
from conformance.traffic.exchange import Exchange, Plain, Response

SWEEP = 0.5
REFUSALS = 3
"""Refused connections one after the other, after which the target is gone."""

SILENCES = 10
"""Requests without an answer one after the other, after which the target is gone."""


class Driver:
    """Runs sessions in an event loop until all have ended. Every exchange goes into the evidence."""

    def __init__(
        self,
        machine: Machine,
        profile: Profile,
        desk: Desk,
        evidence: Evidence,
        *,
        concurrency: int,
    ) -> None:
        self.machine = machine
        self.profile = profile
        self.desk = desk
        self.evidence = evidence
        self.concurrency = concurrency
        self.lag = Lag()
        self.gone: str | None = None
        parts = urlsplit(profile.portal.url)
        verify = verification(profile)
        self._context: Any = None
        if parts.scheme == "https":
            import ssl  # only where the target is reached over TLS

            self._context = verify if isinstance(verify, ssl.SSLContext) else ssl.create_default_context()
            if verify is False:
                self._context.check_hostname = False
                self._context.verify_mode = ssl.CERT_NONE
        self._host = parts.hostname or ""
        self._port = parts.port or (443 if self._context else 80)
        self._waiting: dict[int, list[Runner]] = {}
        self._waiting_for_all: list[tuple[int, Runner]] = []
        self._queue: deque[Runner] = deque()
        self._active = 0
        self._refusals = self._silences = 0
        self._connections: set[Connection] = set()
        self._unended: deque[int] = deque(machine.plan.order)
        machine.on_ended = self.ended

    async def run(self, sessions: Sequence[Sequence[int]]) -> None:
        """Sends everything. Raises TargetUnreachable where nothing answers from the first request on."""
        self.loop = asyncio.get_running_loop()
        self._began = self.loop.time()
        self._over: asyncio.Future[None] = self.loop.create_future()
        self._left = len(sessions)
        self._queue.extend(Runner(self, self.machine.session(positions), positions) for positions in sessions)
        sweeper = self.loop.create_task(self._sweep())
        self._fill()
        try:
            if self._left:
                await self._over
        finally:
            sweeper.cancel()
            for connection in list(self._connections):
                connection.close()

    def connection(self) -> Connection:
        most = self.profile.limits.max_answer
        made = Connection(self._host, self._port, context=self._context, loop=self.loop, most=most)
        self._connections.add(made)
        return made

    def release(self, connection: Connection) -> None:
        connection.close()
        self._connections.discard(connection)

    def due_in(self, due: float) -> float:
        """Seconds until a request is due; what is late is noted as lag."""
        wait = self._began + due - self.loop.time()
        self.lag.note(max(0.0, -wait))
        return wait

    # --- sessions take turns

    def _fill(self) -> None:
        while self._queue and self._active < self.concurrency:
            self._active += 1
            self._queue.popleft().go_on(None)

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
        ended = self.machine.ended
        while self._unended and ended[self._unended[0]]:
            self._unended.popleft()
        first = self._unended[0] if self._unended else None
        numbers = self.machine.plan.number_of
        ready = [
            pair for pair in self._waiting_for_all if first is None or numbers(pair[0]) <= numbers(first)
        ]
        self._waiting_for_all = [pair for pair in self._waiting_for_all if pair not in ready]
        for _, runner in ready:
            self._resume(runner)

    def wait_for(self, position: int, runner: Runner) -> bool:
        """Whether the runner has to wait for an exchange; it is gone on with when that has ended."""
        if self.machine.ended[position]:
            return False
        self._waiting.setdefault(position, []).append(runner)
        self.pause()
        return True

    def wait_for_all_before(self, position: int, runner: Runner) -> None:
        self._waiting_for_all.append((position, runner))
        self.pause()
        self.loop.call_soon(self._resume_those_for_all)

    def _resume(self, runner: Runner) -> None:
        self._active += 1
        self.loop.call_soon(runner.go_on, None)

    def session_over(self) -> None:
        self._active -= 1
        self._left -= 1
        if self._left == 0 and not self._over.done():
            self._over.set_result(None)
        self.loop.call_soon(self._fill)

    def fail(self, error: BaseException) -> None:
        if not self._over.done():
            self._over.set_exception(error)

    # --- answers

    def exchange(self, send: Send, answer: Answer, started: str, elapsed: float) -> Exchange:
        """The record of what was sent and what came back, numbered and kept."""
        elapsed_ms = round(elapsed * 1000, 3)
        if send.familiar is not None and not answer.error and not answer.is_cut:
            again = send.familiar.again(
                send.request,
                answer,
                n=self.evidence.count + 1,
                started=started,
                elapsed_ms=elapsed_ms,
            )
            if again is not None:
                exchange, others = again
                if send.is_another:
                    return self.evidence.take(said_at(exchange, send.familiar, others))
                self.evidence.take_familiar(exchange, send.familiar.halves, others)
                return exchange
        response = None if answer.error else _response(answer, self.profile.limits.max_answer)
        plain = send.plain
        if send.channel is not None and response is not None and plain is not None:
            plain = Plain(request=plain.request, response=send.channel.decrypt(response.json))
        return self.evidence.take(
            Exchange(
                n=0,
                started=started,
                elapsed_ms=elapsed_ms,
                client=send.client,
                request=send.request,
                response=response,
                error=answer.error,
                plain=plain,
            ),
            answer,
        )

    def note_silence(self, answer: Answer) -> None:
        """Stops the replay where nobody listens any more, or nothing is answered."""
        url = self.profile.portal.url
        self._refusals = self._refusals + 1 if answer.is_refused else 0
        self._silences = self._silences + 1 if answer.error else 0
        if self._refusals >= REFUSALS:
            self.gone = unreachable(url, OSError(answer.error or ""))
        elif self._silences >= SILENCES:
            self.gone = f"{url} gave no answer to {SILENCES} requests in a row ({answer.error})"
        if self.gone is not None:
            self.fail(TargetUnreachable(self.gone))

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP)
            now = self.loop.time()
            for connection in [one for one in self._connections if one.deadline < now]:
                connection.expire()


class Runner:
    """One session on its way, with a connection of its own."""

    __slots__ = (
        "_began",
        "_connection",
        "_driver",
        "_position",
        "_send",
        "_started",
        "_steps",
        "_ticks",
        "positions",
    )

    def __init__(self, driver: Driver, steps: Steps, positions: Sequence[int]) -> None:
        self._driver = driver
        self._steps = steps
        self._connection: Connection | None = None
        self._send: Send | None = None
        self._position = -1
        self.positions = positions

    def go_on(self, reply: Reply, problem: Untestable | None = None) -> None:
        """Gives the session what it asked for, or why that cannot be had, and does what it asks next."""
        driver = self._driver
        while True:
            try:
                if problem is None:
                    action = self._steps.send(reply)
                else:
                    action = self._steps.throw(CannotBeMade(problem.reason))
            except StopIteration:
                self._end()
                return
            except BaseException as error:
                driver.fail(error)
                return
            reply = problem = None
            if type(action) is Send:
                self._when_due(action)
                return
            if type(action) is Await:
                if driver.wait_for(action.position, self):
                    return
            elif type(action) is AwaitAllBefore:
                driver.wait_for_all_before(action.position, self)
                return
            else:
                asked = cast(Code | Mark | Pass, action)
                if not driver.desk.answers_at_once(asked):
                    self._look_up(asked)
                    return
                try:
                    reply = driver.desk.answer(asked)
                except Untestable as error:
                    problem = error

    def _when_due(self, send: Send) -> None:
        self._send = send
        wait = 0.0 if send.due is None else self._driver.due_in(send.due)
        if wait > 0:
            self._driver.loop.call_later(wait, self._transmit)
        else:
            self._transmit()

    def _transmit(self) -> None:
        driver, send = self._driver, self._send
        assert send is not None
        if self._connection is None:
            self._connection = driver.connection()
        self._started = driver.desk.clock.iso()
        self._ticks = time.perf_counter()
        self._connection.send(send.head + send.body, self._answered, timeout=driver.profile.portal.timeout)

    def _answered(self, answer: Answer) -> None:
        driver, send = self._driver, self._send
        assert send is not None
        try:
            driver.note_silence(answer)
            exchange = driver.exchange(send, answer, self._started, time.perf_counter() - self._ticks)
        except Exception as error:
            driver.fail(error)
            return
        self.go_on(exchange)

    def _look_up(self, action: Code | Mark | Pass) -> None:
        future = self._driver.loop.run_in_executor(None, self._driver.desk.answer, action)
        future.add_done_callback(self._looked_up)

    def _looked_up(self, future: asyncio.Future[Reply]) -> None:
        error = future.exception()
        if isinstance(error, Untestable):
            self.go_on(None, error)
        elif error is not None:
            self._driver.fail(error)
        else:
            self.go_on(future.result())

    def _end(self) -> None:
        if self._connection is not None:
            self._driver.release(self._connection)
        self._driver.session_over()


def _response(answer: Answer, most: int) -> Response:
    headers = answer.headers
    encoding = next((value for name, value in headers if name.lower() == "content-encoding"), None)
    body, form = answered(answer.body, encoding, is_cut=answer.is_cut, most=most)
    return Response(status=answer.status, headers=headers, body=body, form=form)
