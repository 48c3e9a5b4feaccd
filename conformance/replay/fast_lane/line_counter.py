"""Counts the lines of a log as they are written: the reports need not read them again."""

from __future__ import annotations

import re

from conformance.report.model.evidence import UNREADABLE, RunEvidence

MOST_ENDPOINTS = 10_000
"""Templates whose endpoint is remembered."""

_PLAIN_PATH = re.compile('"url":"[^"?#\\\\\0-\x1f]+["?#]')
"""The URL in a template whose path has no mark: all its lines have the same path."""


class LineCounter:
    """Counts what the reports show of all lines, as ``evidence.read`` does. A line is decoded, unless one of
    the same template was."""

    def __init__(self) -> None:
        self.evidence = RunEvidence()
        self._endpoints: dict[int, str] = {}
        """By the hash of a request's template, the endpoint of its lines. None of them signs in."""

    def count(self, template: str, line: str, started: str, elapsed_ms: float) -> None:
        """Counts a line, whose request has this template."""
        endpoint = self._endpoints.get(hash(template))
        if endpoint is None:
            self._decode(template, line)
        else:
            self.evidence.count_at(endpoint, started, elapsed_ms)

    def _decode(self, template: str, line: str) -> None:
        try:
            where = self.evidence.count(line.encode()).where
        except UNREADABLE:
            self.evidence.unread += 1
            return
        if not where.signs and _PLAIN_PATH.search(template):
            if len(self._endpoints) >= MOST_ENDPOINTS:
                self._endpoints.clear()
            self._endpoints[hash(template)] = where.endpoint
