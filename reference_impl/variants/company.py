"""What goes on around a request: others at work, rates, caches, locks, and what ends a session."""

import copy
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reference_impl.asked import read_body
from reference_impl.changes import Change, handled, refused_with, rewritten, together, wrapped
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults.fault import erring, ruled
from reference_impl.faults.operations import (
    CHANGE,
    COMPLETE,
    INIT,
    INITIATE,
    LOGOUT,
    REFRESH,
    RESET,
    SEND,
)
from reference_impl.limits import Limits
from reference_impl.passwords import Password
from reference_impl.plan import Plan
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body, Unfit, password
from reference_impl.variants.variant import Variant, enveloped, may
from reference_impl.wrappers import Answer, Seen, collected, replayed

WEB = "/web/"
TELLING = frozenset(
    (
        b"authorization",
        b"x-portal-access-code",
        b"x-workspace-id",
        b"x-turnstile-token",
        b"x-client-hash",
        b"accept-language",
        b"cf-connecting-ip",
    )
)
"""Headers that an answer depends on."""
OF_OTHERS = 80_100_000
OWN = ("bizId", "createdAt", "updatedAt")


@dataclass
class OthersAtWork:
    """Between the requests other users make records, and take away what they have made."""

    app: ASGIApp
    every: int = 5
    count: int = 0
    made: list[tuple[str, str]] = field(default_factory=list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(WEB):
            self.count += 1
            if self.count % self.every == 0:
                self._work(scope["app"].state.portal)
        await self.app(scope, receive, send)

    def _work(self, portal: Portal) -> None:
        turn = self.count // self.every
        if turn % 2:
            for kind in ("channel", "channel type", "invitation", "role"):
                self._make(portal, kind, f"OF_OTHERS_{turn}")
            if portal.records["transfer order"]:
                self._order(portal)
        elif turn % 4 == 0:
            for kind, id in self.made:
                portal.records[kind].pop(id, None)
            self.made.clear()

    def _make(self, portal: Portal, kind: str, name: str) -> None:
        newest = next(iter(portal.newest(kind)), None)
        if newest is None:
            return
        value = OF_OTHERS + self.count
        own = {"inviteeEmail": f"{name}@example.test".lower(), "typeCode": name, "typeValue": value}
        copied = {
            key: value for key, value in newest.items() if key not in ("bizId", "createdAt", "updatedAt")
        }
        added = portal.add(kind, copied | {key: value for key, value in own.items() if key in copied})
        self.made.append((kind, added["bizId"]))

    def _order(self, portal: Portal) -> None:
        newest = portal.newest("transfer order")[0]
        copied = {key: value for key, value in newest.items() if key not in OWN}
        portal.add("transfer order", copied | {"completedAt": portal.now()})


@dataclass
class OthersEdit:
    """From second to second another user writes a remark of an account, and of a channel."""

    app: ASGIApp
    every: float = 1.5
    last: float = 0.0
    count: int = 0
    ids: dict[str, str] = field(default_factory=dict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(WEB):
            portal = scope["app"].state.portal
            if portal.now() - self.last >= self.every:
                self.count, self.last = self.count + 1, portal.now()
                self._edit(portal)
        await self.app(scope, receive, send)

    def _edit(self, portal: Portal) -> None:
        """What was there before the first request is edited, on: by one who signs in nowhere."""
        for kind in ("account", "channel"):
            ids = (record["bizId"] for record in portal.newest(kind))
            self.ids.setdefault(kind, next((id for id in ids if id not in portal.passwords), ""))
        account, channel = self.ids["account"], self.ids["channel"]
        if account in portal.records["account"]:
            portal.change("account", account, accountRemark=f"Call {self.count}")
        if channel in portal.records["channel"]:
            portal.change("channel", channel, channelRemark=f"Test {self.count}", updatedBy=account)


@dataclass
class NowAndThenRefused:
    """One request of so many is turned away before the portal has seen it."""

    app: ASGIApp
    every: int
    status: int
    label: bytes
    page: bytes
    count: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(WEB):
            self.count += 1
            if self.count % self.every == 0:
                headers = [(b"content-type", self.label), (b"retry-after", b"1")]
                await send({"type": "http.response.start", "status": self.status, "headers": headers})
                await send({"type": "http.response.body", "body": self.page})
                return
        await self.app(scope, receive, send)


@dataclass
class Throttle:
    """So many requests within some seconds reach the portal."""

    app: ASGIApp
    most: int
    within: float
    times: list[float] = field(default_factory=list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(WEB):
            now = scope["app"].state.portal.now()
            self.times = [each for each in self.times if each > now - self.within]
            if len(self.times) >= self.most:
                headers = [(b"content-type", b"application/json"), (b"retry-after", b"%d" % self.within)]
                await send({"type": "http.response.start", "status": 429, "headers": headers})
                await send({"type": "http.response.body", "body": _BUSY})
                return
            self.times.append(now)
        await self.app(scope, receive, send)


@dataclass
class ReadsKept:
    """What was read is given again for a second, to the same caller, whatever has changed since."""

    app: ASGIApp
    kept: dict[Any, tuple[float, Message, bytes]] = field(default_factory=dict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        reads = scope["type"] == "http" and (scope["method"] == "GET" or scope["path"].endswith("/query"))
        if not reads or not scope["path"].startswith(WEB):
            await self.app(scope, receive, send)
            return
        octets = await read_body(receive, sys.maxsize) or b""
        headers = tuple(sorted((name, value) for name, value in scope["headers"] if name in TELLING))
        key = (scope["method"], scope["path"], scope["query_string"], octets, headers)
        now = scope["app"].state.portal.now()
        answer = self.kept.get(key)
        if answer is not None and now - answer[0] < 1:
            start, body = copy.deepcopy(answer[1]), answer[2]
        else:
            start, body = await collected(self.app, scope, replayed(octets))
            if start["status"] == 200:
                self.kept[key] = now, copy.deepcopy(start), body
        await send(start)
        await send({"type": "http.response.body", "body": body})


# Rates and locks.

SLOW_DOWN = erring("SLOW_DOWN", "SECURITY.SLOW_DOWN", 403)
Of = Callable[[Portal, Caller, Body], str]


def _only(most: int, operation: str, *, window: float = 600) -> Change:
    """So many for an address in ten minutes."""

    def limiting(handler: Handler) -> Handler:
        times: dict[str, list[float]] = {}

        def let_through(portal: Portal, caller: Caller, body: Body) -> Any:
            recent = [moment for moment in times.get(caller.client_ip, []) if moment > portal.now() - window]
            if len(recent) >= most:
                raise Refusal("SLOW_DOWN")
            times[caller.client_ip] = [*recent, portal.now()]
            return handler(portal, caller, body)

        return let_through

    return handled(operation, limiting)


def slow_down_once_refused(seen: Seen, answer: Answer) -> None:
    """After one refusal there is a rate, for ten minutes."""
    now, last = seen.portal.now(), seen.memory.get("last", 0.0)
    if answer.body["success"]:
        return
    if now < last + 600:
        answer.status = 403
        answer.body |= {"code": "SECURITY.SLOW_DOWN", "message": "Slow down", "data": None}
    else:
        seen.memory["last"] = now


def locking(operation: str, refused: str, of: Of, *, most: int, told: str) -> Change:
    """After so many refusals in a row the account is shut for ten minutes."""

    def around(handler: Handler) -> Handler:
        wrong: dict[str, list[float]] = {}

        def guarded(portal: Portal, caller: Caller, body: Body) -> Any:
            account = of(portal, caller, body)
            recent = [moment for moment in wrong.get(account, []) if moment > portal.now() - 600]
            if account and len(recent) >= most:
                raise Refusal(told)
            try:
                data = handler(portal, caller, body)
            except Refusal as refusal:
                if refusal.name == refused:
                    wrong[account] = [*recent, portal.now()]
                raise
            wrong.pop(account, None)
            return data

        return guarded

    return handled(operation, around)


def _by_email(portal: Portal, caller: Caller, body: Body) -> str:
    return str(body["email"]).casefold()


# Sessions.


def _reuse_ends_it(handler: Handler) -> Handler:
    def refreshing(portal: Portal, caller: Caller, body: Body) -> Any:
        token = portal.refresh_tokens.get(body["refreshToken"])
        if token is not None and token.state == "ROTATED":
            portal.end(portal.sessions[token.session_id], "terminate")
        return handler(portal, caller, body)

    return refreshing


def _closed_by_what_is_unreadable(seen: Seen, answer: Answer) -> None:
    session = seen.portal.secure_sessions.get(seen.asked.headers.get("x-secure-channel-session-id", ""))
    if session is not None and answer.body["code"] == INVALID:
        session.state = "CLOSED"


def _nothing_to_end(seen: Seen, answer: Answer) -> None:
    if answer.status == 401 and seen.asked.bearer:
        answer.status = 200
        ended = {"success": True, "terminatedSessions": 0}
        answer.body |= {"success": True, "code": "2000", "message": "Success", "data": ended}


_BUSY = b'{"success":false,"code":"RATE_LIMIT.EXCEEDED","message":"Too many requests","data":null}'
_RATES = "rate-limit responses are reported for it, and neither status nor code of one is shown"
_LOCKS = "what several refusals in a row lead to is not described"


PASSWORD_USED = erring("PASSWORD_USED", "PASSWORD.IN_HISTORY", 409)


def _with_history(plan: Plan) -> None:
    """No password is taken that the account has, or had before: the last five of each are remembered."""
    used: dict[str, list[Password]] = {}

    def remembering(handler: Handler) -> Handler:
        def changing(portal: Portal, caller: Caller, body: Body) -> Any:
            account = caller.account_id
            last = [*used.get(account, []), portal.passwords[account]][-5:]
            if last[-1].matches(body["oldPassword"]) and any(
                old.matches(body["newPassword"]) for old in last
            ):
                raise Refusal("PASSWORD_USED")
            data = handler(portal, caller, body)
            used[account] = last
            return data

        return changing

    together(PASSWORD_USED, handled(CHANGE, remembering))(plan)


def _with_a_sign(value: Any, limits: Limits) -> str:
    """A rule of the portal's own for new passwords; those of before it stay."""
    text = password(value, limits)
    if "!" not in text:
        raise Unfit
    return text


def _told_of_a_wrong_one(handler: Handler) -> Handler:
    """A wrong present password is refused by a code of its own."""

    def changing(portal: Portal, caller: Caller, body: Body) -> Any:
        if not portal.passwords[caller.account_id].matches(body["oldPassword"]):
            raise Refusal("PASSWORD_WRONG")
        return handler(portal, caller, body)

    return changing


PASSWORD_WRONG = erring("PASSWORD_WRONG", "PASSWORD.WRONG", 403)


VARIANTS: tuple[Variant, ...] = (
    may(
        "others-at-work",
        "others use the portal at the same time",
        wrapped(OthersAtWork),
        "others",
    ),
    may(
        "others-edit",
        "others use the portal at the same time",
        wrapped(OthersEdit),
        "others",
    ),
    may(
        "now-and-then-too-many",
        "rate limits of other endpoints are not shown",
        wrapped(lambda app: NowAndThenRefused(app, 37, 429, b"application/json", _BUSY)),
        "interrupted",
    ),
    may(
        "sixty-requests-in-two-seconds",
        "limits for endpoints other than login initiate are not shown",
        wrapped(lambda app: Throttle(app, 60, 2.0)),
        "interrupted",
    ),
    may("reads-kept-for-a-second", "when a change shows is not stated", wrapped(ReadsKept), "consistency"),
    may(
        "codes-have-a-rate",
        _RATES,
        together(SLOW_DOWN, _only(4, SEND), _only(6, COMPLETE)),
        "code-rate",
        is_alone=True,
    ),
    may(
        "passwords-have-a-rate",
        _RATES,
        rewritten(enveloped(slow_down_once_refused), RESET, INIT, CHANGE),
        "password-rate",
    ),
    may(
        "password-history",
        "whether an old password may be set again is not stated",
        _with_history,
        "password-history",
    ),
    may(
        "new-passwords-need-a-sign",
        "which passwords are taken is not stated beyond their length",
        together(
            PASSWORD_WRONG,
            handled(CHANGE, _told_of_a_wrong_one),
            *(ruled(key, "newPassword", _with_a_sign) for key in (CHANGE, RESET)),
        ),
        "password-history",
    ),
    may(
        "locked-silently-after-three-passwords",
        _LOCKS,
        locking(
            INITIATE,
            "AUTH.INVALID_CREDENTIALS",
            _by_email,
            most=3,
            told="AUTH.INVALID_CREDENTIALS",
        ),
        "lock",
    ),
    may(
        "reuse-ends-the-session",
        "what the use of an old refresh token does is not stated",
        handled(REFRESH, _reuse_ends_it),
        "rotation",
    ),
    may(
        "logout-of-nobody",
        "logout asks for a bearer token, and not for a valid one",
        rewritten(enveloped(_nothing_to_end), LOGOUT),
    ),
    may(
        "unreadable-body-closes-the-channel",
        "what a malformed body does to its session is not stated",
        together(
            rewritten(enveloped(_closed_by_what_is_unreadable), RESET, INIT, CHANGE),
            refused_with("SECURE_SESSION_UNKNOWN", code="SECURE_CHANNEL.SESSION_UNKNOWN", status=404),
        ),
        "channel-closed",
    ),
)
