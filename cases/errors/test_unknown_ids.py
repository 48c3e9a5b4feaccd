"""Ids of no record in requests that change one, by the bodies of the profile (chapter "Errors")."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from cases.nobody import QUERIES, Ask, IsFree, asked_for_nobody, is_surely_free, reads_nobody
from cases.premises import authorized
from cases.security.test_session_config import current, ids, sessions
from conformance.cases import (
    BY_KEY,
    RECORD_UNKNOWN,
    Account,
    Exchange,
    ParameterSet,
    Portal,
    Untestable,
    Verify,
    is_error,
    is_error_of_table,
    mark,
    op,
    placeholders_in,
)

KINDS: Mapping[str, str] = {
    op.CHANNEL_TYPE_UPDATE: "channel_type",
    op.CHANNEL_TYPE_ENABLE: "channel_type",
    op.CHANNEL_TYPE_DISABLE: "channel_type",
    op.CHANNEL_TYPE_DELETE: "channel_type",
    op.CHANNEL_UPDATE: "channel",
    op.CHANNEL_ACTIVATE: "channel",
    op.CHANNEL_DEACTIVATE: "channel",
    op.CHANNEL_DELETE: "channel",
    op.CURRENCY_GRANT_REVOKE: "workspace",
}
"""By endpoint the kind of a record whose id shows the form of an id there; for grants that of any."""

OF_CHANNELS = frozenset(key for key, kind in KINDS.items() if kind == "channel")
"""Where the error table has a code for channels and one for ids: both are lawful."""


def rows() -> list[ParameterSet]:
    return [
        pytest.param(
            key,
            id=key,
            marks=[mark.requirement("ERROR-022"), mark.needs(key), mark.impact(BY_KEY[key].impact)],
        )
        for key in KINDS
    ]


@pytest.mark.parametrize("key", rows())
def test_nothing_is_done_to_a_record_of_nobody(
    portal: Portal, verify: Verify, admin: Account, key: str
) -> None:
    """A body that names its record by a fixed id would change that record."""
    body = portal.profile.operations[key].body
    if "result_id" not in placeholders_in(body):
        raise Untestable(f'[operations."{key}"] body does not name its record as "{{result_id}}"')

    def ask(id: str) -> Exchange:
        sent = portal.operation_body(key, result_id=id, unique=portal.unique())
        return authorized(portal.call(key, json=sent, token=admin.token))

    existing = portal.record(KINDS[key])
    is_free = (
        reads_nobody(portal, admin.token, KINDS[key]) if KINDS[key] in QUERIES else is_surely_free(existing)
    )
    refused = _asked(portal, existing, ask, is_free)
    if key in OF_CHANNELS:
        verify("ERROR-022", is_error(refused, RECORD_UNKNOWN))
    else:
        verify("ERROR-022", is_error_of_table(refused, "RESOURCE.NOT_FOUND"))


@mark.requirement("ERROR-022")
@mark.needs("accounts.spare", op.SESSIONS_TERMINATE)
@mark.impact("disruptive")
def test_no_session_of_nobody_is_terminated(portal: Portal, verify: Verify, spare: Account) -> None:
    if "session_id" not in placeholders_in(portal.profile.operations[op.SESSIONS_TERMINATE].body):
        raise Untestable(f'[operations."{op.SESSIONS_TERMINATE}"] body has no {{session_id}}')
    listing = sessions(portal, spare.token)
    own = current(listing)

    def ask(id: str) -> Exchange:
        sent = portal.operation_body(op.SESSIONS_TERMINATE, session_id=id)
        return authorized(portal.call(op.SESSIONS_TERMINATE, json=sent, token=spare.token))

    refused = _asked(portal, own, ask, is_surely_free(own, *ids(listing)))
    verify("ERROR-022", is_error_of_table(refused, "RESOURCE.NOT_FOUND"))


def _asked(portal: Portal, existing: str, ask: Ask, is_free: IsFree) -> Exchange:
    """Raises Untestable where there is no such endpoint, which is another rule's."""
    refused = asked_for_nobody(portal, existing, ask, is_free=is_free)
    if refused.status == 405:
        raise Untestable("the endpoint is not offered", "target")
    return refused
