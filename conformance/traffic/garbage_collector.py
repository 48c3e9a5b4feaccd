"""The settings of Python's garbage collector for a command, and for whoever reads much traffic.

Exchanges hold no cycles: they are freed without the collector, which would look through the same objects
again and again.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

NEW_OBJECTS = 100_000
"""New objects after which the collector looks through the new ones."""

NEW_OBJECTS_OF_A_COMMAND = 10_000
"""The same for any command: what it imports and collects before it begins is no garbage."""


def set_for_a_worker() -> None:
    """The settings of a process that does one job after another, in a process that froze what it shares."""
    _collect_after(NEW_OBJECTS)


def set_for_a_command() -> None:
    """The settings of a process that runs one command."""
    _collect_after(NEW_OBJECTS_OF_A_COMMAND)


@contextmanager
def rare_garbage_collection() -> Iterator[None]:
    """Has the collector skip the objects of now, and run less often, for a while. Where somebody else has it
    skip objects, it skips those alone; where it runs as rarely already, nothing changes."""
    before = gc.get_threshold()
    if before[0] >= NEW_OBJECTS:  # to count what is skipped takes long
        yield
        return
    is_ours = gc.get_freeze_count() == 0
    if is_ours:
        gc.freeze()
    _collect_after(NEW_OBJECTS)
    try:
        yield
    finally:
        if is_ours:
            gc.freeze()  # all that is new counts as old: it would be looked through at once for being many
            gc.unfreeze()
        gc.set_threshold(*before)


def _collect_after(new_objects: int) -> None:
    gc.set_threshold(new_objects, *gc.get_threshold()[1:])
