"""What the page of a replay begins with: the plan, the differences by meaning, and the latencies."""

from __future__ import annotations

from conformance.report.formats.html.cells import Cells, cells
from conformance.report.formats.html.latency import compared_latencies, limits
from conformance.report.formats.html.replay.differences import difference_groups
from conformance.report.formats.html.replay.plan import by_time, plan
from conformance.report.model.run import Run

__all__ = ["replayed"]


def replayed(run: Run) -> Cells | None:
    """These parts; None for a run or a check."""
    if run.command != "replay":
        return None
    return cells(
        plan=plan(run),
        differences=difference_groups(run),
        latencies=compared_latencies(run),
        by_time=by_time(run),
        limits=limits(run),
    )
