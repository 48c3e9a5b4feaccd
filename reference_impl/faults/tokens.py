"""Tokens, and who may call what (chapters "Login and token resources", "Authentication")."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qs

import jwt
from starlette.types import Scope

from reference_impl.changes import (
    Change,
    chosen,
    data_rewritten,
    limited,
    moved,
    refused_with,
    rewritten,
    row,
    together,
)
from reference_impl.dispatch import BOT_HEADER
from reference_impl.draw import Draw
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults import operations as op
from reference_impl.faults.fault import Call, first, optional, renamed, reported, ruled, served
from reference_impl.faults.requests import Names, adding, other_door, session_of, signed_in
from reference_impl.plan import Plan
from reference_impl.portal import Caller, Portal
from reference_impl.shapes import Body, anything, checked
from reference_impl.tokens import Claims, Tokens
from reference_impl.wrappers import Answer, Seen


def _token_ends_early(call: Call) -> Any:
    """Any access token is refused two minutes before its end."""
    issued = [
        each for each in call.portal.refresh_tokens.values() if each.session_id == call.caller.session_id
    ]
    limits = call.portal.limits
    if (
        call.portal.now()
        > max(each.expires for each in issued) - limits.refresh_token + limits.access_token - 120
    ):
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


def _as_anybody(scope: Scope, names: Names) -> Names:
    """A request without a token is taken for one of the first session's."""
    portal: Portal = scope["app"].state.portal
    if "authorization" in names:
        return names
    return signed_in(names, portal, next(iter(portal.sessions.values()), None))


def _in_lower_case(scope: Scope, names: Names) -> str | None:
    front, _, last = scope["path"].rpartition("/")
    return f"{front}/{last.lower()}" if last.isupper() and last.isalpha() else None


def _media_type_first(seen: Seen, answer: Answer) -> None:
    is_forged = answer.status == 401 and "authorization" in seen.asked.headers
    if is_forged and seen.asked.media_type != "application/json":
        answer.status, answer.body = 415, answer.body | {"code": "MEDIA_TYPE", "message": "no JSON"}


def _institution_named(seen: Seen, answer: Answer) -> None:
    institution = seen.portal.records["institution"].get(seen.parameters["institutionBizId"])
    if answer.status == 401 and institution is not None:
        answer.body["message"] = f"Sign in to read {institution['institutionName']}"


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
    return signed_in(names, scope["app"].state.portal, session_of(scope, names))


def _by_its_account(scope: Scope, names: Names) -> Names:
    """Takes a token of an ended session for a token of another session of the account."""
    portal: Portal = scope["app"].state.portal
    session = session_of(scope, names)
    if session is None or portal.next_state("session", session.state, "call") is not None:
        return names
    own = [each for each in portal.sessions_of(session.account_id) if each.id != session.id]
    return signed_in(names, portal, own[-1] if own else None)


def _if_the_refresh_token_begins_well(call: Call) -> Any:
    begins = call.body["refreshToken"][:12]
    near = (token for token in reversed(call.portal.refresh_tokens) if token.startswith(begins))
    is_there = call.body["refreshToken"] in call.portal.refresh_tokens
    return call.run_with(call.body if is_there else call.body | {"refreshToken": next(near, begins)})


def _in_any_case(call: Call) -> Any:
    """Letters of a refresh token are compared without their case."""
    sent = call.body["refreshToken"]
    same = (token for token in call.portal.refresh_tokens if token.lower() == sent.lower())
    return call.run(refreshToken=sent if sent in call.portal.refresh_tokens else next(same, sent))


def _any_for_an_object(call: Call) -> Any:
    """An object in place of a code is a query that the mailed code fulfils."""
    code, mailed = call.body["code"], call.mailed_code
    return call.run(code=mailed.text if isinstance(code, dict) and mailed is not None else str(code))


def _channels_for_any_token(seen: Seen, answer: Answer) -> None:
    if seen.asked.headers.get(BOT_HEADER) and answer.body.get("code") == "4030":
        answer.status = 404
        answer.body |= {"code": "4040", "message": "There is no such channel."}


