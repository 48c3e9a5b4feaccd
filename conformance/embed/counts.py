"""What a judging middleware has counted, as the text that Prometheus reads."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Iterator
from typing import Any

from conformance.embed.bridge import Receive, Send
from conformance.verdicts.findings import Finding

KEPT = 100
"""The latest findings that are kept."""

PREFIX = "portal_conformance"
HELP = {
    "judged": "Exchanges that were judged.",
    "dropped": "Exchanges that were not judged, because too many waited.",
    "errors": "Errors of the judge itself.",
    "findings": "Contradictions by rule, verdict and endpoint.",
}


class JudgedCounts:
    """Counts of exchanges and findings. It is an ASGI application too, which answers with ``text()``.

    Safe from threads. What it keeps is bounded by the rules and the endpoints of the specification.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._totals: Counter[str] = Counter()
        self._findings: Counter[tuple[str, str, str]] = Counter()
        self._latest: deque[Finding] = deque(maxlen=KEPT)

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
    def latest(self) -> list[Finding]:
        """The latest findings, the newest last, with secrets redacted."""
        with self._lock:
            return list(self._latest)

    def text(self) -> str:
        """The counts in Prometheus' text format."""
        with self._lock:
            return "".join(f"{line}\n" for line in self._lines())

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body = self.text().encode()
        headers = [
            (b"content-type", b"text/plain; version=0.0.4; charset=utf-8"),
            (b"content-length", str(len(body)).encode()),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _lines(self) -> Iterator[str]:
        for name, meaning in HELP.items():
            metric = f"{PREFIX}_{name}_total"
            yield f"# HELP {metric} {meaning}"
            yield f"# TYPE {metric} counter"
            if name != "findings":
                yield f"{metric} {self._totals[name]}"
                continue
            for (rule, verdict, endpoint), times in sorted(self._findings.items()):
                yield f'{metric}{{requirement="{rule}",verdict="{verdict}",endpoint="{endpoint}"}} {times}'
