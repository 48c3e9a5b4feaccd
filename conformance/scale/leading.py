"""A Locust user that leads the process of a share, and what goes between the two.

The processes of ``--engine locust`` load this and little else of the suite, so that they start fast.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import IO, Any, Protocol

import locust
import msgspec
from locust.env import Environment
from locust.exception import StopUser
from locust.rpc import Message
from locust.runners import WorkerRunner

from conformance.errors import SuiteError
from conformance.scale.wire import Led, StepReport, close

OVER = "recorded_share_over"
"""The message of a worker whose share is over: the class, and the process."""

_begun: set[str] = set()
"""The classes whose share this process has begun in this test. A further user does nothing: no share is
replayed twice, not even where Locust moves the users of a worker that died to another one."""


_decode = msgspec.json.Decoder(list[StepReport]).decode


class LedProcess(Led, Protocol):
    """The process that replays a share: its requests come out of ``stdout``."""

    @property
    def stdout(self) -> IO[bytes] | None: ...

    def wait(self) -> object: ...


class AnswerDiffers(Exception):
    """An answer is not as it was recorded, or none came."""


class LeadingUser(locust.User):  # type: ignore[misc]  # its decorators are not typed
    """Leads the process of the share of its worker, and reports each request to Locust."""

    abstract = True

    def start_process(self) -> LedProcess:
        """Starts the process that replays the share of this worker. SuiteError."""
        raise NotImplementedError

    @locust.task  # type: ignore[untyped-decorator]
    def replay_share(self) -> None:
        """Replays the share of this worker, once, and ends this user."""
        name = type(self).__name__
        if name not in _begun:
            _begun.add(name)
            try:
                self._lead(self.start_process())
            except SuiteError as problem:
                print(f"{name}: {problem}", file=sys.stderr, flush=True)
            _say_over(self.environment, name)
        raise StopUser

    def report(self, reports: Sequence[StepReport]) -> None:
        """Tells Locust, and who listens to it, of each request."""
        fire = self.environment.events.request.fire
        for each in reports:
            method, name = each.method_and_name
            fire(
                request_type=method,
                name=name,
                response_time=each.ms,
                response_length=each.bytes,
                exception=AnswerDiffers(each.problem) if each.problem else None,
                context={},
            )

    def _lead(self, process: LedProcess) -> None:
        """Leads a process to its end. Where this user is stopped, so is that."""
        try:
            for line in process.stdout or ():
                self.report(_decode(line))
        finally:
            close(process)
            process.wait()


def _say_over(environment: Environment, name: str) -> None:
    """Tells the master that the share of this worker is over, after all that was counted of it."""
    runner = environment.runner
    if isinstance(runner, WorkerRunner):
        counted: dict[str, Any] = {}
        environment.events.report_to_master.fire(client_id=runner.client_id, data=counted)
        runner.client.send(Message("stats", counted, runner.client_id))
    runner.send_message(OVER, {"class": name, "pid": os.getpid()})


@locust.events.test_start.add_listener  # type: ignore[untyped-decorator]
def _forget(**named: Any) -> None:
    _begun.clear()
