"""The accounts of a profile, and the inboxes in which their codes arrive."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.errors import Untestable
from conformance.spec.endpoints import COUNTRIES
from conformance.target.doctor.diagnosis import Diagnosis
from conformance.target.portal import Portal, SignedIn
from conformance.target.portal.inboxes import InboxFailure, reader
from conformance.target.portal.login import refusal
from conformance.target.profile.tables import ACCOUNTS
from conformance.traffic.exchange import Exchange

GUARDED = COUNTRIES
PENDING = "pending"


def check_inboxes(portal: Portal) -> Iterator[Diagnosis]:
    """Whether each inbox can be read; whether a code arrives there is seen when an account signs in."""
    if not any(account.inbox for account in portal.profile.accounts.values()):
        message = "no account has an inbox; requirements about mailed codes stay untested"
        yield Diagnosis("inboxes", "missing", message, "configuration")
    for name, settings in portal.profile.inboxes.items():
        emails = [account.email for account in portal.profile.accounts.values() if account.inbox == name]
        if not emails:
            yield Diagnosis(f"inboxes.{name}", "missing", "no account uses it", "configuration")
            continue
        try:
            reader(settings, emails[0], name).mark()
        except Untestable as reason:
            yield Diagnosis(f"inboxes.{name}", "wrong", reason.reason, reason.fault_class)
        else:
            yield Diagnosis(f"inboxes.{name}", "works", "can be read")


def check_accounts(portal: Portal) -> Iterator[Diagnosis]:
    for name, purpose in ACCOUNTS.items():
        if not portal.has_account(name):
            message = (
                f"the profile has no [accounts.{name}] ({purpose}); requirements that need it stay untested"
            )
            yield Diagnosis(f"accounts.{name}", "missing", message, "configuration")
    emails: dict[str, str] = {}
    failed: set[str] = set()
    for name, settings in portal.profile.accounts.items():
        other = emails.setdefault(settings.email.lower(), name)
        if other != name:
            message = (
                f"has the email of [accounts.{other}]; each account needs its own, "
                "because runs change [accounts.spare]"
            )
            yield Diagnosis(f"accounts.{name}", "wrong", message, "configuration")
            continue
        if settings.inbox in failed and portal.account(name).mfa == "EMAIL":
            message = f"not tried: its code comes by [inboxes.{settings.inbox}], which must work first"
            yield Diagnosis(f"accounts.{name}", "missing", message, "configuration")
            continue
        try:
            yield _account(portal, name)
        except InboxFailure as reason:
            failed.add(settings.inbox or "")
            yield Diagnosis(f"accounts.{name}", "wrong", reason.reason, reason.fault_class)


def _account(portal: Portal, name: str) -> Diagnosis:
    """What an account can do. Raises InboxFailure where its inbox gives no code."""
    part = f"accounts.{name}"
    try:
        signed_in = portal.account(name).signed_in()
    except InboxFailure:
        raise
    except Untestable as reason:
        if name == PENDING and "ACCOUNT_PENDING_APPROVAL" in reason.reason:
            return Diagnosis(part, "works", "the target reports at sign-in that it awaits approval")
        return Diagnosis(part, "wrong", reason.reason, reason.fault_class)
    problem = _pending_problem(signed_in) if name == PENDING else _active_problem(portal, signed_in)
    if problem is not None:
        return Diagnosis(part, "wrong", problem, "configuration")
    more = ", and awaits approval" if name == PENDING else ""
    if name == "spare" and portal.profile.accounts[name].otp_secret is not None:
        more = "; a run leaves an authenticator in use alone, so that MFA-009 and similar rules stay untested"
    return Diagnosis(part, "works", f"signs in by {signed_in.factor}{more}")


def _pending_problem(signed_in: SignedIn) -> str | None:
    """What keeps an account from standing for those that await approval."""
    if _awaits_approval(signed_in.initiated) or _awaits_approval(signed_in.completed):
        return None
    return "signs in, but does not await approval. Enter one that does, or remove this table."


def _active_problem(portal: Portal, signed_in: SignedIn) -> str | None:
    """What keeps an account from standing for those that are active."""
    name = signed_in.account
    answer = portal.call(GUARDED, token=signed_in.token)
    if name == "limited" and answer.success:
        return "has permissions; [accounts.limited] must have none"
    if name == "admin" and answer.status == 403:
        return f"signs in, but lacks permissions ({refusal(answer)}). Enter an account that may read."
    if _awaits_approval(signed_in.completed):
        return "awaits approval; it must be active"
    return None


def _awaits_approval(answer: Exchange) -> bool:
    """Whether an answer of the sign-in says so, by either name that the specification gives."""
    return any(answer.at(f"data.{name}") is True for name in ("pendingApproval", "isPendingApproval"))
