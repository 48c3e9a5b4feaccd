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
from reference_impl.faults.fault import erring, fault, optional, renamed, reported
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

    return Change(change)


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

    return together(row(operation, auth="none"), handled(operation, around))


def _guarded(operation: str) -> Change:
    """The endpoint asks for a token though it is called before sign-in."""
    return row(operation, auth="JWT")


def _without_token(operation: str, name: str) -> Change:
    """Refused, but not for want of a token."""

    def refuse(portal: Portal, caller: Caller, body: Body) -> Any:
        raise Refusal(name)

    return together(
        row(operation, auth="none"), handled(operation, lambda handler: _if_unknown(refuse, handler))
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
    moved("session", "ACTIVE", "logout", "LEFT"), moved("session", "LEFT", "call", "LEFT")
)
_STILL_REFRESHES = together(
    moved("session", "ACTIVE", "logout", "LEFT"), moved("session", "LEFT", "refresh", "LEFT")
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
    fault("TOKEN-013", "issued-token-is-not-accepted", data_rewritten(_dead, COMPLETE)),
    fault("TOKEN-014", "refreshed-token-is-not-accepted", data_rewritten(_dead, REFRESH)),
    fault(
        "TOKEN-018",
        "access-token-carries-the-email",
        _tokens(_telling(email="admin@example.test")),
        COMPLETE,
        REFRESH,
    ),
    fault(
        "TOKEN-018",
        "access-token-carries-the-name",
        _tokens(_telling(accountName="Admin")),
        COMPLETE,
        REFRESH,
    ),
    fault(
        "TOKEN-024",
        "subject-of-the-token-is-the-email",
        _tokens(_telling(sub="admin@example.test")),
        COMPLETE,
        REFRESH,
    ),
    fault(
        "TOKEN-020",
        "token-lives-longer-than-told",
        _tokens(lambda tokens: Issued(tokens, lambda claims: claims | {"exp": claims["exp"] + 82_800})),
        COMPLETE,
        REFRESH,
    ),
    fault(
        "TOKEN-029",
        "tokens-are-dated-by-another-zone",
        _tokens(lambda tokens: Issued(tokens, _hours_ahead)),
        COMPLETE,
        REFRESH,
        also="AUTHN-011",
    ),
    fault("LIMIT-008", "access-token-of-7200", reported(COMPLETE, "", expiresIn=7200), also="TOKEN-020"),
    fault("LIMIT-009", "refreshed-token-of-1800", reported(REFRESH, "", expiresIn=1800), also="TOKEN-020"),
    fault("TOKEN-025", "access-token-is-opaque", chosen(access_token="opaque"), COMPLETE, REFRESH),
    fault("LIMIT-016", "refreshed-token-of-3599", reported(REFRESH, "", expiresIn=3599)),
    fault(
        "LIMIT-008 LIMIT-009",
        "access-token-in-milliseconds",
        together(reported(COMPLETE, "", expiresIn=3_600_000), reported(REFRESH, "", expiresIn=3_600_000)),
        also="TOKEN-020",
    ),
    # Refresh.
    fault("TOKEN-010", "refresh-is-refused", moved("refresh token", "VALID", "refresh", None), REFRESH),
    fault(
        "TOKEN-015",
        "any-refresh-token-refreshes",
        handled(REFRESH, _refreshed_for_nobody),
        also="TOKEN-012 TOKEN-016",
    ),
    fault("TOKEN-031", "access-tokens-refresh", handled(REFRESH, _refreshed_by_access_tokens)),
    fault("TOKEN-016", "unknown-refresh-token-is-401", renamed(REFRESH, "AUTH.SESSION_NOT_FOUND", "4010")),
    fault("TOKEN-021", "refresh-gives-the-same-token", handled(REFRESH, _same_token)),
    fault("TOKEN-022", "refresh-token-serves-as-access-token", _refresh_tokens_open, COMPLETE, REFRESH),
    fault("TOKEN-023", "refresh-without-token-is-404", optional(REFRESH, "refreshToken", "none")),
    fault("AUTHN-012", "expired-session-cannot-be-refreshed", limited(refresh_token=3000.0), REFRESH),
    # Logout.
    fault(
        "TOKEN-011 TOKEN-012",
        "session-outlives-logout",
        moved("session", "ACTIVE", "logout", "ACTIVE"),
        LOGOUT,
        also="SESSION-031",
    ),
    fault("TOKEN-011", "access-token-outlives-logout", _STILL_CALLS, LOGOUT),
    fault("TOKEN-012", "refresh-token-outlives-logout", _STILL_REFRESHES, LOGOUT),
    fault("LOGOUT-003", "logout-counts-no-session", reported(LOGOUT, "", terminatedSessions=0)),
    fault("LOGOUT-004", "logout-says-no-success", reported(LOGOUT, "", success=False)),
    fault("SESSION-031", "logged-out-session-is-listed", handled(SESSIONS, _listing_all), also="SESSION-026"),
    # Protected endpoints.
    *(
        fault(
            "AUTHN-001 AUTHN-002",
            f"{name}-without-token",
            _open(operation),
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
        fault("AUTHN-004", f"{name}-without-token", _open(operation), also="AUTHN-013")
        for name, operation in (
            ("accounts-query", ACCOUNTS_QUERY),
            ("channel-types-query", TYPES_QUERY),
            ("countries", constants("countries")),
        )
    ),
    fault(
        "AUTHN-001",
        "missing-token-is-403",
        refused_with("ACCESS.TOKEN_MISSING", status=403, code="4010"),
        also="AUTHN-004 ERROR-009",
    ),
    fault(
        "AUTHN-001", "missing-token-is-400-at-the-history", _without_token(HISTORY, INVALID), also="AUTHN-002"
    ),
    fault(
        "AUTHN-002",
        "missing-token-has-another-code",
        refused_with("ACCESS.TOKEN_MISSING", code="AUTH.UNAUTHORIZED"),
    ),
    fault(
        "ERROR-004",
        "token-missing-is-403",
        together(
            renamed(ACCOUNTS_QUERY, "ACCESS.TOKEN_MISSING", "TOKEN_MISSING_403"),
            erring("TOKEN_MISSING_403", "ACCESS.TOKEN_MISSING", 403),
        ),
        also="AUTHN-004",
    ),
    fault("AUTHN-004", "mail-servers-are-validated-without-a-token", _open(VALIDATE_SMTP)),
    fault("AUTHN-005", "public-key-wants-a-token", _guarded(PUBLIC_KEY), also="SECURE-003"),
    fault("AUTHN-005", "reset-wants-a-token", _guarded(RESET)),
    fault("AUTHN-005", "refresh-wants-a-token", _guarded(REFRESH)),
    # Invalid tokens.
    fault("AUTHN-006", "any-token-is-accepted", _tokens(Last), also="AUTHN-009 AUTHN-013"),
    fault(
        "AUTHN-007 AUTHN-008", "signature-is-not-checked", _READ_WITHOUT_SIGNATURE, also="AUTHN-009 AUTHN-013"
    ),
    fault(
        "AUTHN-007 AUTHN-008",
        "a-role-is-shown-without-a-signature",
        _without_a_signature(ROLE, "role"),
        also="AUTHN-009 AUTHN-024",
    ),
    fault(
        "AUTHN-013",
        "an-institution-is-shown-without-a-signature",
        _without_a_signature(INSTITUTION, "institution"),
        also="AUTHN-024",
    ),
    fault(
        "AUTHN-008",
        "algorithm-none-is-accepted",
        _tokens(lambda tokens: Read(tokens, _none_is_an_algorithm)),
        also="AUTHN-009 AUTHN-013",
    ),
    fault(
        "AUTHN-009",
        "invalid-token-is-403",
        refused_with("TOKEN_INVALID", status=403, code="ACCESS.PERMISSION_DENIED"),
    ),
    fault("ERROR-009", "token-invalid-403", refused_with("TOKEN_INVALID", status=403), also="AUTHN-009"),
    fault(
        "AUTHN-011",
        "access-token-never-expires",
        _tokens(lambda tokens: Read(tokens, lambda right, token: right.read(token) | {"exp": 10**12})),
    ),
)
