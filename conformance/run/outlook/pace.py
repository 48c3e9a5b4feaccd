"""How long a request takes at a target: as in the last run on it, else assumed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from conformance.errors import UsageError
from conformance.report.model.run import Run, moment
from conformance.traffic.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Pace:
    """The seconds of a request with all that the suite does for it. ``source`` is the report of the run that
    they were measured in; empty where they are assumed."""

    seconds: float
    source: str = ""


ASSUMED = Pace(0.02)
"""What is assumed of a portal of which no run is on record: 20 ms."""

MAIL_SECONDS = 2.0
"""How long a mailed code is assumed to take. The pace of a run on record holds it already."""

FEW = 3
"""Answers whose median says anything of a portal that is slow."""

FEWEST = 50
"""Requests of a run whose pace says anything."""


def measured(answers: Sequence[Exchange]) -> Pace:
    """The pace by a few answers of a portal: as long as they take, and what is assumed for the suite."""
    if len(answers) < FEW:
        return ASSUMED
    return Pace(ASSUMED.seconds + median(answer.elapsed_ms for answer in answers) / 1000)


def pace_of(target: str, out: Path) -> Pace:
    """The pace of the last run on a target, by the report in a folder. ``target``: its address, or the name
    of the profile that stands for it."""
    path = out / "results.json"
    if not path.is_file():
        return ASSUMED
    try:
        last = Run.read(path)
    except UsageError:
        return ASSUMED
    requests = sum(row.requests for row in last.timings)
    if last.command != "run" or target not in (last.target.url, last.target.profile) or requests < FEWEST:
        return ASSUMED
    waited = sum(row.seconds for row in last.timeline if row.kind == "wait")
    busy = moment(last.finished) - moment(last.started) - waited
    return Pace(busy / requests, str(path)) if busy > 0 else ASSUMED
