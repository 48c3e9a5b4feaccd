"""Tokens and who may call what (chapters "Login and token resources", "Authentication")."""

import base64
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import jwt

from reference_impl.changes import (
    Change,
    chosen,
    data_rewritten,
    handled,
    limited,
    moved,
    refused_with,
    rewritten,
    row,
    together,
)
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults.fault import erring, of, optional, renamed, reported
from reference_impl.faults.operations import (
    ACCOUNTS_QUERY,
    COMPLETE,
    CURRENT_WORKSPACE,
    FILE,
    HISTORY,
    INSTITUTION,
    LOGOUT,
    MFA,
    MY_WORKSPACES,
    OWN_INVITATIONS,
    PROFILE,
    PUBLIC_KEY,
    REFRESH,
    RESET,
    ROLE,
    ROLES,
    SESSION_CONFIG,
    SESSIONS,
    TERMINATE_ALL,
    TYPES_QUERY,
    VALIDATE_SMTP,
    WHITELIST,
    constants,
)
from reference_impl.plan import Plan
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.tokens import Claims, Tokens
from reference_impl.wrappers import Answer, Seen


@dataclass(frozen=True, slots=True)
class Read:
    """Tokens that are issued as ever and read in another way."""

    issuing: Tokens
    reading: Callable[[Tokens, str], Claims]

    def issue(self, claims: Claims) -> str:
        return self.issuing.issue(claims)

    def read(self, token: str) -> Claims:
        return self.reading(self.issuing, token)


@dataclass(frozen=True, slots=True)
class Issued:
    """Tokens whose claims are changed before they are issued."""

    reading: Tokens
    claims: Callable[[Claims], Claims]

    def issue(self, claims: Claims) -> str:
        return self.reading.issue(self.claims(claims))

    def read(self, token: str) -> Claims:
        return self.reading.read(token)


def _tokens(build: Callable[[Tokens], Tokens]) -> Change:
    def change(plan: Plan) -> None:
        usual = plan.tokens
        plan.tokens = lambda choices, draw: build(usual(choices, draw))

    return change


def _hours_ahead(claims: Claims) -> Claims:
    return claims | {name: claims[name] + 8 * 3600 for name in ("iat", "exp")}


def _unsigned(tokens: Tokens, token: str) -> Claims:
    """The signature is not looked at."""
    try:
        claims: Claims = jwt.decode(token, options={"verify_signature": False})
    except jwt.PyJWTError:
        raise Refusal("TOKEN_INVALID") from None
    return claims


def _none_is_an_algorithm(tokens: Tokens, token: str) -> Claims:
    try:
        return tokens.read(token)
    except Refusal:
        if _algorithm(token).lower() != "none":
            raise
        return _unsigned(tokens, token)


def _algorithm(token: str) -> str:
    part = token.partition(".")[0]
    try:
        header = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except ValueError:
        return ""
    return str(header.get("alg", "")) if isinstance(header, dict) else ""


def _latest_session(portal: Portal) -> Any:
    return next(reversed(portal.sessions.values()), None)


def _open(operation: str) -> Change:
    """The endpoint asks for no token: without one it answers for whoever signed in last."""

    def around(handler: Handler) -> Handler:
        def serving(portal: Portal, caller: Caller, body: Body) -> Any:
            session = _latest_session(portal)
            if caller.session is None and session:
                account = portal.find("account", session.account_id)
                caller = replace(caller, session=session, known_account=account)
            return handler(portal, caller, body)

        return serving

    return together((row(operation, auth="none"), handled(operation, around)))


def _guarded(operation: str) -> Change:
    """The endpoint asks for a token though it is called before sign-in."""
    return row(operation, auth="JWT")


def _without_token(operation: str, name: str) -> Change:
    """Refused, but not for want of a token."""

    def refuse(portal: Portal, caller: Caller, body: Body) -> Any:
        raise Refusal(name)

    return together(
        (row(operation, auth="none"), handled(operation, lambda handler: _if_unknown(refuse, handler)))
    )


def _if_unknown(refuse: Handler, handler: Handler) -> Handler:
    return lambda portal, caller, body: (refuse if caller.session is None else handler)(portal, caller, body)


def _telling(**profile: str) -> Callable[[Tokens], Tokens]:
    return lambda tokens: Issued(tokens, lambda claims: claims | profile)


