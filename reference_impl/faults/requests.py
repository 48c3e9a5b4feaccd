"""Requests that reach the portal with other headers or bodies than were sent."""

import asyncio
import copy
from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from reference_impl.asked import read_body
from reference_impl.changes import Change, wrapped
from reference_impl.errors import Refusal
from reference_impl.portal import Portal, Session
from reference_impl.wrappers import BeforeEach, Headers, collected, replayed

Names = dict[str, str]
SESSION_HEADER = "x-secure-channel-session-id"


def names(scope: Scope) -> Names:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def encoded(names: Names) -> Headers:
    return [(name.encode(), value.encode("latin-1")) for name, value in names.items()]


def adding(change: Callable[[Scope, Names], Names], *operations: str) -> Change:
    """Requests reach the portal with other headers than were sent."""

    def act(scope: Scope, portal: Portal) -> None:
        scope["headers"] = encoded(change(scope, names(scope)))

    return wrapped(lambda app: BeforeEach(app, act), *operations)


def signed_in(names: Names, portal: Portal, session: Session | None) -> Names:
    """Adds a new token of the session to the headers; without a session they stay unchanged."""
    if session is None:
        return names
    token = portal.tokens.issue({"sid": session.id, "exp": portal.now() + 60})
    return names | {"authorization": f"Bearer {token}"}


def other_door(
    address: Callable[[Scope, Names], str | None], change: Callable[[Scope, Names], Names]
) -> Change:
    """Requests reach an address by another name, with headers that were not sent: a guard trusts names.

    ``address`` returns the address that a request names so, or None."""

    def act(scope: Scope, portal: Portal) -> None:
        sent = names(scope)
        named = address(scope, sent)
        if named is not None:
            usual = "GET" if scope["method"] == "HEAD" else scope["method"]
            method = sent.get("x-http-method-override", usual)
            scope.update(path=named, method=method, headers=encoded(change(scope, sent)))

    return wrapped(lambda app: BeforeEach(app, act, below="/"))


@dataclass
class Rebodied:
    """Requests reach the portal with another body."""

    app: ASGIApp
    change: Callable[[Scope, bytes], bytes]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        octets = await read_body(receive, 1 << 20) or b""
        await self.app(scope, replayed(self.change(scope, octets)), send)


def rebodied(operation: str, change: Callable[[Scope, bytes], bytes]) -> Change:
    return wrapped(lambda app: Rebodied(app, change), operation)


@dataclass
class Racing:
    """A request is decided by the state that there was when it came, and takes a while: what another did
    meanwhile is not seen. ``states`` are the mappings of the portal that are decided by."""

    app: ASGIApp
    states: tuple[str, ...]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        portal: Portal = scope["app"].state.portal
        before = {name: copy.deepcopy(getattr(portal, name)) for name in self.states}
        octets = await read_body(receive, 1 << 20) or b""
        await asyncio.sleep(RACE_SECONDS)
        for name, mapping in before.items():
            setattr(portal, name, mapping)
        await self.app(scope, replayed(octets), send)


RACE_SECONDS = 0.1


def racing(operation: str, *states: str) -> Change:
    return wrapped(lambda app: Racing(app, states), operation)


@dataclass
class AnyChannel:
    """Tries a body with every secure-channel session if the named session's existence equals ``exists``."""

    app: ASGIApp
    exists: bool

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sessions = scope["app"].state.portal.secure_sessions
        named = names(scope).get(SESSION_HEADER, "")
        if (named in sessions) != self.exists:
            await self.app(scope, receive, send)
            return
        octets, sent = await read_body(receive, 1 << 20) or b"", names(scope)
        for id in (named, *sessions):
            tried = {**scope, "headers": encoded(sent | {SESSION_HEADER: id})}
            start, body = await collected(self.app, tried, replayed(octets))
            if start["status"] != 400:
                break
        await send(start)
        await send({"type": "http.response.body", "body": body})


def session_of(scope: Scope, names: Names) -> Session | None:
    """Session of a bearer token that the portal issued, active or ended."""
    portal: Portal = scope["app"].state.portal
    scheme, _, token = names.get("authorization", "").partition(" ")
    try:
        return portal.sessions.get(portal.tokens.read(token).get("sid", "")) if scheme == "Bearer" else None
    except Refusal:
        return None
