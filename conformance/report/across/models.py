"""What the models of several runs have in common, and which options the compared runs set differently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

from pydantic import BaseModel, ConfigDict

from conformance.report.model.run import Run
from conformance.report.model.visible import json_text
from conformance.report.model.words import headline, numbers


class FrozenModel(BaseModel):
    """A value that does not change, and that pydantic writes as JSON."""

    model_config = ConfigDict(frozen=True)


def as_json(value: FrozenModel | Sequence[FrozenModel]) -> str:
    """What a command about several runs answers, as JSON."""
    rows = value.model_dump(mode="json") if isinstance(value, FrozenModel) else value
    return json_text(rows if isinstance(rows, dict) else [row.model_dump(mode="json") for row in rows])


class ComparedRun(FrozenModel):
    """One of several runs, in short."""

    url: str
    profile: str | None
    started: str
    impact: str
    verdict: str
    numbers: str
    exit_code: int

    @classmethod
    def of(cls, run: Run, **more: str) -> Self:
        """The facts of a run; ``more`` are those of a subclass."""
        return cls(
            url=run.target.url,
            profile=run.target.profile,
            started=run.started,
            impact=run.impact,
            verdict=headline(run).title,
            numbers=numbers(run),
            exit_code=run.exit_code,
            **more,
        )


NONE = "none"


class ScopeChange(FrozenModel):
    """One thing that the two runs were told differently: ``impact``, ``time budget``, ``selection``."""

    what: str
    old: str
    new: str


def scope_changes(old: Run, new: Run) -> list[ScopeChange]:
    """Options that differ between two runs. An option that only one run notes is skipped, and so is the
    address of the bundled portal, which differs in each run."""
    is_bundled = old.scope.bundled and new.scope.bundled
    sides = zip(_told(old), _told(new), strict=True)
    return [
        ScopeChange(what=what, old=before, new=after)
        for (what, before), (_, after) in sides
        if before != after and before and after and not (is_bundled and what == "target")
    ]


def _told(run: Run) -> Iterator[tuple[str, str]]:
    yield "command", run.command
    yield "target", run.target.url
    yield "profile", run.target.profile or NONE
    yield "impact", run.impact
    yield "time budget", run.scope.time_budget or NONE
    yield "effort", run.scope.effort
    yield "selection", run.scope.selection or NONE
