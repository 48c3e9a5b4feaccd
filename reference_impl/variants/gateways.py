"""What stands before a portal: challenges, firewalls, caches, rates, and a clock that is minutes off."""

import copy
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reference_impl.changes import Change, chosen, handled, limited, rewritten, together, wrapped
from reference_impl.errors import Refusal
from reference_impl.faults.fault import erring
from reference_impl.faults.operations import (
    ACCOUNTS_QUERY,
    CHANNELS_QUERY,
    INVITE,
    PUBLIC_KEY,
    TYPES_QUERY,
)
from reference_impl.fields import instant, seconds
from reference_impl.portal import Caller, Portal
from reference_impl.routes import ROWS, Handler
from reference_impl.shapes import Body
from reference_impl.variants.company import NowAndThenRefused
from reference_impl.variants.variant import Variant, deep, enveloped, may
from reference_impl.variants.wire import Elsewhere
from reference_impl.wrappers import Answer, Seen, collected

BLOCKED = b"<html><head><title>Request Rejected</title></head><body>Support ID: 1</body></html>"
BEFORE_SIGN_IN = tuple(row.path for row in ROWS if row.auth == "none" and "/auth/" in row.path)
QUOTA = 2
SLOW = timedelta(minutes=4)
"""How far the clock of a portal is behind."""


# Challenges, quotas and rates.


def _counted_before_it_is_read(plan: Any) -> None:
    """Whatever is sent to invite counts, also what is no invitation; then a quota is used up."""
    sent: list[None] = []

    def used_up(seen: Seen, answer: Answer) -> None:
        if answer.status == 401 or answer.body["code"] == "ACCESS.PERMISSION_DENIED":
            return
        sent.append(None)
        if len(sent) > QUOTA:
            answer.status = 409
            answer.body |= {
                "success": False,
                "code": "INVITATION.QUOTA_EXCEEDED",
                "message": "No more",
                "data": None,
            }

    rewritten(enveloped(used_up), INVITE)(plan)


def _only_so_many(operation: str, most: int) -> Change:
    """So many in ten minutes, whatever they are."""

    def around(handler: Handler) -> Handler:
        times: list[float] = []

        def limiting(portal: Portal, caller: Caller, body: Body) -> Any:
            times[:] = [one for one in times if one > portal.now() - 600]
            times.append(portal.now())
            if len(times) > most:
                raise Refusal("TOO_FAST")
            return handler(portal, caller, body)

        return limiting

    return handled(operation, around)


# A clock that is behind.

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z")


def _behind(seen: Seen, answer: Answer) -> None:
    """Whatever an answer says of a moment is some minutes earlier."""
    if isinstance(answer.body, dict) and "success" in answer.body:
        answer.body = deep(answer.body, _earlier)
        if "timestamp" in answer.body:
            answer.body["timestamp"] -= int(SLOW.total_seconds() * 1000)


def _earlier(value: Any) -> Any:
    if isinstance(value, str) and _TIME.fullmatch(value):
        return instant(seconds(value) - SLOW.total_seconds(), 3)
    if isinstance(value, dict) and isinstance(value.get("expiresAt"), int):
        return value | {"expiresAt": value["expiresAt"] - int(SLOW.total_seconds() * 1000)}
    return value


# Answers of others than the portal.


@dataclass
class EveryMethod:
    """OPTIONS is answered for browsers, and HEAD as GET is, without its body."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = scope.get("method")
        if method == "OPTIONS":
            headers = [(b"allow", b"GET, POST, OPTIONS"), (b"access-control-allow-origin", b"*")]
            await send({"type": "http.response.start", "status": 204, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
        elif method == "HEAD":
            start, _ = await collected(self.app, {**scope, "method": "GET"}, receive)
            await send(start)
            await send({"type": "http.response.body", "body": b""})
        else:
            await self.app(scope, receive, send)


@dataclass
class ConstantsKept:
    """The edge keeps constants for an hour, timestamp and all, and gives them to who may read them."""

    app: ASGIApp
    kept: dict[Any, tuple[float, Message, bytes]] = field(default_factory=dict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or "/constants/" not in scope["path"]:
            await self.app(scope, receive, send)
            return
        start, body = await collected(self.app, scope, receive)
        if start["status"] == 200 and _is_success(body):
            now = scope["app"].state.portal.now()
            language = dict(scope["headers"]).get(b"accept-language")
            moment, *_ = known = self.kept.get((scope["path"], language), (0.0, start, body))
            if now - moment > 3600:
                known = self.kept[scope["path"], language] = now, copy.deepcopy(start), body
            _, start, body = known
        await send(copy.deepcopy(start))
        await send({"type": "http.response.body", "body": body})


def _is_success(body: bytes) -> bool:
    """Whether a body is a successful envelope: a portal may refuse with status 200 as well."""
    try:
        envelope = json.loads(body)
    except ValueError:
        return False
    return isinstance(envelope, dict) and envelope.get("success") is True


@dataclass
class LanguageOfTheLocale:
    """Texts follow X-LOCALE where it is sent, and Accept-Language elsewhere."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", []))
        locale = headers.get(b"x-locale")
        if locale is not None and b"accept-language" not in headers:
            scope = {**scope, "headers": [*scope["headers"], (b"accept-language", locale)]}
        await self.app(scope, receive, send)


