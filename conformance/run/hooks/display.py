"""What shows a run while it goes on, in place of pytest's own lines: a plugin that the command registers."""

from __future__ import annotations

from typing import Protocol, cast

import pytest

NAME = "portal-conformance-display"


class RunDisplay(Protocol):
    """Shows a run. Every text is redacted already."""

    def line(self, text: str) -> None:
        """Shows a line at once."""

    def finding(self, verdict: str, rule: str, text: str) -> None:
        """Shows what contradicts a rule, as it comes; ``verdict`` is FAIL or WARN, or ``known`` where the
        baseline lists it."""

    def lasting(self, seconds: float) -> None:
        """Takes how long the waits will make the run last."""

    def waiting(self, why: str, seconds: float) -> None:
        """Shows a wait that begins."""


def display_of(config: pytest.Config) -> RunDisplay | None:
    """The display of a run; None where pytest's own terminal shows it."""
    return cast(RunDisplay | None, config.pluginmanager.get_plugin(NAME))
