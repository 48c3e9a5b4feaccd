"""Tokens, and who may call what (chapters "Login and token resources", "Authentication")."""

import base64
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qs

import jwt
from starlette.types import ASGIApp, Receive, Scope, Send

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
    wrapped,
)
from reference_impl.dispatch import BOT_HEADER
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults import operations as op
from reference_impl.faults.fault import Call, Serving, first, optional, renamed, reported, served
from reference_impl.faults.requests import Names, adding, session_of
from reference_impl.plan import Plan
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body, checked
from reference_impl.tokens import Claims, Tokens
from reference_impl.wrappers import Answer, Seen


def _token_ends_early(call: Call) -> Any:
    """Any access token is refused two minutes before its end."""
    session = call.caller.session
    issued = [
        each for each in call.portal.refresh_tokens.values() if session and each.session_id == session.id
    ]
    began = max(each.expires for each in issued) - call.portal.limits.refresh_token
    if call.portal.now() > began + call.portal.limits.access_token - 120:
        raise Refusal("TOKEN_INVALID")
    return call.run()


def _any_scheme(scope: Scope, names: Names) -> Names:
    scheme, _, token = names.get("authorization", "").partition(" ")
    return names | ({"authorization": f"Bearer {token}"} if scheme and token.count(".") == 2 else {})


def _token_of_a_cookie(scope: Scope, names: Names) -> Names:
    """Who sends no token in its header is known by a cookie."""
    cookies = dict(each.strip().partition("=")[::2] for each in names.get("cookie", "").split(";"))
    token = cookies.get("access_token")
    return {"authorization": f"Bearer {token}"} | names if token else names


def _form_first(plan: Plan) -> None:
    def rewriting(seen: Seen, answer: Answer) -> None:
        if answer.status == 401:
            try:
                checked(plan.rows[seen.operation].takes, seen.body, limits=seen.portal.limits, strict=True)
            except Refusal:
                answer.status = 400
                answer.body |= {"code": INVALID, "message": INVALID}

    rewritten(rewriting, op.SET_WHITELIST)(plan)


def _outlives(scope: Scope, names: Names) -> Names:
    """A token that has expired is taken for a new one of its session."""
    portal: Portal = scope["app"].state.portal
    session = session_of(scope, names)
    if session is None:
        return names
    return names | {
        "authorization": f"Bearer {portal.tokens.issue({'sid': session.id, 'exp': portal.now() + 60})}"
    }


def _by_its_account(scope: Scope, names: Names) -> Names:
    """A token of a session that was ended is taken for another of its account."""
    portal: Portal = scope["app"].state.portal
    session = session_of(scope, names)
    if session is None or portal.next_state("session", session.state, "call") is not None:
        return names
    own = [each for each in portal.sessions_of(session.account_id) if each.id != session.id]
    if not own:
        return names
    return names | {
        "authorization": f"Bearer {portal.tokens.issue({'sid': own[-1].id, 'exp': portal.now() + 60})}"
    }


def _if_the_refresh_token_begins_well(call: Call) -> Any:
    begins = call.body["refreshToken"][:12]
    near = (token for token in reversed(call.portal.refresh_tokens) if token.startswith(begins))
    is_there = call.body["refreshToken"] in call.portal.refresh_tokens
    return call.run_with(call.body if is_there else call.body | {"refreshToken": next(near, begins)})


NO_ORDERS = {"content": [], "totalElements": 0, "totalPages": 0, "size": 20, "number": 0}


def _is_passed_by_any_token(seen: Seen, answer: Answer) -> bool:
    return bool(seen.asked.headers.get(BOT_HEADER)) and answer.body.get("code") == "4030"


def _channels_for_any_token(seen: Seen, answer: Answer) -> None:
    if _is_passed_by_any_token(seen, answer):
        answer.status = 404
        answer.body |= {"code": "4040", "message": "There is no such channel."}


@dataclass
class TokenInQuery:
    """A token in the query is as good as one in the header, at some paths or at all."""

    app: ASGIApp
    name: str
    path: str = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(self.path):
            values = parse_qs(scope.get("query_string", b"").decode("latin-1")).get(self.name)
            if values:
                header = (b"authorization", f"Bearer {values[-1]}".encode())
                scope = {**scope, "headers": [*scope["headers"], header]}
        await self.app(scope, receive, send)


def _token_in(name: str, path: str = "") -> Change:
    return wrapped(lambda app: TokenInQuery(app, name, path))


def _expired_is_forbidden(seen: Seen, answer: Answer) -> None:
    token = seen.asked.bearer
    if answer.status != 401 or token is None:
        return
    try:
        claims = jwt.decode(token, options={"verify_signature": False})
    except jwt.PyJWTError:
        return
    if claims.get("exp", 0) <= seen.portal.now():
        answer.status = 403
        answer.body["code"] = "ACCESS.PERMISSION_DENIED"


