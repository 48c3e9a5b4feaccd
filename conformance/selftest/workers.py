"""Fault runs in parallel: processes that are forked from one that has collected everything."""

from __future__ import annotations

import gc
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

from conformance.selftest.fault_run import FaultOutcome
from conformance.traffic.garbage_collector import set_for_a_worker

TOO_LONG = 900
"""Seconds after which a fault run is given up."""

Job = Callable[[], FaultOutcome]

JOBS_PER_COLLECTION = 8
"""Fault runs after which a process frees what they leave in cycles."""

_inherited: list[tuple[str, Job]] = []
"""The jobs, in a process of the pool: they hold cases, which cannot be sent there."""


def run(jobs: Iterable[tuple[str, Job]], *, workers: int) -> Iterator[FaultOutcome]:
    """The outcome of each job, as they end; an error for what a process does not report."""
    named = list(jobs)
    gc.freeze()
    with ProcessPoolExecutor(
        workers, mp_context=get_context("fork"), initializer=_inherit, initargs=(named,)
    ) as pool:
        futures = {pool.submit(_attempt, number): name for number, (name, _) in enumerate(named)}
        for future in as_completed(futures):
            try:
                yield future.result()
            except BrokenProcessPool as broken:
                yield FaultOutcome(futures[future], errors={futures[future]: str(broken)})


def _inherit(jobs: Sequence[tuple[str, Job]]) -> None:
    _inherited[:] = jobs
    set_for_a_worker()
    signal.signal(signal.SIGALRM, _give_up)


def _give_up(*_: object) -> None:
    raise TimeoutError(f"no outcome within {TOO_LONG} s")


def _attempt(number: int) -> FaultOutcome:
    name, job = _inherited[number]
    signal.alarm(TOO_LONG)
    try:
        return job()
    except Exception:
        return FaultOutcome(name, errors={name: traceback.format_exc()})
    finally:
        signal.alarm(0)
        if number % JOBS_PER_COLLECTION == 0:
            gc.collect()
