"""The validity token of everything that the fast lane caches."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.replay.rebuild.correlation import Correlation
from conformance.traffic.redaction.redact import Secrets


@dataclass(frozen=True, slots=True)
class Epoch:
    """What is cached is valid as long as the number that it depends on stays the same.

    Verdicts are the cache of the judge itself, which has a generation of its own.
    """

    correlation: Correlation
    secrets: Secrets

    @property
    def of_requests(self) -> int:
        """What request templates and comparisons depend on: the correlation's generation."""
        return self.correlation.generation

    @property
    def of_lines(self) -> int:
        """What redacted lines depend on: the number of secrets."""
        return len(self.secrets)
