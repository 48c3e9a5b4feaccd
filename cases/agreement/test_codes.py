"""A coded field is read after the constants list of its family: both are compared on the wire."""

from __future__ import annotations

import pytest

from cases.premises import authorized, granted
from cases.reading import read
from conformance.cases import BY_KEY, CONSTANT_LISTS, Account, Portal, requirement
from conformance.spec.endpoints import (
    ACCOUNTS_QUERY,
    CHANNEL_TYPES_QUERY,
    INSTITUTION,
    MFA,
    OWN_INVITATIONS,
    PROFILE,
    WORKSPACES_CURRENT,
)

PLACES = {
    "user-portal-types": PROFILE,
    "user-account-statuses": ACCOUNTS_QUERY,
    "user-institution-statuses": INSTITUTION,
    "user-mfa-methods": MFA,
    "notification-channel-type-statuses": CHANNEL_TYPES_QUERY,
    "user-workspace-statuses": WORKSPACES_CURRENT,
}
"""Where a field of a family is read."""


@requirement("MODEL-003", "MODEL-002")
@pytest.mark.parametrize("suffix", PLACES)
def test_a_field_has_the_codes_of_its_list(portal: Portal, admin: Account, suffix: str) -> None:
    granted(portal.call(CONSTANT_LISTS[suffix].endpoint, token=admin.token))
    authorized(read(portal, BY_KEY[PLACES[suffix]], token=admin.token))


@requirement("MODEL-003", "MODEL-002")
def test_invitations_have_the_states_of_their_list(portal: Portal, admin: Account) -> None:
    granted(portal.call(CONSTANT_LISTS["user-invitation-statuses"].endpoint, token=admin.token))
    authorized(portal.call(OWN_INVITATIONS, token=admin.token))
