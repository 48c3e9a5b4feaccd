"""Puts the fast lane's caches before the parts of a replay."""

from __future__ import annotations

from pathlib import Path

from conformance.replay.compare.comparer import ResponseComparer
from conformance.replay.engine.log import FindSecrets, find_no_secrets
from conformance.replay.engine.machine import ReplayMachine
from conformance.replay.engine.step import Stepper
from conformance.replay.fast_lane.comparer import CachingComparer
from conformance.replay.fast_lane.epoch import Epoch
from conformance.replay.fast_lane.lane import FastLane
from conformance.replay.fast_lane.log import CachingLog
from conformance.replay.rebuild.correlation import Correlation
from conformance.traffic.redaction.redact import Secrets


class Caching:
    """The parts of a replay with caches, for ``conformance.replay.assembly``."""

    def __init__(
        self,
        comparer: ResponseComparer,
        path: Path,
        correlation: Correlation,
        secrets: Secrets,
        *,
        kept: int = 0,
        find_secrets: FindSecrets = find_no_secrets,
    ) -> None:
        self._epoch = Epoch(correlation, secrets)
        self.comparer = CachingComparer(comparer, self._epoch)
        self.log = CachingLog(path, self._epoch, kept=kept, find_secrets=find_secrets)

    def stepper(self, machine: ReplayMachine) -> Stepper:
        return FastLane(machine, self.comparer, self.log, self._epoch)
