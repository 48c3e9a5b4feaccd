"""What a worker of a replay is told, and what its folder says of it."""

from __future__ import annotations

import contextlib
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from conformance.replay.options import ReplayOptions, Worker
from conformance.report.model.run import Run
from conformance.target.profile.model import Profile

NOTE, LOG, RESULTS, EXCHANGES = "worker.json", "worker.log", "results.json", "exchanges.jsonl"
LONGEST_END = 60.0
"""Seconds that a worker may take to restore what it changed, once it is told to stop."""


@dataclass(frozen=True)
class WorkerOrder:
    """A replay that ``workers`` share, and the index of one of them, from 0.

    Its reports go to ``worker-1`` and so on below those of the whole.
    """

    files: Sequence[Path]
    profile: Profile
    options: ReplayOptions
    workers: int
    index: int = 0

    @property
    def folder(self) -> Path:
        return folder_of(self.options.out, self.index)

    def of(self, index: int) -> WorkerOrder:
        """The same for another worker."""
        return replace(self, index=index)

    def own_options(self) -> ReplayOptions:
        """The options of this worker's own replay."""
        return replace(self.options, out=self.folder, worker=Worker(self.index, self.workers))


def folder_of(out: Path, index: int) -> Path:
    return out / f"worker-{index + 1}"


class SharedSession(msgspec.Struct, frozen=True):
    """A recorded session that a worker has: the number of its first exchange, and how many it has."""

    first: int
    exchanges: int


class WorkerNote(msgspec.Struct):
    """What a worker says of itself: its number, its process and its machine. ``sessions`` is None until it
    knows its share; ``error`` says why it could not begin, with the exit code."""

    worker: int
    pid: int
    host: str
    sessions: list[SharedSession] | None = None
    error: str = ""
    exit_code: int = 0

    def write(self, folder: Path) -> None:
        """Replaces the note in a folder. OSError."""
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{NOTE}.part"
        part.write_bytes(msgspec.json.encode(self))
        part.replace(folder / NOTE)


def note_in(folder: Path) -> WorkerNote | None:
    """The note of a folder; None where the worker did not come so far."""
    try:
        return msgspec.json.decode((folder / NOTE).read_bytes(), type=WorkerNote)
    except (OSError, msgspec.DecodeError):
        return None


def await_end(folder: Path) -> None:
    """Waits until the process of a worker on this machine has ended; a minute at most."""
    note, until = note_in(folder), time.monotonic() + LONGEST_END
    if note is None or note.host != platform.node() or os.name != "posix":
        return
    while time.monotonic() < until and _is_alive(note.pid):
        time.sleep(0.05)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def run_in(folder: Path) -> Run | None:
    """The finished run of a folder; None without."""
    return Run.read(folder) if (folder / RESULTS).exists() else None


def remove(folder: Path) -> None:
    """Removes the folder of a worker that had no share; where a ledger is in it, it stays."""
    clear(folder)
    with contextlib.suppress(OSError):
        folder.rmdir()


def clear(folder: Path) -> None:
    """Removes what an earlier replay wrote there, but for the ledger of changes: those are restored."""
    for name in (NOTE, LOG, RESULTS, EXCHANGES):
        (folder / name).unlink(missing_ok=True)
