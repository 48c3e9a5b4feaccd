"""How a check is proven: by a lawful oddity that it lets pass, and by one thing that it must not."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.tests.traffic import judged, observed, verdict_on
from conformance.traffic.exchange import Exchange, Json
from conformance.verdicts.findings import Verdict

HERE = Path(__file__).parent
Trace = Exchange | Sequence[Exchange]


@dataclass(frozen=True)
class Proof:
    """``silent``: of the lawful oddity nothing can be told, so that it is neither passed nor failed."""

    requirement: str
    lawful: Trace
    wrong: Trace
    silent: bool = False

    def __str__(self) -> str:
        return self.requirement

    def passes(self) -> bool:
        verdict = verdict_on(self.requirement, as_trace(self.lawful))
        return verdict is (Verdict.UNTESTED if self.silent else Verdict.PASS)

    def finds(self) -> bool:
        return verdict_on(self.requirement, as_trace(self.wrong)) in (Verdict.FAIL, Verdict.WARN)


@dataclass(frozen=True)
class Bound:
    """Where a rule begins and ends: ``wrong`` traces contradict it, ``lawful`` ones beside them do not.

    ``rules``: ids, of which a wrong trace contradicts at least one and a lawful one none; without any, those
    of all requirements. ``at``: the places that the wrong ones contradict, where they are told.
    """

    why: str
    rules: str
    wrong: Sequence[Trace] = ()
    lawful: Sequence[Trace] = ()
    at: Sequence[str] = field(default=())

    def __post_init__(self) -> None:
        assert self.wrong or self.lawful, self.why

    def misjudged(self) -> list[str]:
        wrong = [f"{self.why}: not found: {trace}" for trace in self.wrong if not self.is_found_in(trace)]
        return wrong + [f"{self.why}: found: {trace}" for trace in self.lawful if self.places_in(trace)]

    def is_found_in(self, trace: Trace) -> bool:
        places = self.places_in(trace)
        return places == [*self.at] if self.at else bool(places)

    def places_in(self, trace: Trace) -> list[str]:
        rules = self.rules.split()
        findings = judged(*as_trace(trace)).findings
        return [finding.path or "/" for finding in findings if not rules or finding.requirement in rules]


@dataclass(frozen=True)
class Reading:
    """What is observed of a topic in a trace, and held against nobody."""

    topic: str
    trace: Trace
    values: Json

    def is_read(self) -> bool:
        return bool(observed(self.topic, *as_trace(self.trace)) == self.values)


def as_trace(trace: Trace) -> Sequence[Exchange]:
    return [trace] if isinstance(trace, Exchange) else trace


def chapters_with(table: str) -> dict[str, list[Any]]:
    """The rows that files of checks have in a table of this name."""
    names = [file.stem for file in sorted(HERE.glob("test_checks_*.py"))]
    modules = {name: importlib.import_module(f"conformance.tests.{name}") for name in names}
    return {name: getattr(module, table) for name, module in modules.items() if hasattr(module, table)}
