"""Tokens, and when the sessions behind them end (chapter "Login and token resources")."""

import base64
import json
from dataclasses import dataclass, field
from typing import Any

from reference_impl.changes import Change, chosen, limited, moved, together
from reference_impl.draw import Draw
from reference_impl.errors import Refusal
from reference_impl.factors import new_backup_codes
from reference_impl.faults import operations as op
from reference_impl.faults.fault import first, then
from reference_impl.faults.tokens import claiming, other_tokens
from reference_impl.handlers.passwords import end_sessions
from reference_impl.portal import Caller, Portal
from reference_impl.routes import ROWS, Handler
from reference_impl.shapes import Body
from reference_impl.tokens import Claims, Tokens
from reference_impl.variants.variant import around, enveloped, grant, keeping, may, permitted, refused
from reference_impl.wrappers import Answer, Seen


def _of_a_node(claims: Claims) -> Claims:
    return claims | {"jti": f"{claims['jti'][:8]}@node2.auth.internal", "node": "a1@node2.auth.internal"}


def _without(name: str) -> Change:
    return claiming(lambda claims: {claim: claims[claim] for claim in claims if claim != name})


@dataclass(frozen=True, slots=True)
class Sealed:
    """Tokens in five parts, of which nobody can read more than the first."""

    reading: Tokens
    draw: Draw
    issued: dict[str, str] = field(default_factory=dict, repr=False)

    def issue(self, claims: Claims) -> str:
        header = json.dumps({"alg": "RSA-OAEP-256", "enc": "A256GCM"}).encode()
        parts = [header, *(self.draw.bytes(size) for size in (256, 12, 64, 16))]
        token = ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)
        self.issued[token] = self.reading.issue(claims)
        return token

    def read(self, token: str) -> Claims:
        if token not in self.issued:
            raise Refusal("TOKEN_INVALID")
        return self.reading.read(self.issued[token])


