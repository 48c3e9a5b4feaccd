"""What a portal shows beside the fields that the document names may move by itself: no case takes it for a
change. Nor is one read from times to the minute, or from what is later than the case meant."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from cases.accounts.queries import changed_but
from cases.administration.test_grants import Granted
from cases.changing import Creation
from cases.dating import moved
from cases.profile.test_profile import is_shown_by_the_answer
from cases.secure_channel.test_encrypted_bodies import test_an_expired_session_opens_no_body as expires
from cases.security.test_history import since
from conformance.cases import Portal
from conformance.spec import endpoints as op
from conformance.tests.reached import Deciding, connected
from conformance.tests.traffic import account, answer, coded
from conformance.traffic.exchange import Json
from conformance.verdicts.findings import HELD, Verdict


def seen(times: int, **other: Json) -> dict[str, Json]:
    """An account with counters that move each time that it is read."""
    status = {**coded("ACTIVE", 10010202), "reads": times}
    return account(reads=times, **{"accountStatus": status, "picture": f"/p?signature={times}", **other})


def test_further_fields_of_other_accounts_are_their_portals_own() -> None:
    assert changed_but("1", {"2": seen(1)}, {"2": seen(2)}) == []
    assert changed_but("1", {"2": seen(1)}, {"2": seen(2, accountName="Another")}) == ["2"]
    assert changed_but("1", {"2": seen(1)}, {"2": seen(1, accountStatus=coded("OTHER", 2))}) == ["2"]


def test_an_update_is_answered_by_what_the_document_names() -> None:
    before, after = answer(op.PROFILE, seen(1)), answer(op.PROFILE, seen(3))
    updated, other = (
        answer(op.PROFILE_UPDATE, seen(2)),
        answer(op.PROFILE_UPDATE, seen(2, accountName="Another")),
    )

    assert is_shown_by_the_answer(updated, before, after) is HELD
    assert is_shown_by_the_answer(other, before, after) is not HELD


def granted(before: list[dict[str, Json]], after: list[dict[str, Json]]) -> bool:
    made, listing = answer(op.CURRENCY_GRANT, None), answer(op.CURRENCY_GRANTS, after)
    portal, making = cast(Portal, SimpleNamespace()), cast(Creation, SimpleNamespace())
    return Granted(portal, making, made, listing, before).is_one_more() is HELD


def test_a_grant_is_one_more_whatever_the_others_show_meanwhile() -> None:
    one, two, later = ({"bizId": id, "reads": at} for id, at in (("a", 1), ("b", 1), ("a", 2)))

    assert granted([one], [later, two])
    assert granted([one], [later])  # the same grant, granted again
    assert not granted([one], [one])
    assert not granted([], [one, two])


@pytest.mark.parametrize(
    ("variants", "more", "verdict"),
    [((), 7200, Verdict.UNTESTED), (("timestamps-are-ahead",), 0, Verdict.PASS)],
)
def test_a_session_that_ended_says_nothing_where_others_moved_the_clock(
    variants: tuple[str, ...], more: int, verdict: Verdict
) -> None:
    """It has ended by the clock of its end too: ``timestamp`` may be ahead of it."""
    verify = Deciding("SECURE-021", "SECURE-033")
    with connected(variants=variants) as (portal, _, _):
        for seconds, why in expires(portal, portal.account("spare"), verify):
            portal.clock.wait(seconds + more, why)

    verdicts = verify.verdicts
    assert (verdicts["SECURE-033"], verdicts["SECURE-021"]) == (verdict, Verdict.PASS)


def test_a_time_to_the_minute_need_not_move_within_it() -> None:
    done = answer(op.PROFILE_UPDATE, seen(1))  # at 07:08:09

    def moves(before: str, after: str) -> list[bool]:
        return [each is HELD for each in moved(done, "data.updatedAt", before, after, done)]

    assert moves("2031-05-06T07:08:01.5Z", "2031-05-06T07:08Z") == []
    assert moves("2031-05-06T07:06Z", "2031-05-06T07:06Z") == [False]
    assert moves("2031-05-06T07:06Z", "2031-05-06T07:08Z") == [True]
    assert moves("2031-05-06T07:08:01.5Z", "2031-05-06T07:08:01.5Z") == [False]


def test_an_entry_to_the_minute_is_of_a_sign_in_within_it() -> None:
    begun = answer(op.PROFILE_UPDATE, seen(1))  # at 07:08:09

    def found(time: str) -> int:
        page = answer(op.SESSIONS_HISTORY, {"items": [{"bizId": "1", "loginTime": time}]})
        return len(since(page, set(), begun))

    assert [found(f"2031-05-06T07:{time}Z") for time in ("08", "07", "08:09", "08:00.5")] == [1, 0, 1, 0]


def test_an_entry_that_was_not_there_is_new_by_whatever_clock() -> None:
    begun = answer(op.PROFILE_UPDATE, seen(1))  # at 07:08:09
    times = {"c": "07:07:29", "b": "07:07:07", "a": "07:07:02"}
    shown = [{"bizId": id, "loginTime": f"2031-05-06T{time}Z"} for id, time in times.items()]
    page = answer(op.SESSIONS_HISTORY, {"items": shown})

    def new(*earlier: Json) -> list[Json]:
        return [entry["bizId"] for entry in since(page, set(earlier), begun)]

    assert new("a", "b") == ["c"]
    assert new("b", "c") == []  # older than what was there: an entry of another page
    assert new() == []  # no id is kept, and so no order tells
