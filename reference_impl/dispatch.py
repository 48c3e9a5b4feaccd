"""The steps between a request and its handler, one for each rule of the chapter "Authentication"."""

import hmac
from typing import Any

from reference_impl import sealing, wire
from reference_impl.asked import Asked
from reference_impl.errors import INVALID, Refusal
from reference_impl.fields import without_nulls
from reference_impl.handlers.authentication import CLOSED, admit_address, count_initiation
from reference_impl.handlers.secure_channel import open_session
from reference_impl.messages import preferred
from reference_impl.portal import Caller, Portal, Record, Session
from reference_impl.routes import CONSTANTS_LISTS, JWT, Row
from reference_impl.shapes import NOTHING, Body, checked

INITIATE = "POST /web/v1/system/auth/login/initiate"
BOT_HEADER = "x-turnstile-token"
BOT_FIELD = "turnstileToken"
EDGE_HEADERS = ("x-forwarded-proto", "cf-connecting-ip", "cf-ray", "cf-ipcountry", "x-locale")
JSON_TYPES = ("application/json", "")
_PUBLIC_CONSTANTS = frozenset(row.name for row in CONSTANTS_LISTS)


def admit(portal: Portal, asked: Asked) -> None:
    sent = asked.headers.get("x-portal-access-code", "")
    if not hmac.compare_digest(sent.encode(), portal.access_code.encode()):
        raise Refusal("PORTAL_MISMATCH")
    required = EDGE_HEADERS * portal.choices.edge_headers_required
    required += ("x-request-id",) * portal.choices.request_id_required
    if any(name not in asked.headers for name in required):
        raise Refusal(INVALID)


def serve(portal: Portal, asked: Asked, row: Row, path_parameters: Body) -> Any:
    """The data of a success; raises Refusal."""
    caller = identify(portal, asked, row)
    body = read(portal, asked, row, caller)
    challenge(portal, asked, row, body)
    checked_body = checked(
        row.takes, body, limits=portal.limits, strict=portal.choices.unknown_properties == "rejected"
    )
    return answer(portal, row, row.handler(portal, caller, checked_body | path_parameters))


# Who calls.


def identify(portal: Portal, asked: Asked, row: Row) -> Caller:
    session = account = None
    if row.auth == JWT and not (portal.choices.constants_public and row.name in _PUBLIC_CONSTANTS):
        session, account = _signed_in(portal, asked)
        _permit(portal, account, row)
    return Caller(
        client_ip=asked.client_ip,
        user_agent=asked.headers.get("user-agent", ""),
        client_hash=asked.headers.get("x-client-hash", ""),
        language=language(asked),
        workspace_id=asked.headers.get("x-workspace-id") or None,
        secure_session_id=asked.headers.get("x-secure-channel-session-id"),
        session=session,
        known_account=account,
    )


def language(asked: Asked) -> str:
    return preferred(asked.headers.get("accept-language"))


def _signed_in(portal: Portal, asked: Asked) -> tuple[Session, Record]:
    token = asked.bearer
    if token is None:
        raise Refusal("ACCESS.TOKEN_MISSING")
    claims = portal.tokens.read(token)
    session = portal.sessions.get(claims.get("sid", ""))
    expired = claims.get("exp", 0) + portal.limits.token_leeway <= portal.now()
    if session is None or expired or portal.next_state("session", session.state, "call") is None:
        raise Refusal("TOKEN_INVALID")
    admit_address(portal, session.account_id, asked.client_ip)
    account = portal.find("account", session.account_id)
    if account["accountStatus"] in CLOSED:
        raise Refusal("TOKEN_INVALID")
    session.last_activity = portal.now()
    return session, account


def _permit(portal: Portal, account: Record, row: Row) -> None:
    needed = row.permission
    if needed == "constants:read" and not portal.choices.constants_need_permission:
        return
    if needed and needed not in portal.permissions(account):
        raise Refusal("ACCESS.PERMISSION_DENIED")


# What is sent.


def read(portal: Portal, asked: Asked, row: Row, caller: Caller) -> Any:
    """The body of a POST, decrypted where it came encrypted, or the query of a GET."""
    if row.method == "GET":
        return {name: values for name, values in asked.query.items() if name in row.takes.fields}
    body = _json(asked, row) if row.takes is not NOTHING else {}
    if row.sealed or (caller.secure_session_id and sealing.is_sealed(body)):
        body = _opened(portal, asked, caller, body)
    if row.name == INITIATE:
        _count(portal, caller, row, body)
    return body


def _count(portal: Portal, caller: Caller, row: Row, body: Any) -> None:
    if not portal.choices.rate_counts_invalid:
        checked(row.takes, body, limits=portal.limits, strict=True)
    email = body.get("email") if isinstance(body, dict) else None
    count_initiation(portal, caller, email if isinstance(email, str) else "")


def _json(asked: Asked, row: Row) -> Any:
    if asked.octets is None:
        raise Refusal("BODY_TOO_LARGE")
    if asked.media_type not in JSON_TYPES:
        raise Refusal(INVALID)
    try:
        return wire.decoded(asked.octets or b"{}")
    except wire.Malformed:
        raise Refusal(INVALID) from None


def _opened(portal: Portal, asked: Asked, caller: Caller, body: Any) -> Any:
    session = open_session(portal, caller.secure_session_id)
    asked.response_key = session.response_key
    try:
        return sealing.open_body(body, session.request_key, portal.choices)
    except sealing.Unreadable:
        raise Refusal(INVALID) from None


def challenge(portal: Portal, asked: Asked, row: Row, body: Any) -> None:
    """Bot-challenge verification, where the row asks for it."""
    if not row.bot and row.path not in portal.choices.bot_challenge_also_on:
        return
    sent: Any = asked.headers.get(BOT_HEADER)
    if row.bot == "body" and isinstance(body, dict):
        sent = body.get(BOT_FIELD, sent)
        if sent is None and not portal.choices.turnstile_required:
            return
        if not isinstance(sent, str):
            raise Refusal(INVALID)
    if not hmac.compare_digest((sent or "").encode(), portal.bot_token.encode()):
        raise Refusal("4030")


# What is answered.

_CHANGED: dict[str, Any] = {
    "null": None,
    "created": None,
    "empty": {},
    "success": {"success": True},
    "true": True,
    "text": "OK",
    "array": [],
}


def answer(portal: Portal, row: Row, data: Any) -> Any:
    form = portal.choices.changes_answer
    if row.answer == "changed" or (row.answer == "created" and form != "created"):
        data = data if form == "resource" else _CHANGED[form]
    return data if portal.choices.null_fields else without_nulls(data)
