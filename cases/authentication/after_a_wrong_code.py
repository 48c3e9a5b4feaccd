"""Checks whether the portal refuses a right code because of the wrong code before it."""

from __future__ import annotations

from collections.abc import Generator

from cases.authentication.steps import begun, completed, delivered, offering, serves_everywhere
from conformance.cases import WRONG_CODE, Account, Exchange, Portal, Verify, Wait, holds, is_success


def right_after_a_wrong_one(
    portal: Portal, account: Account, verify: Verify
) -> Generator[Wait, None, Exchange | None]:
    """The answer to a right mailed code after a single wrong one; None where it tells nothing.

    It is asked for where such a code was refused before. A sign-in without any wrong code comes first: it
    shows that the inbox gives the right codes, and that the account is not locked.
    """
    if serves_everywhere(portal, account, "EMAIL"):
        return None
    mailed = yield from _mailed(portal, account)
    if mailed is None:
        return None
    alone = completed(portal, mailed[0], "EMAIL", mailed[1])
    if not alone.success:
        return None
    verify("LOGIN-028", is_success(alone, mailed[0]))
    token = alone.at("data.accessToken")
    if isinstance(token, str):
        portal.login.logout(token)
    return (yield from _after_a_wrong_one(portal, account, verify, alone))


def _after_a_wrong_one(
    portal: Portal, account: Account, verify: Verify, alone: Exchange
) -> Generator[Wait, None, Exchange | None]:
    mailed = yield from _mailed(portal, account)
    if mailed is None:
        return None
    session, code = mailed
    wrong = completed(portal, session, "EMAIL", account.wrong_code("EMAIL"))
    if wrong.code != WRONG_CODE or account.code("EMAIL") != code:  # else another mail has come meanwhile
        return None
    right = completed(portal, session, "EMAIL", code)
    if right.success or right.code == WRONG_CODE:
        message = (
            "after one wrong code the right one is refused, which completes a sign-in without a wrong one"
        )
        held = holds(
            right, "code", right.success, "the code of a success", session, wrong, alone, message=message
        )
        verify("LOGIN-091", held)
    return right


def _mailed(portal: Portal, account: Account) -> Generator[Wait, None, tuple[Exchange, str] | None]:
    """A login session of its own with the code that was mailed for it; None where none is sent."""
    session = offering(begun(portal, account), "EMAIL")
    sent = yield from delivered(portal, session)
    return (session, account.code("EMAIL")) if sent.success else None
