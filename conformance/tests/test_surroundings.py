"""What a request must leave as it was: a finding has both readings, and the request between them."""

from __future__ import annotations

import pytest

from cases.administration.test_grants import granting
from cases.surroundings import MovesByItself, Surroundings, differ
from conformance.spec import endpoints as op
from conformance.tests.reached import connected
from conformance.verdicts.findings import HELD, Comparison, Contradiction, OtherPlace


def test_a_setting_that_a_request_does_not_name_is_shown_before_and_after_it() -> None:
    with connected(faults=["generated-codes-raise-the-sessions"]) as (portal, exchanges, _):
        token = portal.account("admin").token
        around = Surroundings(portal, token)
        generated = portal.call(op.BACKUP_CODES_GENERATE, token=token)

        compared = around.kept(generated, (op.BACKUP_CODES,))

    assert isinstance(compared, Contradiction)
    before, done, after = *compared.also, compared.exchange
    assert (before.request.operation, done) == (after.request.operation, generated)
    assert before.at("data.maxSessions") == compared.expected
    assert after.at(compared.path) == compared.actual
    assert compared.other == OtherPlace(before.n, op.SESSIONS_CONFIG, "", "maxSessions")
    assert before.n < done.n < after.n <= len(exchanges)


def test_a_caller_who_is_refused_is_a_finding_while_the_token_lives() -> None:
    with connected() as (portal, _, _):
        token = portal.account("admin").fresh_sign_in().token
        around = Surroundings(portal, token)
        logged_out = portal.login.logout(token)

        compared = around.kept(logged_out)

    assert isinstance(compared, Contradiction)
    assert compared.actual == "the caller is refused"


def test_a_caller_who_is_refused_at_the_end_of_the_token_is_no_finding() -> None:
    with connected() as (portal, _, _):
        token = portal.account("admin").fresh_sign_in().token
        around = Surroundings(portal, token)
        done = portal.call(op.PROFILE, token=token)
        assert not portal.calls.has_ended(token)
        portal.clock.wait(3_600, "the token to end")

        with pytest.raises(MovesByItself, match="has ended meanwhile"):
            around.kept(done)


def test_an_edit_between_two_readings_is_that_of_its_editor() -> None:
    with connected() as (portal, _, running):
        token = portal.account("admin").token
        mine = portal.call(op.PROFILE, token=token).at("data.bizId")
        other = next(row["bizId"] for row in running.portal.newest("account") if row["bizId"] != mine)

        def edited(editor: str, *, later: float = 0) -> Comparison:
            """The profile is read, and so many seconds after it the newest channel edited."""
            around = Surroundings(portal, token, shared=True)
            done = portal.call(op.PROFILE, token=token)
            portal.clock.wait(later, "the edit")
            id = running.portal.newest("channel")[0]["bizId"]
            running.portal.change("channel", id, channelRemark=portal.unique(), updatedBy=editor)
            return around.kept(done)

        assert edited(other) is HELD
        assert isinstance(edited(mine), Contradiction)
        with pytest.raises(MovesByItself, match="somebody else"):
            edited(mine, later=60)


ENTRY = {"cidr": "203.0.113.7", "addedAt": "2026-11-26T17:21:16.091Z"}
ELSEWHERE = {"addedAt": "2026-11-27T02:21:16.091+09:00", "cidr": "203.0.113.7"}
"""The same in another zone, the fields in another order."""


def test_the_same_moment_in_another_zone_is_no_other_value() -> None:
    second = {"cidr": "198.51.100.23", "addedAt": "2026-11-26T17:21:17.000Z"}

    assert not differ(ENTRY["addedAt"], ELSEWHERE["addedAt"])
    assert not differ([ENTRY, second], [second, ELSEWHERE])
    assert differ([ENTRY], [ELSEWHERE, second])
    assert differ([ENTRY, ENTRY], [ENTRY, second])
    assert differ([ENTRY], [ELSEWHERE | {"addedAt": "2026-11-27T02:21:16.091Z"}])


def test_an_own_record_that_was_taken_away_is_not_missed() -> None:
    """A replica may list it for a while, so that the first reading still has it."""
    with connected() as (portal, _, _):
        admin = portal.account("admin")
        with granting(portal, admin) as grant:
            grant.identify()
            around = Surroundings(portal, admin.token, shared=True)
            revoking = grant.making.undo()
        named = (op.INSTITUTION,)

        assert revoking is not None
        assert around.kept(revoking, named) is HELD
