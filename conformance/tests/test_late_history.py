"""A login history that is written seconds later is waited for, until it has the entry that is wanted."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cases.security.test_history import history, ids, is_completion, new_entries, of_before
from conformance.checks.records import portal_time
from conformance.errors import Untestable
from conformance.tests.reached import connected


def test_a_sign_in_past_a_first_page_that_has_become_full_is_not_missed_there() -> None:
    """Oldest first: the refused sign-in is the last entry of the first page, the completed one on another."""
    with connected(variants=("history-oldest-first",)) as (portal, _, running):
        spare = portal.account("spare")
        spare.signed_in()
        entries = max(running.portal.history.values(), key=lambda kept: kept[-1]["loginTime"])
        first = entries[0]
        entries[:0] = [
            first | {"bizId": f"former-{hours}", "loginTime": first["loginTime"] - hours * 3600}
            for hours in range(19 - len(entries), 0, -1)
        ]
        earlier = ids(history(portal, spare.token))
        portal.login.initiate(spare, portal.wrong_password())
        fresh = spare.fresh_sign_in()

        with pytest.raises(Untestable, match="need not show the latest"):
            new_entries(portal, fresh.token, earlier, fresh.completed, is_completion)


def test_the_late_entry_of_an_earlier_sign_in_is_none_of_the_refused_one() -> None:
    with connected() as (portal, _, _):
        spare = portal.account("spare")
        refused = portal.login.initiate(spare, portal.wrong_password())
    answered = portal_time(refused).replace(microsecond=123000)
    began = answered - timedelta(milliseconds=refused.elapsed_ms)
    before = [
        {"loginTime": (began - timedelta(milliseconds=5)).isoformat(timespec="microseconds")},
        {"loginTime": (began - timedelta(seconds=3)).isoformat(timespec="seconds")},
    ]
    others = [
        {"loginTime": answered.isoformat(timespec="milliseconds")},
        {"loginTime": answered.isoformat(timespec="seconds")},
        before[0] | {"failureReason": "BAD_PASSWORD"},
    ]

    assert refused.response is not None
    refused.envelope["timestamp"] = int(answered.timestamp() * 1000)  # type: ignore[index]
    assert of_before([*before, *others], refused) == before
