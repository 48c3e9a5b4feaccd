"""What the recording shows alike at each read is expected alike at each read of the target."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance.replay.compare.difference import Difference, Meaning
from conformance.replay.compare.meaning import Meanings
from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.replay.compare.times.repetition import MOST_PLACES, Repetitions
from conformance.replay.recording.repeats import repeats_of
from conformance.spec.endpoints import FILE, PROFILE, PUBLIC_KEY, ROLES, SESSIONS, SESSIONS_CONFIG
from conformance.tests.replays import recorder, replayed
from conformance.tests.traffic import answer
from conformance.traffic.exchange import Exchange, Json

EARLY, LATE = "2031-05-06T07:08:09.123Z", "2031-05-06T07:08:09.456Z"
"""Two times that are less than a second apart."""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file and an institution, each read twice."""
    out = tmp_path_factory.mktemp("recording") / "traffic.jsonl"
    with recorder(out) as (walker, _):
        walker.sign_in(walker.accounts["admin"])
        institution = walker.get("/workspaces/current")["data"]["institutionBizId"]
        for _ in range(2):
            walker.look_at_a_file()
            walker.get(f"/institutions/{institution}")
    return out


@pytest.mark.parametrize(
    ("fault", "path", "kind"),
    [
        ("a-file-is-created-when-it-is-read", "data.createdAt", "repetition"),
        ("a-read-updates-the-institution", "data.updatedAt", "repetition"),
        ("a-file-has-another-hash-at-each-read", "data.etag", "value"),
    ],
)
@pytest.mark.parametrize("cache", [False, True])
def test_a_read_that_changes_something_is_a_breaking_change(
    recording: Path, tmp_path: Path, fault: str, path: str, kind: str, cache: bool
) -> None:
    result = replayed(recording, tmp_path, faults=(fault,), cache=cache)

    (regression,) = result.run.regressions
    assert (regression.path, regression.kind, regression.meaning) == (path, kind, "breaking")


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
    repetitions = Repetitions()
    return [each.path for read in reads for each in repetitions.broken(read)]


def test_a_time_that_the_recording_shows_twice_is_expected_twice() -> None:
    old = {"bizId": "one", "boundAt": EARLY, "notAfter": 1_800_000_000_123, "key": "abc", "note": "abc"}
    same = {**old, "bizId": "uno", "boundAt": LATE, "notAfter": 1_900_000_000_123, "key": "xyz"}
    other = {**same, "boundAt": EARLY, "notAfter": 1_900_000_000_124, "key": "uvw", "note": "xyz"}

    assert broken(pairs(FILE, (old, same), (old, same))) == []
    assert broken(pairs(FILE, (old, same), (old, other))) == ["data.boundAt", "data.notAfter", "data.key"]
    assert broken(pairs(FILE, (old, same), (old, other), repeats=0)) == []


def test_a_time_that_moves_in_the_recording_may_move() -> None:
    assert (
        broken(pairs(FILE, ({"seenAt": EARLY}, {"seenAt": EARLY}), ({"seenAt": LATE}, {"seenAt": LATE})))
        == []
    )


@pytest.mark.parametrize(
    ("time", "next_time", "apart", "is_broken"),
    [
        ("2031-05-06T07:08:09.1Z", "2031-05-06T07:08:09.2Z", 0.05, False),
        ("2031-05-06T07:08:09.000Z", "2031-05-06T07:08:09.120Z", 0.02, True),
        ("2031-05-06T07:08:09.000Z", "2031-05-06T07:08:10.000Z", 0.5, False),
        ("2031-05-06T07:08:09Z", "2031-05-06T07:08:10Z", 0.5, False),
        ("2031-05-06T07:08:09Z", "2031-05-06T07:08:10Z", 1.5, True),
        ("2031-05-06T07:08Z", "2031-05-06T07:09Z", 1.5, False),
        ("2031-05-06T07:08:09Z", "2031-05-06T09:08:09+02:00", 1.5, False),
        ("2031-05-06T07:08:09Z", "2031-05-06T07:08:09+02:00", 1.5, True),
        ("3 minutes ago", "4 minutes ago", 100.0, False),
        (1_900_000_000, 1_900_000_001, 0.5, False),
        (1_900_000_000_000, 1_900_000_001_000, 0.5, False),
        (1_900_000_000_001, 1_900_000_000_002, 0.5, True),
    ],
)
def test_a_time_that_moves_may_be_the_same_twice_as_far_as_it_is_written(
    time: Json, next_time: Json, apart: float, is_broken: bool
) -> None:
    reads = pairs(
        FILE, ({"at": {"sentAt": time}},) * 2, ({"at": {"sentAt": time}}, {"at": {"sentAt": next_time}})
    )
    reads = [
        replace(read, recorded=_later(answer(FILE, {"at": {"sentAt": time}}), at * apart))
        for at, read in enumerate(reads)
    ]

    assert (broken(reads) != []) is is_broken


def test_a_record_is_compared_with_itself_wherever_it_stands() -> None:
    def listed(*names: str) -> list[Json]:
        return [{"bizId": name, "createdAt": EARLY if name == "a" else LATE} for name in names]

    assert (
        broken(pairs(ROLES, (listed("a", "b"), listed("a", "b")), (listed("b", "a"), listed("b", "a")))) == []
    )
    assert broken(pairs(ROLES, (listed("a", "b"), listed("a", "b")), (listed("a", "b"), listed("a")))) == []


def test_times_of_activity_and_lists_of_sessions_are_left_out() -> None:
    def read(time: str) -> Json:
        return {"lastSeenAt": time, "lastLoginAt": time, "passwordChangedAt": time}

    moved = (read(EARLY), read(EARLY)), (read(EARLY), read(LATE))

    assert broken(pairs(SESSIONS_CONFIG, *moved)) == []
    assert broken(pairs(SESSIONS, *moved)) == []
    assert broken(pairs(PROFILE, *moved)) == ["data.passwordChangedAt"]


def test_no_more_is_remembered_than_has_room() -> None:
    repetitions = Repetitions()
    items = [{"sentAt": EARLY}] * (MOST_PLACES + 1)
    (large,) = pairs(ROLES, (items, items))
    first, second = pairs(
        FILE, ({"sentAt": EARLY}, {"sentAt": EARLY}), ({"sentAt": EARLY}, {"sentAt": LATE}), repeats=2
    )

    assert [list(repetitions.broken(read)) for read in (large, first, second)] == [[], [], []]


def test_another_public_key_at_each_read_is_permitted() -> None:
    (pair,) = pairs(PUBLIC_KEY, ({"publicKey": "abc"}, {"publicKey": "xyz"}))

    meaning = Meanings().of(pair, Difference("repetition", ("data", "publicKey"), "abc", "xyz"))

    assert meaning.meaning is Meaning.PERMITTED


def test_reads_repeat_one_another_and_changes_do_not() -> None:
    requests = [7, 8, 7, 9, 8, 7]

    assert list(repeats_of(range(6), requests, changing={1, 4})) == [1, 0, 1, 0, 0, 1]
