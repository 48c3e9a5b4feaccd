"""A Locust user that replays recorded traffic: put it into a locustfile of your own.

    from conformance.replay import ReplayOptions
    from conformance.scale.recorded_user import RecordedUser

    class Monday(RecordedUser):
        recordings = ["monday.jsonl"]
        profile = "portal.toml"
        options = ReplayOptions(impact="mutating")

Each worker of Locust replays its share in a process of its own beside Locust. What is judged and compared
does not run among greenlets, and what Locust patches in Python does not reach it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import gevent
import locust
import msgspec
from locust.env import Environment
from locust.exception import StopUser
from locust.rpc import Message
from locust.runners import LocalRunner, MasterRunner, WorkerRunner

from conformance.errors import SuiteError
from conformance.replay import command as replay_command
from conformance.replay.options import ReplayOptions
from conformance.scale.order import LOG, WorkerOrder, clear
from conformance.scale.processes import WORKER, close, started
from conformance.scale.replays import check_options, merged
from conformance.scale.reports import StepReport
from conformance.target.profile.model import load

OVER = "recorded_share_over"
"""The message of a worker whose share is over: the class, and the process."""

_decode = msgspec.json.Decoder(list[StepReport]).decode

_begun: set[str] = set()
"""The classes whose share this process has begun in this test. A further user does nothing: no share is
replayed twice, not even where Locust moves the users of a worker that died to another one."""

_over: set[tuple[str, str]] = set()
"""On the master, by worker and class, the shares that are over."""


class AnswerDiffers(Exception):
    """An answer is not as it was recorded, or none came."""


class RecordedUser(locust.User):  # type: ignore[misc]  # its decorators are not typed
    """Replays the share of its worker, and reports each request to Locust.

    ``recordings`` are captures or HAR files and ``profile`` is the target's profile: every worker reads both.
    ``options`` are those of a replay; each worker writes its reports into ``worker-1`` and so on below
    ``options.out``. Where the master finds these folders, it merges them when it quits, and its exit code is
    that of the whole. ``workers`` is the number of workers, else that of ``--expect-workers``. Start as many
    users as there are workers: a further one does nothing.
    """

    abstract = True
    recordings: ClassVar[Sequence[str | Path]] = ()
    profile: ClassVar[str | Path] = "portal.toml"
    options: ClassVar[ReplayOptions] = ReplayOptions()
    workers: ClassVar[int | None] = None
    is_merged: ClassVar[bool] = True
    """Whether the test ends once every share is over, and the master merges the reports."""

    @classmethod
    def order(cls, environment: Environment) -> WorkerOrder:
        """The replay that all workers share. ProfileError, UsageError."""
        files = tuple(Path(file).absolute() for file in cls.recordings)
        order = WorkerOrder(files, load(Path(cls.profile)), cls.options, cls.count(environment))
        check_options(order.profile, order.options, order.workers)
        return order

    @classmethod
    def count(cls, environment: Environment) -> int:
        """The number of workers."""
        if cls.workers is not None:
            return cls.workers
        return getattr(environment.parsed_options, "expect_workers", None) or 1

    @locust.task  # type: ignore[untyped-decorator]
    def replay_share(self) -> None:
        """Replays the share of this worker, once, and ends this user."""
        environment, name = self.environment, type(self).__name__
        if name not in _begun:
            _begun.add(name)
            try:
                runner = environment.runner
                index = max(0, runner.worker_index) if isinstance(runner, WorkerRunner) else 0
                self._replay(self.order(environment).of(index, reports_steps=True))
            except SuiteError as problem:
                print(f"{name}: {problem}", file=sys.stderr, flush=True)
            _say_over(environment, name)
        raise StopUser

    def _replay(self, order: WorkerOrder) -> None:
        """Runs the process of this worker to its end. Where this user is stopped, so is that."""
        clear(order.folder)
        process = started(WORKER, order, log=order.folder / LOG, stdout=subprocess.PIPE)
        try:
            assert process.stdout is not None
            for line in process.stdout:
                self._report(_decode(line))
        finally:
            close(process)
            process.wait()

    def _report(self, reports: Sequence[StepReport]) -> None:
        fire = self.environment.events.request.fire
        for each in reports:
            fire(
                request_type=each.method,
                name=each.endpoint,
                response_time=each.ms,
                response_length=each.bytes,
                exception=AnswerDiffers(each.problem) if each.problem else None,
                context={},
            )


def _say_over(environment: Environment, name: str) -> None:
    """Tells the master that the share of this worker is over, after all that was counted of it."""
    runner = environment.runner
    if isinstance(runner, WorkerRunner):
        counted: dict[str, Any] = {}
        environment.events.report_to_master.fire(client_id=runner.client_id, data=counted)
        runner.client.send(Message("stats", counted, runner.client_id))
    runner.send_message(OVER, {"class": name, "pid": os.getpid()})


def recorded_users(environment: Environment) -> list[type[RecordedUser]]:
    """The classes of a test that replay recordings, and are merged."""
    kinds = [kind for kind in environment.user_classes if issubclass(kind, RecordedUser)]
    return [kind for kind in kinds if kind.is_merged]


@locust.events.test_start.add_listener  # type: ignore[untyped-decorator]
def _begin(**named: Any) -> None:
    _begun.clear()
    _over.clear()


@locust.events.init.add_listener  # type: ignore[untyped-decorator]
def _listen(environment: Environment, **named: Any) -> None:
    if isinstance(environment.runner, MasterRunner | LocalRunner):
        environment.runner.register_message(OVER, _end_when_all_are_over)


def _end_when_all_are_over(environment: Environment, msg: Any, **named: Any) -> None:
    """Ends the test once the shares of all workers are over."""
    _over.add((msg.node_id, msg.data["class"]))
    kinds = recorded_users(environment)
    if len(_over) >= sum(kind.count(environment) for kind in kinds):
        is_headless = getattr(environment.parsed_options, "headless", False)
        gevent.spawn(environment.runner.quit if is_headless else environment.runner.stop)


@locust.events.quitting.add_listener  # type: ignore[untyped-decorator]
def _merge(environment: Environment, **named: Any) -> None:
    """Merges what the workers wrote, where this process sees it, and prints it as a replay."""
    if isinstance(environment.runner, WorkerRunner):
        return
    for kind in recorded_users(environment):
        order = kind.order(environment)
        if not any(order.of(index).folder.exists() for index in range(order.workers)):
            print(
                f"{kind.__name__}: its workers wrote elsewhere. Merge their folders: portal-conformance merge"
            )
            continue
        run = merged(order, is_interrupted=False)
        replay_command.show(run, order.options.out, form="text")
        environment.process_exit_code = max(environment.process_exit_code or 0, run.exit_code)
