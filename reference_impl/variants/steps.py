"""What the steps of a sign-in may take, and tokens may hold, beyond what is stated."""

from typing import Any

from reference_impl.changes import Change, handled, together
from reference_impl.faults.fault import optional
from reference_impl.faults.operations import COMPLETE, SEND
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.variants.variant import Variant, may


def _method_left_out(operation: str) -> Change:
    """It is the account's primary one."""

    def around(handler: Handler) -> Handler:
        def stepping(portal: Portal, caller: Caller, body: Body) -> Any:
            session = portal.login_sessions.get(body["sessionId"])
            if body.get("method") or session is None:
                return handler(portal, caller, body)
            factors = portal.security(session.account_id)["factors"]
            primary = next((name for name, factor in factors.items() if factor["isPrimary"]), "EMAIL")
            method = {"EMAIL": 10011001, "OTP": 10011002}[primary]
            return handler(portal, caller, body | {"method": method})

        return stepping

    return together(handled(operation, around), optional(operation, "method", 0))


def _named_after_its_role(handler: Handler) -> Handler:
    """The token names the role and the portal, which may be called as the account is."""

    def issuing(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        claims = portal.tokens.read(data["accessToken"])
        name = portal.find("account", claims["sub"])["accountName"]
        claims |= {"roleName": name, "realm_access": {"roles": [name]}, "resource": {"kind": name}}
        return data | {"accessToken": portal.tokens.issue(claims)}

    return issuing


VARIANTS: tuple[Variant, ...] = (
    may(
        "a-method-left-out-is-the-primary-one",
        "that a step of the sign-in must name its method is not stated",
        together(_method_left_out(SEND), _method_left_out(COMPLETE)),
        "method",
    ),
    may(
        "tokens-name-the-role",
        "what a token holds beside profile data is not stated",
        handled(COMPLETE, _named_after_its_role),
        "access-token",
    ),
)
