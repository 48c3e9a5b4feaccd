"""How a check is proven: by a lawful oddity that it lets pass, and by one thing that it must not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.tests.traffic import verdict_on
from conformance.traffic.exchange import Exchange
from conformance.verdicts.findings import Verdict

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
        verdict = verdict_on(self.requirement, _as_trace(self.lawful))
        return verdict is (Verdict.UNTESTED if self.silent else Verdict.PASS)

    def finds(self) -> bool:
        return verdict_on(self.requirement, _as_trace(self.wrong)) in (Verdict.FAIL, Verdict.WARN)


def _as_trace(trace: Trace) -> Sequence[Exchange]:
    return [trace] if isinstance(trace, Exchange) else trace
