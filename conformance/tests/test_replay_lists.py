"""Lists that others and earlier replays make longer: what of them is drift, and what a portal changed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from conformance.replay.compare.assess import Assessor
from conformance.replay.compare.baseline import RecordedBaseline
from conformance.replay.compare.comparer import Comparer
from conformance.replay.compare.difference import Difference
from conformance.replay.compare.meaning import Meanings
from conformance.replay.compare.noise import Noise
from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.replay.rebuild.correlation import Correlation
from conformance.spec.endpoints import (
    BACKUP_CODES,
    BACKUP_CODES_GENERATE,
    CHANNEL_CREATE,
    CHANNELS_QUERY,
    PROFILE,
    ROLES,
    SESSIONS,
    SESSIONS_HISTORY,
)
from conformance.tests.traffic import NOW, answer
from conformance.traffic.exchange import Json


def replayed(key: str, old: Json, new: Json) -> list[tuple[str, str]]:
    """The places and kinds of the differences; each breaks a client."""
    pair = ReplayedExchange(1, answer(key, old), answer(key, new))
    comparer = Comparer(Correlation(used={}), Noise(), written=frozenset({CHANNEL_CREATE}))
    differences = comparer.compare(pair).differences
    assert {Meanings().of(pair, each).meaning for each in differences} <= {"breaking"}
    return [(each.path, each.kind) for each in differences]


def history(hours: list[int], **entry: Json) -> dict[str, Any]:
    """A history of sign-ins so many hours ago."""
    shown: dict[str, Json] = {"clientIp": "203.0.113.7", "loginResult": 1, "failureReason": None} | entry
    items = [{**shown, "loginTime": (NOW - timedelta(hours=each)).isoformat()} for each in hours]
    return {"items": items, "pagination": {"totalRecords": len(items), "currentPage": 1, "pageSize": 20}}


@pytest.mark.parametrize("hours", [[9, 5, 3], [9, 7, 5, 3]])
def test_a_history_that_is_turned_round_is_a_change_however_many_signed_in_since(hours: list[int]) -> None:
    newest_first = history([2, 4, 6])

    assert replayed(SESSIONS_HISTORY, newest_first, history(hours)) == [("data.items", "order")]
    assert replayed(SESSIONS_HISTORY, history(hours), newest_first) == [("data.items", "order")]
    assert replayed(SESSIONS_HISTORY, newest_first, history(hours[::-1])) == []


@pytest.mark.parametrize("hours", [[9, 3], [3, 9, 5], [3, 3, 3]])
def test_what_is_in_no_order_of_time_is_not_turned_round(hours: list[int]) -> None:
    assert replayed(SESSIONS_HISTORY, history([2, 4, 6]), history(hours)) == []


def test_an_address_that_is_none_any_more_is_a_change_also_where_others_signed_in() -> None:
    recorded = history([2, 4, 6])

    assert replayed(SESSIONS_HISTORY, recorded, history([3, 5, 7], clientIp="198.51.100.9")) == []
    changed = replayed(SESSIONS_HISTORY, recorded, history([3, 5, 7], clientIp="hidden"))
    assert changed == [(f"data.items[{at}].clientIp", "value") for at in range(3)]


def channels(**pagination: Json) -> Json:
    first: dict[str, Json] = {"totalRecords": 7, "totalPages": 2, "hasNext": True, "empty": False}
    return {"items": [], "pagination": first | pagination}


@pytest.mark.parametrize(
    ("name", "more", "fewer"), [("totalRecords", 9, 0), ("totalPages", 3, 1), ("hasNext", True, False)]
)
def test_an_earlier_replay_leaves_more_records_and_never_fewer(name: str, more: Json, fewer: Json) -> None:
    recorded = channels(**({"hasNext": False} if more is True else {}))

    assert replayed(CHANNELS_QUERY, recorded, channels(**{name: more})) == []
    assert replayed(CHANNELS_QUERY, channels(), channels(**{name: fewer})) == [
        (f"data.pagination.{name}", "value")
    ]


def test_a_list_that_was_not_empty_is_not_left_as_an_empty_one() -> None:
    assert replayed(CHANNELS_QUERY, channels(empty=True), channels(empty=False)) == []
    assert replayed(CHANNELS_QUERY, channels(), channels(empty=True)) == [("data.pagination.empty", "value")]


@pytest.mark.parametrize(
    ("live", "kind", "meaning"),
    [(None, "type", "breaking"), ("ORDER", "type", "breaking"), (1, "length", "drift")],
)
def test_null_in_place_of_a_list_is_another_form_also_of_another_record(
    live: Json, kind: Any, meaning: str
) -> None:
    recorded = answer(ROLES, {"permissionGroups": ["ORDER"]})
    pair = ReplayedExchange(1, recorded, recorded, shows_another=True)
    old = 2 if kind == "length" else ["ORDER"]

    assert Meanings().of(pair, Difference(kind, ("data", "permissionGroups"), old, live)).meaning == meaning


def after(acting: str, shown: ReplayedExchange) -> list[tuple[str, str]]:
    """The differences of a read after the caller did something, beside an earlier replay that did it too."""
    correlation, noise = Correlation(used={}), Noise()
    comparer = Comparer(correlation, noise, written=frozenset({BACKUP_CODES_GENERATE}))
    assessor = Assessor(comparer, correlation, noise, RecordedBaseline([], correlation), moves=comparer.moves)
    done = answer(acting, {})
    assessor.assess(ReplayedExchange(1, done, done, account="spare"), ())
    return [(each.path, each.kind) for each in assessor.assess(shown, ()).differences]


@pytest.mark.parametrize(
    ("acting", "name", "is_found"),
    [
        (BACKUP_CODES_GENERATE, "remainingCount", True),
        (BACKUP_CODES_GENERATE, "totalGenerated", False),
        (PROFILE, "remainingCount", False),
    ],
)
def test_what_the_caller_had_written_anew_was_left_by_no_earlier_replay(
    acting: str, name: str, is_found: bool
) -> None:
    counts = {"remainingCount": 10, "totalGenerated": 10}
    recorded, live = answer(BACKUP_CODES, counts), answer(BACKUP_CODES, counts | {name: 4})

    found = after(acting, ReplayedExchange(2, recorded, live, account="spare"))

    assert found == ([(f"data.{name}", "value")] if is_found else [])


def test_the_own_session_is_compared_where_others_began_beside_it() -> None:
    own: dict[str, Json] = {"isCurrent": True, "userAgent": "A browser"}
    other: dict[str, Json] = {"isCurrent": False, "userAgent": "Another"}

    assert replayed(SESSIONS, [own], [other, own]) == []
    assert replayed(SESSIONS, [own], [other, own | {"userAgent": "Another"}]) == [
        ("data[1].userAgent", "value")
    ]
    assert replayed(SESSIONS, [own], [other, other]) == []
