"""Nothing but itself is taken for what lets somebody in: no value of another type, and none nearly right."""

from __future__ import annotations

from collections.abc import Iterator

from cases.authentication.steps import an_account, begun, factor_for, judged, method_of, right_code
from cases.premises import text, unless_paced
from conformance.cases import (
    NO_SESSION,
    WRONG_CODE,
    Exchange,
    Json,
    Portal,
    Steps,
    Untestable,
    Verify,
    is_refused,
    mark,
    op,
)

OF_ANOTHER_TYPE: tuple[Json, ...] = ({"$ne": ""}, True, [], 0, {}, None)
"""The first ones are those that queries and loose comparisons have taken for a match."""

FEW = 2
"""Wrong codes that portals allow before they lock an account."""


def nearly(portal: Portal, right: str, kind: str) -> Iterator[str]:
    """Texts that differ from a secret by little. They are kept as secret as it is."""
    for near, by in (
        (right.swapcase(), "letters in the other case"),
        (right[:-1], "without its last letter"),
        (f"{right}\0", "a NUL behind it"),
        (f"{right}0", "a zero behind it"),
    ):
        if near != right:
            yield portal.secrets.altered(near, kind, of=right, by=by)


@mark.requirement("TOKEN-032")
def test_no_other_value_refreshes_a_token_pair(portal: Portal, verify: Verify) -> None:
    account = an_account(portal, "limited", "spare", "admin")
    right = account.signed_in().refresh_token
    if right is None:
        raise Untestable("the sign-in gave no refresh token", "target")
    for value in (*OF_ANOTHER_TYPE, *nearly(portal, right, "refresh-token")):
        refused = unless_paced(portal.call(op.TOKEN_REFRESH, json={"refreshToken": value}))
        if not verify(
            "TOKEN-032", is_refused(refused, message=f"{shown(value)} was taken for a refresh token")
        ):
            account.forget()
            return


@mark.requirement("LOGIN-092")
@mark.sign_ins(1)
def test_no_other_value_completes_a_sign_in(portal: Portal, verify: Verify, effort: str) -> Steps:
    """The right values come last: a sign-in ends the count of wrong codes."""
    account = an_account(portal, "limited", "spare", "admin")
    session = begun(portal, account)
    factor = factor_for(account, session, preferring="EMAIL")
    id = text(session, "data.sessionId")
    right: dict[str, Json] = {"sessionId": id, "method": method_of(factor)}
    right["code"] = yield from right_code(portal, account, session, factor)
    is_let_lock = effort == "thorough" and portal.clock.is_simulated
    bodies = [
        {**right, "sessionId": value} for value in (*OF_ANOTHER_TYPE, *nearly(portal, id, "session-id"))
    ]
    bodies += [{**right, "code": value} for value in OF_ANOTHER_TYPE[: None if is_let_lock else FEW]]

    for body in bodies:
        name = "sessionId" if body["sessionId"] != id else "code"
        refused = completed(portal, body)
        message = f"{shown(body[name])} was taken for a {name}"
        if not verify("LOGIN-092", is_refused(refused, session, message=message)):
            return
    token = completed(portal, right).at("data.accessToken")
    if isinstance(token, str):
        portal.login.logout(token)


def completed(portal: Portal, body: Json) -> Exchange:
    return judged(portal.call(op.LOGIN_COMPLETE, json=body), NO_SESSION, WRONG_CODE)


def shown(value: Json) -> str:
    """A value as a message names it, without the secret that a text is made of."""
    return "a text that is nearly right" if isinstance(value, str) else f"{value!r}"
