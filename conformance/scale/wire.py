"""What goes between a worker and the process that leads it."""

from __future__ import annotations

import msgspec

WORKER = "conformance.scale.worker"
"""The module that is a worker, where that is not forked."""

BEGIN = b"\n"
"""Is sent to a forked worker that may begin."""


class StepReport(msgspec.Struct, array_like=True, gc=False):
    """A request as a load generator counts it. ``problem`` is empty where its answer is as recorded."""

    endpoint: str
    ms: float
    bytes: int
    problem: str = ""

    @property
    def method_and_name(self) -> tuple[str, str]:
        method, _, path = self.endpoint.partition(" ")
        return method, path
