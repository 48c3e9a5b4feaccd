"""A sign-in from its first step to the end of its tokens."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress

from cases.authentication.after_a_wrong_code import right_after_a_wrong_one
from cases.authentication.steps import (
    WRONG_CREDENTIALS,
    an_account,
    begun,
    code_at_hand,
    completed,
    factor_for,
    flags_of,
    judged,
    left_until,
    method_of,
    observe_rotation,
    other_than,
    profile_after_expiry,
    profile_by,
    right_code,
    seconds_at,
    serves_everywhere,
    taken_elsewhere,
)
from cases.premises import A_WHILE, answered, may_be_own_rule, refusal_text, text, unless_by_own_rule
from conformance.cases import (
    INVALID_PARAMETER,
    KNOWN_CODES,
    LIMITS,
    NO_SESSION,
    WRONG_CODE,
    Account,
    CannotSignIn,
    Exchange,
    Factor,
    Portal,
    Untestable,
    Verify,
    Wait,
    claims_of,
    ended,
    equal,
    holds,
    is_error,
    is_held_back,
    is_refused,
    is_success,
    mark,
    op,
)

SHORTLY = 10.0
"""Seconds before the end of a lifetime in which a token must still be taken."""

COMPLETES = {"OTP": "LOGIN-027", "EMAIL": "LOGIN-028"}


@mark.requirement(
    "LOGIN-020", "LOGIN-021", "LOGIN-027", "LOGIN-028", "LOGIN-029", "LOGIN-030", "LOGIN-031", "LOGIN-032",
    "LOGIN-038", "LOGIN-059", "LOGIN-061", "LOGIN-064", "LOGIN-067", "LOGIN-091",
    "TOKEN-010", "TOKEN-013", "TOKEN-014", "TOKEN-017", "TOKEN-018", "TOKEN-019", "TOKEN-020", "TOKEN-025",
    "TOKEN-021", "TOKEN-022", "TOKEN-026", "TOKEN-027", "TOKEN-028",
    "AUTHN-009", "AUTHN-011", "AUTHN-012", "AUTHN-016", "AUTHN-021",
    "LIMIT-005", "LIMIT-008", "LIMIT-009", "LIMIT-016",
)  # fmt: skip
@mark.sign_ins(2)
@mark.waits(LIMITS.access_token, then=["AUTHN-011", "AUTHN-012", "AUTHN-016", "AUTHN-021", "TOKEN-017"])
def test_a_sign_in_goes_from_its_first_step_to_the_end_of_its_tokens(
    portal: Portal, verify: Verify
) -> Generator[Wait, None, None]:
    """Codes are refused here, which may lock an account: the administrator's only where there is no other."""
    account = an_account(portal, "limited", "spare", "admin")
    yield from code_at_hand(portal, account)
    session = _begun(portal, account, verify)
    factor = factor_for(account, session, preferring="OTP")
    _completed_by_others(portal, verify, other_than(factor))
    code = yield from right_code(portal, account, session, factor)

    refused = _refusals(portal, account, verify, session, factor=factor, code=code)
    accepted = yield from _accepted(portal, account, verify, session, refused, factor=factor, code=code)
    _verify_approved(verify, session, accepted)
    _is_used_up(portal, verify, session, accepted, factor=factor, code=code)
    refreshed = _gives_tokens(portal, verify, accepted)

    _used_code_again(portal, account, verify, accepted, factor=factor, code=code)

    yield from _tokens_end(portal, verify, refreshed)


def _completed_by_others(portal: Portal, verify: Verify, factor: Factor) -> None:
    """The sign-ins by which the run's other accounts work show as well that a factor completes."""
    for name in ("admin", "spare"):
        if not portal.has_account(name) or portal.account(name).mfa != factor:
            continue
        with suppress(Untestable):
            signed_in = portal.account(name).signed_in()
            verify(COMPLETES[factor], is_success(signed_in.completed, signed_in.initiated))
            return
    verify.untested(COMPLETES[factor], f"no account of the profile signs in by {factor}")


def _begun(portal: Portal, account: Account, verify: Verify) -> Exchange:
    """Valid credentials that are refused may be the profile's mistake, but not where their form is refused,
    and not where they were good before."""
    session = answered(portal.login.initiate(account))
    if session.success or session.code in (WRONG_CREDENTIALS, *INVALID_PARAMETER) or session.status == 500:
        verify("LOGIN-020", is_success(session))
    if not session.success:
        raise CannotSignIn(f"[accounts.{account.name}]: initiate is refused ({refusal_text(session)})")
    return session


