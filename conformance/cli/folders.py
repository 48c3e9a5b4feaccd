"""Folders of reports: those of a whole run stay, unless the user names their folder."""

from __future__ import annotations

from pathlib import Path

from conformance.cli.layout import print_error
from conformance.run.options import BY_NAME


def folder_beside_run(out: Path | None, command: str) -> Path:
    """Where the reports of a check or a replay go: the folder that the user names, else the usual one, or one
    within it where that has the report of a whole run."""
    from conformance.run.rerun import holds_whole_run

    usual = Path(BY_NAME["out"].default)
    if out is not None or not holds_whole_run(usual):
        return out or usual
    print_error(
        f"{usual} has the report of a whole run, which stays: this {command} writes to {usual / command}."
    )
    return usual / command
