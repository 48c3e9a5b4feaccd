"""The checks of ``conformance.checks.access.claims``."""

from __future__ import annotations

from msgspec.structs import replace

from conformance.spec.endpoints import LOGIN_COMPLETE, PROFILE
from conformance.tests.proof import Proof
from conformance.tests.traffic import account, answer, completed, jwt
from conformance.traffic.exchange import Exchange, Json


def profile_by(token: str, **profile: Json) -> Exchange:
    return answer(PROFILE, account(**profile), headers={"Authorization": f"Bearer {token}"})


def hidden(**kinds: str) -> Exchange:
    """A sign-in whose token a recorder put out of sight, with what it says of the claims."""
    exchange = answer(LOGIN_COMPLETE, completed(accessToken="[token-1]"))
    return replace(exchange, hidden={"[token-1]": {"claims": {"sub": "word", "iat": "number", **kinds}}})


NAMING = profile_by(jwt(user={"displayName": "Ada"}), accountName="Ada")

PROOFS = [
    Proof("TOKEN-025", hidden(), replace(hidden(), hidden={"[token-1]": {"claims": None}})),
    Proof("TOKEN-018", hidden(realm="text"), hidden(email="email")),
    Proof(
        "TOKEN-018",
        [
            hidden(name="word"),
            hidden(sub="email", email="email"),
            hidden(sub="text", name="text"),
            hidden(owner="email"),
            hidden(phone="number"),
            replace(hidden(), hidden={"[token-1]": {"claims": None}}),
            replace(hidden(email="email"), hidden={"[token-2]": {"claims": {"email": "email"}}}),
        ],
        hidden(name="text"),
        silent=True,
    ),
    Proof(
        "TOKEN-028",
        [
            profile_by(jwt(sub="a-1", exp=1)),
            profile_by(jwt(roleName="Ada", ctx={"nickname": "Somebody"}), accountName="Ada"),
            profile_by(jwt(sub="Ada Admin", kind="Ada"), accountName="Ada"),
            profile_by(jwt(exp=15550100), accountPhone="+1 555 0100"),
        ],
        NAMING,
    ),
    Proof("TOKEN-028", profile_by("opaque-token"), NAMING, silent=True),
    Proof(
        "TOKEN-028",
        profile_by(jwt(ctx={"tel": "555"}), accountPhone="555"),
        profile_by(jwt(ctx={"tel": "+1 555-0100"}), accountPhone="+1 555 0100"),
    ),
]