def _refusals(
    portal: Portal, account: Account, verify: Verify, session: Exchange, *, factor: Factor, code: str
) -> list[Exchange]:
    """A wrong code, and the right one under the method that it is not for: neither ends the session.

    No more than two in a row: a portal may well lock what is tried a third time.
    """
    wrong = completed(portal, session, factor, account.wrong_code(factor))
    if not may_be_own_rule(wrong):  # else the right code is to show that the sign-in is let through
        verify("LOGIN-029", is_error(wrong, WRONG_CODE, session))
    if wrong.success:
        raise Untestable("a wrong code completed the login session", "target")
    if serves_everywhere(portal, account, factor):
        verify.untested("LOGIN-059", "the inbox is of the kind fixed, whose code may serve for any method")
        return [wrong]

    method = method_of(other_than(factor))
    elsewhere = judged(portal.login.complete(session, method=method, code=code), WRONG_CODE)
    message = f"a code for {factor} was accepted under method {method}"
    verify("LOGIN-059", is_refused(elsewhere, session, message=message))
    if elsewhere.success:
        raise Untestable("a code completed the login session under another method", "target")
    return [wrong, elsewhere]


def _accepted(
    portal: Portal,
    account: Account,
    verify: Verify,
    session: Exchange,
    refused: list[Exchange],
    *,
    factor: Factor,
    code: str,
) -> Generator[Wait, None, Exchange]:
    """The answer to the right code. Raises Untestable where it does not complete the session."""
    accepted = completed(portal, session, factor, code)
    if ended(accepted) >= session.time + seconds_at(session, "data.expiresIn", LIMITS.login_session):
        raise Untestable("the login session came to its end on the way", "environment")
    if accepted.success:
        verify(COMPLETES[factor], is_success(accepted, session))
        verify("LOGIN-030", is_success(accepted, session, *refused))
        if may_be_own_rule(refused[0]):
            verify("LOGIN-029", is_error(refused[0], WRONG_CODE, session, accepted))
        return accepted
    unless_by_own_rule(accepted)
    if accepted.code == NO_SESSION and portal.login.is_newest(session):
        verify("LOGIN-030", is_success(accepted, session, *refused))
    elif _is_surely_right(portal, account, factor) and taken_elsewhere(portal, account, factor) is False:
        verify(COMPLETES[factor], is_success(accepted, session))
    elif factor == "EMAIL" and accepted.code == WRONG_CODE:
        right = yield from right_after_a_wrong_one(portal, account, verify)
        if right is not None and right.code == WRONG_CODE:
            raise Untestable(
                "a wrong code makes the mailed one invalid, so that no sign-in follows", "target"
            )
    reason = f"[accounts.{account.name}]: its {factor} code is refused ({refusal_text(accepted)})"
    advice = account.advice(accepted, factor) if accepted.code == WRONG_CODE else ""
    raise CannotSignIn(f"{reason}. {advice}" if advice else reason)


def _is_surely_right(portal: Portal, account: Account, factor: Factor) -> bool:
    """Whether a refused code cannot be the profile's fault: it was mailed, or its secret served before. A
    secret that the portal gives out is tried in the life of an authenticator."""
    return account.is_otp_proven if factor == "OTP" else not serves_everywhere(portal, account, factor)


def _verify_approved(verify: Verify, session: Exchange, accepted: Exchange) -> None:
    for answer in (session, accepted):
        for flag in flags_of(answer):
            verify("LOGIN-038", holds(answer, "data.pendingApproval", not flag, False, actual=flag))


def _is_used_up(
    portal: Portal, verify: Verify, session: Exchange, accepted: Exchange, *, factor: Factor, code: str
) -> None:
    repeated = completed(portal, session, factor, code)
    verify("LOGIN-031", is_refused(repeated, session, accepted))
    verify("LOGIN-032", is_error(repeated, NO_SESSION, session, accepted))


