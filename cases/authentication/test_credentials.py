"""Initiate: which email and password begin a sign-in."""

from __future__ import annotations

from cases.authentication.steps import WRONG_CREDENTIALS, address_of, an_account, judged, nobody
from conformance.cases import (
    HELD,
    INVALID_PARAMETER,
    LIMITS,
    Account,
    Comparison,
    Exchange,
    Portal,
    Verify,
    contradicts,
    is_error,
    is_not_invalid_parameter,
    is_refused,
    mark,
    summary,
)


@mark.requirement(
    "LOGIN-040", "LOGIN-041", "LOGIN-042", "LOGIN-049", "LOGIN-050", "LOGIN-052", "LOGIN-066", "LOGIN-081",
    "LOGIN-084",
)  # fmt: skip
@mark.sign_ins(3)
def test_wrong_credentials_of_any_allowed_length_are_refused_alike(portal: Portal, verify: Verify) -> None:
    """What is wrong has the lengths at the ends of what is allowed, which spares three sign-ins.

    A wrong password may count towards a lock: the administrator's account is tried where there is no other.
    """
    refused = _known(portal, verify, an_account(portal, "limited", "spare", "admin"))
    unknown = _unknown(portal, verify)

    verify("LOGIN-040", is_error(refused, WRONG_CREDENTIALS))
    verify("LOGIN-041", is_error(unknown, WRONG_CREDENTIALS))
    if not refused.success and not unknown.success:
        verify("LOGIN-066", _refused_alike(unknown, refused))


def _known(portal: Portal, verify: Verify, account: Account) -> Exchange:
    """How a wrong password of an account is answered: the right one with a blank behind it, or where that
    decides nothing one that differs more."""
    near = _with_a_blank(portal, verify, account)
    if near is None or near.code != WRONG_CREDENTIALS:
        return _shortest(portal, verify, account.email)
    _shortest(portal, verify, nobody(portal))
    return near


def _with_a_blank(portal: Portal, verify: Verify, account: Account) -> Exchange | None:
    """A portal may refuse blanks around a password as such. None where it would be too long."""
    near = f"{account.password} "
    if len(near) > LIMITS.password_max or account.password != account.password.strip():
        return None
    portal.secrets.altered(near, "password", of=account.password, by="a blank behind it")
    answer = _wrong(portal, account.email, near)
    if answer.success or answer.code == WRONG_CREDENTIALS or answer.code in INVALID_PARAMETER:
        message = "a password was taken with a blank behind it"
        verify("LOGIN-084", is_refused(answer, message=message))
    return answer


def _shortest(portal: Portal, verify: Verify, email: str) -> Exchange:
    """How the shortest password is answered, or one of ordinary length, where that is no matter."""
    short = _wrong(portal, email, password_of(LIMITS.password_min))
    if short.code not in INVALID_PARAMETER:
        verify("LOGIN-049", HELD)
        return short
    ordinary = _wrong(portal, email)
    _verify_length(verify, "LOGIN-049", short, ordinary)
    return ordinary


def _unknown(portal: Portal, verify: Verify) -> Exchange:
    """How an unknown email of ordinary length is answered, or the longest, where that is no matter."""
    in_octets = password_of(LIMITS.password_max, "é")
    longest = _wrong(portal, address_of(LIMITS.email_max), in_octets)
    if longest.code not in INVALID_PARAMETER:
        for rule in ("LOGIN-050", "LOGIN-052", "LOGIN-081"):
            verify(rule, HELD)
        return longest
    ordinary = _wrong(portal, nobody(portal))
    password = password_of(LIMITS.password_max)
    in_letters = _wrong(portal, nobody(portal), password)
    _verify_length(verify, "LOGIN-050", in_letters, ordinary)
    _verify_length(verify, "LOGIN-052", _wrong(portal, address_of(LIMITS.email_max)), ordinary)
    if in_letters.code not in INVALID_PARAMETER:
        _verify_characters(portal, verify, in_octets)
    return ordinary


def _verify_characters(portal: Portal, verify: Verify, longest: str) -> None:
    """A password of characters that take two octets each is as long as any other; where none of these letters
    is taken at all, that says nothing."""
    few = _wrong(portal, nobody(portal), password_of(LIMITS.password_max // 2, "é"))
    if few.code in INVALID_PARAMETER:
        verify.untested("LOGIN-081", "passwords with other than ASCII letters are refused", "target")
    else:
        verify("LOGIN-081", is_not_invalid_parameter(_wrong(portal, nobody(portal), longest)))


def password_of(length: int, filled: str = "x") -> str:
    """A password of so many characters that is nobody's."""
    return "Wr0ng-Pass!".ljust(length, filled)[:length]


def _wrong(portal: Portal, email: str, password: str | None = None) -> Exchange:
    """Wrong credentials; without a password one of ordinary length, to tell a refused length apart."""
    return judged(portal.login.initiate(email, password), WRONG_CREDENTIALS)


def _verify_length(verify: Verify, requirement_id: str, at_the_end: Exchange, ordinary: Exchange) -> None:
    if ordinary.code in INVALID_PARAMETER:
        verify.untested(requirement_id, "wrong credentials of any length are refused as invalid", "target")
    else:
        verify(requirement_id, is_not_invalid_parameter(at_the_end))


def _refused_alike(unknown: Exchange, existing: Exchange) -> Comparison:
    if (unknown.status, unknown.code) == (existing.status, existing.code):
        return HELD
    return contradicts(
        unknown, "code", summary(existing), summary(unknown), "the refusal tells who has an account"
    )
