"""Codes by mail: the send, its cooldown, and what the code opens."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial

from cases.authentication.after_a_wrong_code import right_after_a_wrong_one
from cases.authentication.steps import (
    ARRIVAL,
    SETTLING,
    an_account,
    begun,
    begun_or_left,
    completed,
    cooldown_over,
    delivered,
    judged,
    left_until,
    method_of,
    observe_rotation,
    offering,
    seconds_at,
    serves_everywhere,
    taken_elsewhere,
    undisturbed,
)
from cases.authentication.test_login_session import NO_METHOD
from cases.premises import A_WHILE, answered, may_be_own_rule, refusal_text, text, unless_by_own_rule
from conformance.cases import (
    COOLDOWN,
    HELD,
    LIMITS,
    NO_SESSION,
    SUCCESS_CODE,
    WRONG_CODE,
    Account,
    Exchange,
    NothingArrived,
    Portal,
    Untestable,
    Verify,
    Wait,
    contradicts,
    ended,
    equal,
    holds,
    is_cooldown,
    is_error,
    is_from_before_the_portal,
    is_rate_limited,
    is_refused,
    is_success,
    mark,
    op,
)

SHORTLY = 10.0


@dataclass(frozen=True)
class Mailed:
    """A login session with the code that was sent for it first. ``tried``: a try to have one sent, which came
    next after ``nowhere``, a send by no method."""

    session: Exchange
    sent: Exchange
    code: str
    cooldown: float
    nowhere: Exchange
    tried: Exchange


@mark.requirement(
    "LOGIN-022", "LOGIN-023", "LOGIN-024", "LOGIN-025", "LOGIN-026", "LOGIN-028", "LOGIN-029", "LOGIN-030",
    "LOGIN-061", "LOGIN-062", "LOGIN-063", "LOGIN-068", "LOGIN-079", "LOGIN-083", "LOGIN-087", "TOKEN-017",
    "LOGIN-072", "LOGIN-091", "LIMIT-006", "LIMIT-007", "LIMIT-016", "MODEL-014",
)  # fmt: skip
@mark.needs("inboxes")
@mark.sign_ins(2, reuses=2)
@mark.waits(LIMITS.mfa_cooldown)
def test_a_code_is_mailed_once_per_cooldown_and_opens_its_own_session(
    portal: Portal, verify: Verify
) -> Generator[Wait, None, None]:
    account = an_account(portal, "spare", "limited", "admin", factor="EMAIL")
    # The newer one is gone on with: it may have ended the other.
    sessions = [begun_or_left(portal, account), begun_or_left(portal, account)]
    other, session = sorted(sessions, key=lambda session: session.time)
    first = yield from _first_mail(portal, account, verify, offering(session, "EMAIL"))
    early = _sent_now(portal, account, first)
    _verify_unmailed(portal, account, verify, early)
    is_of_the_session = _observe_scope(portal, account, verify, first, other)
    _verify_begun_by_none(portal, verify, first, is_of_the_session)
    second = yield from _second_mail(portal, account, verify, first, early, is_of_the_session)

    wrong = completed(portal, session, "EMAIL", account.wrong_code("EMAIL"))
    if not may_be_own_rule(wrong):  # else the right code is to show that the sign-in is let through
        verify("LOGIN-029", is_error(wrong, WRONG_CODE, first.sent))
    if wrong.success:
        raise Untestable("a wrong code completed the login session", "target")
    # The cooldown of the second send runs on beside a wrong code: this one is refused, too.
    resent = _sent_now(portal, account, first)
    second = account.code("EMAIL") if resent.success else second
    accepted, code = _completed(portal, account, verify, first, second, wrong)
    yield from _judge_a_refused_send(portal, account, verify, resent, accepted)
    if may_be_own_rule(wrong):
        verify("LOGIN-029", is_error(wrong, WRONG_CODE, first.sent, accepted))
    if not serves_everywhere(portal, account, "EMAIL"):
        repeated = completed(portal, other, "EMAIL", code)
        message = "a used code completed another sign-in"
        verify("LOGIN-061", is_refused(repeated, accepted, other, message=message))
    refresh = text(accepted, "data.refreshToken")
    if answered(portal.login.refresh(refresh)).success:
        observe_rotation(portal, verify, refresh)
    if portal.clock.is_simulated:
        # Judged on the wire: sooner, the cooldown may be why no code is sent for what is completed.
        yield left_until(portal, ended(accepted) + first.cooldown + SETTLING), "the end of the cooldown"
        _sent_now(portal, account, first)


@mark.requirement("LOGIN-088")
@mark.needs("inboxes")
@mark.impact("disruptive")
@mark.sign_ins(1)
@mark.waits(LIMITS.login_session)
def test_a_mailed_code_is_valid_until_it_ends(portal: Portal, verify: Verify) -> Generator[Wait, None, None]:
    """Not only shortly after it was sent: its session lives nearly as long."""
    account = an_account(portal, "limited", "spare", "admin", factor="EMAIL")
    if serves_everywhere(portal, account, "EMAIL"):
        raise Untestable("the inbox is of the kind fixed, whose code serves again and again")
    session = offering(begun(portal, account), "EMAIL")
    sent = yield from delivered(portal, session)
    if not sent.success:
        raise Untestable(f"no code is sent for the login session ({refusal_text(sent)})", "target")
    code = account.code("EMAIL")
    lifetime = min(_lifetime(session), seconds_at(sent, "data.codeExpiresIn", LIMITS.mfa_code))
    margin = min(A_WHILE if portal.clock.is_simulated else SHORTLY, lifetime / 3)
    yield left_until(portal, session.time + lifetime - margin), "the last moments of a mailed code"

    late = completed(portal, session, "EMAIL", code)
    in_time = ended(late) < session.time + lifetime
    if late.success or (late.code == WRONG_CODE and in_time):
        verify("LOGIN-088", is_success(late, session, sent))
        return
    raise Untestable(f"the sign-in could not be completed ({refusal_text(late)})", "target")


def _lifetime(session: Exchange) -> float:
    return seconds_at(session, "data.expiresIn", LIMITS.login_session)


def _first_mail(
    portal: Portal, account: Account, verify: Verify, session: Exchange
) -> Generator[Wait, None, Mailed]:
    nowhere, tried = portal.login.send(session, NO_METHOD), portal.login.send(session)
    if tried.code == COOLDOWN:  # begun by a sign-in before, if not by the send by no method: both once more
        yield from cooldown_over(portal, session, tried)
        nowhere, tried = portal.login.send(session, NO_METHOD), portal.login.send(session)
    sent = tried
    if sent.code == COOLDOWN:
        yield from cooldown_over(portal, session, sent)
        sent = portal.login.send(session)
    undisturbed(portal, session, judged(sent, COOLDOWN))
    if sent.code == NO_SESSION and not portal.login.is_newest(session):
        raise Untestable("another sign-in of the account was begun meanwhile", "environment")
    if ended(sent) < session.time + _lifetime(session):
        verify("LOGIN-022", is_success(sent, session))
    if not sent.success:
        raise Untestable(f"no code is sent for a fresh login session ({refusal_text(sent)})", "target")
    cooldown = seconds_at(sent, "data.cooldownSeconds", LIMITS.mfa_cooldown)
    try:
        code = account.code("EMAIL")
    except NothingArrived as reason:
        verify("LOGIN-024", contradicts(sent, "", "a mail with a code", "none", reason.reason))
        raise
    verify("LOGIN-024", HELD)
    return Mailed(session, sent, code, cooldown, nowhere, tried)


def _verify_begun_by_none(portal: Portal, verify: Verify, first: Mailed, is_of_the_session: bool) -> None:
    """A send by no method begins no cooldown. Another sign-in of the account may have begun it, where that is
    the account's."""
    elsewhere = portal.login.sent_elsewhere(first.session)
    is_alone = is_of_the_session or elsewhere is None or elsewhere + first.cooldown < first.tried.time
    nowhere = first.nowhere
    if not nowhere.success and (first.tried.success or (first.tried.code == COOLDOWN and is_alone)):
        verify("LOGIN-087", is_success(first.tried, first.session, nowhere))


