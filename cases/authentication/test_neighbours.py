"""What one sign-in means for another that is open: nothing (chapter "Moves that are stated")."""

from __future__ import annotations

from collections.abc import Generator

from cases.authentication.steps import (
    WRONG_CREDENTIALS,
    an_account,
    begun,
    begun_or_left,
    code_at_hand,
    completed,
    delivered,
    factor_for,
    judged,
    nearly_right,
    offering,
    right_code,
    serves_everywhere,
)
from cases.premises import refusal_text, unless_by_own_rule
from cases.surroundings import Surroundings
from conformance.cases import (
    LIMITS,
    NO_SESSION,
    Account,
    Portal,
    Untestable,
    Verify,
    Wait,
    is_refused,
    is_success,
    mark,
)


@mark.requirement("LOGIN-077", "LOGIN-084", "MODEL-011")
@mark.needs("accounts.spare")
@mark.impact("disruptive")
@mark.sign_ins(2)
def test_a_wrong_password_leaves_an_open_login_session(
    portal: Portal, verify: Verify, spare: Account
) -> Generator[Wait, None, None]:
    """Whoever knows an address could keep its owner out otherwise."""
    spare.signed_in()  # first: a sign-in of its own would be newer than the session
    yield from code_at_hand(portal, spare)
    session = begun(portal, spare)
    factor = factor_for(spare, session)
    code = yield from right_code(portal, spare, session, factor)

    around = Surroundings(portal, spare.token)
    near = nearly_right(portal, spare, in_case=False)
    refused = judged(portal.login.initiate(spare, near), WRONG_CREDENTIALS)
    verify("LOGIN-084", is_refused(refused, session, message="a password was taken without its last letter"))
    if refused.code != WRONG_CREDENTIALS:
        raise Untestable(f"a wrong password is not refused as such ({refusal_text(refused)})", "target")
    around.judged(verify, "MODEL-011", refused)
    done = completed(portal, session, factor, code)
    if not done.success and done.code != NO_SESSION:
        raise Untestable(f"the sign-in could not be completed ({refusal_text(done)})", "target")
    if not done.success and not portal.login.is_newest(session):
        raise Untestable("another sign-in of the account was begun meanwhile", "environment")
    verify("LOGIN-077", is_success(done, session, refused))


@mark.requirement("LOGIN-059", "LOGIN-078")
@mark.needs("accounts.spare", "inboxes")
@mark.impact("disruptive")
@mark.sign_ins(2, reuses=1)
def test_a_code_that_was_mailed_to_another_account_completes_no_sign_in(
    portal: Portal, verify: Verify, spare: Account
) -> Generator[Wait, None, None]:
    # An account with both factors comes first: any other may not be offered the method of an authenticator.
    names = [name for name in ("limited", "admin") if portal.has_account(name)]
    names.sort(key=lambda name: not portal.account(name).can("OTP"))
    other = an_account(portal, *names, factor="EMAIL")
    if not spare.can("EMAIL") or any(serves_everywhere(portal, each, "EMAIL") for each in (spare, other)):
        raise Untestable("two accounts with mailed codes of their own are needed")
    theirs = offering(begun(portal, other), "EMAIL")
    sent = yield from delivered(portal, theirs)
    if not sent.success:
        raise Untestable(f"no code is sent for the login session ({refusal_text(sent)})", "target")
    code = other.code("EMAIL")
    elsewhere = completed(portal, theirs, "OTP", code)
    message = "a mailed code was accepted under the method of an authenticator"
    verify("LOGIN-059", is_refused(elsewhere, theirs, sent, message=message))
    if elsewhere.success:
        raise Untestable("a code completed the login session under another method", "target")

    session = offering(begun(portal, spare), "EMAIL")
    refused = completed(portal, session, "EMAIL", code)
    message = "the code of another account completed a sign-in"
    verify("LOGIN-078", is_refused(refused, sent, session, message=message))
    portal.login.left.put(other.email, theirs)
    if not refused.success:
        portal.login.left.put(spare.email, session)


@mark.requirement("LOGIN-089")
@mark.needs("accounts.spare", "inboxes")
@mark.impact("disruptive")
@mark.sign_ins(2, reuses=2)
@mark.waits(LIMITS.mfa_cooldown)
def test_a_code_is_valid_still_when_one_is_sent_to_another_account(
    portal: Portal, verify: Verify, spare: Account
) -> Generator[Wait, None, None]:
    other = an_account(portal, "limited", "admin", factor="EMAIL")
    if not spare.can("EMAIL"):
        raise Untestable("two accounts with mailed codes of their own are needed")
    theirs = offering(begun_or_left(portal, other), "EMAIL")
    sent = yield from delivered(portal, theirs)
    code = other.code("EMAIL") if sent.success else ""
    session = offering(begun_or_left(portal, spare), "EMAIL")
    neighbour = yield from delivered(portal, session)
    portal.login.left.put(spare.email, session)
    if not sent.success or not neighbour.success:
        raise Untestable("no codes are sent to two accounts", "target")

    accepted = unless_by_own_rule(completed(portal, theirs, "EMAIL", code))
    verify("LOGIN-089", is_success(accepted, sent, neighbour))
    token = accepted.at("data.accessToken")
    if isinstance(token, str):
        portal.login.logout(token)
