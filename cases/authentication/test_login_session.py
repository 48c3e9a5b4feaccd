"""What a login session takes, what it refuses, and when it ends."""

from __future__ import annotations

from collections.abc import Generator

from cases.authentication.steps import (
    SETTLING,
    an_account,
    begun,
    code_at_hand,
    completed,
    factor_for,
    judged,
    left_until,
    method_of,
    right_code,
    seconds_at,
    serves_everywhere,
)
from cases.nobody import unknown_id
from cases.premises import A_WHILE, answered, outcome, refusal_text, text, unchallenged
from cases.security.test_history import ids, is_completion, new_entries, since
from cases.surroundings import Surroundings
from conformance.cases import (
    COOLDOWN,
    INVALID_PARAMETER,
    LIMITS,
    NO_SESSION,
    WRONG_CODE,
    Account,
    Comparison,
    Exchange,
    Factor,
    Portal,
    Untestable,
    Verify,
    Wait,
    ended,
    holds,
    is_error,
    is_integer,
    is_invalid_parameter,
    is_refused,
    is_success,
    mark,
    op,
)

NO_METHOD = 10019999
"""An MFA method that none of the constants names."""

NO_CODE = "000000"

SHORTLY = 10.0
"""Seconds before the end of a lifetime in which a session must still be there."""


@mark.requirement(
    "LOGIN-033", "LOGIN-034", "LOGIN-056", "LOGIN-060", "LOGIN-069", "LOGIN-070", "LOGIN-071", "LOGIN-073",
    "LOGIN-074", "LOGIN-075", "LIMIT-005", "LIMIT-016",
)  # fmt: skip
@mark.sign_ins(1)
@mark.waits(LIMITS.login_session, then=["LOGIN-033", "LOGIN-034", "LOGIN-073"])
def test_a_login_session_lives_as_long_as_stated(
    portal: Portal, verify: Verify
) -> Generator[Wait, None, None]:
    # While it waits others run, which may end what the spare account has begun.
    account = an_account(portal, "limited", "spare", "admin")
    session = begun(portal, account)
    factor = factor_for(account, session, preferring="EMAIL")
    lifetime = seconds_at(session, "data.expiresIn", LIMITS.login_session)
    _verify_incomplete_steps(portal, account, verify, session, factor=factor)

    margin = min(A_WHILE if portal.clock.is_simulated else SHORTLY, lifetime / 3)
    yield left_until(portal, session.time + lifetime - margin), "the last moments of a login session"
    _verify_alive(portal, account, verify, session, factor=factor, end=session.time + lifetime)

    code = None if factor == "OTP" else (yield from right_code(portal, account, session, factor))
    yield left_until(portal, ended(session) + lifetime + SETTLING), "the end of a login session"
    if code is None:
        yield from code_at_hand(portal, account)
        code = account.code(factor)
    over = judged(portal.login.complete(session, method=factor, code=code), NO_SESSION)
    verify("LOGIN-033", is_refused(over, session, message="the login session outlived its lifetime"))
    if "EMAIL" in account.factors and not over.success:
        sent = answered(portal.login.send(session))
        verify("LOGIN-073", _sends_nothing(sent, session, "a code was sent for a login session that is over"))


