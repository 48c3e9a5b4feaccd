"""Codes, passwords, tokens and sessions, as other frameworks keep them."""

import asyncio
import base64
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reference_impl.changes import Change, chosen, handled, limited, rewritten, together, wrapped
from reference_impl.draw import Draw
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults.fault import erring, first
from reference_impl.faults.operations import (
    ACCOUNT_PASSWORD,
    CHANGE,
    COMPLETE,
    HISTORY,
    INIT,
    LOGOUT,
    PUBLIC_KEY,
    RESET,
    SEND,
)
from reference_impl.faults.tokens import Issued
from reference_impl.plan import Plan
from reference_impl.portal import Caller, Portal, SecureKey
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.tokens import Claims, Tokens
from reference_impl.variants.variant import Variant, enveloped, may
from reference_impl.wrappers import Answer, Seen

EMAIL = 10011001
SYNCHRONOUS = 1.2
"""Seconds that a mail server takes now and then, while the client waits."""
EVERY = 3


# Mails and codes.


@dataclass
class MailServer:
    """A mail is sent while the client waits: an answer that says so comes later."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start" and SLOW in message["headers"]:
                message["headers"] = [pair for pair in message["headers"] if pair != SLOW]
                await asyncio.sleep(SYNCHRONOUS)
            await send(message)

        await self.app(scope, receive, sending)


SLOW = (b"x-mail-server", b"slow")


def _what_is_left(seen: Seen, answer: Answer) -> None:
    """Seconds that are left when the mail is on its way; every third one takes long."""
    if not answer.body["success"]:
        return
    seen.memory["sent"] = seen.memory.get("sent", 0) + 1
    if seen.memory["sent"] % EVERY == 0:
        answer.headers.append(SLOW)
        for name in ("cooldownSeconds", "codeExpiresIn"):
            answer.body["data"][name] -= math.ceil(SYNCHRONOUS)


def _of_its_length(handler: Handler) -> Handler:
    """A code by mail of another length than is sent is no code."""

    def completing(portal: Portal, caller: Caller, body: Body) -> Any:
        if body.get("method") == EMAIL and len(body["code"]) != portal.limits.mfa_code_digits:
            raise Refusal(INVALID)
        return handler(portal, caller, body)

    return completing


# Passwords.


def _never_again(plan: Plan) -> None:
    """A password that an account had before is refused."""
    had: dict[str, list[Any]] = {}

    def around(handler: Handler) -> Handler:
        def setting(portal: Portal, caller: Caller, body: Body) -> Any:
            new = body.get("newPassword", "")
            before = dict(portal.passwords)
            if any(one.matches(new) for one in [*_kept(had, portal, body, caller)]):
                raise Refusal("PASSWORD_USED")
            data = handler(portal, caller, body)
            for id, password in portal.passwords.items():
                if before.get(id) is not password and before.get(id) is not None:
                    had.setdefault(id, []).append(before[id])
            return data

        return setting

    erring("PASSWORD_USED", "PASSWORD.USED_BEFORE", 400)(plan)
    for operation in (CHANGE, RESET, INIT, ACCOUNT_PASSWORD):
        handled(operation, around)(plan)


def _kept(had: dict[str, list[Any]], portal: Portal, body: Body, caller: Caller) -> list[Any]:
    account = portal.account_of(body.get("email", "")) or caller.known_account or {}
    return had.get(str(body.get("userBizId") or account.get("bizId")), [])


def _of_its_code(portal: Portal, caller: Caller, body: Body) -> None:
    """The account is the one that was mailed the code, whatever email is sent beside it."""
    owners = [id for id, code in portal.password_codes.items() if code.text == body["code"]]
    if owners:
        body["email"] = portal.records["account"][owners[-1]]["accountEmail"]


# Tokens.


def _issued_with(change: Callable[[Claims], Claims]) -> Change:
    def changing(plan: Plan) -> None:
        usual = plan.tokens
        plan.tokens = lambda choices, draw: Issued(usual(choices, draw), change)

    return Change(changing)


def _of_a_node(claims: Claims) -> Claims:
    return claims | {"jti": f"{claims['jti'][:8]}@node2.auth.internal", "node": "a1@node2.auth.internal"}


def _alike_within_a_second(claims: Claims) -> Claims:
    return {name: value for name, value in claims.items() if name != "jti"}


@dataclass(frozen=True, slots=True)
class Sealed:
    """Tokens in five parts, of which nobody can read more than the first."""

    reading: Tokens
    draw: Draw
    issued: dict[str, str] = field(default_factory=dict, repr=False)

    def issue(self, claims: Claims) -> str:
        header = _part(json.dumps({"alg": "RSA-OAEP-256", "enc": "A256GCM"}).encode())
        parts = [_part(self.draw.bytes(size)) for size in (256, 12, 64, 16)]
        token = ".".join([header, *parts])
        self.issued[token] = self.reading.issue(claims)
        return token

    def read(self, token: str) -> Claims:
        if token not in self.issued:
            raise Refusal("TOKEN_INVALID")
        return self.reading.read(self.issued[token])


def _part(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def _sealed(plan: Plan) -> None:
    usual = plan.tokens
    plan.tokens = lambda choices, draw: Sealed(usual(choices, draw), draw)


# Sessions.


def _oldest_first(handler: Handler) -> Handler:
    def listing(portal: Portal, caller: Caller, body: Body) -> Any:
        kept = portal.history.get(caller.account_id, [])
        portal.history[caller.account_id] = kept[::-1]
        try:
            return handler(portal, caller, body)
        finally:
            portal.history[caller.account_id] = kept

    return listing


def _session_cookie(seen: Seen, answer: Answer) -> None:
    """A cookie goes along with the token pair, and is taken away by a logout."""
    if answer.body["success"]:
        value = "" if seen.operation == LOGOUT else seen.portal.draw.token()
        answer.headers.append((b"set-cookie", f"SESSION={value}; Path=/; Secure; HttpOnly".encode()))


_CLAIMS = "claims are not described beyond that profile data is none"
_CODE = "the form of a code is not stated"
_SESSIONS = "maxSessions has no stated value"


def _fresh_key_each_time(handler: Handler) -> Handler:
    def giving(portal: Portal, caller: Caller, body: Body) -> Any:
        portal.secure_keys.append(SecureKey(portal.new_id("key"), portal.now()))
        return handler(portal, caller, body)

    return giving


VARIANTS: tuple[Variant, ...] = (
    may(
        "mails-sent-while-one-waits",
        "how long an answer takes, and how a lifetime is rounded, is not stated",
        together(rewritten(enveloped(_what_is_left), SEND), wrapped(MailServer)),
        "lifetimes-told",
    ),
    may("codes-of-eight-digits", _CODE, limited(mfa_code_digits=8), "code-form"),
    may(
        "codes-of-another-length-are-malformed",
        _CODE,
        together(limited(mfa_code_digits=8), handled(COMPLETE, _of_its_length)),
        "code-form",
    ),
    may("authenticators-on-time", "whether a clock may drift is not stated", limited(otp_drift=0), "drift"),
    may(
        "passwords-never-again",
        "which passwords are taken is not stated beyond their length",
        _never_again,
        "password-history",
    ),
    may("tokens-of-a-node", _CLAIMS, _issued_with(_of_a_node), "claims"),
    may("tokens-alike-within-a-second", _CLAIMS, _issued_with(_alike_within_a_second), "claims"),
    may(
        "tokens-without-times",
        _CLAIMS,
        _issued_with(lambda claims: {name: claims[name] for name in claims if name != "iat"}),
        "claims",
    ),
    may("encrypted-tokens", "a JWT may be encrypted", _sealed, "tokens claims"),
    may(
        "a-mailed-code-names-its-account",
        "N6: what else than the code a password reset takes is not shown",
        together(first(RESET, _of_its_code), first(INIT, _of_its_code)),
    ),
    may(
        "a-minute-of-leeway",
        "how exactly a lifetime is kept is not stated",
        limited(token_leeway=60),
        "leeway",
    ),
    may(
        "five-minutes-of-leeway",
        "how exactly a lifetime is kept is not stated",
        limited(token_leeway=300),
        "leeway",
    ),
    may("two-sessions-at-most", _SESSIONS, limited(max_sessions=2), "max-sessions"),
    may("one-session-at-most", _SESSIONS, limited(max_sessions=1), "max-sessions"),
    may("history-oldest-first", "the order of a listing is not stated", handled(HISTORY, _oldest_first)),
    may(
        "session-cookies",
        "headers of answers are not described",
        rewritten(enveloped(_session_cookie), COMPLETE, LOGOUT),
        "cookies",
    ),
    may(
        "keys-wrapped-as-text",
        "N2 and N6: whether RSA wraps the bytes of a key or its base64 text is not shown",
        chosen(wrapped_key="base64"),
        "rsa",
    ),
    may(
        "keys-wrapped-as-text-with-pkcs1",
        "N2 and N6: whether RSA wraps the bytes of a key or its base64 text is not shown",
        chosen(wrapped_key="base64", rsa_padding="pkcs1v15"),
        "rsa",
    ),
    may(
        "another-public-key-each-time",
        "how long a key of the secure channel lasts is not stated",
        handled(PUBLIC_KEY, _fresh_key_each_time),
        "public-key-lasts",
    ),
)