def _token_of_the_query(scope: Scope, names: Names) -> Names:
    tokens = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token")
    return names | {"authorization": f"Bearer {tokens[-1]}"} if tokens else names


def _expired_is_forbidden(seen: Seen, answer: Answer) -> None:
    if answer.status == 401 and seen.asked.bearer is not None:
        with suppress(Refusal):
            if _unsigned(seen.portal.tokens, seen.asked.bearer).get("exp", 0) <= seen.portal.now():
                answer.status = 403
                answer.body["code"] = "ACCESS.PERMISSION_DENIED"


def _of_another(call: Call) -> Any:
    """Answers a refresh with an access token of another signed-in account."""
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
    """Refuses a second refresh of a session: marks its renewed refresh tokens as used."""
    token = portal.refresh_tokens.get(body["refreshToken"])
    if token is not None:
        family = [other for other in portal.refresh_tokens.values() if other.session_id == token.session_id]
        if len(family) > 1:
            token.state = "USED"


def _named(call: Call) -> Any:
    """The access token repeats the account's name, in a claim within another."""
    data = call.run()
    claims = call.portal.tokens.read(data["accessToken"])
    name = call.portal.find("account", claims["sub"])["accountName"]
    return data | {"accessToken": call.portal.tokens.issue(claims | {"ctx": {"displayName": name}})}


@dataclass(frozen=True, slots=True)
class Altered:
    """Tokens whose claims are changed before they are issued, or that are read in another way."""

    usual: Tokens
    change: Callable[[Claims], Claims] = lambda claims: claims
    reading: Callable[[Tokens, str], Claims] = lambda tokens, token: tokens.read(token)

    def issue(self, claims: Claims) -> str:
        return self.usual.issue(self.change(claims))

    def read(self, token: str) -> Claims:
        return self.reading(self.usual, token)


def other_tokens(build: Callable[[Tokens, Draw], Tokens]) -> Change:
    """Other tokens, made from the usual ones."""

    def change(plan: Plan) -> None:
        usual = plan.tokens
        plan.tokens = lambda choices, draw: build(usual(choices, draw), draw)

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
        with suppress(jwt.PyJWTError):
            if str(jwt.get_unverified_header(token).get("alg")).lower() == "none":
                return _unsigned(tokens, token)
        raise


def _read(reading: Callable[[Tokens, str], Claims]) -> Change:
    return other_tokens(lambda tokens, draw: Altered(tokens, reading=reading))


def _latest_session(portal: Portal) -> Any:
    return next(reversed(portal.sessions.values()), None)


def _open(operation: str) -> Change:
    """The endpoint asks for no token: without one it answers for whoever signed in last."""

    def serving(call: Call) -> Any:
        session, caller = _latest_session(call.portal), call.caller
        if session and not caller.session:
            account = call.portal.find("account", session.account_id)
            caller = replace(caller, session=session, known_account=account)
        return call.handler(call.portal, caller, call.body)

    return together(row(operation, auth="none"), served(operation, serving))


def claiming(change: Callable[[Claims], Claims]) -> Change:
    """Tokens are issued with other claims."""
    return other_tokens(lambda tokens, draw: Altered(tokens, change)).at(op.COMPLETE, op.REFRESH)


def _same_token(call: Call) -> Any:
    """A refresh gives the access token that was given before."""
    data = call.run()
    session = call.portal.refresh_tokens[data["refreshToken"]].session_id
    return data | {"accessToken": call.memory.setdefault(session, data["accessToken"])}


def _refresh_token_for_access(scope: Scope, names: Names) -> Names:
    """Every refresh token that is issued also serves as an access token."""
    portal: Portal = scope["app"].state.portal
    issued = portal.refresh_tokens.get(names.get("authorization", "").removeprefix("Bearer "))
    return signed_in(names, portal, portal.sessions[issued.session_id] if issued else None)


def _refreshed_by_access_tokens(call: Call) -> Any:
    try:
        return call.run()
    except Refusal:
        with suppress(Refusal):
            id = call.portal.tokens.read(call.body["refreshToken"])["sid"]
            tokens = [token for token, entry in call.portal.refresh_tokens.items() if entry.session_id == id]
            return call.run(refreshToken=tokens[-1])
        raise


