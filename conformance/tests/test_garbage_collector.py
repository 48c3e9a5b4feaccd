"""The settings of the garbage collector while traffic is read."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import suppress

import pytest

from conformance.traffic.garbage_collector import (
    NEW_OBJECTS,
    NEW_OBJECTS_OF_A_COMMAND,
    rare_garbage_collection,
    set_for_a_command,
    set_for_a_worker,
)


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    """Without frozen objects of somebody else, and with Python's own settings."""
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    gc.unfreeze()
    yield
    gc.freeze()
    gc.set_threshold(*before)


@pytest.mark.parametrize("frozen", [False, True], ids=["", "something is frozen already"])
def test_the_collector_runs_rarely_and_skips_older_objects_for_a_while(frozen: bool) -> None:
    if frozen:
        gc.freeze()
    before, count = gc.get_threshold(), gc.get_freeze_count()

    with suppress(ValueError), rare_garbage_collection():
        assert gc.get_threshold() == (NEW_OBJECTS, *before[1:])
        assert gc.get_freeze_count() > 0
        raise ValueError("a broken capture")  # the settings are restored after an error, too

    assert gc.get_threshold() == before
    assert gc.get_freeze_count() > count / 2 if frozen else gc.get_freeze_count() == 0


def test_where_the_collector_runs_rarely_already_nothing_changes() -> None:
    set_for_a_worker()
    before = gc.get_threshold()

    with rare_garbage_collection():
        assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)


def test_a_command_collects_rarely() -> None:
    before = gc.get_threshold()
    try:
        set_for_a_command()
        assert gc.get_threshold() == (NEW_OBJECTS_OF_A_COMMAND, *before[1:])
    finally:
        gc.set_threshold(*before)


def test_many_new_objects_are_not_looked_through_for_their_number_at_the_end() -> None:
    collections: list[str] = []
    many = 5 * gc.get_threshold()[0]

    def note(phase: str, info: dict[str, int]) -> None:
        collections.append(phase)

    gc.callbacks.append(note)
    try:
        with rare_garbage_collection():
            made: list[list[int]] = [[at] for at in range(many)]
            collections.clear()
        made.append([many])
    finally:
        gc.callbacks.remove(note)

    assert collections == []
    assert len(made) > many
