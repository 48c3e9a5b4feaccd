"""What is let through that an endpoint has to refuse, or is refused in another way than stated."""

import base64
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs

import jwt
from starlette.types import ASGIApp, Receive, Scope, Send

from reference_impl.changes import Change, handled, rewritten, together, wrapped
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults.fault import asked, fault, fielded, first, ruled
from reference_impl.faults.operations import (
    ACCEPT,
    ACCOUNT_UPDATE,
    INITIATE,
    PROFILE,
    REFRESH,
    ROLE_PERMISSIONS,
    SECURE_SESSION,
)
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body, Rule, anything, text
from reference_impl.wrappers import Answer, Seen

NOTHING = "nothing"


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


def _null_is(operation: str, name: str, value: Any) -> Change:
    """A null stands for a value; a field that is left out does not."""

    def valued(body: Body) -> Body:
        if name not in body:
            raise Refusal(INVALID)
        return body | {name: value} if body[name] is None else body

    lax = fielded(operation, name, lambda field: replace(field, required=False, nullable=True))
    return together(lax, asked(operation, valued))


def _empty_is_done(operation: str, name: str, data: Callable[[Portal], Any], rule: Rule = anything) -> Change:
    """An empty text is answered as if there had been something to do."""

    def around(handler: Handler) -> Handler:
        def answering(portal: Portal, caller: Caller, body: Body) -> Any:
            return data(portal) if body[name] == "" else handler(portal, caller, body)

        return answering

    return together(ruled(operation, name, rule), handled(operation, around))


def _session(portal: Portal) -> Any:
    return {"sessionId": portal.new_id("secure session"), "expiresAt": int((portal.now() + 600) * 1000)}


def _anybody(portal: Portal) -> Any:
    methods = [portal.enumeration("user-mfa-methods", "EMAIL")]
    return {
        "sessionId": portal.new_id("login session"),
        "mfaMethods": methods,
        "expiresIn": 300,
        "accountStatus": None,
        "pendingApproval": False,
    }


def _no_base64_is_not_found(portal: Portal, caller: Caller, body: Body) -> None:
    for name in ("encReqKey", "encRespKey"):
        try:
            base64.b64decode(body[name], validate=True)
        except ValueError:
            raise Refusal("RESOURCE.NOT_FOUND") from None


def _no_permissions(handler: Handler) -> Handler:
    def listing(portal: Portal, caller: Caller, body: Body) -> Any:
        try:
            return handler(portal, caller, body)
        except Refusal:
            return []

    return listing


FAULTS = (
    # Tokens.
    fault(
        "AUTHN-001",
        "profile-takes-a-token-in-the-query",
        _token_in("token", "/web/v1/system/profile"),
        PROFILE,
        also="AUTHN-002 INVITATION-034",
    ),
    fault(
        "AUTHN-001",
        "security-takes-an-access-token-in-the-query",
        _token_in("access_token", "/web/v1/system/security"),
        also="AUTHN-002",
    ),
    fault("AUTHN-009", "an-expired-token-is-forbidden", rewritten(_expired_is_forbidden)),
    # Fields that hold nothing.
    fault("ERROR-020", "a-null-refresh-token-is-not-found", _null_is(REFRESH, "refreshToken", NOTHING)),
    fault("ERROR-020", "no-account-is-not-found", _null_is(ACCOUNT_UPDATE, "userBizId", NOTHING)),
    fault("ERROR-020", "a-null-invitation-is-not-found", _null_is(ACCEPT, "invitationBizId", NOTHING)),
    fault("ERROR-020", "a-null-email-is-nobodys", _null_is(INITIATE, "email", NOTHING)),
    fault("ERROR-020", "a-null-password-is-wrong", _null_is(INITIATE, "password", NOTHING)),
    fault(
        "ERROR-021",
        "an-empty-account-is-updated",
        _empty_is_done(ACCOUNT_UPDATE, "userBizId", lambda portal: {}),
    ),
    fault(
        "ERROR-021",
        "an-empty-email-begins-a-sign-in",
        _empty_is_done(INITIATE, "email", _anybody, text(most=255)),
    ),
    fault(
        "ERROR-021", "an-empty-key-opens-a-session", _empty_is_done(SECURE_SESSION, "encRespKey", _session)
    ),
    fault(
        "SECURE-006", "a-key-that-is-no-base64-is-not-found", first(SECURE_SESSION, _no_base64_is_not_found)
    ),
    # Ids.
    fault("ROLE-014", "an-unknown-role-has-no-permissions", handled(ROLE_PERMISSIONS, _no_permissions)),
)
