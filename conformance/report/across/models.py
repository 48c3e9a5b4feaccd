"""What the models of several runs have in common, and which options the compared runs set differently."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict

from conformance.report.model.run import Run


class FrozenModel(BaseModel):
    """A value that does not change, and that pydantic writes as JSON."""

    model_config = ConfigDict(frozen=True)


NONE = "none"


class ScopeChange(FrozenModel):
    """One thing that the two runs were told differently: ``impact``, ``time budget``, ``selection``."""

    what: str
    old: str
    new: str


def scope_changes(old: Run, new: Run) -> list[ScopeChange]:
    """Options that differ between two runs. An option that only one run notes is skipped, and so is the
    address of the bundled portal, which differs in each run."""
    sides = zip(_told(old), _told(new), strict=True)
    return [
        ScopeChange(what=what, old=before, new=after)
        for (what, before), (_, after) in sides
        if before != after and before and after and not (what == "target" and _are_bundled(old, new))
    ]


def _told(run: Run) -> Iterator[tuple[str, str]]:
    yield "command", run.command
    yield "target", run.target.url
    yield "profile", run.target.profile or NONE
    yield "impact", run.impact
    yield "time budget", run.scope.time_budget or NONE
    yield "effort", run.scope.effort
    yield "selection", run.scope.selection or NONE


def _are_bundled(old: Run, new: Run) -> bool:
    return old.scope.bundled and new.scope.bundled
