"""Endpoints that change something, asked so that nothing is changed, or what is changed is put back."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from cases.administration.inviting import unless_used_up
from cases.changing import creation
from cases.nobody import free_id
from cases.notifications.making import CHANNEL, TYPE, Family, listed_id
from cases.premises import authorized
from cases.properties.bodies import ANSWERED, Drawn, bodies, refuses_what_is_no_object
from conformance.cases import (
    INVALID_BODY,
    RECORD_UNKNOWN,
    Account,
    Json,
    Portal,
    Search,
    Trial,
    Untestable,
    is_error,
    is_error_of_table,
    is_invalid_parameter,
    mark,
    op,
    told_id,
)

NO_ADDRESSES = ("no-address", "@", "a@", "@example.test", "two@@example.test", "漢字", "x" * 300)


@mark.requirement(*ANSWERED, "ERROR-006", "ERROR-016", "ACCOUNT-034", "ACCOUNT-039")
@mark.impact("mutating")
def test_an_update_of_nobody_changes_nobody(portal: Portal, admin: Account, search: Search) -> None:
    unknown = free_id(portal, admin.token, "account")

    def updates(trial: Trial, drawn: Drawn) -> None:
        answer = authorized(portal.call(op.ACCOUNT_UPDATE, json=drawn.body, token=admin.token))
        refuses_what_is_no_object(trial, drawn, answer)
        if drawn.is_usual and drawn.has("missing", "userBizId"):
            trial.verify("ACCOUNT-034", is_invalid_parameter(answer))
        if not drawn.flaws and answer.status != 400:
            trial.verify("ACCOUNT-039", is_error_of_table(answer, "RESOURCE.NOT_FOUND"))

    search.over(bodies(op.ACCOUNT_UPDATE, {"userBizId": unknown}), updates)


@mark.requirement(*ANSWERED, "ERROR-016", "CHANNEL-052", "CHANNEL-053")
@mark.impact("mutating")
def test_the_command_deactivates_no_channel_of_nobody(portal: Portal, admin: Account, search: Search) -> None:
    unknown = free_id(portal, admin.token, "channel")

    def deactivates(trial: Trial, drawn: Drawn) -> None:
        answer = authorized(portal.call(op.CHANNEL_COMMAND_DEACTIVATE, json=drawn.body, token=admin.token))
        refuses_what_is_no_object(trial, drawn, answer)
        if drawn.is_usual and drawn.has("missing", "bizId"):
            trial.verify("CHANNEL-052", is_invalid_parameter(answer))
        if not drawn.flaws and answer.status != 400:
            trial.verify("CHANNEL-053", is_error(answer, RECORD_UNKNOWN))

    search.over(bodies(op.CHANNEL_COMMAND_DEACTIVATE, {"bizId": unknown}), deactivates)


@mark.requirement(*ANSWERED, "ERROR-016", "INVITE-001", "INVITE-004")
@mark.impact("mutating")
def test_nobody_is_invited_without_an_address(portal: Portal, admin: Account, search: Search) -> None:
    def invites(trial: Trial, drawn: Drawn) -> None:
        marker = portal.unique()
        body = {**drawn.body, "message": marker} if isinstance(drawn.body, dict) else drawn.body
        undo = {"invitationBizId": "{result_id}", "reason": marker}
        with creation(portal, op.INVITE, undo, by=admin, name=marker) as invitation:
            answer = authorized(portal.call(op.INVITE, json=body, token=admin.token))
            if not answer.success:
                invitation.settled()
            refuses_what_is_no_object(trial, drawn, answer)
            if drawn.is_usual:
                unless_used_up(portal, admin, answer)
            if drawn.is_usual and drawn.has("missing", "inviteeEmail"):
                trial.verify("INVITE-004", is_error_of_table(answer, INVALID_BODY))
            elif drawn.is_usual and isinstance(body.get("inviteeEmail"), str):
                trial.verify("INVITE-001", is_invalid_parameter(answer))

    right = {"inviteeEmail": "no-address", "expirationDays": 1}
    flawed = bodies(op.INVITE, right, keep=("message", "inviteeEmail"))
    search.over(st.one_of(st.builds(_addressed, flawed, st.sampled_from(NO_ADDRESSES)), missing()), invites)


def _addressed(drawn: Drawn, address: str) -> Drawn:
    return Drawn(
        {**drawn.body, "inviteeEmail": address} if isinstance(drawn.body, dict) else drawn.body, drawn.flaws
    )


def missing() -> st.SearchStrategy[Drawn]:
    return bodies(op.INVITE, {"expirationDays": 1}, keep=("message", "expirationDays")).filter(
        lambda drawn: not isinstance(drawn.body, dict) or "inviteeEmail" not in drawn.body
    )


@pytest.mark.parametrize(
    "family",
    [
        pytest.param(
            family,
            id=name,
            marks=[mark.requirement(*ANSWERED), mark.needs(family.verb("create"), family.verb("delete"))],
        )
        for name, family in (("types", TYPE), ("channels", CHANNEL))
    ],
)
@mark.impact("mutating")
def test_a_record_of_any_kind_is_made_or_refused(
    portal: Portal, admin: Account, search: Search, family: Family
) -> None:
    """The fields of the body are not shown (N1), so that either may be. What was made is taken away."""
    create, delete = family.verb("create"), family.verb("delete")
    right = portal.operation_body(create, unique="{unique}")
    if not isinstance(right, dict):
        raise Untestable(f'[operations."{create}"] body is no object')
    named = [field for field, value in right.items() if "{unique}" in str(value)]

    def makes(trial: Trial, drawn: Drawn) -> None:
        name = portal.unique()
        body = _named(drawn.body, name)
        undo = portal.operation_body(delete, result_id="{result_id}", unique=name)
        with creation(portal, create, undo, by=admin, name=name) as making:
            answer = portal.call(create, json=body, token=admin.token)
            if not answer.success and (answer.status or 0) < 500:
                making.settled()
            authorized(answer)
            if answer.success:
                making.came_to(told_id(portal, create, answer) or listed_id(portal, admin, family, name))

    search.over(bodies(create, right, keep=named), makes)


def _named(body: Json, name: str) -> Json:
    if isinstance(body, dict):
        return {field: _named(value, name) for field, value in body.items()}
    return body.replace("{unique}", name) if isinstance(body, str) else body
