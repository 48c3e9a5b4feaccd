"""The settings of the garbage collector while traffic is read."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from conformance.traffic.garbage_collector import (
    NEW_OBJECTS,
    NEW_OBJECTS_OF_A_COMMAND,
    rare_garbage_collection,
    set_for_a_command,
)


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    """Without frozen objects of somebody else."""
    gc.unfreeze()
    yield
    gc.freeze()


def test_the_collector_runs_rarely_and_skips_older_objects_for_a_while() -> None:
    before = gc.get_threshold()

    with rare_garbage_collection():
        assert gc.get_threshold() == (NEW_OBJECTS, *before[1:])
        assert gc.get_freeze_count() > 0

    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


def test_the_settings_are_restored_after_an_error() -> None:
    before = gc.get_threshold()

    with pytest.raises(ValueError), rare_garbage_collection():
        raise ValueError("a broken capture")

    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)


def test_what_somebody_else_has_frozen_stays_frozen() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()

    with rare_garbage_collection():
        assert gc.get_threshold()[0] == NEW_OBJECTS

    assert gc.get_freeze_count() > frozen / 2


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
