"""The folder for what outlives a run on this machine and holds no secret: locks, and the last used codes."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path


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
    """The file of a kind that stands for these parts, say a target and an account."""
    folder = state_folder()
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]
    return None if folder is None else folder / f"{kind}-{digest}"
