"""A replay whose disk is full: it ends, restores what it changed, and says what is left."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

from conformance.errors import LeftBehind, SuiteError, UsageError
from conformance.replay.notes import FinishedReplay

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
"""Why a file that was opened cannot be written any more."""


def unwritable(error: Exception, out: Path) -> str:
    """What cannot be written any more, as a sentence; empty where an error says something else."""
    if not isinstance(error, OSError) or error.errno not in FULL:
        return ""
    return f"{error.filename or out}: cannot be written ({(error.strerror or str(error)).lower()})."


def written(out: Path, *writes: Callable[[], None]) -> str:
    """Does one after the other, also where one fails; what could not be written, as a sentence."""
    problem = ""
    for write in writes:
        try:
            write()
        except OSError as error:
            problem = problem or unwritable(error, out) or str(error)
    return problem


def without_reports(problem: OSError | UsageError, finished: FinishedReplay, out: Path) -> SuiteError:
    """The error in place of the reports that cannot be written: it names what is left at the target."""
    why = str(problem)
    if isinstance(problem, OSError):
        why = f"Cannot write {problem.filename or out}: {(problem.strerror or why).lower()}."
    changes = finished.replay.machine.changes
    left = [f"Not restored: {sentence}." for sentence in finished.left_behind]
    if left and changes.cleanup_command:
        left.append(f"To restore it: {changes.cleanup_command}")
    if left:
        return LeftBehind(" ".join((why, *changes.notes(), *left)))
    if isinstance(problem, UsageError):
        return problem
    rest = " ".join(changes.notes()) or "Nothing is left changed at the target."
    return UsageError(f"{why} Choose another --out or file. {rest}")
