"""What requests need, the sign-ins and sources of their values, and what an account is needed for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from conformance.replay.recording.lines import endpoint_in, impact_in, values_in
from conformance.replay.recording.plan import LEFT_OUT, Omissions, ReplayPlan
from conformance.spec.endpoints import LOGIN_COMPLETE, LOGIN_INITIATE, LOGIN_MFA_SEND
from conformance.traffic.exchange import Exchange, dig

MOST_LATER = 200
"""How many exchanges after it the sign-in with a new password is sought in."""


def add_needs(plan: ReplayPlan, reasons: Collection[str]) -> None:
    """Has the plan send what the selected requests need, of what is left out for one of these reasons.

    It is sent and not compared. What stays left out is noted anew: later responses may differ for it.
    """
    finder = Needs(plan)
    wanted = list(plan.sent())
    while wanted:
        for position in finder.of(wanted.pop()):
            if plan.refused.get(position) in reasons:
                del plan.refused[position]
                plan.needed.add(position)
                wanted.append(position)
    plan.omissions = Omissions()
    for position in plan.refused:
        if plan.session_of[position] >= 0:
            plan.omit(position)


def signing_in(plan: ReplayPlan, position: int) -> str | None:
    """The email of the sign-in that soon follows with the password which a request sets."""
    sent = plan.exchange(position).sent
    fields = sent.items() if isinstance(sent, dict) else ()
    passwords = [value for name, value in fields if name.lower().endswith("password")]
    after = plan.number_of(position)
    for later in plan.order[after : after + MOST_LATER]:
        exchange = plan.exchange(later)
        if endpoint_in(exchange) != LOGIN_INITIATE or (exchange.status or 400) >= 300:
            continue
        email = dig(exchange.sent, ["email"])
        if dig(exchange.sent, ["password"]) in passwords and isinstance(email, str):
            return email
    return None


class Needs:
    """The positions that each request needs. Mails and sign-ins are indexed once."""

    def __init__(self, plan: ReplayPlan) -> None:
        self._plan = plan
        self._mails: defaultdict[str, list[int]] = defaultdict(list)
        """By login session, the requests that have its code mailed."""
        self._sign_ins: defaultdict[int, list[int]] = defaultdict(list)
        """By session, the sign-ins that were completed in it."""
        for position in plan.wanted():
            exchange = plan.exchange(position)
            if endpoint_in(exchange) == LOGIN_MFA_SEND:
                self._mails[str(dig(exchange.sent, ["sessionId"]))].append(position)
            elif endpoint_in(exchange) == LOGIN_COMPLETE and (exchange.status or 400) < 300:
                self._sign_ins[plan.session_of[position]].append(position)

    def surely_of(self, position: int) -> Iterator[int]:
        """Those without which a request cannot be sent: they return an id or a token that it sends."""
        plan, exchange = self._plan, self._plan.exchange(position)
        yield from (
            plan.sources[placed.value] for placed in values_in(exchange) if placed.value in plan.handles
        )
        yield from self._sign_in_before(exchange, position)

    def of(self, position: int) -> Iterator[int]:
        plan, exchange = self._plan, self._plan.exchange(position)
        for placed in values_in(exchange):
            source = plan.sources.get(placed.value)
            if source is not None:
                yield source
        if endpoint_in(exchange) == LOGIN_COMPLETE:
            mails = self._mails.get(str(dig(exchange.sent, ["sessionId"])), ())
            yield from (mail for mail in mails if self._is_before(mail, position))
        yield from self._sign_in_before(exchange, position)

    def _sign_in_before(self, exchange: Exchange, position: int) -> list[int]:
        """The sign-in that returned the token of a request whose source leaves it out."""
        if not self._lacks_token(exchange):
            return []
        sign_ins = self._sign_ins[self._plan.session_of[position]]
        return [at for at in sign_ins if self._is_before(at, position)][-1:]

    def _is_before(self, earlier: int, position: int) -> bool:
        return self._plan.number_of(earlier) < self._plan.number_of(position)

    def _lacks_token(self, exchange: Exchange) -> bool:
        """Whether a request was signed in, and its source leaves the token out."""
        operation = exchange.request.operation
        return "authorization" in exchange.request.lacks and not (operation and operation.is_prelogin)


NO_ACCOUNT = "none"
"""Stands in ``--account EMAIL=none`` for no account: what that email signed in for is left out."""


def leave_out(plan: ReplayPlan, accounts: Mapping[str, str]) -> None:
    """Has the plan leave out the sign-ins of the emails for which the user names no account, and what follows
    from them."""
    emails = {email for email, name in accounts.items() if name == NO_ACCOUNT}
    for position in following(plan, emails):
        plan.refuse(position, LEFT_OUT)


def refuse_changes(plan: ReplayPlan, assumed: Mapping[str, str]) -> None:
    """Has the plan refuse to change anything where an account that nobody named signs in for the only person
    who was recorded. ``assumed`` is that account, by the recorded email."""
    for email, name in assumed.items():
        reason = (
            f"[accounts.{name}] signs in for {email}, and changes nothing in its place: name the account "
            f"that may, --account {email}={name}"
        )
        for position in plan.sent():
            if impact_in(plan.exchange(position)) != "read-only":
                plan.refuse(position, reason)


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
    for position in plan.sent():
        if _signs_in(plan, position, accepted=accepted) in emails or any(
            at in lost for at in needs.surely_of(position)
        ):
            lost[position] = None
    return list(lost)


def _signs_in(plan: ReplayPlan, position: int, *, accepted: bool) -> str | None:
    exchange = plan.exchange(position)
    if endpoint_in(exchange) != LOGIN_INITIATE or (accepted and (exchange.status or 400) >= 300):
        return None
    email = dig(exchange.sent, ["email"])
    return email if isinstance(email, str) else None
