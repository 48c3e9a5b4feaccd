"""What to look at where the target refuses a sign-in of the profile."""

from __future__ import annotations

from conformance.spec.tables import LIMITS
from conformance.target.portal.channel import portal_times
from conformance.traffic.exchange import Exchange

SKEW_SECONDS = 20.0
"""Seconds between the clocks here and there from which authenticator codes are in danger."""

YEAR_SECONDS = 365.0 * 86_400
"""A time that is further away is written in another unit, or is none of a clock."""


def password_problem(password: str) -> str | None:
    """What of a password's length the specification does not allow; None where it allows it."""
    least, most = LIMITS.password_min, LIMITS.password_max
    if least <= len(password) <= most:
        return None
    return f"it has {len(password)} characters, and the specification allows {least} to {most}"


def password_advice(account: str, password: str) -> str:
    """Advice after a refused password, which the suite never resends."""
    problem = password_problem(password)
    if problem is not None:
        return f"Check [accounts.{account}] password: {problem}."
    return f"Check [accounts.{account}] email and password; no run sends this password twice."


def clock_offset(answer: Exchange) -> float | None:
    """How many seconds the portal's clock is ahead of this machine's, by the time in an answer; None where it
    has none."""
    offsets = (there - answer.time for there in portal_times(answer))
    return next((offset for offset in offsets if abs(offset) < YEAR_SECONDS), None)


def clock_problem(offset: float) -> str | None:
    """How the clocks differ, in words; None where they agree well enough for authenticator codes."""
    if abs(offset) <= SKEW_SECONDS:
        return None
    return (
        f"the portal's clock is {abs(offset):.0f} s {'ahead of' if offset > 0 else 'behind'} this machine's"
    )


def otp_advice(account: str, refused: Exchange, *, is_simulated: bool) -> str:
    """What to do where an authenticator's codes were refused: its secret is wrong, or a clock is off."""
    secret = f"[accounts.{account}] otp_secret"
    offset = 0.0 if is_simulated else clock_offset(refused)
    if offset is None:
        return f"Check {secret}, and this machine's clock."
    problem = clock_problem(offset)
    if problem is not None:
        return f"{problem[0].upper()}{problem[1:]}: set the clock that is wrong. Then check {secret}."
    return f"The clocks agree, so {secret} is not the secret of its authenticator: write the right one."


def mail_advice(account: str, inbox: str) -> str:
    return (
        f"Check that [inboxes.{inbox}] gives the code of the newest mail to [accounts.{account}], "
        "and that its pattern matches no other number."
    )
