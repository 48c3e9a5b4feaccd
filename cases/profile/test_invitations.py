"""The caller's invitations as they are listed (chapters "Invitation", "Profile and workspaces")."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from cases.premises import answered, authorized, granted, is_invalid, listed, refusal_text
from conformance.cases import (
    BY_KEY,
    CONSTANT_LISTS,
    HELD,
    STATES,
    Account,
    Exchange,
    Portal,
    Untestable,
    Verify,
    contradicts,
    holds,
    is_integer,
    judged_in,
    mark,
    op,
    records,
)

CLOSED = ("CANCELLED", "CANCELED", "DECLINED", "REJECTED")
"""How a portal may name the two states that the document does not number."""


def closed_statuses(portal: Portal, caller: Account) -> list[str]:
    """Their values, as far as the portal's own list has them."""
    listing = answered(portal.call(CONSTANT_LISTS["user-invitation-statuses"].endpoint, token=caller.token))
    items = [item for _, item in records(listing)] if listing.success else []
    values = [item["value"] for item in items if item.get("code") in CLOSED and is_integer(item.get("value"))]
    return list(dict.fromkeys(map(str, values)))


VALUES = STATES["Invitation"]
HISTORICAL = ("ACCEPTED", "EXPIRED")
ON_THE_WIRE = ("INVITATION-021", "INVITATION-026", "INVITATION-027", "INVITATION-028", "STATE-004")
"""What the listed invitations show is judged there."""


def asked(portal: Portal, caller: Account, statuses: Sequence[str] | None) -> Exchange:
    query = None if statuses is None else {"statuses": list(statuses)}
    return authorized(portal.call(op.OWN_INVITATIONS, query=query, token=caller.token))


def ids(exchange: Exchange) -> set[str]:
    return {str(record["bizId"]) for record in listed(exchange) if record.get("bizId") is not None}


@mark.requirement("INVITATION-022", *judged_in(BY_KEY[op.OWN_INVITATIONS], "success"))
@pytest.mark.parametrize("state", VALUES)
def test_one_status_may_be_asked_for(portal: Portal, admin: Account, state: str) -> None:
    granted(asked(portal, admin, [str(VALUES[state])]))


INVITERS = 2
"""Of how many inviters the account is read."""


@mark.requirement("INVITATION-035", "AGREE-010")
def test_an_invitee_is_named_by_the_own_name(portal: Portal, verify: Verify, admin: Account) -> None:
    """A name may be the one of the moment of the invitation; the inviter's it is not. What else is named as
    another is, is judged on the wire."""
    profile = granted(portal.call(op.PROFILE, token=admin.token))
    own, name = profile.at("data.bizId"), profile.at("data.accountName")
    answered(portal.call(op.WORKSPACES_MINE, token=admin.token))
    inviters = {record.get("inviterBizId") for record in listed(own_invitations(portal, admin))}
    for id in sorted(id for id in inviters if isinstance(id, str))[:INVITERS]:
        answered(portal.call(op.ACCOUNT, token=admin.token, userBizId=id))
    listing = own_invitations(portal, admin)
    for index, record in enumerate(listed(listing)):
        by_another = record.get("inviterBizId") not in (own, None) and record.get("inviterName") != name
        invitee = record.get("inviteeAccountName")
        if record.get("inviteeAccountBizId") == own and by_another and isinstance(invitee, str):
            swapped = invitee != name and invitee == record.get("inviterName")
            at = f"data[{index}].inviteeAccountName"
            verify("INVITATION-035", holds(listing, at, not swapped, name, profile))


def own_invitations(portal: Portal, caller: Account, state: str | None = None) -> Exchange:
    """All of them, or where ``statuses`` must be sent those in one state."""
    everything = asked(portal, caller, None)
    if not is_invalid(everything) and state is None:
        return granted(everything)
    return granted(asked(portal, caller, [str(VALUES[state or "PENDING"])]))


