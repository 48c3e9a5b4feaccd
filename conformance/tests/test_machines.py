"""The state machines find what does not keep to the stated moves, with no scenario to lead them there."""

from __future__ import annotations

import pytest

from conformance.tests.machines import Alone, left_alone

SIGNING_IN = "test_a_sign_in_follows_the_stated_moves_in_any_order"
INVITING = "test_an_invitation_is_answered_once"
RECORDS = "test_a_record_is_as_it_was_last_changed"

FOUND = {
    "valid-credentials-are-refused-the-third-time": SIGNING_IN,
    "one-login-session-for-all": SIGNING_IN,
    "used-up-session-is-400": SIGNING_IN,
    "login-session-reusable": SIGNING_IN,
    "send-is-refused": SIGNING_IN,
    "no-cooldown": SIGNING_IN,
    "code-of-another-method-completes": SIGNING_IN,
    "issued-token-is-not-accepted": SIGNING_IN,
    "refresh-is-refused": SIGNING_IN,
    "refresh-token-serves-as-access-token": SIGNING_IN,
    "expired-session-cannot-be-refreshed": SIGNING_IN,
    "session-outlives-logout": SIGNING_IN,
    "access-token-outlives-logout": SIGNING_IN,
    "refresh-token-outlives-logout": SIGNING_IN,
    "logged-out-session-is-listed": SIGNING_IN,
    "new-sign-in-is-not-listed": SIGNING_IN,
    "accepting-does-not-stick": INVITING,
    "accepting-makes-it-declined": INVITING,
    "invitation-is-not-kept": INVITING,
    "closed-invitation-is-accepted": INVITING,
    "type-update-is-not-kept": RECORDS,
    "disabling-a-type-does-not-stick": RECORDS,
    "deleted-type-is-listed": RECORDS,
    "channel-update-is-not-kept": RECORDS,
    "deleted-channel-is-listed": RECORDS,
    "command-does-not-stick": RECORDS,
}
"""With the machine that finds it."""


@pytest.fixture(scope="module")
def alone() -> Alone:
    return left_alone(only=FOUND)


@pytest.mark.slow
def test_the_machines_find_at_least_twenty_faults_of_state_unaided(alone: Alone) -> None:
    found = {name for name, machines in alone.found.items() if machines}

    assert len(found) >= 20, f"missed: {sorted(FOUND.keys() - found)}"


def test_each_finds_what_is_in_its_own_moves(alone: Alone) -> None:
    finders = {FOUND[name] for name, machines in alone.found.items() if FOUND[name] in machines}

    assert finders == {SIGNING_IN, INVITING, RECORDS}


def test_the_machines_find_nothing_in_a_portal_without_a_fault(alone: Alone) -> None:
    assert alone.clean.turned == {}
    assert alone.clean.errors == {}