def _moving_fields(seen: Seen, answer: Answer) -> None:
    """Beside the key stands what is new with every call."""
    if not answer.body["success"]:
        return
    now = seen.portal.now()
    answer.body["data"] |= {
        "serverTime": int(now * 1000),
        "nonce": seen.portal.draw.token(),
        "issuedAt": datetime.fromtimestamp(now, UTC).isoformat(),
    }


def _refused_at(status: int, page: bytes) -> Callable[[ASGIApp], ASGIApp]:
    return lambda app: NowAndThenRefused(app, 41, status, b"text/html; charset=utf-8", page)


_NOBODY = json.dumps(
    {
        "version": "2.0.0",
        "success": False,
        "code": "ACCESS.TOKEN_MISSING",
        "message": "No token",
        "data": None,
    }
).encode()

_FIREWALL = "what a firewall before the portal answers is not the portal's, and not described"
_FURTHER = "which further endpoints require it is not shown, nor where a client has a token from"
_RATES = "limits of other endpoints, and what their answers look like, are not shown"

VARIANTS: tuple[Variant, ...] = (
    may(
        "challenge-only-people-solve",
        _FURTHER,
        chosen(bot_challenge_also_on=BEFORE_SIGN_IN, bot_token_known=False),
        "challenge-places",
        is_alone=True,
    ),
    may(
        "no-token-for-the-challenge",
        _FURTHER,
        chosen(bot_token_known=False),
        "challenge-token",
        is_alone=True,
    ),
    may(
        "sign-ins-by-the-quarter-hour",
        "neither the window nor the status and code of a rate-limit response are shown",
        together(
            limited(login_window=900),
            chosen(
                rate_limited_code="AUTH.LOGIN_TOO_FREQUENT",
                rate_limited_status=400,
                retry_after=False,
                rate_window_known=False,
            ),
        ),
        "rate-answer long-window fixed-window",
        is_alone=True,
    ),
    may("firewall-406", _FIREWALL, wrapped(_refused_at(406, BLOCKED)), "interrupted"),
    may("firewall-200", _FIREWALL, wrapped(_refused_at(200, BLOCKED)), "interrupted"),
    may("firewall-405", _FIREWALL, wrapped(_refused_at(405, BLOCKED)), "interrupted"),
    may(
        "invitations-counted-before-they-are-read",
        "which of two refusals is given, and what quotas there are, is not stated",
        _counted_before_it_is_read,
        "invite-quota",
    ),
    may(
        "queries-have-a-rate",
        _RATES,
        together(
            erring("TOO_FAST", "TRAFFIC.TOO_FAST", 403),
            *(_only_so_many(key, 12) for key in (ACCOUNTS_QUERY, TYPES_QUERY, CHANNELS_QUERY)),
        ),
        "query-rate",
        is_alone=True,
    ),
    may(
        "queries-have-a-rate-of-400",
        _RATES,
        together(
            erring("TOO_FAST", "TRAFFIC.TOO_FAST", 400),
            *(_only_so_many(key, 12) for key in (ACCOUNTS_QUERY, TYPES_QUERY, CHANNELS_QUERY)),
        ),
        "query-rate",
        is_alone=True,
    ),
    may(
        "clock-minutes-behind",
        "that a portal's clock agrees with its client's is not stated",
        rewritten(_behind),
        "clock",
    ),
    may("every-method-answered", "other methods are HTTP's to say", wrapped(EveryMethod)),
    may("constants-kept-at-the-edge", "how long an answer is kept is HTTP's", wrapped(ConstantsKept)),
    may(
        "language-of-the-locale",
        "what X-LOCALE does is not stated",
        wrapped(LanguageOfTheLocale),
    ),
    may(
        "unknown-path-needs-a-token",
        "how an unknown path is answered is not described",
        wrapped(lambda app: Elsewhere(app, 401, b"application/json", _NOBODY)),
        "unknown-path",
    ),
    may(
        "public-key-with-moving-fields",
        "N2: the shape of the public key is not shown",
        rewritten(enveloped(_moving_fields), PUBLIC_KEY),
        "public-key",
    ),
)