def _of_another(call: Call) -> Any:
    """The session that is refreshed is taken over by another account that is signed in."""
    data = call.run()
    token = call.portal.refresh_tokens[call.body["refreshToken"]]
    own = call.portal.sessions[token.session_id]
    for session in call.portal.sessions.values():
        if session.account_id != own.account_id and session.state == "ACTIVE":
            claims = call.portal.tokens.read(data["accessToken"])
            claims |= {"sub": session.account_id, "sid": session.id}
            return data | {"accessToken": call.portal.tokens.issue(claims)}
    return data


def _once_refreshed(portal: Portal, caller: Caller, body: Body) -> None:
    """What was given by a refresh is refreshed no more."""
    token = portal.refresh_tokens.get(body["refreshToken"])
    if token is not None:
        family = [other for other in portal.refresh_tokens.values() if other.session_id == token.session_id]
        if len(family) > 1:
            token.state = "USED"


def _named(claim: str, field: str) -> Serving:
    """The access token repeats a field of the profile, in a claim within another."""

    def issuing(call: Call) -> Any:
        data = call.run()
        claims = call.portal.tokens.read(data["accessToken"])
        value = call.portal.find("account", claims["sub"])[field]
        return data | {"accessToken": call.portal.tokens.issue(claims | {"ctx": {claim: value}})}

    return issuing


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
    handled(op.COMPLETE, around)(plan)
    handled(op.REFRESH, around)(plan)


def _refreshed_by_access_tokens(call: Call) -> Any:
    """The session of an access token is refreshed, too."""
    try:
        return call.run()
    except Refusal as refusal:
        try:
            session = call.portal.tokens.read(call.body["refreshToken"])["sid"]
        except Refusal:
            raise refusal from None
        tokens = [token for token, entry in call.portal.refresh_tokens.items() if entry.session_id == session]
        return call.run(refreshToken=tokens[-1])


def _refreshed_for_nobody(call: Call) -> Any:
    """An unknown refresh token gives a pair for whoever signed in last."""
    try:
        return call.run()
    except Refusal:
        session = _latest_session(call.portal)
        tokens = [
            token for token, entry in call.portal.refresh_tokens.items() if entry.session_id == session.id
        ]
        call.portal.refresh_tokens[tokens[-1]].state = "VALID"
        return call.run(refreshToken=tokens[-1])


def _dead(data: Any) -> Any:
    """The access token lacks its last letters."""
    return data | {"accessToken": data["accessToken"][:-4]}


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


_PERSONAL = {
    "profile": op.PROFILE,
    "sessions": op.SESSIONS,
    "session-config": op.SESSION_CONFIG,
    "history": op.HISTORY,
    "ip-whitelist": op.WHITELIST,
    "mfa": op.MFA,
    "own-invitations": op.OWN_INVITATIONS,
    "current-workspace": op.CURRENT_WORKSPACE,
    "my-workspaces": op.MY_WORKSPACES,
    "roles": op.ROLES,
    "file": op.FILE,
    "terminate-all": op.TERMINATE_ALL,
}
_LISTS = {
    "accounts-query": op.ACCOUNTS_QUERY,
    "channel-types-query": op.TYPES_QUERY,
    "countries": op.constants("countries"),
}

