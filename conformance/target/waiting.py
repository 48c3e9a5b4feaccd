"""Waits until a target answers, so that a job can start a portal and a run one after the other."""

from __future__ import annotations

from collections.abc import Callable

import httpx

from conformance.errors import TargetUnreachable
from conformance.target.clock import Clock, SystemClock
from conformance.target.portal import Portal
from conformance.target.profile.model import Profile
from conformance.traffic.exchange import Exchange
from conformance.traffic.redaction.redact import Secrets

PAUSE = 1.0
"""Seconds between two tries."""

STARTING = (502, 503, 504)
"""What a gateway answers in the place of a portal that has not started."""


def wait_for_target(
    profile: Profile,
    seconds: float,
    *,
    on_wait: Callable[[str], None],
    clock: Clock | None = None,
    handler: httpx.BaseTransport | None = None,
) -> None:
    """Returns when the target answers, or when the seconds are over: whoever calls it next says that nothing
    answers. ``on_wait`` gets a line where it does not answer at once; ``handler`` takes the place of the
    network.
    """
    clock = clock or SystemClock()
    until, is_announced = clock.ticks() + seconds, False
    while (problem := _problem(profile, clock, handler)) is not None and clock.ticks() < until:
        if not is_announced:
            on_wait(f"{problem} Waiting up to {seconds:g} s for it.")
            is_announced = True
        clock.pause(PAUSE, f"{profile.portal.url} to answer")


def is_answering(profile: Profile) -> bool:
    """Whether something answers at the target's address."""
    return _problem(profile, SystemClock(), None) is None


def _problem(profile: Profile, clock: Clock, handler: httpx.BaseTransport | None) -> str | None:
    """Why the target cannot be tested yet; None where it answers."""
    answers: list[Exchange] = []
    with Portal.connect(
        profile,
        impact="read-only",
        clock=clock,
        secrets=Secrets(),
        on_exchange=answers.append,
        handler=handler,
    ) as portal:
        try:
            portal.probe()
        except TargetUnreachable as silent:
            return str(silent)
    status = answers[-1].status if answers else None
    return f"{profile.portal.url} answers with HTTP {status}." if status in STARTING else None
