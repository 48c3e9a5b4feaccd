"""The last time step that each authenticator was used for, across runs: a portal may take a code once."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path


def state_folder() -> Path | None:
    """The user's own folder for what outlives a run and holds no secret; None where there can be none."""
    folder = Path(tempfile.gettempdir()) / f"portal-conformance-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    is_own = found.st_uid == os.getuid() and not found.st_mode & 0o077 and not folder.is_symlink()
    return folder if is_own else None


def step_files(target: str, secrets: Mapping[str, str]) -> dict[str, Path]:
    """The file of each authenticator, by its secret; ``secrets`` names the account's email for each."""
    folder = state_folder()
    if folder is None:
        return {}
    return {
        secret: folder / f"step-{hashlib.sha256(f'{target} {email}'.encode()).hexdigest()[:24]}"
        for secret, email in secrets.items()
    }


class UsedSteps:
    """The last used step of each authenticator, in memory and in its file where it has one."""

    def __init__(self, files: Mapping[str, Path] | None = None) -> None:
        self._files = files or {}
        self._steps: dict[str, int] = {}

    def last(self, secret: str) -> int:
        """The last step that was used; 0 where none is on record."""
        if secret not in self._steps:
            self._steps[secret] = self._read(secret)
        return self._steps[secret]

    def record(self, secret: str, step: int) -> None:
        """Notes a step as used. A file that cannot be written costs the next run a refused code."""
        self._steps[secret] = max(step, self.last(secret))
        if secret in self._files:
            with contextlib.suppress(OSError):
                self._files[secret].write_text(str(self._steps[secret]), encoding="ascii")

    def _read(self, secret: str) -> int:
        if secret not in self._files:
            return 0
        try:
            return int(self._files[secret].read_text(encoding="ascii"))
        except (OSError, ValueError):
            return 0
