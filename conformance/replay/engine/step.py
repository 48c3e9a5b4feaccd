"""A step of the replay: everything that was done for one recorded exchange."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Protocol, TypeAlias

import msgspec

from conformance.replay.compare.outcome import ExchangeOutcome
from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.replay.engine.log import LogLine
from conformance.replay.rebuild.actions import Action, Received, Reply, Send
from conformance.replay.rebuild.rebuild import Rebuilt
from conformance.traffic.exchange import Exchange
from conformance.verdicts.findings import Finding


class Attempt(msgspec.Struct, frozen=True, gc=False):
    """One request that was sent for a recorded exchange, and its response.

    ``recorded`` is None where the response was recognised without it, ``rebuilt`` where the request was not
    rebuilt for it, ``findings`` where it is not yet judged.
    """

    recorded: Exchange | None
    send: Send
    received: Received
    line: LogLine
    rebuilt: Rebuilt | None = None
    findings: Sequence[Finding] | None = None

    @property
    def live(self) -> Exchange:
        return self.line.exchange


class ReplayStep(msgspec.Struct, frozen=True, gc=False):
    """What became of the recorded exchange at ``position``.

    ``attempt`` is the last of its attempts, None where nothing was sent; ``pair`` is what was compared, and
    ``findings`` are the judge's.
    """

    position: int
    outcome: ExchangeOutcome
    attempt: Attempt | None = None
    pair: ReplayedExchange | None = None
    findings: Sequence[Finding] = ()


StepActions: TypeAlias = Generator[Action, Reply, ReplayStep]


class Stepper(Protocol):
    """Takes the steps of a replay: the machine, or what stands before it."""

    def step(self, position: int) -> StepActions: ...