def _sent_now(portal: Portal, account: Account, first: Mailed) -> Exchange:
    """Another send for the session, at once: a refusal for the rate is not waited for. It is sent once more
    where a rate of all requests may have refused it: that is no cooldown."""
    account.mark_inbox()
    body = {"sessionId": text(first.session, "data.sessionId"), "method": method_of("EMAIL")}
    send = partial(portal.call, op.LOGIN_MFA_SEND, json=body, client=account.name, within_budget=False)
    early = send()
    return send() if is_rate_limited(early) else early


def _verify_unmailed(portal: Portal, account: Account, verify: Verify, refused: Exchange) -> None:
    """A refused send is no send. A mail that takes longer than a moment is not waited for."""
    if refused.code != COOLDOWN or serves_everywhere(portal, account, "EMAIL"):
        return
    portal.clock.pause(account.arrival(ARRIVAL), "a mail of the send that was refused")
    came = contradicts(
        refused, "", "no mail", "a mail with a code", "the send was refused, and a code was mailed"
    )
    verify("LOGIN-079", came if account.has_mailed_code() else HELD)


def _verify_cooldown(verify: Verify, first: Mailed, early: Exchange, after: Exchange) -> None:
    """Only what had its answer before the cooldown can have ended was surely sent during it.

    A refusal for the rate is the cooldown by another name where, once that is over, a send is accepted; not
    so that of a proxy before the portal, which was not asked then.
    """
    if early.held_back or is_from_before_the_portal(early):
        return
    in_time = ended(early) < first.sent.time + first.cooldown
    if in_time and (after.success or early.success or early.code == COOLDOWN):
        verify("LOGIN-025", is_error(early, COOLDOWN, first.sent))