def _named_after_its_role(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
    """The token names the role and the portal, which may be called as the account is."""
    data = handler(portal, caller, body)
    claims = portal.tokens.read(data["accessToken"])
    name = portal.find("account", claims["sub"])["accountName"]
    claims |= {"roleName": name, "realm_access": {"roles": [name]}, "resource": {"kind": name}}
    return data | {"accessToken": portal.tokens.issue(claims)}


def _session_cookie(seen: Seen, answer: Answer) -> None:
    """A cookie goes along with the token pair, and is taken away by a logout."""
    if answer.body["success"]:
        value = "" if seen.operation == op.LOGOUT else seen.portal.draw.token()
        answer.headers.append((b"set-cookie", f"SESSION={value}; Path=/; Secure; HttpOnly".encode()))


def _bound_to_its_client() -> Change:
    """A session is its client's: another client hash with its tokens is refused."""
    hashes: dict[str, str] = {}

    def refuse_another(session_id: str, caller: Caller, refusal: str) -> None:
        if hashes.get(session_id, caller.client_hash) != caller.client_hash:
            raise Refusal(refusal)

    def guarding(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
        if caller.session:
            refuse_another(caller.session.id, caller, "TOKEN_INVALID")
        return handler(portal, caller, body)

    def signing_in(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
        before = set(portal.sessions)
        data = handler(portal, caller, body)
        hashes.update(dict.fromkeys(set(portal.sessions) - before, caller.client_hash))
        return data

    def refreshing(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
        token = portal.refresh_tokens.get(body["refreshToken"])
        if token:
            refuse_another(token.session_id, caller, "AUTH.SESSION_NOT_FOUND")
        return handler(portal, caller, body)

    return together(
        around(guarding, *(row.name for row in ROWS if row.auth == "JWT")),
        around(signing_in, op.COMPLETE),
        around(refreshing, op.REFRESH),
    )


def _reuse_ends_it(portal: Portal, caller: Caller, body: Body) -> None:
    token = portal.refresh_tokens.get(body["refreshToken"])
    if token is not None and token.state == "ROTATED":
        portal.end(portal.sessions[token.session_id], "terminate")


def _nothing_to_end(seen: Seen, answer: Answer) -> None:
    if answer.status == 401 and seen.asked.bearer:
        grant(answer, {"success": True, "terminatedSessions": 0})


def _other_sessions_ended(portal: Portal, caller: Caller, body: Body) -> None:
    end_sessions(portal, caller.account_id, but=caller.session_id)
    new_backup_codes(portal, portal.security(caller.account_id))


def _when_full(refusal: str) -> Change:
    """Whoever has as many sessions as are allowed signs in no more."""

    def is_full(portal: Portal, caller: Caller, body: Body) -> bool:
        session = portal.login_sessions.get(body["sessionId"])
        if session is None:
            return False
        most = portal.security(session.account_id)["maxSessions"]
        return bool(len(portal.sessions_of(session.account_id)) >= most)

    return refused(op.COMPLETE, refusal, is_full)


VARIANTS = permitted(
    "the algorithm is not stated",
    may("rs256-tokens: tokens", chosen(access_token="RS256")),
    may("es256-tokens: tokens", chosen(access_token="ES256")),
    may("eddsa-tokens: tokens", chosen(access_token="EdDSA")),
    "clients read the profile, not the token",
    may("opaque-tokens: tokens", chosen(access_token="opaque"), departs="TOKEN-025"),
    "a JWT may be encrypted",
    may("encrypted-tokens: tokens claims", other_tokens(Sealed)),
    "claims are not described beyond that profile data is none",
    # A library that knows no ``sub`` finds the id under ``name``.
    may(
        "tokens-name-their-subject-twice: claims",
        claiming(lambda claims: claims | {"name": claims["sub"]}),
    ),
    may("tokens-of-a-node: claims", claiming(_of_a_node)),
    may("tokens-alike-within-a-second: claims", _without("jti")),
    may("tokens-without-times: claims", _without("iat")),
    "what a token holds beside profile data is not stated",
    may("tokens-name-the-role: access-token", around(_named_after_its_role, op.COMPLETE)),
    "headers of answers are not described",
    may("session-cookies: cookies", enveloped(_session_cookie, op.COMPLETE, op.LOGOUT)),
    "how exactly a lifetime is kept is not stated",
    may("a-minute-of-leeway: leeway", limited(token_leeway=60)),
    may("five-minutes-of-leeway: leeway", limited(token_leeway=300)),
    "the client hash is a fingerprint of the client",
    may("sessions-bound-to-their-client: client", keeping(_bound_to_its_client)),
    # Refreshing.
    "whether the refresh token changes is not stated",
    may("no-rotation: rotation", chosen(refresh_rotation=False)),
    "whether a refresh token may be used again is not stated",
    may("old-refresh-tokens-stay-valid: rotation", moved("refresh token", "VALID", "refresh", "VALID")),
    "what the use of an old refresh token does is not stated",
    may("reuse-ends-the-session: rotation", first(op.REFRESH, _reuse_ends_it)),
    # When sessions end.
    "sessions ended: which, is not stated",
    may("logout-ends-all", chosen(logout_ends="all")),
    "logout asks for a bearer token, and not for a valid one",
    may("logout-of-nobody", enveloped(_nothing_to_end, op.LOGOUT)),
    "sessions ended: that an access token is looked up at every call is not stated",
    may(
        "access-tokens-outlive-logout: logout",
        moved("session", "ACTIVE", "logout", "LEFT"),
        moved("session", "LEFT", "call", "LEFT"),
        departs="TOKEN-011",
    ),
    "N5 and N1",
    may("terminate-all-ends-all", chosen(terminate_all_spares_current=False)),
    "what a password change does to sessions is not shown",
    may("password-change-ends-sessions", chosen(password_change_ends_sessions=True)),
    "what a verified authenticator does to sessions and backup codes is not stated",
    may("a-new-authenticator-ends-other-sessions", then(op.OTP_VERIFY, _other_sessions_ended)),
    "maxSessions has no stated value",
    may("few-sessions", limited(max_sessions=5)),
    may("ten-sessions-at-most: max-sessions", limited(max_sessions=10, max_sessions_settable=10)),
    may("two-sessions-at-most: max-sessions", limited(max_sessions=2)),
    may("one-session-at-most: max-sessions", limited(max_sessions=1)),
    "which session gives way where there are as many as are allowed is not stated",
    may("a-session-too-many-is-not-begun: max-sessions", _when_full("ACCESS.PERMISSION_DENIED")),
    may(
        "a-seventh-session-is-refused: max-sessions",
        limited(max_sessions=6),
        _when_full("ACCESS.PERMISSION_DENIED"),
        departs="LOGIN-032",
    ),
    may(
        "a-seventh-session-is-a-conflict: max-sessions",
        limited(max_sessions=6),
        _when_full("DUPLICATE"),
        departs="LOGIN-032",
    ),
)
