"""The master and the workers of Locust that ``replay --engine locust`` starts: processes of their own.

``python -m conformance.scale.locust_process master``, or ``worker PORT``, with the order on standard input.
Once that is closed, the process quits.
"""

from __future__ import annotations

import csv
import pickle
import sys
from typing import Any, ClassVar

import gevent
import gevent.os
import locust
from locust.env import Environment
from locust.stats import PERCENTILES_TO_REPORT, StatsCSV

from conformance.scale.order import WorkerOrder
from conformance.scale.recorded_user import OVER, RecordedUser

HOST = "127.0.0.1"
CSV = "locust.csv"


def main(role: str, port: str = "0") -> None:
    order: WorkerOrder = pickle.load(sys.stdin.buffer)

    class Recorded(RecordedUser):
        is_merged: ClassVar[bool] = False  # the command merges, which started this process

        @classmethod
        def order(cls, environment: Environment) -> WorkerOrder:
            return order

    environment = Environment(user_classes=[Recorded], events=locust.events)
    if role == "master":
        _lead(environment, order)
    else:
        _follow(environment, int(port))


def _lead(environment: Environment, order: WorkerOrder) -> None:
    """Writes the port of the master, then each worker whose share is over, a line each."""
    runner = environment.create_master_runner(HOST, 0)

    def note(msg: Any, **named: Any) -> None:
        print(msg.data["pid"], flush=True)

    runner.register_message(OVER, note)
    print(runner.server.port, flush=True)
    left = gevent.spawn(_until_left)
    while runner.worker_count < order.workers and not left.ready():
        gevent.sleep(0.02)
    if not left.ready():
        runner.start(order.workers, spawn_rate=order.workers)
    left.join()
    runner.quit()
    with (order.options.out / CSV).open("w", newline="") as out:
        StatsCSV(environment, PERCENTILES_TO_REPORT).requests_csv(csv.writer(out))


def _follow(environment: Environment, port: int) -> None:
    runner = environment.create_worker_runner(HOST, port)
    gevent.spawn(_until_left).link(lambda left: runner.quit())
    runner.greenlet.join()


def _until_left() -> None:
    """Returns once the process that started this one has closed its end, or is gone."""
    while gevent.os.tp_read(sys.stdin.fileno(), 1024):
        pass


if __name__ == "__main__":
    main(*sys.argv[1:])