def _observe_scope(portal: Portal, account: Account, verify: Verify, first: Mailed, other: Exchange) -> bool:
    """Another login session of the same account, while the cooldown of the first one runs. Whether it has a
    cooldown of its own."""
    elsewhere = judged(portal.login.send(other), COOLDOWN)
    if ended(elsewhere) >= first.sent.time + first.cooldown:
        return False
    if elsewhere.success:
        verify.observe("cooldown-scope", elsewhere, "login session")
        account.code("EMAIL")  # so that this mail is not taken for the next one
    elif elsewhere.code == COOLDOWN:
        verify.observe("cooldown-scope", elsewhere, "account")
    return elsewhere.success


def _second_mail(
    portal: Portal,
    account: Account,
    verify: Verify,
    first: Mailed,
    early: Exchange,
    is_of_the_session: bool,
) -> Generator[Wait, None, str]:
    """``is_of_the_session``: whether no send for another session prolongs the cooldown of this one."""
    margin = min(A_WHILE if portal.clock.is_simulated else SHORTLY, first.cooldown / 4)
    yield left_until(portal, first.sent.time + first.cooldown - margin), "the last moments of the cooldown"
    late = sent = _sent_now(portal, account, first)

    # One that announces less than the stated cooldown and keeps to the stated one is told so elsewhere.
    for cooldown in sorted({first.cooldown, float(LIMITS.mfa_cooldown)}):
        if not sent.success:
            yield left_until(portal, ended(first.sent) + cooldown + SETTLING), "the end of the cooldown"
            sent = _sent_now(portal, account, first)
    for mailed in (early, late):
        _verify_cooldown(verify, first, mailed, sent)
    refused = sent if sent.code == COOLDOWN else None
    if refused is not None:
        sent = yield from _undisturbed(portal, account, first, refused)
    undisturbed(portal, first.session, judged(sent, COOLDOWN))
    verify("LOGIN-026", holds(sent, "code", sent.code != COOLDOWN, "no cooldown any more", first.sent))
    if not sent.success:
        raise Untestable(f"no second code is sent ({refusal_text(sent)})", "target")
    other = portal.login.sent_elsewhere(first.session)
    is_alone = is_of_the_session or other is None or other <= ended(first.sent)
    if is_alone and (is_cooldown(early) or is_cooldown(late)):
        # Undisturbed it passed in its time: a send that was refused has prolonged it before.
        verify("LOGIN-083", HELD if refused is None else is_success(refused, first.sent, late))
    code = _second_code(account, verify, sent)
    # Every send begins a cooldown, not the first alone: this one is refused.
    third = _sent_now(portal, account, first)
    return account.code("EMAIL") if third.success else code


