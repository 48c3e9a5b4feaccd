"""A coded field is read after the constants list of its family: both are compared on the wire."""

from __future__ import annotations

import pytest

from cases.premises import authorized, granted
from cases.reading import read
from conformance.cases import BY_KEY, CONSTANT_LISTS, Account, Portal, mark, op

PLACES = {
    "user-portal-types": op.PROFILE,
    "user-account-statuses": op.ACCOUNTS_QUERY,
    "user-institution-statuses": op.INSTITUTION,
    "user-mfa-methods": op.MFA,
    "notification-channel-type-statuses": op.CHANNEL_TYPES_QUERY,
    "user-workspace-statuses": op.WORKSPACES_CURRENT,
}
"""Where a field of a family is read."""


@mark.requirement("MODEL-003", "MODEL-002")
@pytest.mark.parametrize("suffix", PLACES)
def test_a_field_has_the_codes_of_its_list(portal: Portal, admin: Account, suffix: str) -> None:
    granted(portal.call(CONSTANT_LISTS[suffix].endpoint, token=admin.token))
    authorized(read(portal, BY_KEY[PLACES[suffix]], token=admin.token))


@mark.requirement("MODEL-003", "MODEL-002")
def test_invitations_have_the_states_of_their_list(portal: Portal, admin: Account) -> None:
    granted(portal.call(CONSTANT_LISTS["user-invitation-statuses"].endpoint, token=admin.token))
    authorized(portal.call(op.OWN_INVITATIONS, token=admin.token))
