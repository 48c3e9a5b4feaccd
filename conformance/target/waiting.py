"""Waits until a target answers, or restarts: a job can start a portal and a run one after the other, and a
run can be repeated with each build."""

from __future__ import annotations

from collections.abc import Callable

from conformance.errors import TargetUnreachable
from conformance.target.clock import Clock
from conformance.target.portal import Portal
from conformance.target.profile.model import Profile
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.http_library import httpx
from conformance.traffic.redaction.redact import Secrets

PAUSE_SECONDS = 1.0
"""Seconds between two tries."""

STARTING = (502, 503, 504)
"""What a gateway answers in the place of a portal that has not started."""


def wait_for_target(
    profile: Profile,
    seconds: float,
    *,
    on_wait: Callable[[str], None],
    handler: httpx.BaseTransport | None = None,
) -> None:
    """Returns when the target answers, or when the seconds are over: whoever calls it next says that nothing
    answers. ``on_wait`` gets a line where it does not answer at once; ``handler`` takes the place of the
    network.
    """
    clock = Clock()
    until, is_announced = clock.ticks() + seconds, False
    while (problem := _problem(profile, clock, handler)) is not None and clock.ticks() < until:
        if not is_announced:
            on_wait(f"{problem} Waiting up to {seconds:g} s for it.")
            is_announced = True
        clock.pause(PAUSE_SECONDS, f"{profile.portal.url} to answer")


def is_answering(profile: Profile) -> bool:
    return _problem(profile, Clock(), None) is None


def is_portal_there(profile: Profile) -> bool:
    """Whether a portal answers at the target's address, and no page for people, say."""
    with _looking(profile, Clock(), None, []) as portal:
        try:
            portal.recognise()
        except TargetUnreachable:
            return False
    return True


class RestartWatch:
    """Notices that a target went away and answers again, or that another process answers in its place.

    A process is told by its public key, where that is the same at two calls in a row. ``handler`` takes the
    place of the network.
    """

    def __init__(self, profile: Profile, *, handler: httpx.BaseTransport | None = None) -> None:
        self._profile = profile
        self._handler = handler
        self._is_gone = False
        self._key: Json = None

    def begin(self) -> None:
        first, second = self._look(), self._look()
        self._is_gone = second is None
        self._key = second if first == second else None

    def has_restarted(self) -> bool:
        """Whether the target restarted since ``begin``."""
        key = self._look()
        if key is None:
            self._is_gone = True
            return False
        return self._is_gone or (self._key is not None and key != self._key)

    def _look(self) -> Json:
        """The public key that the target shows, or what it answers instead; None while it is silent."""
        answers: list[Exchange] = []
        if _problem(self._profile, Clock(), self._handler, answers=answers) is not None:
            return None
        answer = answers[-1]
        return {"status": answer.status, "data": answer.at("data") if answer.success else None}


def _problem(
    profile: Profile,
    clock: Clock,
    handler: httpx.BaseTransport | None,
    *,
    answers: list[Exchange] | None = None,
) -> str | None:
    """Why the target cannot be tested yet; None where it answers. ``answers`` gets what it answers."""
    answers = [] if answers is None else answers
    with _looking(profile, clock, handler, answers) as portal:
        try:
            portal.probe()
        except TargetUnreachable as silent:
            return str(silent)
    status = answers[-1].status if answers else None
    return f"{profile.portal.url} answers with HTTP {status}." if status in STARTING else None


def _looking(
    profile: Profile, clock: Clock, handler: httpx.BaseTransport | None, answers: list[Exchange]
) -> Portal:
    """A connection that signs nobody in and judges nothing."""
    return Portal.connect(
        profile,
        impact="read-only",
        clock=clock,
        secrets=Secrets(),
        on_exchange=answers.append,
        handler=handler,
    )
