"""What of a recording cannot be replayed without some of its accounts, or is not to be."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from conformance.replay.recording.needs import Needs
from conformance.replay.recording.plan import LEFT_OUT, ReplayPlan
from conformance.spec.endpoints import LOGIN_INITIATE
from conformance.target.portal.transport import impact_of
from conformance.traffic.exchange import dig

NO_ACCOUNT = "none"
"""Stands in ``--account EMAIL=none`` for no account: what that email signed in for is left out."""


def leave_out(plan: ReplayPlan, accounts: Mapping[str, str]) -> None:
    """Has the plan leave out the sign-ins of the emails for which the user names no account, and what follows
    from them."""
    emails = {email for email, name in accounts.items() if name == NO_ACCOUNT}
    for position in following(plan, emails):
        plan.refused[position] = LEFT_OUT
        plan.needed.discard(position)
        line = plan.line(position)
        plan.omit(position, line.request.method, line.path, status=line.status)


def refuse_changes(plan: ReplayPlan, assumed: Mapping[str, str]) -> None:
    """Has the plan refuse to change anything where an account that nobody named signs in for the only person
    who was recorded. ``assumed`` is that account, by the recorded email."""
    for email, name in assumed.items():
        reason = (
            f"[accounts.{name}] signs in for {email}, and changes nothing in its place: name the account "
            f"that may, --account {email}={name}"
        )
        for position in plan.order:
            line = plan.line(position)
            if position in plan.refused or plan.session_of[position] < 0:
                continue
            if impact_of(line.request.method, line.path) != "read-only":
                plan.refused[position] = reason
                plan.needed.discard(position)
                plan.omit(position, line.request.method, line.path, status=line.status)


def refuse_lacking(plan: ReplayPlan, accounts: Collection[str]) -> None:
    """Has the plan refuse what a replay will not be able to send: what recorded emails without an account
    signed in for. ``accounts`` are the emails that have one."""
    for email in plan.passwords:
        if email not in accounts:
            reason = f"the profile has no account that stands for {email}"
            plan.refused.update(dict.fromkeys(following(plan, {email}, accepted=True), reason))


def following(plan: ReplayPlan, emails: Collection[str], *, accepted: bool = False) -> list[int]:
    """The positions that would be sent of the sign-ins of some emails, and of what needs a value that only
    their responses return. ``accepted``: of the sign-ins only those that were accepted when recorded."""
    if not emails:
        return []
    needs, lost = Needs(plan), dict[int, None]()
    for position in plan.order:
        if plan.session_of[position] < 0 or position in plan.refused:
            continue
        if _signs_in(plan, position, accepted=accepted) in emails or any(
            at in lost for at in needs.surely_of(position)
        ):
            lost[position] = None
    return list(lost)


def _signs_in(plan: ReplayPlan, position: int, *, accepted: bool) -> str | None:
    """The email that an exchange begins to sign in with, where it does."""
    line = plan.line(position)
    if line.operation is None or line.operation.key != LOGIN_INITIATE:
        return None
    if accepted and (line.status is None or line.status >= 300):
        return None
    email = dig(line.sent, ["email"])
    return email if isinstance(email, str) else None
