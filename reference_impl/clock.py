"""The portal's only source of time; a test deployment may move it."""

import time
from collections.abc import Callable


class Clock:
    def __init__(self, source: Callable[[], float] = time.time) -> None:
        self._source = source
        self._ahead = 0.0

    def now(self) -> float:
        return self._source() + self._ahead

    def advance(self, seconds: float) -> None:
        self._ahead += seconds
