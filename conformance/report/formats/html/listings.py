"""The lists below the findings: regressions, readings, observations, what was not tested, and time."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.report.formats.html import chart
from conformance.report.formats.html.cells import Cells, cells
from conformance.report.formats.html.latency import latencies
from conformance.report.formats.html.replay import replayed
from conformance.report.formats.html.replay.differences import differing_places
from conformance.report.model.evidence import OTHER, RunEvidence
from conformance.report.model.regressions import KINDS
from conformance.report.model.run import OperationTime, Run
from conformance.report.model.visible import one_line
from conformance.report.model.words import (
    duration,
    left_untested,
    not_selected,
    plural,
    regressed_in_words,
    untested,
)
from conformance.spec import OPERATIONS

MOST_ROWS = 300

MOVED_CLOCK_SECONDS = 30
"""How much longer a run must be by the target's clock for the page to say that the clock was moved."""

REMEDIES = {
    "configuration": "The profile or an option can make it testable.",
    "credentials": "An account that can sign in makes it testable.",
    "environment": "The connection or the target's behaviour prevented it; run again.",
    "suite": "This is an error of the suite; please report it.",
}


def listings(run: Run, evidence: RunEvidence) -> dict[str, object]:
    """The values of these lists."""
    keys = {reading.key for reading in run.readings}
    others = [observation for observation in run.observations if observation.topic not in keys]
    return {
        "replayed": replayed(run),
        "regressions": run.regressions[:MOST_ROWS],
        "kinds": KINDS,
        "differing_places": differing_places,
        "regressed": regressed_in_words(run),
        "more_regressions": _more(len(run.regressions)),
        "readings": run.readings,
        "varying": sum(len(reading.observed) > 1 for reading in run.readings),
        "observations": others[:MOST_ROWS],
        "observation_words": f"{plural(len(others), 'other')}. {_more(len(others))}".strip(),
        "untested": untested(run),
        "remedies": REMEDIES,
        "left_untested": left_untested(run),
        "not_selected": not_selected(run),
        "time": _time(run, evidence),
    }


def _time(run: Run, evidence: RunEvidence) -> Cells:
    waits = chart.aligned(run.timeline, evidence.pulse)
    timings = run.timings or evidence.timings
    timeline = chart.timeline(evidence.pulse, waits)
    begun = [evidence.pulse.earliest] * (evidence.pulse.earliest > 0)
    start = min([*begun, *(wait.start for wait in waits)], default=0.0)
    slow = [timing for timing in timings if timing.endpoint != OTHER]
    return cells(
        words=_time_in_words(run, timings, sum(wait.seconds for wait in waits)),
        bars=chart.bars(_by_group(timings)),
        line=timeline.drawing if timeline else None,
        squeezed=timeline.squeezed if timeline else False,
        moved=_moved(run, evidence),
        waits=[
            cells(
                what=one_line(wait.label, 200),
                started=f"+{duration(wait.start - start)}",
                seconds=duration(wait.seconds),
            )
            for wait in waits[:MOST_ROWS]
        ],
        latencies=[] if run.command == "replay" else latencies(slow),
    )


def _time_in_words(run: Run, timings: Sequence[OperationTime], waited: float) -> str:
    words = [f"The run took {duration(run.seconds)}"]
    if timings:
        answering = sum(timing.total_ms for timing in timings) / 1000
        requests = plural(sum(timing.requests for timing in timings), "request")
        words.append(f"the target took {duration(answering)} to answer {requests}")
    if waited:
        words.append(f"waits for the target's clock add up to {duration(waited)}, some of them overlapping")
    return "; ".join(words) + "."


def _moved(run: Run, evidence: RunEvidence) -> tuple[str, str] | None:
    """How long the run took, and on the target's clock, where that was moved; else None."""
    by_target = evidence.pulse.latest - evidence.pulse.earliest
    is_moved = by_target > run.seconds + MOVED_CLOCK_SECONDS
    return (duration(run.seconds), duration(by_target)) if is_moved else None


def _by_group(timings: Sequence[OperationTime]) -> list[OperationTime]:
    order = {name: at for at, name in enumerate(dict.fromkeys(row.group for row in OPERATIONS))}
    return sorted(timings, key=lambda timing: order.get(timing.group, 10_000))


def _more(total: int) -> str:
    return f"{total - MOST_ROWS:,} more in results.json." if total > MOST_ROWS else ""