def _verify_incomplete_steps(
    portal: Portal, account: Account, verify: Verify, session: Exchange, *, factor: Factor
) -> None:
    id, method = text(session, "data.sessionId"), method_of(factor)
    without_code = unchallenged(portal.call(op.LOGIN_COMPLETE, json={"sessionId": id, "method": method}))
    verify("LOGIN-060", is_invalid_parameter(without_code, session))
    nobody = unchallenged(portal.call(op.LOGIN_COMPLETE, json={"method": method, "code": NO_CODE}))
    verify("LOGIN-071", is_invalid_parameter(nobody))
    needless = answered(portal.login.send(session, "OTP"))
    verify.observe("mfa-send-otp", needless, outcome(needless))
    nowhere = answered(portal.login.send(session, NO_METHOD))
    verify("LOGIN-074", _sends_nothing(nowhere, session, f"a code was sent by method {NO_METHOD}"))

    for key, rule, body in (
        (op.LOGIN_MFA_SEND, "LOGIN-069", {"sessionId": id}),
        (op.LOGIN_COMPLETE, "LOGIN-070", {"sessionId": id, "code": account.wrong_code(factor)}),
    ):
        exchange = judged(portal.call(key, json=body), COOLDOWN, WRONG_CODE)
        takes_default = exchange.success or exchange.code in (COOLDOWN, WRONG_CODE)
        verify.observe("mfa-method-default", exchange, "is taken" if takes_default else "none")
        if not takes_default:
            verify(rule, is_invalid_parameter(exchange, session))


TWO, MANY = 2, 5
"""Wrong codes in a row, as somebody may well type them: so many at least, and at most."""
LOCKED_FOR = 3600.0
"""Seconds after which an account that was locked for them is taken to be free again."""


@mark.requirement("LOGIN-029", "LOGIN-080", "MODEL-011", "HISTORY-013", "HISTORY-018")
@mark.needs("accounts.spare")
@mark.impact("disruptive")
@mark.sign_ins(1)
def test_several_wrong_codes_do_not_end_a_login_session(
    portal: Portal, verify: Verify, spare: Account
) -> Generator[Wait, None, None]:
    """A portal may lock the account then, which is no end of the session: more than two are tried only where
    the portal's clock can be moved to the end of a lock, or the profile says how many it allows. Portals
    allow two before they lock."""
    limits = portal.profile.limits
    allowed, is_stated = limits.max_failed_sign_ins, "max_failed_sign_ins" in limits.model_fields_set
    number = min(MANY if portal.clock.is_simulated or is_stated else TWO, allowed)
    if number < TWO:
        raise Untestable(f"[limits] max_failed_sign_ins allows {allowed} wrong codes, and this needs {TWO}")
    spare.signed_in()  # first: a sign-in of its own would be newer than the session
    session = begun(portal, spare)
    factor = factor_for(spare, session, preferring="EMAIL")
    code = yield from right_code(portal, spare, session, factor)
    earlier = answered(portal.call(op.SESSIONS_HISTORY, token=spare.token))
    around = Surroundings(portal, beside={spare.token: (op.SESSIONS_CONFIG,)})
    short = _cut_short(portal, spare, verify, session, factor=factor, code=code)
    if any(answer.success for answer in short):
        raise Untestable("a wrong code completed the login session", "target")
    left = number - sum(answer.code == WRONG_CODE for answer in short)
    left = min(left, allowed - len(short))
    wrong = [
        portal.login.complete(session, method=factor, code=spare.wrong_code(factor)) for _ in range(left)
    ]
    wrong = [*short, *wrong]
    around.judged(verify, "MODEL-011", wrong[-1])
    if any(answer.success for answer in wrong):
        raise Untestable("a wrong code completed the login session", "target")

    noted = answered(portal.call(op.SESSIONS_HISTORY, token=spare.token))
    accepted = portal.login.complete(session, method=factor, code=code)
    is_gone = accepted.code == NO_SESSION and portal.login.is_newest(session)
    if not accepted.success and not is_gone:
        if portal.clock.is_simulated:
            portal.clock.wait(LOCKED_FOR, "the lock of an account to end")
        why = f"after {number} wrong codes the right one is refused ({refusal_text(accepted)})"
        raise Untestable(why, "target")
    verify("LOGIN-080", is_success(accepted, session, *wrong))
    if accepted.success and earlier.success:
        page = _verify_completion(portal, verify, spare, earlier, accepted)
        before, after = (each.at("data.pagination.totalRecords") for each in (noted, page))
        if is_integer(before) and is_integer(after):
            at, kept = "data.pagination.totalRecords", after >= before
            verify("HISTORY-018", holds(page, at, kept, f"at least {before}", noted, accepted))