def _refreshed_for_nobody(call: Call) -> Any:
    """An unknown refresh token gives a pair for whoever signed in last."""
    with suppress(Refusal):
        return call.run()
    id = _latest_session(call.portal).id
    token = [token for token, entry in call.portal.refresh_tokens.items() if entry.session_id == id][-1]
    call.portal.refresh_tokens[token].state = "VALID"
    return call.run(refreshToken=token)


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
        with suppress(Refusal):
            return self.tokens.read(token)
        return self.claims


def _shown_without_a_signature(seen: Seen, answer: Answer) -> None:
    """Whoever has a token of a session is shown an institution that exists, whatever the signature."""
    portal, [id] = seen.portal, seen.parameters.values()
    if answer.status == 401 and seen.asked.bearer is not None:
        with suppress(Refusal):
            if _unsigned(portal.tokens, seen.asked.bearer).get("sid") in portal.sessions:
                record = portal.view("institution", portal.find("institution", id))
                answer.status = 200
                answer.body |= {"success": True, "code": "2000", "message": "Success", "data": record}


ROWS = {
    "LOGOUT-006 a-logout-counts-too-many": reported(op.LOGOUT, "", terminatedSessions=77),
    "AUTHN-021 access-tokens-end-two-minutes-early": served(op.PROFILE, _token_ends_early),
    "AUTHN-022 a-token-in-a-cookie-signs-in": adding(_token_of_a_cookie),
    "AUTHN-020 a-token-under-any-scheme": adding(_any_scheme),
    "AUTHN-023 a-body-is-judged-before-the-token": Change(_form_first, (op.SET_WHITELIST,)),
    "AUTHN-023 a-media-type-is-judged-before-a-forged-token": rewritten(_media_type_first, op.SET_WHITELIST),
    "AUTHN-026 a-refusal-names-the-institution": rewritten(_institution_named, op.INSTITUTION),
    "AUTHN-025 an-address-in-upper-case-needs-no-token": other_door(_in_lower_case, _as_anybody),
    "AUTHN-025 a-path-parameter-leads-past-the-token": other_door(
        lambda scope, names: scope["path"].partition(";")[0] if ";" in scope["path"] else None, _as_anybody
    ),
    "AUTHN-025 a-header-that-names-the-address-needs-no-token": other_door(
        lambda scope, names: names.get("x-original-url"), _as_anybody
    ),
    "AUTHN-025 a-head-needs-no-token": other_door(
        lambda scope, names: scope["path"] if scope["method"] == "HEAD" else None, _as_anybody
    ),
    "AUTHN-025 an-overridden-method-needs-no-token": other_door(
        lambda scope, names: scope["path"] if "x-http-method-override" in names else None, _as_anybody
    ),
    "AUTHN-024 files-are-read-by-expired-tokens": adding(_outlives, op.FILE),
    "AUTHN-024 roles-are-read-after-a-logout": adding(_by_its_account, op.ROLES),
    "TOKEN-030 a-refresh-token-need-only-begin-well": served(op.REFRESH, _if_the_refresh_token_begins_well),
    "TOKEN-032 refresh-tokens-have-no-case": served(op.REFRESH, _in_any_case),
    "LOGIN-092 an-object-is-any-code": together(
        ruled(op.COMPLETE, "code", anything), served(op.COMPLETE, _any_for_an_object)
    ),
    "AUTHN-019 a-channel-is-looked-for-with-any-bot-token": rewritten(_channels_for_any_token, op.COMMAND),
    "AUTHN-001 profile-takes-a-token-in-the-query": adding(_token_of_the_query, op.PROFILE),
    "AUTHN-009 an-expired-token-is-forbidden": rewritten(_expired_is_forbidden),
    "TOKEN-026 a-refresh-gives-the-token-of-another": served(op.REFRESH, _of_another),
    "TOKEN-027 a-refreshed-pair-is-refreshed-no-more": first(op.REFRESH, _once_refreshed),
    "TOKEN-028 a-nested-claim-holds-the-name": served(op.COMPLETE, _named),
    "TOKEN-013 issued-token-is-not-accepted": data_rewritten(_dead, op.COMPLETE),
    "TOKEN-014 refreshed-token-is-not-accepted": data_rewritten(_dead, op.REFRESH),
    "TOKEN-018 access-token-carries-the-email": claiming(
        lambda claims: claims | {"email": "admin@example.test"}
    ),
    "TOKEN-024 subject-of-the-token-is-the-email": claiming(
        lambda claims: claims | {"sub": "admin@example.test"}
    ),
    "TOKEN-020 token-lives-longer-than-told": claiming(
        lambda claims: claims | {"exp": claims["exp"] + 82_800}
    ),
    "TOKEN-029 tokens-are-dated-by-another-zone": claiming(
        lambda claims: claims | {name: claims[name] + 8 * 3600 for name in ("iat", "exp")}
    ),
    "TOKEN-025 access-token-is-opaque": chosen(access_token="opaque").at(op.COMPLETE, op.REFRESH),
    "LIMIT-016 refreshed-token-of-3599": reported(op.REFRESH, "", expiresIn=3599),
    "LIMIT-008 LIMIT-009 access-token-in-milliseconds": together(
        reported(op.COMPLETE, "", expiresIn=3_600_000), reported(op.REFRESH, "", expiresIn=3_600_000)
    ),
    "TOKEN-010 refresh-is-refused": moved("refresh token", "VALID", "refresh", None).at(op.REFRESH),
    "TOKEN-015 any-refresh-token-refreshes": served(op.REFRESH, _refreshed_for_nobody),
    "TOKEN-031 access-tokens-refresh": served(op.REFRESH, _refreshed_by_access_tokens),
    "TOKEN-016 unknown-refresh-token-is-401": renamed(op.REFRESH, "AUTH.SESSION_NOT_FOUND", "4010"),
    "TOKEN-021 refresh-gives-the-same-token": served(op.REFRESH, _same_token),
    "TOKEN-022 refresh-token-serves-as-access-token": adding(_refresh_token_for_access).at(
        op.COMPLETE, op.REFRESH
    ),
    "TOKEN-023 refresh-without-token-is-404": optional(op.REFRESH, "refreshToken", "none"),
    "AUTHN-012 expired-session-cannot-be-refreshed": limited(refresh_token=3000.0).at(op.REFRESH),
    "TOKEN-011 TOKEN-012 session-outlives-logout": moved("session", "ACTIVE", "logout", "ACTIVE").at(
        op.LOGOUT
    ),
    "LOGOUT-003 logout-counts-no-session": reported(op.LOGOUT, "", terminatedSessions=0),
    "LOGOUT-004 logout-says-no-success": reported(op.LOGOUT, "", success=False),
    "AUTHN-001 AUTHN-002 profile-without-token": _open(op.PROFILE),
    "AUTHN-001 AUTHN-002 roles-without-token": _open(op.ROLES),
    "AUTHN-001 AUTHN-002 file-without-token": _open(op.FILE),
    "AUTHN-004 mail-servers-are-validated-without-a-token": _open(op.VALIDATE_SMTP),
    "AUTHN-001 missing-token-is-403": refused_with("ACCESS.TOKEN_MISSING", status=403, code="4010"),
    "AUTHN-002 missing-token-has-another-code": refused_with(
        "ACCESS.TOKEN_MISSING", code="AUTH.UNAUTHORIZED"
    ),
    "AUTHN-005 refresh-wants-a-token": row(op.REFRESH, auth="JWT"),
    "AUTHN-006 any-token-is-accepted": other_tokens(lambda tokens, draw: Last(tokens)),
    "AUTHN-007 AUTHN-008 signature-is-not-checked": _read(_unsigned),
    "AUTHN-013 an-institution-is-shown-without-a-signature": rewritten(
        _shown_without_a_signature, op.INSTITUTION
    ),
    "AUTHN-008 algorithm-none-is-accepted": _read(_none_is_an_algorithm),
    "AUTHN-009 invalid-token-is-403": refused_with(
        "TOKEN_INVALID", status=403, code="ACCESS.PERMISSION_DENIED"
    ),
    "AUTHN-011 access-token-never-expires": _read(lambda right, token: right.read(token) | {"exp": 10**12}),
}