ROWS = {
    "LOGOUT-006 a-logout-counts-too-many": reported(op.LOGOUT, "", terminatedSessions=77),
    "LOGOUT-006 a-logout-of-all-counts-one": together(
        chosen(logout_ends="all"), reported(op.LOGOUT, "", terminatedSessions=1)
    ),
    "AUTHN-021 access-tokens-end-two-minutes-early": served(op.PROFILE, _token_ends_early),
    "AUTHN-022 a-token-in-a-cookie-signs-in": adding(_token_of_a_cookie),
    "AUTHN-020 a-token-under-any-scheme": adding(_any_scheme),
    "AUTHN-023 a-body-is-judged-before-the-token": Change(_form_first, (op.SET_WHITELIST,)),
    "AUTHN-024 files-are-read-by-expired-tokens": adding(_outlives, op.FILE),
    "AUTHN-024 roles-are-read-after-a-logout": adding(_by_its_account, op.ROLES),
    "TOKEN-030 a-refresh-token-need-only-begin-well": served(op.REFRESH, _if_the_refresh_token_begins_well),
    "AUTHN-019 a-channel-is-looked-for-with-any-bot-token": rewritten(_channels_for_any_token, op.COMMAND),
    "AUTHN-001 profile-takes-a-token-in-the-query": _token_in("token", "/web/v1/system/profile").at(
        op.PROFILE
    ),
    "AUTHN-009 an-expired-token-is-forbidden": rewritten(_expired_is_forbidden),
    "TOKEN-026 a-refresh-gives-the-token-of-another": served(op.REFRESH, _of_another),
    "TOKEN-027 a-refreshed-pair-is-refreshed-no-more": first(op.REFRESH, _once_refreshed),
    "TOKEN-028 a-nested-claim-holds-the-name": served(op.COMPLETE, _named("displayName", "accountName")),
    "TOKEN-028 a-nested-claim-holds-the-phone": served(op.COMPLETE, _named("tel", "accountPhone")),
    "TOKEN-013 issued-token-is-not-accepted": data_rewritten(_dead, op.COMPLETE),
    "TOKEN-014 refreshed-token-is-not-accepted": data_rewritten(_dead, op.REFRESH),
    "TOKEN-018 access-token-carries-the-email": _tokens(_telling(email="admin@example.test")).at(
        op.COMPLETE, op.REFRESH
    ),
    "TOKEN-018 access-token-carries-the-name": _tokens(_telling(accountName="Admin")).at(
        op.COMPLETE, op.REFRESH
    ),
    "TOKEN-024 subject-of-the-token-is-the-email": _tokens(_telling(sub="admin@example.test")).at(
        op.COMPLETE, op.REFRESH
    ),
    "TOKEN-020 token-lives-longer-than-told": _tokens(
        lambda tokens: Issued(tokens, lambda claims: claims | {"exp": claims["exp"] + 82_800})
    ).at(op.COMPLETE, op.REFRESH),
    "TOKEN-029 tokens-are-dated-by-another-zone": _tokens(
        lambda tokens: Issued(
            tokens, lambda claims: claims | {name: claims[name] + 8 * 3600 for name in ("iat", "exp")}
        )
    ).at(op.COMPLETE, op.REFRESH),
    "LIMIT-008 access-token-of-7200": reported(op.COMPLETE, "", expiresIn=7200),
    "TOKEN-025 access-token-is-opaque": chosen(access_token="opaque").at(op.COMPLETE, op.REFRESH),
    "LIMIT-016 refreshed-token-of-3599": reported(op.REFRESH, "", expiresIn=3599),
    "LIMIT-008 LIMIT-009 access-token-in-milliseconds": together(
        reported(op.COMPLETE, "", expiresIn=3_600_000), reported(op.REFRESH, "", expiresIn=3_600_000)
    ),
    "TOKEN-010 refresh-is-refused": moved("refresh token", "VALID", "refresh", None).at(op.REFRESH),
    "TOKEN-015 any-refresh-token-refreshes": served(op.REFRESH, _refreshed_for_nobody),
    "TOKEN-031 access-tokens-refresh": served(op.REFRESH, _refreshed_by_access_tokens),
    "TOKEN-016 unknown-refresh-token-is-401": renamed(op.REFRESH, "AUTH.SESSION_NOT_FOUND", "4010"),
    "TOKEN-021 refresh-gives-the-same-token": handled(op.REFRESH, _same_token),
    "TOKEN-022 refresh-token-serves-as-access-token": Change(
        _refresh_tokens_open,
        (
            op.COMPLETE,
            op.REFRESH,
        ),
    ),
    "TOKEN-023 refresh-without-token-is-404": optional(op.REFRESH, "refreshToken", "none"),
    "AUTHN-012 expired-session-cannot-be-refreshed": limited(refresh_token=3000.0).at(op.REFRESH),
    "TOKEN-011 TOKEN-012 session-outlives-logout": moved("session", "ACTIVE", "logout", "ACTIVE").at(
        op.LOGOUT
    ),
    "TOKEN-011 access-token-outlives-logout": _STILL_CALLS.at(op.LOGOUT),
    "TOKEN-012 refresh-token-outlives-logout": _STILL_REFRESHES.at(op.LOGOUT),
    "LOGOUT-003 logout-counts-no-session": reported(op.LOGOUT, "", terminatedSessions=0),
    "LOGOUT-004 logout-says-no-success": reported(op.LOGOUT, "", success=False),
    **{
        f"AUTHN-001 AUTHN-002 {name}-without-token": _open(operation) for name, operation in _PERSONAL.items()
    },
    **{f"AUTHN-004 {name}-without-token": _open(operation) for name, operation in _LISTS.items()},
    "AUTHN-001 missing-token-is-403": refused_with("ACCESS.TOKEN_MISSING", status=403, code="4010"),
    "AUTHN-002 missing-token-has-another-code": refused_with(
        "ACCESS.TOKEN_MISSING", code="AUTH.UNAUTHORIZED"
    ),
    "AUTHN-005 public-key-wants-a-token": _guarded(op.PUBLIC_KEY),
    "AUTHN-005 reset-wants-a-token": _guarded(op.RESET),
    "AUTHN-005 refresh-wants-a-token": _guarded(op.REFRESH),
    "AUTHN-006 any-token-is-accepted": _tokens(Last),
    "AUTHN-007 AUTHN-008 signature-is-not-checked": _READ_WITHOUT_SIGNATURE,
    "AUTHN-007 AUTHN-008 a-role-is-shown-without-a-signature": _without_a_signature(op.ROLE, "role"),
    "AUTHN-013 an-institution-is-shown-without-a-signature": _without_a_signature(
        op.INSTITUTION, "institution"
    ),
    "AUTHN-008 algorithm-none-is-accepted": _tokens(lambda tokens: Read(tokens, _none_is_an_algorithm)),
    "AUTHN-009 invalid-token-is-403": refused_with(
        "TOKEN_INVALID", status=403, code="ACCESS.PERMISSION_DENIED"
    ),
    "AUTHN-011 access-token-never-expires": _tokens(
        lambda tokens: Read(tokens, lambda right, token: right.read(token) | {"exp": 10**12})
    ),
}
