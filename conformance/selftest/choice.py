"""Which cases a fault run needs: those that touch the fault's endpoints, or a few of every kind."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import inf

import pytest

from conformance.run.catalogue import ids_of
from conformance.target.bundled import Fault

KINDS_KEPT = 3
"""Of a case with many parameters so many are run under variants."""

MANY_OPERATIONS = 6
"""A case that calls more operations goes around the endpoints, and is about none of them in particular."""

SEARCHES = "/properties/"
"""The folder of the cases that draw their requests."""

Called = Mapping[str, Sequence[str]]
"""By case, the operations that it called in the clean run."""


def touching(
    items: Sequence[pytest.Item], fault: Fault, *, touched: Called, read_beside: Called, most: float = inf
) -> list[pytest.Item]:
    """The cases that called one of a fault's operations in the clean run; of those that called more than
    ``most``, or only read it beside their own requests, the cases of the broken requirements."""

    def is_meant(item: pytest.Item) -> bool:
        called = touched.get(item.nodeid, ())
        if len(called) <= most and not set(fault.operations).isdisjoint(called):
            return True
        is_met = not set(fault.operations).isdisjoint((*called, *read_beside.get(item.nodeid, ())))
        return is_met and not set(ids_of(item)).isdisjoint(fault.breaks)

    return [item for item in items if is_meant(item)]


def once_at_each_endpoint(
    items: Sequence[pytest.Item], broken: Collection[str], *, touched: Called
) -> list[pytest.Item]:
    """The cases of the broken requirements, and so many of the others that each operation is called."""
    reached: set[str] = set()
    kept = []
    for item in items:
        called = touched.get(item.nodeid, ())
        is_new = len(called) <= MANY_OPERATIONS and not reached.issuperset(called)
        if is_new and SEARCHES not in item.nodeid:
            reached.update(called)
            kept.append(item)
        elif not set(ids_of(item)).isdisjoint(broken):
            kept.append(item)
    return kept


def without_other_searches(items: Sequence[pytest.Item], broken: Collection[str]) -> list[pytest.Item]:
    """The cases but for the searches of other requirements: they draw from many requests, and take a third of
    a fault run to find what a case of its own finds at once."""

    def is_meant(item: pytest.Item) -> bool:
        return SEARCHES not in item.nodeid or not set(ids_of(item)).isdisjoint(broken)

    return [item for item in items if is_meant(item)]


def own_first(items: Sequence[pytest.Item], broken: Collection[str]) -> list[pytest.Item]:
    """The cases of the broken requirements before all others, which may use up what those need."""
    return sorted(items, key=lambda item: set(ids_of(item)).isdisjoint(broken))


def a_few_of_each(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Every case, but of many parameters the first, the last and what lies between."""
    by_function: dict[str, list[pytest.Item]] = {}
    for item in items:
        by_function.setdefault(function_of(item.nodeid), []).append(item)
    kept = {item.nodeid for group in by_function.values() for item in _spread(group)}
    return [item for item in items if item.nodeid in kept]


def _spread(group: list[pytest.Item]) -> list[pytest.Item]:
    if len(group) <= KINDS_KEPT:
        return group
    last = len(group) - 1
    return [group[at * last // (KINDS_KEPT - 1)] for at in range(KINDS_KEPT)]


def function_of(nodeid: str) -> str:
    """A case without its parameters; the name of a check stays as it is."""
    return nodeid.partition("[")[0]
