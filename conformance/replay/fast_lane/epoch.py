"""The validity token of everything that the fast lane caches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from conformance.replay.rebuild.correlation import Correlation
from conformance.traffic.redaction.redact import Secrets


class Epoch(NamedTuple):
    """Requests and comparisons depend on the correlation's generation, redacted lines on the number of
    secrets. (The judge's own cache has the judge's generation.)"""

    correlation: int
    secrets: int


@dataclass(frozen=True, slots=True)
class Epochs:
    """The epoch as it proceeds."""

    correlation: Correlation
    secrets: Secrets

    def now(self) -> Epoch:
        return Epoch(self.correlation.generation, len(self.secrets))
