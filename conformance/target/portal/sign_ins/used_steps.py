"""The last time step that each authenticator was used for, across runs: a portal may take a code once."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

from conformance.target.state import state_file


def step_files(target: str, secrets: Mapping[str, str]) -> dict[str, Path]:
    """The file of each authenticator, by its secret; ``secrets`` names the account's email for each."""
    files = {secret: state_file("step", target, email) for secret, email in secrets.items()}
    return {secret: path for secret, path in files.items() if path is not None}


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
