"""When something is counted, told, and heard of everywhere: what the document leaves to the portal."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from reference_impl.changes import Change, handled, limited, moved, rewritten, together, wrapped
from reference_impl.errors import Refusal
from reference_impl.faults.fault import reported
from reference_impl.faults.operations import (
    ACCEPT,
    CANCEL,
    CHANGE,
    CHANNEL_DEACTIVATE,
    COMPLETE,
    DECLINE,
    HISTORY,
    INIT,
    INITIATE,
    LOGOUT,
    REFRESH,
    RESET,
    SEND,
    TYPE_DISABLE,
)
from reference_impl.plan import Plan
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.variants.company import slow_down_once_refused
from reference_impl.variants.variant import Variant, enveloped, may
from reference_impl.wrappers import Answer, Seen

LATE = 2.0
"""Seconds until a change is heard of everywhere."""

WRITTEN = 5.0
"""Seconds until a sign-in stands in the login history."""

Effect = Callable[[], None]


@dataclass
class HeardOf:
    """Changes come into effect once their moment has come."""

    app: ASGIApp
    due: list[tuple[float, Effect]]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self.due:
            now = scope["app"].state.portal.now()
            come = [effect for moment, effect in self.due if moment <= now]
            self.due[:] = [item for item in self.due if item[0] > now]
            for effect in come:
                effect()
        await self.app(scope, receive, send)


Kept = Callable[[Portal], dict[str, Any]]
"""What a change may touch, by name, as it is now."""

Put = Callable[[Portal, str, Any], None]


def _passwords(portal: Portal) -> dict[str, Any]:
    return dict(portal.passwords)


def _set_password(portal: Portal, name: str, value: Any) -> None:
    portal.passwords[name] = value


def _states(portal: Portal) -> dict[str, Any]:
    return {id: session.state for id, session in portal.sessions.items()}


def _set_state(portal: Portal, name: str, value: Any) -> None:
    portal.sessions[name].state = value


def _records(kind: str) -> Kept:
    return lambda portal: {id: dict(record) for id, record in portal.records[kind].items()}


def _set_record(kind: str) -> Put:
    def put(portal: Portal, name: str, value: Any) -> None:
        if name in portal.records[kind]:
            portal.records[kind][name].update(value)

    return put


_LATER: tuple[tuple[str, Kept, Put], ...] = (
    (CHANGE, _passwords, _set_password),
    (RESET, _passwords, _set_password),
    (INIT, _passwords, _set_password),
    (LOGOUT, _states, _set_state),
    (ACCEPT, _records("invitation"), _set_record("invitation")),
    (DECLINE, _records("invitation"), _set_record("invitation")),
    (CANCEL, _records("invitation"), _set_record("invitation")),
    (CHANNEL_DEACTIVATE, _records("channel"), _set_record("channel")),
    (TYPE_DISABLE, _records("channel type"), _set_record("channel type")),
)


def _heard_of_later(plan: Plan) -> None:
    """A password, the end of a session, and the state of a record show on the replicas a moment later."""
    due: list[tuple[float, Effect]] = []

    def delayed(kept: Kept, put: Put) -> Callable[[Handler], Handler]:
        def around(handler: Handler) -> Handler:
            def changing(portal: Portal, caller: Caller, body: Body) -> Any:
                before = kept(portal)
                data = handler(portal, caller, body)
                for name, value in kept(portal).items():
                    if name in before and before[name] != value:
                        put(portal, name, before[name])
                        due.append((portal.now() + LATE, _effect(portal, put, name, value)))
                return data

            return changing

        return around

    for operation, kept, put in _LATER:
        handled(operation, delayed(kept, put))(plan)
    wrapped(lambda app: HeardOf(app, due))(plan)


def _effect(portal: Portal, put: Put, name: str, value: Any) -> Effect:
    return lambda: put(portal, name, value)


# What is told of a lifetime.


def _one_less(number: int) -> int:
    return number - 1


# Rates.

WINDOW = 2.0


@dataclass
class SlowSignIns:
    """A sign-in takes a while."""

    app: ASGIApp
    seconds: float = 0.05

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and f"POST {scope['path']}" == INITIATE:
            await asyncio.sleep(self.seconds)
        await self.app(scope, receive, send)


@dataclass
class Bucket:
    """Ten places, which fill up again one by one and not all at the end of a window."""

    places: float = 10.0
    filled: float = field(default=0.0)

    def take(self, now: float) -> bool:
        self.places = min(10.0, self.places + (now - self.filled) * 10 / WINDOW)
        self.filled = now
        if self.places < 1:
            return False
        self.places -= 1
        return True


def _from_a_bucket(handler: Handler) -> Handler:
    buckets: dict[str, Bucket] = {}

    def limiting(portal: Portal, caller: Caller, body: Body) -> Any:
        if not buckets.setdefault(caller.client_ip, Bucket(filled=portal.now())).take(portal.now()):
            raise Refusal("RATE_LIMITED")
        return handler(portal, caller, body)

    return limiting


def _fills_up(plan: Plan) -> None:
    limited(login_window=WINDOW, login_initiations=1_000_000)(plan)
    handled(INITIATE, _from_a_bucket)(plan)
    wrapped(SlowSignIns)(plan)


def _counted_at_the_edge(seen: Seen, answer: Answer) -> None:
    """A proxy has counted the send of a moment ago, and lets no other through to the portal."""
    if answer.body["code"] == "AUTH.MFA_SEND_COOLDOWN":
        answer.status = 429
        answer.body, answer.headers = b"<html>Too Many Requests</html>", [(b"content-type", b"text/html")]


def _written_by_now(handler: Handler) -> Handler:
    def listing(portal: Portal, caller: Caller, body: Body) -> Any:
        kept, latest = portal.history.get(caller.account_id, []), portal.now() - WRITTEN
        portal.history[caller.account_id] = [entry for entry in kept if entry["loginTime"] <= latest]
        try:
            return handler(portal, caller, body)
        finally:
            portal.history[caller.account_id] = kept

    return listing


_TOLD: Change = together(
    reported(INITIATE, "", expiresIn=_one_less),
    reported(SEND, "", codeExpiresIn=_one_less, cooldownSeconds=_one_less),
    reported(COMPLETE, "", expiresIn=_one_less),
    reported(REFRESH, "", expiresIn=_one_less),
)

VARIANTS: tuple[Variant, ...] = (
    may("what-is-left-is-told", "how a lifetime is rounded is not stated", _TOLD, "lifetimes-told"),
    may(
        "access-tokens-outlive-logout",
        "sessions ended: that an access token is looked up at every call is not stated",
        together(moved("session", "ACTIVE", "logout", "LEFT"), moved("session", "LEFT", "call", "LEFT")),
        "logout",
    ),
    may(
        "changes-are-heard-of-later",
        "when a change shows is not stated",
        _heard_of_later,
        "consistency logout",
    ),
    may(
        "history-is-written-later",
        "when a change shows is not stated",
        handled(HISTORY, _written_by_now),
        "consistency",
    ),
    may(
        "rate-fills-up-place-by-place",
        "the window is not described",
        _fills_up,
        "rate-scope fixed-window long-window rate-counts-valid-bodies",
    ),
    may(
        "sends-counted-at-the-edge",
        "rate-limit responses are reported for MFA send, and neither status nor code of one is shown",
        rewritten(enveloped(_counted_at_the_edge), SEND),
        "code-rate cooldown-status",
    ),
    may(
        "refused-sign-ins-have-a-rate",
        "rate-limit responses are reported for login, and neither status nor code of one is shown",
        rewritten(enveloped(slow_down_once_refused), INITIATE),
        "lock rate-answer",
    ),
)
