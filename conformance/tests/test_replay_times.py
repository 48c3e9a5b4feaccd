"""Times that fit their response when they were recorded, and in the replay do not, or not at each read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace

from conformance.replay.compare.clocks import Clocks
from conformance.replay.compare.meaning import Meanings
from conformance.replay.compare.outcome import ReplayedExchange
from conformance.replay.compare.repetition import MOST_SHOWN, ShownEarlier
from conformance.replay.recording.plan import repeats_of
from conformance.spec import endpoints as op
from conformance.tests.replays import assessor_of, comparer_of
from conformance.tests.traffic import NOW, answer, envelope
from conformance.traffic.exchange import ABSENT, Exchange, Json

HOUR = 3600.0
LATER = NOW + timedelta(days=40)
"""When it was replayed."""


def differing(key: str, old: Json, new: Json, *, began: float | None = None) -> list[tuple[str, str]]:
    """The places and kinds of differences: a response of now, and one of forty days later. The recording and
    the replay ``began`` so many seconds before it."""
    read = pair(key, old, new)
    before = Clocks(0.0, 0.0) if began is None else Clocks(NOW.timestamp() - began, LATER.timestamp() - began)
    differences = comparer_of(began=before).compare(read).differences
    assert {Meanings().of(read, each).meaning for each in differences} <= {"breaking"}
    return [(each.path, each.kind) for each in differences]


@pytest.mark.parametrize("in_milliseconds", [1000, 0.001])
def test_a_timestamp_that_counts_no_milliseconds_is_no_clock(in_milliseconds: float) -> None:
    stamp = int(LATER.timestamp() * 1000 * in_milliseconds)
    body = envelope(data=[{"createdAt": later(-HOUR)}], timestamp=stamp)
    recorded = answer(op.ROLES, [{"createdAt": then(-HOUR)}])
    pair = ReplayedExchange(1, recorded, answer(op.ROLES, body=body, started=LATER))

    assert {each.path for each in comparer_of().compare(pair).differences} == {"timestamp"}


def then(seconds: float = 0.0) -> str:
    return (NOW + timedelta(seconds=seconds)).isoformat()


def later(seconds: float = 0.0) -> str:
    return (LATER + timedelta(seconds=seconds)).isoformat()


def own(time: str) -> Json:
    return [{"sessionId": "a", "isCurrent": True, "loginTime": time}]


def lasting(created: str, ends: str) -> Json:
    return [{"createdAt": created, "expiresAt": ends}]


MADE = [("data.createdAt", "time")]
PASSED = [{"createdAt": then(-5)}]
NEW = lasting(then(-5), then(72 * HOUR))


@pytest.mark.parametrize(
    ("key", "old", "new", "expected"),
    [
        # A time that had passed may be any other that has, and is not to be ahead.
        (op.ROLES, PASSED, [{"createdAt": later(-HOUR)}], []),
        (op.ROLES, PASSED, [{"createdAt": later(800.0)}], []),
        (op.ROLES, PASSED, [{"createdAt": later(8 * HOUR)}], [("data[0].createdAt", "time")]),
        (op.ROLES, [{"ofItsOwnAt": then(-5)}], [{"ofItsOwnAt": later(8 * HOUR)}], []),
        (op.ROLES, [{"expiresAt": then(-5)}], [{"expiresAt": later(8 * HOUR)}], []),
        (op.ROLES, [{"lastLoginAt": then(500)}], [{"lastLoginAt": later(8 * HOUR)}], []),
        # What a request makes is dated then.
        (op.CHANNEL_CREATE, {"createdAt": then(-1)}, {"createdAt": later(-1)}, []),
        (op.CHANNEL_CREATE, {"createdAt": then(-1)}, {"createdAt": later(-8 * HOUR)}, MADE),
        (op.CHANNEL_CREATE, {"updatedAt": then(-1)}, {"updatedAt": later(-8 * HOUR)}, []),
        # The own session began in the replay.
        (op.SESSIONS, own(then(-5)), own(later(-2 * HOUR)), []),
        (op.SESSIONS, own(then(-5)), own(later(-900 * HOUR)), [("data[0].loginTime", "time")]),
        (op.SESSIONS_HISTORY, own(then(-5)), own(later(-900 * HOUR)), []),
        # A new record lasts as long as it did.
        (op.INVITATIONS, NEW, lasting(later(-9), later(72 * HOUR)), []),
        (op.INVITATIONS, NEW, lasting(later(-9), later(64 * HOUR)), [("data[0].expiresAt", "value")]),
        (op.INVITATIONS, NEW, lasting(later(-9 * HOUR), later(63 * HOUR)), []),
        (op.INVITATIONS, NEW, lasting(later(-9 * HOUR), later(72 * HOUR)), [("data[0].createdAt", "time")]),
    ],
)
def test_a_time_is_held_against_its_response_as_it_was_when_recorded(
    key: str, old: Json, new: Json, expected: list[tuple[str, str]]
) -> None:
    assert differing(key, old, new) == expected


def sign_in(time: str, reason: str | None = None, agent: str | None = "a browser") -> dict[str, Json]:
    return {"loginTime": time, "userAgent": agent, "loginResult": 0, "failureReason": reason}


REASON, AGENT = ("failureReason", "type"), ("userAgent", "value")


@pytest.mark.parametrize("reasons", [(None, "WRONG"), ("WRONG", None)])
@pytest.mark.parametrize(("age", "expected"), [(90.0, []), (10.0, [REASON, AGENT])])
def test_sign_ins_of_others_before_it_began_are_the_accounts_state(
    reasons: tuple[str | None, str | None], age: float, expected: list[tuple[str, str]]
) -> None:
    """A sign-in has a reason or null; whose it is, its time says."""
    old = [sign_in(then(-5), agent="the own"), sign_in(then(-age), reasons[0])]
    new = [sign_in(later(-5), agent="the own"), sign_in(later(-age), reasons[1], "another browser")]

    found = differing(op.SESSIONS_HISTORY, {"items": old}, {"items": new}, began=60.0)

    assert sorted(found) == [(f"data.items[1].{name}", kind) for name, kind in expected]


@pytest.mark.parametrize("is_current", [True, False])
def test_the_own_session_is_compared_and_one_of_others_is_not(is_current: bool) -> None:
    old, new = (
        [{"loginTime": moment, "isCurrent": is_current, "userAgent": agent}]
        for moment, agent in ((then(-90), "a"), (later(-90), "b"))
    )

    expected = [("data[0].userAgent", "value")] if is_current else []
    assert differing(op.SESSIONS, old, new, began=60.0) == expected


RECORD = "e0e3f0a5-0d1c-4b7e-9d3a-64b3e8a3a5a1"


@pytest.mark.parametrize(
    ("dated", "expected"), [(-300 * 86_400.0, [("data.updatedAt", "time")]), (-500.0, []), (3.0, [])]
)
def test_a_change_dates_its_record_as_it_did_when_recorded(
    dated: float, expected: list[tuple[str, str]]
) -> None:
    """What is updated late, or by a clock that is slow, is dated all the same."""
    old, new = {"bizId": RECORD, "updatedAt": then(1)}, {"bizId": RECORD, "updatedAt": later(dated)}
    unchanged = {"bizId": RECORD, "updatedAt": then(-500 * 86_400.0)}

    updating = pair(op.ACCOUNT_UPDATE, None, None, sent={"userBizId": RECORD})
    made = {"createdAt": then(-600 * 86_400.0)}

    assert compared(pair(op.ACCOUNT, made | unchanged, made | unchanged), updating) == []
    assert compared(updating, pair(op.ACCOUNT, made | old, made | new)) == expected
    assert compared(pair(op.ACCOUNT, made | old, made | new)) == []


@pytest.mark.parametrize(
    ("seconds", "fraction", "expected"),
    [
        (2.0, ".5", [("data.updatedAt", "time")]),
        (0.01, ".512", []),
        (2.0, "", [("data.updatedAt", "time")]),
        (0.5, "", []),
    ],
)
def test_a_change_moves_the_time_that_was_shown_before_it_also_of_a_record_just_made(
    seconds: float, fraction: str, expected: list[tuple[str, str]]
) -> None:
    """The record is read, updated so many seconds later, and read again; within a fraction of a second that
    is not written, its time may stay."""
    shown = f"{LATER - timedelta(seconds=5):%Y-%m-%dT%H:%M:%S}{fraction}+00:00"
    old, new = {"bizId": RECORD, "createdAt": then(-9)}, {"bizId": RECORD, "createdAt": later(-9)}
    first = pair(op.ACCOUNT, old | {"updatedAt": then(-5)}, new | {"updatedAt": shown})
    updating = pair(op.ACCOUNT_UPDATE, None, None, sent={"userBizId": RECORD}, after=seconds)
    again = pair(op.ACCOUNT, old | {"updatedAt": then(1)}, new | {"updatedAt": shown}, after=seconds + 1)
    unmoved = pair(op.ACCOUNT, old | {"updatedAt": then(-5)}, new | {"updatedAt": shown}, after=seconds + 1)

    assert compared(first, updating, again) == expected
    assert compared(first, updating, unmoved) == []
    assert compared(first, again) == []


@pytest.mark.parametrize(("created", "expected"), [(0.1, []), (-86_400.0, [("data.updatedAt", "time")])])
def test_a_creation_that_a_change_moved_is_no_time_that_the_change_left(
    created: float, expected: list[tuple[str, str]]
) -> None:
    first, second = (
        pair(op.ACCOUNT_UPDATE, None, None, sent={"userBizId": RECORD}, after=after) for after in (0.0, 0.1)
    )
    shown = {"bizId": RECORD, "createdAt": later(created), "updatedAt": later(created)}
    recorded = {"bizId": RECORD, "createdAt": then(-86_400.0), "updatedAt": then(-0.1)}

    assert compared(first, second, pair(op.ACCOUNT, recorded, shown, after=0.2)) == expected


def config(name: str, old: Json, new: Json) -> ReplayedExchange:
    return replace(pair(op.SESSIONS_CONFIG, {name: old}, {name: new}), account="spare")


@pytest.mark.parametrize(
    ("name", "by"), [("lastLoginAt", op.LOGIN_COMPLETE), ("passwordChangedAt", op.PASSWORD_CHANGE)]
)
def test_a_time_that_the_caller_moved_when_recorded_is_not_from_before_the_replay(name: str, by: str) -> None:
    acting = replace(pair(by, None, None), account="spare")
    stayed = config(name, then(-20), later(-600))

    assert compared(acting, stayed) == [(f"data.{name}", "time")]
    assert compared(acting, config(name, then(-20), later(-100))) == []
    assert compared(acting, config(name, then(-600), later(-600))) == []
    assert compared(stayed) == []
    assert compared(replace(acting, account="admin"), stayed) == []


def pair(key: str, old: Json, new: Json, *, sent: Json = ABSENT, after: float = 0.0) -> ReplayedExchange:
    """An exchange of now, and its replay of forty days later, answered ``after`` so many seconds."""
    stamped = envelope(data=new, timestamp=round((LATER.timestamp() + after) * 1000))
    live = answer(key, body=stamped, started=LATER + timedelta(seconds=after), sent=sent)
    return ReplayedExchange(1, answer(key, old, sent=sent), live)


def compared(*pairs: ReplayedExchange) -> list[tuple[str, str]]:
    """The places and kinds of differences of exchanges, one after the other."""
    assessor = assessor_of(began=Clocks(NOW.timestamp() - 60, LATER.timestamp() - 60))
    outcomes = [assessor.assess(each, ()) for each in pairs]
    return [(each.path, each.kind) for outcome in outcomes for each in outcome.differences]


@pytest.mark.parametrize(
    ("address", "expected"),
    [("192.0.2.1", []), ("192.0.2.2", [("data.lastLoginIp", "repetition")]), ("2001:db8::1", [])],
)
def test_a_sign_in_comes_from_one_address_in_all_answers(
    address: str, expected: list[tuple[str, str]]
) -> None:
    old = [{"loginTime": then(-5), "clientIp": "203.0.113.7"}]
    new = [{"loginTime": later(-9), "clientIp": "192.0.2.1"}]
    told = {"lastLoginAt": then(-5), "lastLoginIp": "203.0.113.7"}
    tells = {"lastLoginAt": later(-9), "lastLoginIp": address}

    assert compared(pair(op.SESSIONS, old, new), pair(op.SESSIONS_CONFIG, told, tells)) == expected
    other = pair(op.SESSIONS_CONFIG, told, tells | {"lastLoginAt": later()})
    assert compared(pair(op.SESSIONS, old, new), other) == []


def stamped(key: str, ahead: float) -> ReplayedExchange:
    """An exchange of now, and its replay, answered by a clock that is so many seconds ahead."""
    moment = int((LATER.timestamp() + ahead) * 1000)
    live = answer(key, body=envelope(data=[], timestamp=moment), started=LATER)
    return ReplayedExchange(1, answer(key, []), live)


def test_an_answer_that_another_clock_stamps_is_found_and_a_clock_that_is_set_is_none() -> None:
    day = 86_400.0
    odd = [("timestamp", "time")]

    assert compared(stamped(op.ROLES, HOUR), stamped(op.INVITATIONS, HOUR + 5)) == []
    assert compared(stamped(op.ROLES, 0), stamped(op.INVITATIONS, -day), stamped(op.ROLES, 0)) == odd
    assert compared(stamped(op.ROLES, 0), stamped(op.INVITATIONS, day), stamped(op.ROLES, 0)) == odd
    assert compared(stamped(op.ROLES, 0), stamped(op.INVITATIONS, day), stamped(op.ROLES, day)) == odd
    assert compared(*(stamped(op.ROLES, ahead) for ahead in (0, day, day))) == [*odd, *odd]


@pytest.mark.parametrize(
    ("entries", "total", "expected"),
    [
        ([-1, -2], 2, []),
        ([-1, -2, -300], 3, []),
        ([-70, -80], 2, []),
        ([-1, -130], 2, [("data.items", "length")]),
        ([-1], 1, [("data.items", "length")]),
        ([-1, -300], 5, [("data.items", "length")]),
        ([-1], 5, []),
    ],
)
def test_a_history_that_lacks_sign_ins_of_the_replay_is_shorter_and_not_by_those_of_others(
    entries: list[float], total: int, expected: list[tuple[str, str]]
) -> None:
    """It may be kept by a clock that is some seconds slow, or counts minutes."""
    refusal = answer(
        op.LOGIN_INITIATE, body=envelope("AUTH.INVALID_CREDENTIALS", timestamp=ABSENT), status=401
    )
    refused = ReplayedExchange(1, refusal, refusal)
    signed_in = [replace(each, account="spare") for each in (refused, pair(op.LOGIN_COMPLETE, {}, {}))]

    def history(entries: list[float], total: int, moment: Callable[[float], str]) -> Json:
        items = [{"bizId": moment(each), "loginTime": moment(each)} for each in entries]
        return {"items": items, "pagination": {"totalRecords": total}}

    old, new = history([-1, -2], 2, then), history(entries, total, later)
    read = replace(pair(op.SESSIONS_HISTORY, old, new), account="spare")

    assert compared(*signed_in, read) == expected
    assert compared(read) == []


EARLY, LATE = "2031-05-06T07:08:09.123Z", "2031-05-06T07:08:09.456Z"
"""Two times that are less than a second apart."""


def pairs(key: str, *data: tuple[Json, Json], apart: float = 0.5, repeats: int = 1) -> list[ReplayedExchange]:
    """Reads of recorded and live data, so many seconds apart."""
    return [
        ReplayedExchange(at, _later(answer(key, old), at * apart), answer(key, new), repeats=repeats)
        for at, (old, new) in enumerate(data)
    ]


def _later(exchange: Exchange, seconds: float) -> Exchange:
    started = datetime.fromisoformat(exchange.started) + timedelta(seconds=seconds)
    return replace(exchange, started=started.isoformat())


def broken(reads: list[ReplayedExchange]) -> list[str]:
    repetitions = ShownEarlier()
    return [each.path for read in reads for each in repetitions.broken(read)]


def test_a_time_that_the_recording_shows_twice_is_expected_twice() -> None:
    old = {"bizId": "one", "boundAt": EARLY, "notAfter": 1_800_000_000_123, "key": "abc", "note": "abc"}
    same = {**old, "bizId": "uno", "boundAt": LATE, "notAfter": 1_900_000_000_123, "key": "xyz"}
    other = {**same, "boundAt": EARLY, "notAfter": 1_900_000_000_124, "key": "uvw", "note": "xyz"}

    assert broken(pairs(op.FILE, (old, same), (old, same))) == []
    assert broken(pairs(op.FILE, (old, same), (old, other))) == ["data.boundAt", "data.notAfter", "data.key"]
    assert broken(pairs(op.FILE, (old, same), (old, other), repeats=0)) == []
    assert broken(pairs(op.FILE, (old, same), (same, other))) == [], "it moves in the recording too"


@pytest.mark.parametrize(
    ("time", "next_time", "apart", "is_broken"),
    [
        ("2031-05-06T07:08:09.1Z", "2031-05-06T07:08:09.2Z", 0.05, False),
        ("2031-05-06T07:08:09.000Z", "2031-05-06T07:08:09.120Z", 0.02, True),
        ("2031-05-06T07:08:09Z", "2031-05-06T07:08:10Z", 0.5, False),
        ("2031-05-06T07:08:09Z", "2031-05-06T07:08:10Z", 1.5, True),
        ("2031-05-06T07:08Z", "2031-05-06T07:09Z", 1.5, False),
        ("2031-05-06T07:08:09Z", "2031-05-06T09:08:09+02:00", 1.5, False),
        ("2031-05-06T07:08:09Z", "2031-05-06T07:08:09+02:00", 1.5, True),
        (1_900_000_000_000, 1_900_000_001_000, 0.5, False),
        (1_900_000_000_001, 1_900_000_000_002, 0.5, True),
    ],
)
def test_a_time_that_moves_may_be_the_same_twice_as_far_as_it_is_written(
    time: Json, next_time: Json, apart: float, is_broken: bool
) -> None:
    first, second = {"at": {"sentAt": time}}, {"at": {"sentAt": next_time}}

    assert (broken(pairs(op.FILE, (first, first), (first, second), apart=apart)) != []) is is_broken


def test_a_record_is_compared_with_itself_wherever_it_stands() -> None:
    a, b = {"bizId": "a", "createdAt": EARLY}, {"bizId": "b", "createdAt": LATE}

    assert broken(pairs(op.ROLES, ([a, b], [a, b]), ([b, a], [b, a]))) == []


def test_times_of_activity_and_lists_of_sessions_are_left_out() -> None:
    def read(time: str) -> Json:
        return {"lastSeenAt": time, "lastLoginAt": time, "passwordChangedAt": time}

    moved = (read(EARLY), read(EARLY)), (read(EARLY), read(LATE))

    assert broken(pairs(op.SESSIONS_CONFIG, *moved)) == []
    assert broken(pairs(op.SESSIONS, *moved)) == []
    assert broken(pairs(op.PROFILE, *moved)) == ["data.passwordChangedAt"]


def test_no_more_is_remembered_than_has_room() -> None:
    repetitions = ShownEarlier()
    items = [{"sentAt": EARLY}] * (MOST_SHOWN + 1)
    (large,) = pairs(op.ROLES, (items, items))
    first, second = pairs(
        op.FILE, ({"sentAt": EARLY}, {"sentAt": EARLY}), ({"sentAt": EARLY}, {"sentAt": LATE}), repeats=2
    )

    assert [list(repetitions.broken(read)) for read in (large, first, second)] == [[], [], []]


def test_reads_repeat_one_another_and_changes_do_not() -> None:
    requests = [7, 8, 7, 9, 8, 7]

    assert list(repeats_of(range(6), requests, changing={1, 4})) == [1, 0, 1, 0, 0, 1]
