"""One worker of a replay: a forked process, or one of its own, ``python -m conformance.scale.worker``.

That one reads its order from standard input. Once this is closed nobody waits for the worker any more: it
stops sending, and restores what it changed.
"""

from __future__ import annotations

import os
import pickle
import platform
import signal
import sys
import threading
from collections.abc import Callable
from typing import IO

from conformance.errors import SuiteError
from conformance.replay import AnalysedRecording, replay
from conformance.replay.recording.shares import Share
from conformance.scale.order import SharedSession, WorkerNote, WorkerOrder


class NothingToReplay(Exception):
    """There are more workers than shares."""


def work(order: WorkerOrder, recording: AnalysedRecording | None = None) -> int:
    """Replays the share of a worker, and returns the exit code of that replay. ``recording`` is the analysed
    one, where another process did that."""
    note = WorkerNote(order.index + 1, os.getpid(), platform.node())
    note.write(order.folder)

    def take(share: Share) -> None:
        note.sessions = [SharedSession(*each) for each in share.sessions.values()]
        note.write(order.folder)
        if not share.sessions:
            raise NothingToReplay

    try:
        options = order.own_options()
        done = replay(order.files, order.profile, options, on_share=take, recording=recording)
        return done.run.exit_code
    except NothingToReplay:
        return 0
    except SuiteError as problem:
        note.error, note.exit_code = str(problem), int(problem.exit_code)
        note.write(order.folder)
        return note.exit_code


def main() -> int:
    order = pickle.load(sys.stdin.buffer)
    return _led(sys.stdin.fileno(), lambda: work(order))


def obey(order: WorkerOrder, orders: IO[bytes], out: IO[bytes], *, recording: AnalysedRecording) -> int:
    """Replays the share of a forked worker, as soon as ``orders`` say so."""
    if not orders.read(1):
        return 0
    return _led(orders.fileno(), lambda: work(order, recording))


def _led(orders: int, do: Callable[[], int]) -> int:
    over = threading.Event()
    threading.Thread(target=_interrupt_when_left, args=(orders, over), daemon=True).start()
    try:
        return do()
    finally:
        over.set()


def _interrupt_when_left(orders: int, over: threading.Event) -> None:
    """Interrupts the replay where the process that leads it has closed its end, or is gone."""
    while os.read(orders, 1024):
        pass
    if not over.is_set():
        os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    sys.exit(main())
