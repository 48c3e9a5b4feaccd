"""What a run may spend: sign-ins per window, failed ones per account, mails (chapter "Limits")."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime

from conformance.errors import OutOfBudget, RateLimited
from conformance.target.clock import CENTURIES, LONGEST_WAIT, Clock
from conformance.target.profile.tables import LimitSettings
from conformance.traffic.exchange import Exchange

INITIATIONS = 10
"""Initiations per window; the specification gives the number and not the window's length."""

ASSUMED_WINDOW = 60.0
RETRIES = 3
MARGIN = 0.1
LONGEST_PAUSE = 10.0
"""Seconds of a wait for something before the portal, which may go by another clock than the portal's."""


class Budget:
    """Counts what is scarce. Safe to use from threads.

    ``window`` is the profile's, else what the target's answers taught, else a minute.
    """

    def __init__(self, limits: LimitSettings, clock: Clock) -> None:
        self.window = limits.login_window or ASSUMED_WINDOW
        self._limits = limits
        self._clock = clock
        self._lock = threading.Lock()
        self._begun: list[float] = []
        self._under_way = 0
        self._blocked_until = 0.0
        self._failures: Counter[str] = Counter()
        self._refused_codes: Counter[str] = Counter()
        self.mails = 0
        self.initiations = 0

    def initiations_left(self) -> int:
        """How many sign-ins may begin now without waiting."""
        with self._lock:
            return INITIATIONS - len(self._recent()) - self._under_way

    def opens(self, number: int) -> float:
        """The moment (epoch seconds) from which so many sign-ins may begin at once; ten where it is more."""
        with self._lock:
            return self._free_from(self._clock.now(), max(1, min(number, INITIATIONS)))

    @contextmanager
    def initiation(self, *, waits: bool = True) -> Iterator[None]:
        """Takes a place in the window, waiting for one where there is none. Raises OutOfTime.

        The place counts from the moment the answer is there: the target has counted it by then.
        """
        while (moment := self._taken_or_free_from(waits)) is not None:
            self._clock.wait_until(moment, "the window of sign-ins to open")
        try:
            yield
        finally:
            with self._lock:
                self._under_way -= 1
                self._begun.append(self._clock.now())

    def _taken_or_free_from(self, waits: bool) -> float | None:
        """None: the place is ours. Else the moment from which one may be free."""
        with self._lock:
            now = self._clock.now()
            free = self._free_from(now) if waits else now
            if free > now:
                return free
            self._under_way += 1
            self.initiations += 1
            return None

    def _free_from(self, now: float, number: int = 1) -> float:
        recent = self._recent()
        too_many = len(recent) + self._under_way + number - 1 - INITIATIONS
        if too_many < 0:
            return self._blocked_until
        full = recent[too_many] + self.window + MARGIN if too_many < len(recent) else now + MARGIN
        return max(full, self._blocked_until)

    def _recent(self) -> list[float]:
        since = self._clock.now() - self.window
        self._begun = [moment for moment in sorted(self._begun) if moment > since - self.window]
        return [moment for moment in self._begun if moment > since]

    def back_off(self, refused: Exchange, attempt: int) -> None:
        """Waits after a rate-limit answer, and learns the window from it. Raises RateLimited at last."""
        if attempt >= RETRIES:
            raise RateLimited(
                f"{refused.request.method} {refused.request.path} keeps refusing for its rate limit"
            )
        seconds = retry_after(refused)
        if seconds is not None and seconds > LONGEST_WAIT:
            raise RateLimited(
                f"{refused.request.method} {refused.request.path} refuses for its rate limit, and asks for "
                f"more than {LONGEST_WAIT:.0f} s"
            )
        now = self._clock.now()
        with self._lock:
            if seconds is not None and self._begun and self._limits.login_window is None:
                self.window = max(self.window, min(3600.0, now + seconds - min(self._begun)))
            self._blocked_until = now + (self.window * 2**attempt if seconds is None else seconds + MARGIN)
        self._clock.wait_until(self._blocked_until, "the target's rate limit to pass")
        if attempt and self._clock.is_simulated and seconds is not None and seconds <= LONGEST_PAUSE:
            self._clock.pause(seconds + MARGIN, "a rate limit that goes by another clock")

    def failed_sign_in(self, email: str) -> None:
        """Counts a sign-in that is meant to fail. Raises OutOfBudget where the account has had its share."""
        with self._lock:
            if self._failures[email.lower()] >= self._limits.max_failed_sign_ins:
                raise OutOfBudget(
                    f"{email} has had {self._limits.max_failed_sign_ins} failed sign-ins, the most that "
                    "[limits] max_failed_sign_ins allows"
                )
            self._failures[email.lower()] += 1

    def code(self, email: str) -> None:
        """Before a code is given. Raises OutOfBudget where so many in a row were refused for the account that
        one more could lock it."""
        with self._lock:
            if self._refused_codes[email.lower()] >= max(1, self._limits.max_failed_sign_ins):
                raise OutOfBudget(
                    f"{self._refused_codes[email.lower()]} codes in a row were refused for {email}, the most "
                    "that [limits] max_failed_sign_ins allows"
                )

    def code_was(self, email: str, *, right: bool) -> None:
        """Takes note of the answer to a code; a right one begins the count anew."""
        with self._lock:
            self._refused_codes[email.lower()] = 0 if right else self._refused_codes[email.lower()] + 1

    def mail(self) -> None:
        """Counts a mail before it is asked for. Raises OutOfBudget."""
        with self._lock:
            if self.mails >= self._limits.max_mails:
                raise OutOfBudget(f"{self.mails} mails were sent, the most that [limits] max_mails allows")
            self.mails += 1

    def mails_left(self) -> int:
        """How many more mails may be asked for."""
        with self._lock:
            return self._limits.max_mails - self.mails

    def mail_not_sent(self) -> None:
        """Takes a mail back that the target refused to send."""
        with self._lock:
            self.mails -= 1


def retry_after(exchange: Exchange) -> float | None:
    """Seconds that a refusal asks to wait; None where it does not say."""
    value = None if exchange.response is None else exchange.response.header("retry-after")
    if exchange.response is None or value is None:
        return None
    try:
        return max(0.0, min(float(value), CENTURIES))
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(value)
        since = parsedate_to_datetime(exchange.response.header("date") or "")
        return max(0.0, min((until - since).total_seconds(), CENTURIES))
    except (ValueError, TypeError, OverflowError):  # no date, one without a zone, one beyond all years
        return None
