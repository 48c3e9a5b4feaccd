"""What is read by two accounts, or as a code after the list of codes: that is compared on the wire."""

from __future__ import annotations

import pytest

from cases.authentication.steps import an_account
from cases.premises import answered, authorized, granted
from cases.reading import read
from conformance.cases import BESIDE_ADMIN, BY_KEY, CONSTANT_LISTS, Account, Portal, Verify, equal, mark, op

OWN = (op.SESSIONS, op.SESSIONS_HISTORY, op.OWN_INVITATIONS)


def another(portal: Portal) -> Account:
    """An account beside the administrator. Raises Untestable where none can sign in."""
    return an_account(portal, *BESIDE_ADMIN)


@mark.requirement("MODEL-007", "MODEL-008", "SESSION-030")
@pytest.mark.parametrize("name", ["admin", pytest.param("another", marks=mark.needs("another_account"))])
def test_what_is_an_accounts_own_is_shown_to_it_alone(portal: Portal, verify: Verify, name: str) -> None:
    token = (portal.account("admin") if name == "admin" else another(portal)).token
    profile = granted(portal.call(op.PROFILE, token=token))
    for key in OWN:
        answered(portal.call(key, token=token))
    config = answered(portal.call(op.SESSIONS_CONFIG, token=token))
    if config.success:
        verify("SESSION-030", equal(config, "data.accountBizId", profile.at("data.bizId"), profile))


@mark.requirement("RESOURCE-007", "RESOURCE-008", "RESOURCE-009", "CONSTANT-067", "CONSTANT-068")
def test_codes_are_read_after_the_lists_that_have_them(portal: Portal, admin: Account) -> None:
    for key in (op.TIMEZONES, op.COUNTRIES, op.PROFILE, op.WORKSPACES_CURRENT):
        answered(portal.call(key, token=admin.token))


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
