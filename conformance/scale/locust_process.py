"""The master and the workers of Locust that ``replay --engine locust`` starts: processes of their own.

``python -m conformance.scale.locust_process master WORKERS CSV`` writes the port of the master, then each
worker whose share is over, a line each. ``worker`` reads this port and the size of its order in a line, then
the order. Once standard input is closed, both quit.

A worker leads the process that replays its share: by two descriptors (``worker LEADS READS``) one that was
forked elsewhere, else one that it starts.
"""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import IO, Any, ClassVar

import gevent
import gevent.os
import locust
from gevent.fileobject import FileObject
from locust.env import Environment
from locust.stats import PERCENTILES_TO_REPORT, RequestStats, StatsCSV, StatsEntry

from conformance.scale.leading import OVER, AnswerDiffers, LeadingUser, LedProcess
from conformance.scale.wire import BEGIN, WORKER, StepReport

HOST = "127.0.0.1"


@dataclass
class ForkedShare:
    """A process that was forked elsewhere, as the end of its descriptors here."""

    stdin: IO[bytes]
    stdout: IO[bytes]

    @staticmethod
    def of(leads: str, reads: str) -> ForkedShare:
        share = ForkedShare(FileObject(int(leads), "wb", 0), FileObject(int(reads), "rb"))
        share.stdin.write(BEGIN)
        return share

    def wait(self) -> None:
        """Until it has ended, and nobody writes any more."""
        self.stdout.read()


def started(order: bytes) -> LedProcess:
    process = subprocess.Popen([sys.executable, "-m", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(order)
    process.stdin.flush()
    return process


class Leading(LeadingUser):
    """``start_share`` gives the process of its share."""

    start_share: ClassVar[Callable[[], LedProcess]]

    def start_process(self) -> LedProcess:
        return type(self).start_share()

    def report(self, reports: Sequence[StepReport]) -> None:
        log_all(self.environment.stats, reports)


def log_all(stats: RequestStats, reports: Iterable[StepReport]) -> None:
    """Counts requests as Locust does, an endpoint at a time: nobody else hears of each of them here."""
    by_endpoint: dict[str, list[StepReport]] = {}
    for each in reports:
        by_endpoint.setdefault(each.endpoint, []).append(each)
    for rows in by_endpoint.values():
        method, name = rows[0].method_and_name
        part = StatsEntry(stats, name, method)
        for row in rows:
            part.log(row.ms, row.bytes)
        stats.entries[(name, method)].extend(part)
        stats.total.extend(part)
        for row in rows:
            if row.problem:
                stats.log_error(method, name, AnswerDiffers(row.problem))


def lead(workers: str, path: str) -> None:
    """The master."""
    environment = Environment(user_classes=[Leading], events=locust.events)
    runner = environment.create_master_runner(HOST, 0)

    def note(msg: Any, **named: Any) -> None:
        print(msg.data["pid"], flush=True)

    runner.register_message(OVER, note)
    print(runner.server.port, flush=True)
    left = gevent.spawn(_until_left)
    while runner.worker_count < int(workers) and not left.ready():
        gevent.sleep(0.02)
    if not left.ready():
        runner.start(int(workers), spawn_rate=int(workers))
    left.join()
    runner.quit()
    with open(path, "w", newline="") as out:
        StatsCSV(environment, PERCENTILES_TO_REPORT).requests_csv(csv.writer(out))


def follow(*descriptors: str) -> None:
    """A worker."""
    port, size = sys.stdin.buffer.readline().split() or (b"0", b"0")
    order = sys.stdin.buffer.read(int(size))
    if not order:
        return

    Leading.start_share = lambda: ForkedShare.of(*descriptors) if descriptors else started(order)
    environment = Environment(user_classes=[Leading], events=locust.events)
    runner = environment.create_worker_runner(HOST, int(port))
    gevent.spawn(_until_left).link(lambda left: runner.quit())
    runner.greenlet.join()


def _until_left() -> None:
    """Returns once the process that started this one has closed its end, or is gone."""
    while gevent.os.tp_read(sys.stdin.fileno(), 1024):
        pass


if __name__ == "__main__":
    if sys.argv[1] == "master":
        lead(*sys.argv[2:])
    else:
        follow(*sys.argv[2:])
