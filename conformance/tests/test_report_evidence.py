"""Evidence is read as a stream: what findings name, what led there, and how long everything took."""

from __future__ import annotations

import resource
from pathlib import Path

import msgspec

from conformance.report.model.evidence import (
    LONGEST_ELAPSED,
    LONGEST_LINE,
    OTHER,
    CountedPart,
    RunEvidence,
    read,
)
from conformance.tests.sample_run import INITIATE, PROFILE, ROLES, envelope, error, exchange, sample
from conformance.traffic.exchange import Exchange


def test_only_what_is_asked_for_is_kept(tmp_path: Path) -> None:
    file = sample().write(tmp_path / "exchanges.jsonl")

    found = read(file, {40, 41})

    assert set(found.exchanges) == {40, 41}
    assert found.exchanges[40].code == "AUTH.INVALID_CREDENTIALS"
    assert found.total == 44


def test_parts_that_are_counted_before_they_are_joined_show_what_the_whole_shows(tmp_path: Path) -> None:
    file = sample().write(tmp_path / "exchanges.jsonl")
    exchanges = [msgspec.json.decode(line, type=Exchange) for line in file.read_bytes().splitlines()]
    counted = RunEvidence()
    for begin, end in ((0, 20), (20, 20), (20, 44)):
        part = CountedPart()
        for each in exchanges[begin:end]:
            part.count(each, len(msgspec.json.encode(each)))
        counted.extend(part)

    assert counted.sign_ins.passwords
    assert read(file, {30, 41}, counted=counted) == read(file, {30, 41})


def test_a_line_that_is_too_long_to_be_read_is_counted_as_such() -> None:
    part, counted = CountedPart(), RunEvidence()

    part.count(exchange(1, ROLES, answer=envelope([])), LONGEST_LINE)
    counted.extend(part)

    assert (counted.total, counted.unread, counted.timings) == (1, 1, [])


def test_of_many_large_responses_the_beginning_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "exchanges.jsonl"
    records = [{"bizId": f"{number:08}"} for number in range(20_000)]
    lines = [exchange(number, ROLES, answer=envelope(records)) for number in range(1, 21)]
    lines.append(exchange(21, ROLES, answer=envelope([])))
    file.write_bytes(b"\n".join(map(msgspec.json.encode, lines)))

    found = read(file, range(1, 22))
    responses = [found.exchanges[number].response for number in range(1, 22)]
    states = [response.state for response in responses if response is not None]

    assert states[0] == states[-1] == "json"
    assert states.count("truncated") >= 10
    assert sum(len(msgspec.json.encode(each)) for each in responses) < 6_000_000


def test_the_steps_of_the_same_client_that_led_there_are_told(tmp_path: Path) -> None:
    file = tmp_path / "exchanges.jsonl"
    told = [
        exchange(1, INITIATE, answer=envelope()),
        msgspec.structs.replace(exchange(2, ROLES, answer=envelope([])), client="another"),
        exchange(3, PROFILE, answer=error("ACCESS.TOKEN_MISSING"), status=401),
        exchange(4, ROLES, answer=envelope([])),
    ]
    file.write_bytes(b"\n".join(map(msgspec.json.encode, told)))

    found = read(file, {4})

    assert [(step.number, step.status, step.code) for step in found.before[4]] == [
        (1, 200, "2000"),
        (3, 401, "ACCESS.TOKEN_MISSING"),
    ]


def test_times_are_told_by_endpoint(tmp_path: Path) -> None:
    file = tmp_path / "exchanges.jsonl"
    took = [10.0, 20.0, 30.0, 400.0]
    lines = [exchange(at, ROLES, took=ms, answer=envelope([])) for at, ms in enumerate(took, 1)]
    lines.append(exchange(5, "GET /favicon.ico", took=1.0))
    file.write_bytes(b"\n".join(map(msgspec.json.encode, lines)))

    roles, other = read(file, ()).timings

    assert (roles.endpoint, roles.requests, roles.median_ms, roles.max_ms, roles.total_ms) == (
        ROLES,
        4,
        30.0,
        400.0,
        460.0,
    )
    assert roles.group == "Roles"
    assert other.endpoint == OTHER


def test_a_missing_file_gives_no_evidence(tmp_path: Path) -> None:
    assert read(tmp_path / "none.jsonl", {1}).exchanges == {}


def test_broken_and_cut_off_lines_are_passed_over_and_keep_their_numbers(tmp_path: Path) -> None:
    file = tmp_path / "exchanges.jsonl"
    good = msgspec.json.encode(exchange(4, ROLES, answer=envelope([])))
    file.write_bytes(b"\n".join([b"\xff\xfe", b"{}", b"[1", good, good[:50]]))

    found = read(file, {1, 2, 3, 4, 5})

    assert set(found.exchanges) == {4}
    assert found.unread == 4


def test_a_large_file_is_read_in_little_memory(tmp_path: Path) -> None:
    file = tmp_path / "exchanges.jsonl"
    line = msgspec.json.encode(exchange(1, ROLES, answer=envelope(["x" * 5_000]))) + b"\n"
    with file.open("wb") as out:
        for _ in range(20_000):
            out.write(line)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    found = read(file, {19_999})

    assert found.total == 20_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000, (
        "kilobytes more, for 100 MB read"
    )


def test_an_answer_that_is_recorded_as_endless_has_a_time(tmp_path: Path) -> None:
    file = tmp_path / "exchanges.jsonl"
    endless = msgspec.structs.replace(exchange(1, ROLES, answer=envelope([])), elapsed_ms=1e308)
    file.write_bytes(msgspec.json.encode(endless))

    pulse = read(file, {1}).pulse

    assert pulse.others.elapsed[0] == LONGEST_ELAPSED