def _second_code(account: Account, verify: Verify, sent: Exchange) -> str:
    try:
        return account.code("EMAIL")
    except NothingArrived as reason:
        verify("LOGIN-024", contradicts(sent, "", "a mail with a code", "none", reason.reason))
        raise


def _undisturbed(
    portal: Portal, account: Account, first: Mailed, refused: Exchange
) -> Generator[Wait, None, Exchange]:
    """The answer after a cooldown without any try: a portal may begin it anew with each one that it refuses.

    Twice, as a cooldown of twice the length would be over, too, after the first.
    """
    sent = refused
    for _ in range(2):
        over = ended(sent) + max(first.cooldown, LIMITS.mfa_cooldown) + SETTLING
        yield left_until(portal, over), "a cooldown without any try"
        sent = _sent_now(portal, account, first)
        if sent.code == COOLDOWN:
            break
    return sent


def _completed(
    portal: Portal, account: Account, verify: Verify, first: Mailed, second: str, wrong: Exchange
) -> tuple[Exchange, str]:
    """The answer to the right code after a wrong one, and the code: the first mail's, if still valid."""
    before = [first.sent, wrong]
    if first.code != second:
        answer = completed(portal, first.session, "EMAIL", first.code)
        verify.observe(
            "resend-invalidates-code", answer, "still valid" if answer.success else "no longer valid"
        )
        if answer.success:
            verify("LOGIN-028", is_success(answer, *before))
            return answer, first.code
        before.append(answer)
    answer = unless_by_own_rule(completed(portal, first.session, "EMAIL", second))
    _unless_refused_lawfully(portal, first, second, answer)
    if answer.success or answer.code == NO_SESSION:
        verify("LOGIN-030" if answer.code == NO_SESSION else "LOGIN-028", is_success(answer, *before))
    elif serves_everywhere(portal, account, "EMAIL"):
        raise Untestable(f"the fixed code of the inbox is refused ({refusal_text(answer)})", "credentials")
    elif taken_elsewhere(portal, account, "EMAIL") is False:
        # Else it is the inbox that gives another number for the code, or the account that is locked.
        verify("LOGIN-028", is_success(answer, *before))
    return answer, second


def _judge_a_refused_send(
    portal: Portal, account: Account, verify: Verify, resent: Exchange, completing: Exchange
) -> Generator[Wait, None, None]:
    """A send that is refused for the cooldown leaves the mailed code valid. Where that code was refused after
    a wrong one, another is tried after a wrong one without such a send: a wrong code may be why. Raises
    Untestable where the sign-in could not be completed."""
    if resent.code == COOLDOWN and completing.success:
        verify("MODEL-014", is_success(completing, resent))
        if not serves_everywhere(portal, account, "EMAIL"):
            verify("LOGIN-091", is_success(completing, resent))
    elif completing.code == WRONG_CODE:
        right = yield from right_after_a_wrong_one(portal, account, verify)
        if resent.code == COOLDOWN and right is not None and right.success:
            message = "a send that was refused for the cooldown made the code invalid that was mailed before"
            verify("MODEL-014", equal(completing, "code", SUCCESS_CODE, resent, right, message=message))
    if not completing.success:
        raise Untestable(f"the sign-in could not be completed ({refusal_text(completing)})", "target")


def _unless_refused_lawfully(portal: Portal, first: Mailed, second: str, answer: Exchange) -> None:
    """Raises Untestable where the inbox, time or another sign-in may be why the code is refused."""
    if first.code == second and not answer.success:
        # The same "code" in two mails may be any number that stands in both.
        raise Untestable(
            f"the codes that the inbox gives are refused ({refusal_text(answer)}); see [inboxes] pattern"
        )
    if not answer.success and ended(answer) >= first.session.time + _lifetime(first.session):
        raise Untestable("the login session came to its end on the way", "environment")
    if answer.code == NO_SESSION and not portal.login.is_newest(first.session):
        raise Untestable("another sign-in of the account was begun meanwhile", "environment")
