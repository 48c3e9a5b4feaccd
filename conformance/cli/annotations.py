"""Annotates the job of a CI server that shows a run's failures on its own page."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TextIO

from conformance.cli.output import RedactedStream, command_line

RESULTS = "results.json"
ON_GITHUB = "GITHUB_ACTIONS"
"""The environment variable that is ``true`` where GitHub reads the output."""


def annotated(
    call: Callable[[], int],
    out: Path,
    *,
    environment: Mapping[str, str] = os.environ,
    stream: TextIO | RedactedStream | None = None,
) -> int:
    """Calls a command, and returns its exit code; on GitHub, writes an annotation for each failure in the
    reports that the command wrote."""
    if environment.get(ON_GITHUB) != "true":
        return call()
    from conformance.run.rerun import UNREACHED  # see below

    before = {folder: _written(folder) for folder in (out, out / UNREACHED)}
    exit_code = call()
    for folder, written in before.items():
        if _written(folder) not in (None, written):
            _annotate(folder, stream or sys.stdout)
    return exit_code


def _annotate(out: Path, stream: TextIO | RedactedStream) -> None:
    # imported here, because the help of a command needs no report
    from conformance.report.formats.annotations import annotations_of
    from conformance.report.model.run import Run

    for each in annotations_of(Run.read(out)):
        if isinstance(stream, RedactedStream):
            stream.command(each.level, each.title, each.text)
        else:
            stream.write(command_line(each.level, each.title, each.text))
    stream.flush()


def _written(out: Path) -> int | None:
    """When the results were written, in nanoseconds; None where there are none."""
    try:
        return (out / RESULTS).stat().st_mtime_ns
    except OSError:
        return None