def _gives_tokens(portal: Portal, verify: Verify, accepted: Exchange) -> Exchange:
    """The token pair opens the application and can be refreshed, again and again: the last answer."""
    access, refresh = text(accepted, "data.accessToken"), text(accepted, "data.refreshToken")
    own = profile_by(portal, access)
    verify("TOKEN-013", is_success(own, accepted))
    verify("TOKEN-022", is_refused(profile_by(portal, refresh), accepted))

    refreshed = answered(portal.login.refresh(refresh))
    verify("TOKEN-010", is_success(refreshed, accepted))
    _is_of_the_account(portal, verify, refreshed, own)

    second = portal.login.refresh(text(refreshed, "data.refreshToken"))
    if is_held_back(second) or (not second.success and second.code not in KNOWN_CODES):
        verify.untested("TOKEN-027", f"a rate may be kept ({refusal_text(second)})", "environment")
        return refreshed
    verify("TOKEN-027", is_success(second, refreshed))
    if not second.success:
        return refreshed
    _is_of_the_account(portal, verify, second, own)
    return second


def _is_of_the_account(portal: Portal, verify: Verify, refreshed: Exchange, own: Exchange) -> None:
    """The new access token is accepted, and shows the profile that the one before has shown."""
    profile = profile_by(portal, text(refreshed, "data.accessToken"))
    verify("TOKEN-014", is_success(profile, refreshed))
    if profile.success and own.success:
        expected = own.at("data.bizId")
        verify("TOKEN-026", equal(profile, "data.bizId", expected, refreshed, own))


def _used_code_again(
    portal: Portal, account: Account, verify: Verify, accepted: Exchange, *, factor: Factor, code: str
) -> None:
    if factor == "OTP":
        verify.untested("LOGIN-061", "how often a code of an authenticator serves is not stated")
        return
    other = begun(portal, account)
    if serves_everywhere(portal, account, factor):
        verify.untested("LOGIN-061", "the inbox is of the kind fixed, whose code serves again and again")
        return
    refused = completed(portal, other, factor, code)
    verify("LOGIN-061", is_refused(refused, accepted, other, message="a used code completed another sign-in"))
    if refused.success:
        raise Untestable("a used code completed the second login session", "target")
    portal.login.left.put(account.email, other)


def _tokens_end(portal: Portal, verify: Verify, issued: Exchange) -> Generator[Wait, None, None]:
    """An access token that has come to its end is refused, and replaced through a refresh."""
    access, refresh = text(issued, "data.accessToken"), text(issued, "data.refreshToken")
    lifetime = seconds_at(issued, "data.expiresIn", LIMITS.access_token)
    # Used on the way: what prolongs a token's life is its use.
    yield left_until(portal, ended(issued) + lifetime / 2), "the end of an access token"
    portal.call(op.PROFILE, token=access)
    margin = min(A_WHILE if portal.clock.is_simulated else SHORTLY, lifetime / 4)
    yield left_until(portal, issued.time + lifetime - margin), "the last moments of an access token"
    late = portal.call(op.PROFILE, token=access)
    expired = yield from profile_after_expiry(portal, access, ended(issued) + lifetime)
    verify("AUTHN-011", is_refused(expired, issued, message="an expired token was accepted"))
    if not expired.success:
        verify("AUTHN-009", equal(expired, "status", 401, issued))
    refreshed = answered(portal.login.refresh(refresh))
    verify("AUTHN-012", is_success(refreshed, issued))
    in_time = ended(late) < issued.time + lifetime
    if refreshed.success and in_time and (late.success or late.status == 401):
        # The session lives on, so that it was the token that ended.
        verify("AUTHN-021", is_success(late, issued, refreshed))
    verify.observe("refresh-token-lifetime", refreshed, _lifetime_seen(refresh, refreshed))
    if refreshed.success:
        new = profile_by(portal, text(refreshed, "data.accessToken"))
        verify("TOKEN-014", is_success(new, issued, refreshed))
        observe_rotation(portal, verify, refresh)


def _lifetime_seen(refresh_token: str, refreshed: Exchange) -> str:
    """In a JWT its own claims tell; else it is seen whether it outlives the access token."""
    claims = claims_of(refresh_token) or {}
    begin, end = claims.get("iat"), claims.get("exp")
    if isinstance(begin, int) and isinstance(end, int):
        return f"{end - begin} s"
    return "longer than the access token" if refreshed.success else "no longer than the access token"
