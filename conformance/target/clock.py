"""The target's clock: reads, sleeps and simulated time. Other modules neither sleep nor read clocks."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from conformance.errors import OutOfTime

CENTURIES = 300 * 365.25 * 86_400
"""Seconds; a moment or a lifetime beyond them is taken for none."""

LONGEST_WAIT = 3600.0
"""Seconds; whoever asks to wait longer refuses."""

Watch = Callable[[float, str], None]
"""Told of each wait before it begins: the seconds, and what is waited for."""


HEADER_PRECISION = 2.0
"""Seconds by which a time in an answer may be off: a Date header is of whole seconds, and takes its way."""

LONG_WAIT = 1.0
"""Seconds from which a wait is refused where waits are refused."""


class Clock:
    """The target's time, in epoch seconds: here that of this machine, where a wait takes as long as it says.

    ``time_budget`` counts in seconds from the making of the clock. ``is_simulated``: waiting moves the
    target's time, and costs nothing. Waits raise OutOfTime before they begin; their ``why`` completes
    "waiting for …".
    """

    is_simulated = False
    moved = 0
    """Whole seconds by which the target's clock was moved ahead."""

    def __init__(
        self,
        time_budget: float | None = None,
        on_wait: Watch | None = None,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.on_wait = on_wait
        self._monotonic = monotonic
        self._stopped = threading.Event()
        self._refusal: str | None = None
        self._deadline = None if time_budget is None else self._monotonic() + time_budget
        self._reserve = 0.0

    def now(self) -> float:
        return time.time()

    def iso(self) -> str:
        return iso(self.now())

    def ticks(self) -> float:
        """Seconds that only ever grow, for measuring how long something took here."""
        return time.perf_counter()

    def wait(self, seconds: float, why: str) -> None:
        if seconds <= 0:
            return
        self._demand(seconds, why)
        self._tell(seconds, why)
        self._sleep(seconds, why)

    def wait_until(self, moment: float, why: str) -> None:
        while (left := moment - self.now()) > 0:
            self.wait(left, why)

    def pause(self, seconds: float, why: str) -> None:
        """Lets time pass here, for what lies outside the target (a mail on its way)."""
        self._demand(seconds, why)
        self._sleep(max(0.0, seconds), why)

    def heard(self, ahead: float) -> float:
        """Takes note that an answer tells a time so many seconds ahead of ``now``. Returns by how many
        ``now`` is set ahead for it, which is 0 but where nothing else tells the target's time."""
        return 0.0

    def stop(self) -> None:
        """Ends every wait, in whatever thread, with OutOfTime: the run is over."""
        self._stopped.set()

    def refuse_waits(self, reason: str | None) -> None:
        """From now on waits that take time raise OutOfTime with this reason; None allows them again."""
        self._refusal = reason

    def _sleep(self, seconds: float, why: str) -> None:
        if self._stopped.wait(seconds):
            raise OutOfTime(f"waiting for {why} was given up: the run is over")

    def remaining(self) -> float | None:
        """Seconds left of the time budget, without the reserve; None where there is none."""
        return None if self._deadline is None else self._deadline - self._reserve - self._monotonic()

    def reserve(self, seconds: float) -> None:
        """Sets seconds of the time budget aside for restoring what is changed, the most that any change asks
        for. Raises OutOfTime where they are not left."""
        left = self.remaining()
        more = seconds - self._reserve
        if left is not None and more > left:
            total = max(0.0, left + self._reserve)
            raise OutOfTime(
                f"restoring it may take {seconds:.0f} s, and the time budget leaves {total:.0f} s: "
                "it is not changed"
            )
        self._reserve = max(self._reserve, seconds)

    def release(self) -> None:
        """Gives the reserve back: nothing is left to restore."""
        self._reserve = 0.0

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Within it waits may use the reserve, and are not refused."""
        before = self._deadline, self._reserve, self._refusal
        if self._deadline is not None:
            # Requests may have used more than the budget: the reserve is there all the same.
            self._deadline = max(self._deadline, self._monotonic() + self._reserve)
        self._reserve, self._refusal = 0.0, None
        try:
            yield
        finally:
            self._deadline, self._reserve, self._refusal = before

    def _demand(self, seconds: float, why: str) -> None:
        if self._refusal is not None and seconds > LONG_WAIT:
            raise OutOfTime(f"waiting for {why} takes {seconds:.0f} s: {self._refusal}")
        left = self.remaining()
        if left is not None and seconds > left:
            beside = f", with {self._reserve:.0f} s set aside for restoring" if self._reserve else ""
            raise OutOfTime(
                f"waiting for {why} takes {math.ceil(seconds)} s, and the time budget leaves "
                f"{math.floor(max(0.0, left))} s{beside}"
            )

    def _tell(self, seconds: float, why: str) -> None:
        if self.on_wait is not None:
            self.on_wait(seconds, why)


class SimulatedClock(Clock):
    """The time of a test deployment: a wait moves it, and takes no time here.

    ``advance`` moves the target's clock by whole seconds; where it returns a number, that is the time there
    now. Where it returns none, an earlier run may have moved the clock: the answers tell its time until it is
    moved, and then it is known by the moves.
    """

    is_simulated = True

    def __init__(
        self,
        advance: Callable[[int], float | None],
        *,
        time_budget: float | None = None,
        on_wait: Watch | None = None,
    ) -> None:
        super().__init__(time_budget, on_wait)
        self._advance = advance
        self._ahead = 0.0
        self._is_set = False
        self._listens = False
        self._lock = threading.Lock()

    def now(self) -> float:
        # An earlier run may have moved the target's time: the first look asks for it.
        if not self._is_set:
            self.move(0)
        return time.time() + self._ahead

    def wait(self, seconds: float, why: str) -> None:
        if seconds <= 0:
            return
        self._demand(0.0, why)
        self._tell(seconds, why)
        self.move(seconds)

    def move(self, seconds: float) -> None:
        """Moves the target's time, by no part of a second; with 0 it only learns what time it is there, where
        the target says so."""
        whole = math.ceil(seconds)
        with self._lock:
            there = self._advance(whole)
            self.moved += whole
            self._ahead = self._ahead + whole if there is None else there - time.time()
            self._listens = there is None and whole == 0
            self._is_set = True

    def heard(self, ahead: float) -> float:
        with self._lock:
            set_ahead = ahead if self._listens and abs(ahead) > HEADER_PRECISION else 0.0
            self._ahead += set_ahead
        return set_ahead


def as_seconds(value: object) -> float | None:
    """A number that a target gives for seconds; None where it is none, or time has not so many."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not -CENTURIES < value < CENTURIES:
        return None
    return float(value)


def wall() -> float:
    """Epoch seconds on this machine, for when something of a run took place here."""
    return time.time()


def iso(moment: float) -> str:
    """Epoch seconds as ISO 8601 in UTC, to the microsecond."""
    return datetime.fromtimestamp(moment, UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