@mark.requirement("INVITATION-023", "INVITATION-025", *ON_THE_WIRE)
def test_without_a_status_everything_is_listed_or_nothing_is(
    portal: Portal, verify: Verify, admin: Account
) -> None:
    everything = asked(portal, admin, None)
    required = is_invalid(everything)
    verify.observe("statuses-required", everything, "required" if required else "optional")
    if required:
        for value in _historical(portal, admin):
            answered(asked(portal, admin, [value]))
        raise Untestable("statuses must be sent", "target")

    granted(everything)
    historical = [granted(asked(portal, admin, [value])) for value in _historical(portal, admin)]
    expected = set().union(*map(ids, historical))
    if not expected:
        raise Untestable("the account is shown no historical invitations", "environment")
    missing = expected - ids(granted(asked(portal, admin, None)))
    shown = {"missing": sorted(missing)}
    compared = holds(everything, "data", not missing, "the historical ones too", *historical, actual=shown)
    verify("INVITATION-025", compared)


def _historical(portal: Portal, admin: Account) -> list[str]:
    """The values of the states that are over: those that the document numbers, and the others of the portal's
    own list."""
    numbered = dict.fromkeys(str(VALUES[state]) for state in HISTORICAL)
    return list(numbered | dict.fromkeys(closed_statuses(portal, admin)))


@mark.requirement("INVITATION-024", "INVITATION-037")
def test_several_statuses_are_written_in_one_way_or_another(
    portal: Portal, verify: Verify, admin: Account
) -> None:
    """Two states that have invitations are asked for together: the form that gives both is understood."""
    alone = {state: ids(granted(asked(portal, admin, [str(value)]))) for state, value in VALUES.items()}
    there = [state for state, items in alone.items() if items]
    if len(there) < 2:
        raise Untestable("the account is shown no invitations in two states", "environment")
    values = [str(VALUES[state]) for state in there[:2]]
    expected = alone[there[0]] | alone[there[1]]
    forms = {"repeated": values, "commas": [",".join(values)]}

    answers = {form: authorized(asked(portal, admin, statuses)) for form, statuses in forms.items()}

    taken = [form for form, exchange in answers.items() if exchange.success and ids(exchange) == expected]
    if taken:
        verify("INVITATION-037", HELD)
        verify.observe("statuses-form", answers[taken[0]], " or ".join(taken))
        return
    _verify_part(portal, admin, verify, answers["repeated"], values, expected)
    raise Untestable(f"no form gave both ({', '.join(map(refusal_text, answers.values()))})", "target")


def _verify_part(
    portal: Portal, admin: Account, verify: Verify, repeated: Exchange, values: list[str], expected: set[str]
) -> None:
    """Of a list that is taken without a word some values count and others do not. Not so where it is written
    in another way, as with brackets."""
    bracketed = portal.call(op.OWN_INVITATIONS, query={"statuses[]": values}, token=admin.token)
    is_understood = bracketed.success and ids(bracketed) == expected
    if repeated.success and not is_understood and ids(repeated) < expected:
        shown = sorted(ids(repeated))
        verify("INVITATION-037", contradicts(repeated, "data", sorted(expected), shown))


@mark.requirement("INVITATION-032")
def test_the_callers_invitations_are_addressed_to_the_caller(
    portal: Portal, verify: Verify, admin: Account
) -> None:
    values = [str(VALUES["PENDING"]), *_historical(portal, admin)]
    answers = [asked(portal, admin, statuses) for statuses in (None, *([value] for value in values))]
    states = [answer for answer in answers if answer.success] or [granted(answers[0])]
    if not any(map(listed, states)):
        raise Untestable("the account is shown no invitations", "environment")
    for exchange in states:
        emails = [invitation.get("inviteeEmail") for invitation in listed(exchange)]
        others = [email for email in emails if not is_to(email, admin)]
        shown = {"inviteeEmail": others}
        verify("INVITATION-032", holds(exchange, "data", not others, admin.email, actual=shown))


def is_to(address: object, caller: Account) -> bool:
    """An address that is missing says nothing: the shape check reports it."""
    return not isinstance(address, str) or address.casefold() == caller.email.casefold()
