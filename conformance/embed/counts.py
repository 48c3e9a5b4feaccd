"""What a judging middleware has counted."""

from __future__ import annotations

import threading
from collections import Counter, deque

from conformance.verdicts.findings import Finding

LATEST_FINDINGS = 100
"""The latest findings that are kept."""


class JudgedCounts:
    """Counts of exchanges and findings, safe from threads; bounded by the rules and the endpoints of the
    specification."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._totals: Counter[str] = Counter()
        self._findings: Counter[tuple[str, str, str]] = Counter()
        self._latest: deque[Finding] = deque(maxlen=LATEST_FINDINGS)

    def count(self, name: str, times: int = 1) -> None:
        """Counts ``judged``, ``dropped`` or ``errors``."""
        with self._lock:
            self._totals[name] += times

    def note(self, finding: Finding) -> None:
        with self._lock:
            self._findings[finding.requirement, finding.verdict.value, finding.endpoint] += 1
            self._latest.append(finding)

    def total(self, name: str) -> int:
        """How many exchanges were ``judged`` or ``dropped``, or how many ``errors`` the judge had."""
        with self._lock:
            return self._totals[name]

    @property
    def findings(self) -> dict[tuple[str, str, str], int]:
        """How often each rule was contradicted, by its id, the verdict and the endpoint."""
        with self._lock:
            return dict(self._findings)

    @property
    def latest(self) -> list[Finding]:
        """The latest findings, the newest last, with secrets redacted."""
        with self._lock:
            return list(self._latest)
