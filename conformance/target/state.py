"""The folder for what outlives a run on this machine and holds no secret: locks, and the last used codes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import time
from pathlib import Path

KEPT_DAYS = 30
"""A file that nobody has written for so many days belongs to no run that lasts, and to no valid code."""


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
        with contextlib.suppress(OSError):
            if file.lstat().st_mtime < before and not _names_a_ledger(file):
                file.unlink()


def _names_a_ledger(file: Path) -> bool:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        return False
    note = content.get("note") if isinstance(content, dict) else None
    return isinstance(note, str) and bool(note) and Path(note).exists()
