"""Requests that are released together, so that a portal works on them at the same time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from conformance.cases import Exchange


def at_once(count: int, ask: Callable[[], Exchange]) -> list[Exchange]:
    """The answers to so many equal requests, in the order in which they were begun. Raises what one of them
    raises, once all have ended."""
    barrier = Barrier(count)

    def released() -> Exchange:
        barrier.wait()
        return ask()

    with ThreadPoolExecutor(count) as threads:
        asked = [threads.submit(released) for _ in range(count)]
    return [each.result() for each in asked]


def successes(answers: list[Exchange]) -> list[Exchange]:
    return [answer for answer in answers if answer.success]
