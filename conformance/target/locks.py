"""Locks against two runs at once: on a target's accounts, on a folder of reports, on a history. Their folder
outlives a run on this machine and holds no secret."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from conformance.errors import UsageError
from conformance.target.profile.model import Profile
from conformance.traffic.replacing import NO_LINK

try:
    import fcntl
except ImportError:  # a system without it has no locks
    fcntl = None  # type: ignore[assignment]

KEPT_DAYS = 30
"""A file that nobody has written for so many days belongs to no run that lasts, and to no valid code."""

POLL_SECONDS = 0.5
"""Seconds between two tries to take a lock that another process holds."""


class HeldElsewhere(UsageError):
    """Another process holds what this one needs."""


@dataclass(frozen=True)
class FileLock:
    """A lock file and what it stands for. The system frees it when its process ends, however that is."""

    path: Path
    subject: str

    @contextmanager
    def held(self, *, on_wait: Callable[[str], None] | None, note: str) -> Iterator[None]:
        """Holds the lock; ``note`` is kept in the file. Where another process has it: waits once ``on_wait``
        was told so; without one raises HeldElsewhere. Raises OSError where the file cannot be written."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | NO_LINK, 0o600)
        try:
            self._take(descriptor, on_wait)
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
            since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
            os.write(descriptor, json.dumps({"pid": os.getpid(), "since": since, "note": note}).encode())
            yield
        finally:
            os.close(descriptor)

    def _take(self, descriptor: int, on_wait: Callable[[str], None] | None) -> None:
        is_announced = False
        while not _is_taken(descriptor):
            holder = self.content()
            by = f"process {holder.get('pid', '?')}, since {holder.get('since', '?')}"
            message = f"{self.subject} is in use by {by}"
            if on_wait is None:
                raise HeldElsewhere(f"{message}. Wait for its end, or let this run wait: --wait.")
            if not is_announced:
                on_wait(f"{message}: waiting for its end")
                is_announced = True
            time.sleep(POLL_SECONDS)

    def content(self) -> dict[str, object]:
        """What the last holder wrote; empty where that cannot be read."""
        try:
            value = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return value if isinstance(value, dict) else {}


def _is_taken(descriptor: int) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def held(
    locks: Iterable[FileLock], *, on_wait: Callable[[str], None] | None = None, note: str = ""
) -> Iterator[None]:
    """Holds all the locks. Each process takes them in the order of ``locks_of``, so that no two wait for each
    other."""
    with ExitStack() as stack:
        for lock in locks:
            stack.enter_context(lock.held(on_wait=on_wait, note=note))
        yield


def state_folder() -> Path | None:
    """The user's own folder; None where there can be none."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"portal-conformance-{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    is_own = (
        status.st_uid == user and not status.st_mode & 0o077 and folder.is_dir() and not folder.is_symlink()
    )
    return folder if is_own else None


def state_file(kind: str, *parts: str) -> Path | None:
    """The file of a kind that stands for these parts, say a target and an account. Where it is a new one, old
    ones are removed."""
    folder = state_folder()
    if folder is None:
        return None
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]
    file = folder / f"{kind}-{digest}"
    if not file.exists():
        _prune(folder, before=time.time() - KEPT_DAYS * 86_400)
    return file


def _prune(folder: Path, *, before: float) -> None:
    """Removes what was last written before a moment (epoch seconds), but for what still names a ledger of
    changes that is there."""
    for file in folder.iterdir():
        with suppress(OSError):
            if file.lstat().st_mtime < before and not _names_a_ledger(file):
                file.unlink()


def _names_a_ledger(file: Path) -> bool:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        return False
    note = content.get("note") if isinstance(content, dict) else None
    return isinstance(note, str) and bool(note) and Path(note).exists()


def target_lock(profile: Profile) -> FileLock | None:
    """The lock on the accounts of a profile at its target; None where no folder can hold it."""
    emails = sorted(account.email.lower() for account in profile.accounts.values())
    path = state_file("target", profile.portal.url, *emails)
    return None if path is None else FileLock(path, f"{profile.portal.url} with these accounts")


def out_lock_path(out: Path) -> Path:
    """The lock file of a folder of reports, which stays there when the run has ended."""
    return out / ".lock"


def locks_of(profile: Profile, *, out: Path, history: Path | None) -> Iterator[FileLock]:
    """The locks of a run, to be taken one after the other: where the target is in use, no folder of reports
    is created. Raises OSError where a file of theirs cannot be written."""
    target = target_lock(profile)
    if target is not None:
        yield target
    out.mkdir(parents=True, exist_ok=True)
    yield FileLock(out_lock_path(out), str(out))
    if history is not None:
        yield FileLock(history.with_name(f".{history.name}.lock"), str(history))