SHORTEST = 4
"""Letters of a code that is cut by its last one."""


def _cut_short(
    portal: Portal, account: Account, verify: Verify, session: Exchange, *, factor: Factor, code: str
) -> list[Exchange]:
    """The answer to the right code without its last digit, which may be refused for its form as well. None is
    sent where the code is short, or the fixed one of a test deployment."""
    if len(code) < SHORTEST or serves_everywhere(portal, account, factor):
        return []
    short = portal.secrets.altered(code[:-1], "wrong-code", of=code, by="without its last letter")
    refused = portal.login.complete(session, method=factor, code=short)
    if refused.success or refused.code == WRONG_CODE or refused.code in INVALID_PARAMETER:
        message = "a code was taken without its last digit"
        verify("LOGIN-029", is_refused(refused, session, message=message))
    return [refused]


def _verify_completion(
    portal: Portal, verify: Verify, account: Account, earlier: Exchange, accepted: Exchange
) -> Exchange:
    """A sign-in that was completed stands in the history as such, whatever was tried before."""
    page = new_entries(portal, account.token, ids(earlier), accepted, is_completion)
    new = since(page, ids(earlier), accepted)
    if new:
        completions = [entry for entry in new if is_completion(entry)]
        expected = "a new entry without failureReason"
        verify("HISTORY-013", holds(page, "data.items", bool(completions), expected, accepted, actual=new))
    return page


def _sends_nothing(send: Exchange, session: Exchange, message: str) -> Comparison:
    """A send that is refused, or that does not claim to have sent anything."""
    is_sent = send.success and send.at("data.sent") is not False
    return holds(send, "data.sent", not is_sent, False, session, message=message)


def _verify_alive(
    portal: Portal, account: Account, verify: Verify, session: Exchange, *, factor: Factor, end: float
) -> None:
    """A wrong code is told from an ended session by its error code, or at least by another answer."""
    wrong = completed(portal, session, factor, account.wrong_code(factor))
    nowhere = completed(portal, _unknown(session), factor, account.wrong_code(factor))
    if wrong.success:
        raise Untestable("a wrong code completed the login session", "target")
    if ended(wrong) >= end:
        verify.untested("LOGIN-034", "the run came back to the login session too late", "environment")
    elif wrong.code == WRONG_CODE or outcome(wrong) == outcome(nowhere):
        verify("LOGIN-034", is_error(wrong, WRONG_CODE, session))
    else:
        verify.untested("LOGIN-034", "a wrong code is answered in a way that tells nothing", "target")


def _unknown(session: Exchange) -> str:
    """The id of a login session that was never begun, of the form that this target's have."""
    return unknown_id(text(session, "data.sessionId"))


@mark.requirement("LOGIN-054", "LOGIN-055", "LOGIN-058")
def test_an_unknown_login_session_is_refused_at_both_steps(
    portal: Portal, admin: Account, verify: Verify
) -> None:
    unknown = _unknown(admin.signed_in().initiated)

    sent = answered(portal.login.send(unknown))
    verify("LOGIN-054", is_refused(sent))
    verify.observe("mfa-send-unknown-session", sent, outcome(sent))

    refused = judged(portal.login.complete(unknown, method="OTP", code="000000"), NO_SESSION)
    if refused.code in INVALID_PARAMETER:
        raise Untestable(f"an id of this form is refused as such ({refusal_text(refused)})", "environment")
    verify("LOGIN-058", is_error(refused, NO_SESSION))


@mark.requirement("LOGIN-072")
def test_no_code_is_sent_for_a_sign_in_that_is_completed(portal: Portal, admin: Account) -> None:
    """Judged on the wire, which also shows that the sign-in was completed."""
    answered(portal.login.send(admin.signed_in().initiated))
