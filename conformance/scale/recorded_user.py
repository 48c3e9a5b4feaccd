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

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import gevent
import locust
from locust.env import Environment
from locust.runners import LocalRunner, MasterRunner, WorkerRunner

from conformance.replay import command as replay_command
from conformance.replay.options import ReplayOptions
from conformance.scale.leading import OVER, LeadingUser, LedProcess
from conformance.scale.order import LOG, WorkerOrder, clear
from conformance.scale.processes import started_worker
from conformance.scale.replays import check_options, merged
from conformance.target.profile.model import load

_over: set[tuple[str, str]] = set()
"""On the master, by worker and class, the shares that are over."""


class RecordedUser(LeadingUser):
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

    def start_process(self) -> LedProcess:
        """Starts the process that replays the share of this worker."""
        runner = self.environment.runner
        index = max(0, runner.worker_index) if isinstance(runner, WorkerRunner) else 0
        order = self.order(self.environment).of(index, reports_steps=True)
        clear(order.folder)
        return started_worker(order, log=order.folder / LOG, stdout=subprocess.PIPE)


def recorded_users(environment: Environment) -> list[type[RecordedUser]]:
    """The classes of a test that replay recordings, and are merged."""
    kinds = [kind for kind in environment.user_classes if issubclass(kind, RecordedUser)]
    return [kind for kind in kinds if kind.is_merged]


@locust.events.test_start.add_listener  # type: ignore[untyped-decorator]
def _begin(**named: Any) -> None:
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
