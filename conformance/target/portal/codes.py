"""Codes of the second factor: of an authenticator, no time step of which is used twice, and wrong ones."""

from __future__ import annotations

import hmac
import secrets
import string
import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from conformance.target.clock import Clock
from conformance.target.locks import state_file
from conformance.target.profile.authenticator import STEP, making_of
from conformance.traffic.redaction.redact import Secrets

NEARLY_OVER = 1.0
UNTOUCHED = 3
"""Time steps from now to one that no earlier run can have used, also one that is not on record here: a target
takes codes of one step ahead (RFC 6238, 5.2)."""

ADJACENT_STEPS = 20
"""Time steps to each side whose codes a wrong one must not be: a target may be generous."""


class Codes:
    """Makes authenticator codes. A portal may refuse a code seen before, so that each step serves once."""

    def __init__(self, clock: Clock, secrets: Secrets, used: UsedSteps | None = None) -> None:
        self._clock = clock
        self._secrets = secrets
        self._lock = threading.Lock()
        self._used = used or UsedSteps()
        self._proven: set[str] = set()

    def totp(self, secret: str, *, steps_ahead: int = 0) -> str:
        """A code that has not been used, waiting for the next time step where it must. Raises OutOfTime."""
        self._secrets.add(secret, "otp-secret")
        with self._lock:
            now = self._clock.now()
            step = max(int(now // STEP) + steps_ahead, self._last(secret, now) + 1)
            if not self._clock.is_simulated and STEP - now % STEP < NEARLY_OVER:
                step = max(step, int(now // STEP) + 1)
            self._clock.wait_until(step * STEP, "the authenticator's next code")
            self._used.record(secret, step)
        return self._code(secret, step)

    def await_unused(self, secret: str) -> None:
        """Waits until there is a code that has not been used. Raises OutOfTime."""
        with self._lock:
            ready = (self._last(secret, self._clock.now()) + 1) * STEP
        self._clock.wait_until(ready, "the authenticator's next code")

    def wait_for_totp(self, secret: str) -> float:
        """Seconds until a code that has not been used; nothing where time can be moved."""
        with self._lock:
            now = self._clock.now()
            ready = (self._last(secret, now) + 1) * STEP
            return 0.0 if self._clock.is_simulated else max(0.0, ready - now)

    def early_totp(self, secret: str) -> str:
        """The code of the time step that follows: right already for who allows a clock to be a step ahead
        (RFC 6238, 5.2). It counts as not used: ``totp`` gives it when its time has come."""
        with self._lock:
            now = self._clock.now()
            step = max(int(now // STEP), self._last(secret, now)) + 1
        return self._code(secret, step)

    def adjacent_totp(self, secret: str, refused: int) -> str:
        """A code beside the current one, at once, after so many were refused: a clock may be off.

        It counts as not used."""
        away = (refused + 1) // 2
        return self._code(secret, int(self._clock.now() // STEP) + (away if refused % 2 else -away))

    def _code(self, secret: str, step: int) -> str:
        by = f"its code for {datetime.fromtimestamp(step * STEP, UTC):%H:%M:%S} UTC"
        return self._secrets.altered(totp_at(secret, step), "code", of=secret, by=by)

    def _last(self, secret: str, now: float) -> int:
        """The last used step; one far ahead is of a time that the target has no more."""
        last = self._used.last(secret)
        return last if last <= now // STEP + 2 else 0

    def was_accepted(self, secret: str, code: str) -> None:
        """Notes that a code served, so that ``totp`` gives a later one: an early code's step is used up."""
        if secret:
            now = int(self._clock.now() // STEP)
            with self._lock:
                for step in range(now - 2, now + 3):
                    if totp_at(secret, step) == code:
                        self._used.record(secret, step)
                        self._proven.add(secret)

    def is_proven(self, secret: str) -> bool:
        """Whether the target accepted a code of this secret: else the secret itself may be wrong."""
        return secret in self._proven

    def wrong_totp(self, secret: str) -> str:
        """Digits that are no code of this authenticator within ten minutes to either side."""
        step = int(self._clock.now() // STEP)
        return wrong_code(
            {totp_at(secret, step + near) for near in range(-ADJACENT_STEPS, ADJACENT_STEPS + 1)}
        )


def step_files(target: str, secrets: Mapping[str, str]) -> dict[str, Path]:
    """The file of each authenticator, by its secret; ``secrets`` names the account's email for each."""
    files = {secret: state_file("step", target, email) for secret, email in secrets.items()}
    return {secret: path for secret, path in files.items() if path is not None}


class UsedSteps:
    """The last used step of each authenticator, in memory and in its file where it has one."""

    def __init__(self, files: Mapping[str, Path] | None = None) -> None:
        self._files = files or {}
        self._steps: dict[str, int] = {}

    def last(self, secret: str) -> int:
        """The last step that was used; 0 where none is on record."""
        if secret not in self._steps:
            self._steps[secret] = self._read(secret)
        return self._steps[secret]

    def record(self, secret: str, step: int) -> None:
        """Notes a step as used. A file that cannot be written costs the next run a refused code."""
        self._steps[secret] = max(step, self.last(secret))
        if secret in self._files:
            with suppress(OSError):
                self._files[secret].write_text(str(self._steps[secret]), encoding="ascii")

    def _read(self, secret: str) -> int:
        if secret not in self._files:
            return 0
        try:
            return int(self._files[secret].read_text(encoding="ascii"))
        except (OSError, ValueError):
            return 0


def totp_at(secret: str, step: int) -> str:
    """The digits of a time step (RFC 6238): six by SHA-1, unless the secret is a URI that says else."""
    making = making_of(secret)
    digest = hmac.new(making.key, step.to_bytes(8, "big"), making.digest).digest()
    offset = digest[-1] & 0x0F
    number = int.from_bytes(digest[offset : offset + 4], "big") & 0x7FFFFFFF
    return f"{number % 10**making.digits:0{making.digits}d}"


def wrong_code(right: set[str]) -> str:
    """A code of the form of these that is none of them: six digits where none shows the form."""
    form = min(filter(None, right), default="0" * 6)
    while (code := "".join(map(_another, form))) in right:
        continue
    return code


def _another(letter: str) -> str:
    kinds = (string.digits, string.ascii_uppercase, string.ascii_lowercase)
    return secrets.choice(next((kind for kind in kinds if letter in kind), letter))