def _same_token(handler: Handler) -> Handler:
    """A refresh gives the access token that was given before."""
    newest: dict[str, str] = {}

    def refreshing(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        session = portal.refresh_tokens[data["refreshToken"]].session_id
        data["accessToken"] = newest.setdefault(session, data["accessToken"])
        return data

    return refreshing


@dataclass(slots=True)
class Alike:
    """Refresh tokens that are read as access tokens."""

    tokens: Tokens
    sessions: dict[str, Claims] = field(default_factory=dict)

    def issue(self, claims: Claims) -> str:
        return self.tokens.issue(claims)

    def read(self, token: str) -> Claims:
        return self.sessions.get(token) or self.tokens.read(token)


def _refresh_tokens_open(plan: Plan) -> None:
    """Every refresh token that is issued also serves as an access token."""
    alike: list[Alike] = []

    def made(tokens: Tokens) -> Tokens:
        alike.append(Alike(tokens))
        return alike[-1]

    def around(handler: Handler) -> Handler:
        def issuing(portal: Portal, caller: Caller, body: Body) -> Any:
            data = handler(portal, caller, body)
            entry = portal.refresh_tokens[data["refreshToken"]]
            alike[-1].sessions[data["refreshToken"]] = {"sid": entry.session_id, "exp": entry.expires}
            return data

        return issuing

    _tokens(made)(plan)
    handled(COMPLETE, around)(plan)
    handled(REFRESH, around)(plan)


def _refreshed_by_access_tokens(handler: Handler) -> Handler:
    """The session of an access token is refreshed, too."""

    def refreshing(portal: Portal, caller: Caller, body: Body) -> Any:
        try:
            return handler(portal, caller, body)
        except Refusal as refusal:
            try:
                session = portal.tokens.read(body["refreshToken"])["sid"]
            except Refusal:
                raise refusal from None
            tokens = [token for token, entry in portal.refresh_tokens.items() if entry.session_id == session]
            return handler(portal, caller, body | {"refreshToken": tokens[-1]})

    return refreshing


def _refreshed_for_nobody(handler: Handler) -> Handler:
    """An unknown refresh token gives a pair for whoever signed in last."""

    def refreshing(portal: Portal, caller: Caller, body: Body) -> Any:
        try:
            return handler(portal, caller, body)
        except Refusal:
            session = _latest_session(portal)
            tokens = [
                token for token, entry in portal.refresh_tokens.items() if entry.session_id == session.id
            ]
            portal.refresh_tokens[tokens[-1]].state = "VALID"
            return handler(portal, caller, body | {"refreshToken": tokens[-1]})

    return refreshing


def _dead(data: Any) -> Any:
    """The access token lacks its last letters."""
    return data | {"accessToken": data["accessToken"][:-4]}


def _listing_all(handler: Handler) -> Handler:
    """Ended sessions are listed with the others."""

    def listing(portal: Portal, caller: Caller, body: Body) -> Any:
        own = [session for session in portal.sessions.values() if session.account_id == caller.account_id]
        states = [session.state for session in own]
        for session in own:
            session.state = "ACTIVE"
        data = handler(portal, caller, body)
        for session, state in zip(own, states, strict=True):
            session.state = state
        return data

    return listing


@dataclass(slots=True)
class Last:
    """Tokens of which one that cannot be read is taken for the last that was issued."""

    tokens: Tokens
    claims: Claims = field(default_factory=dict)

    def issue(self, claims: Claims) -> str:
        self.claims = claims
        return self.tokens.issue(claims)

    def read(self, token: str) -> Claims:
        try:
            return self.tokens.read(token)
        except Refusal:
            return self.claims


_STILL_CALLS = together(
    (moved("session", "ACTIVE", "logout", "LEFT"), moved("session", "LEFT", "call", "LEFT"))
)
_STILL_REFRESHES = together(
    (moved("session", "ACTIVE", "logout", "LEFT"), moved("session", "LEFT", "refresh", "LEFT"))
)
_READ_WITHOUT_SIGNATURE = _tokens(lambda tokens: Read(tokens, _unsigned))


def _without_a_signature(operation: str, kind: str) -> Change:
    """Whoever has a token of a session is shown a record that exists, whatever the signature."""

    def showing(seen: Seen, answer: Answer) -> None:
        portal, [id] = seen.portal, seen.parameters.values()
        if answer.status == 401 and seen.asked.bearer is not None:
            with suppress(Refusal):
                if _unsigned(portal.tokens, seen.asked.bearer).get("sid") in portal.sessions:
                    record = portal.view(kind, portal.find(kind, id))
                    answer.status = 200
                    answer.body |= {"success": True, "code": "2000", "message": "Success", "data": record}

    return rewritten(showing, operation)


FAULTS = (
    # What a sign-in gives.
    of(
        "TOKEN-013",
        "issued-token-is-not-accepted",
        COMPLETE,
        apply=data_rewritten(_dead, COMPLETE),
        spreads=True,
    ),
    of(
        "TOKEN-014",
        "refreshed-token-is-not-accepted",
        REFRESH,
        apply=data_rewritten(_dead, REFRESH),
        spreads=True,
    ),
    of(
        "TOKEN-018",
        "access-token-carries-the-email",
        COMPLETE,
        REFRESH,
        apply=_tokens(_telling(email="admin@example.test")),
    ),
    of(
        "TOKEN-018",
        "access-token-carries-the-name",
        COMPLETE,
        REFRESH,
        apply=_tokens(_telling(accountName="Admin")),
    ),
    of(
        "TOKEN-024",
        "subject-of-the-token-is-the-email",
        COMPLETE,
        REFRESH,
        apply=_tokens(_telling(sub="admin@example.test")),
    ),
    of(
        "TOKEN-020",
        "token-lives-longer-than-told",
        COMPLETE,
        REFRESH,
        apply=_tokens(lambda tokens: Issued(tokens, lambda claims: claims | {"exp": claims["exp"] + 82_800})),
    ),
    of(
        "TOKEN-029",
        "tokens-are-dated-by-another-zone",
        COMPLETE,
        REFRESH,
        apply=_tokens(lambda tokens: Issued(tokens, _hours_ahead)),
        also="AUTHN-011",
    ),
    of(
        "LIMIT-008",
        "access-token-of-7200",
        COMPLETE,
        apply=reported(COMPLETE, "", expiresIn=7200),
        also="TOKEN-020",
    ),
    of(
        "LIMIT-009",
        "refreshed-token-of-1800",
        REFRESH,
        apply=reported(REFRESH, "", expiresIn=1800),
        also="TOKEN-020",
    ),
    of(
        "TOKEN-025",
        "access-token-is-opaque",
        COMPLETE,
        REFRESH,
        apply=chosen(access_token="opaque"),
        spreads=True,
    ),
    of("LIMIT-016", "refreshed-token-of-3599", REFRESH, apply=reported(REFRESH, "", expiresIn=3599)),
    of(
        "LIMIT-008 LIMIT-009",
        "access-token-in-milliseconds",
        COMPLETE,
        REFRESH,
        apply=together(
            (reported(COMPLETE, "", expiresIn=3_600_000), reported(REFRESH, "", expiresIn=3_600_000))
        ),
        also="TOKEN-020",
    ),
    # Refresh.
    of("TOKEN-010", "refresh-is-refused", REFRESH, apply=moved("refresh token", "VALID", "refresh", None)),
    of(
        "TOKEN-015",
        "any-refresh-token-refreshes",
        REFRESH,
        apply=handled(REFRESH, _refreshed_for_nobody),
        also="TOKEN-012 TOKEN-016",
    ),
    of(
        "TOKEN-031",
        "access-tokens-refresh",
        REFRESH,
        apply=handled(REFRESH, _refreshed_by_access_tokens),
        spreads=True,
    ),
    of(
        "TOKEN-016",
        "unknown-refresh-token-is-401",
        REFRESH,
        apply=renamed(REFRESH, "AUTH.SESSION_NOT_FOUND", "4010"),
    ),
    of("TOKEN-021", "refresh-gives-the-same-token", REFRESH, apply=handled(REFRESH, _same_token)),
    of(
        "TOKEN-022",
        "refresh-token-serves-as-access-token",
        COMPLETE,
        REFRESH,
        apply=_refresh_tokens_open,
        spreads=True,
    ),
    of("TOKEN-023", "refresh-without-token-is-404", REFRESH, apply=optional(REFRESH, "refreshToken", "none")),
    of("AUTHN-012", "expired-session-cannot-be-refreshed", REFRESH, apply=limited(refresh_token=3000.0)),
    # Logout.
    of(
        "TOKEN-011 TOKEN-012",
        "session-outlives-logout",
        LOGOUT,
        apply=moved("session", "ACTIVE", "logout", "ACTIVE"),
        also="SESSION-031",
        spreads=True,
    ),
    of("TOKEN-011", "access-token-outlives-logout", LOGOUT, apply=_STILL_CALLS, spreads=True),
    of("TOKEN-012", "refresh-token-outlives-logout", LOGOUT, apply=_STILL_REFRESHES, spreads=True),
    of("LOGOUT-003", "logout-counts-no-session", LOGOUT, apply=reported(LOGOUT, "", terminatedSessions=0)),
    of("LOGOUT-004", "logout-says-no-success", LOGOUT, apply=reported(LOGOUT, "", success=False)),
    of(
        "SESSION-031",
        "logged-out-session-is-listed",
        SESSIONS,
        apply=handled(SESSIONS, _listing_all),
        also="SESSION-026",
    ),
    # Protected endpoints.
    *(
        of(
            "AUTHN-001 AUTHN-002",
            f"{name}-without-token",
            operation,
            apply=_open(operation),
            also="AUTHN-006 AUTHN-007 AUTHN-008 AUTHN-009 TOKEN-011",
        )
        for name, operation in (
            ("profile", PROFILE),
            ("sessions", SESSIONS),
            ("session-config", SESSION_CONFIG),
            ("history", HISTORY),
            ("ip-whitelist", WHITELIST),
            ("mfa", MFA),
            ("own-invitations", OWN_INVITATIONS),
            ("current-workspace", CURRENT_WORKSPACE),
            ("my-workspaces", MY_WORKSPACES),
            ("roles", ROLES),
            ("file", FILE),
            ("terminate-all", TERMINATE_ALL),
        )
    ),
    *(
        of("AUTHN-004", f"{name}-without-token", operation, apply=_open(operation), also="AUTHN-013")
        for name, operation in (
            ("accounts-query", ACCOUNTS_QUERY),
            ("channel-types-query", TYPES_QUERY),
            ("countries", constants("countries")),
        )
    ),
    of(
        "AUTHN-001",
        "missing-token-is-403",
        apply=refused_with("ACCESS.TOKEN_MISSING", status=403, code="4010"),
        also="AUTHN-004 ERROR-009",
    ),
    of(
        "AUTHN-001",
        "missing-token-is-400-at-the-history",
        HISTORY,
        apply=_without_token(HISTORY, INVALID),
        also="AUTHN-002",
    ),
    of(
        "AUTHN-002",
        "missing-token-has-another-code",
        apply=refused_with("ACCESS.TOKEN_MISSING", code="AUTH.UNAUTHORIZED"),
    ),
    of(
        "ERROR-004",
        "token-missing-is-403",
        ACCOUNTS_QUERY,
        apply=together(
            (
                renamed(ACCOUNTS_QUERY, "ACCESS.TOKEN_MISSING", "TOKEN_MISSING_403"),
                erring("TOKEN_MISSING_403", "ACCESS.TOKEN_MISSING", 403),
            )
        ),
        also="AUTHN-004",
    ),
    of(
        "AUTHN-004",
        "mail-servers-are-validated-without-a-token",
        VALIDATE_SMTP,
        apply=_open(VALIDATE_SMTP),
    ),
    of("AUTHN-005", "public-key-wants-a-token", PUBLIC_KEY, apply=_guarded(PUBLIC_KEY), also="SECURE-003"),
    of("AUTHN-005", "reset-wants-a-token", RESET, apply=_guarded(RESET)),
    of("AUTHN-005", "refresh-wants-a-token", REFRESH, apply=_guarded(REFRESH)),
    # Invalid tokens.
    of("AUTHN-006", "any-token-is-accepted", apply=_tokens(Last), spreads=True, also="AUTHN-009 AUTHN-013"),
    of(
        "AUTHN-007 AUTHN-008",
        "signature-is-not-checked",
        apply=_READ_WITHOUT_SIGNATURE,
        spreads=True,
        also="AUTHN-009 AUTHN-013",
    ),
    of(
        "AUTHN-007 AUTHN-008",
        "a-role-is-shown-without-a-signature",
        ROLE,
        apply=_without_a_signature(ROLE, "role"),
        also="AUTHN-009 AUTHN-024",
    ),
    of(
        "AUTHN-013",
        "an-institution-is-shown-without-a-signature",
        INSTITUTION,
        apply=_without_a_signature(INSTITUTION, "institution"),
        also="AUTHN-024",
    ),
    of(
        "AUTHN-008",
        "algorithm-none-is-accepted",
        apply=_tokens(lambda tokens: Read(tokens, _none_is_an_algorithm)),
        spreads=True,
        also="AUTHN-009 AUTHN-013",
    ),
    of(
        "AUTHN-009",
        "invalid-token-is-403",
        apply=refused_with("TOKEN_INVALID", status=403, code="ACCESS.PERMISSION_DENIED"),
    ),
    of("ERROR-009", "token-invalid-403", apply=refused_with("TOKEN_INVALID", status=403), also="AUTHN-009"),
    of(
        "AUTHN-011",
        "access-token-never-expires",
        apply=_tokens(lambda tokens: Read(tokens, lambda right, token: right.read(token) | {"exp": 10**12})),
        spreads=True,
    ),
)
