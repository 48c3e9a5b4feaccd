"""An account that awaits approval: how it is told, and what it may call."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress

from cases.accounts.queries import by_email
from cases.authentication.steps import PENDING, completed, factor_for, flags_of, judged, right_code
from cases.premises import code_of, outcome, refusal_text
from conformance.cases import (
    HELD,
    Account,
    Exchange,
    Portal,
    Untestable,
    Verify,
    Wait,
    contradicts,
    equal,
    holds,
    mark,
    op,
    text_at,
)


@mark.requirement("LOGIN-036", "LOGIN-037", "LOGIN-076", "LOGIN-086", "AUTHN-018")
@mark.needs("accounts.pending")
@mark.sign_ins(1)
def test_an_account_that_awaits_approval_is_told_so(
    portal: Portal, admin: Account, pending: Account, verify: Verify
) -> Generator[Wait, None, None]:
    session = judged(portal.login.initiate(pending), PENDING)
    answers = {"initiate": session}
    try:
        answers["complete"] = yield from _completed(portal, pending, session)
    except Untestable:
        # Where it was told at once, nothing more is needed.
        if _form_of(session) is None:
            raise

    forms = {step: form for step, answer in answers.items() if (form := _form_of(answer))}
    last = list(answers.values())[-1]
    if forms:
        verify("LOGIN-036", HELD)
        verify.observe("pending-approval-form", last, forms)
    else:
        _still_awaits(portal, admin, pending)
        verify("LOGIN-036", contradicts(last, "data.pendingApproval", True, flags_of(last) or None))
    if is_told(session) and last is not session and flags_of(last):
        told = True in flags_of(last)
        verify("LOGIN-076", holds(last, "data.pendingApproval", told, "true, as at initiate", session))
    _verify_status(portal, admin, pending, verify, answers)
    _observe_access(portal, verify, last)


def is_told(answer: Exchange) -> bool:
    """Whether each flag of an answer, under whatever name, says that the account awaits approval."""
    flags = flags_of(answer)
    return bool(flags) and all(flag is True for flag in flags)


def _verify_status(
    portal: Portal, admin: Account, pending: Account, verify: Verify, answers: dict[str, Exchange]
) -> None:
    """The status that the sign-in shows, beside that of the account as an administrator reads it."""
    shown = [answer for answer in answers.values() if isinstance(answer.at("data.accountStatus.code"), str)]
    if shown:
        with suppress(Untestable):
            status = code_of(by_email(portal, admin, pending.email), "accountStatus")
            for answer in shown if status is not None else ():
                verify("LOGIN-086", equal(answer, "data.accountStatus.code", status))


def _completed(portal: Portal, pending: Account, session: Exchange) -> Generator[Wait, None, Exchange]:
    """The answer that completes the sign-in, or that tells of the approval. Raises Untestable."""
    if text_at(session, "data.sessionId") is None:
        raise Untestable(
            f"no login session begins for [accounts.pending] ({refusal_text(session)})", "credentials"
        )
    factor = factor_for(pending, session)
    code = yield from right_code(portal, pending, session, factor)
    answer = completed(portal, session, factor, code)
    if not answer.success and answer.code != PENDING:
        raise Untestable(f"[accounts.pending] cannot sign in ({refusal_text(answer)})", "credentials")
    return answer


def _form_of(answer: Exchange) -> str | None:
    """How an answer tells that the approval is pending; None where it does not."""
    if answer.code == PENDING:
        return PENDING
    names = [name for name in ("pendingApproval", "isPendingApproval") if answer.at(f"data.{name}") is True]
    return " and ".join(names) or None


def _still_awaits(portal: Portal, admin: Account, pending: Account) -> None:
    """Raises Untestable where the account has been approved since the profile was written."""
    status = code_of(by_email(portal, admin, pending.email), "accountStatus")
    if status in (None, "ACTIVE"):
        raise Untestable(f"[accounts.pending] does not await approval: its status is {status}")


def _observe_access(portal: Portal, verify: Verify, last: Exchange) -> None:
    token = text_at(last, "data.accessToken")
    if token is None and not isinstance(last.at("data.sessionId"), str | int):  # else it goes on
        verify.observe("pending-account-access", last, "no token is issued")
    if token is None:
        return
    for key in (op.PROFILE, op.WORKSPACES_CURRENT, op.COUNTRIES):
        answer = portal.call(key, token=token)
        verify.observe("pending-account-access", answer, outcome(answer))
