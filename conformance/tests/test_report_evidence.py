"""Evidence is read as a stream: what findings name, what led there, and how long everything took."""

from __future__ import annotations

import resource
from pathlib import Path

import msgspec

from conformance.report.model.evidence import LONGEST_ELAPSED, CountedPart, RunEvidence, read
from conformance.tests.sample_run import ROLES, envelope, exchange, sample
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

    assert read(file, {30, 41}, counted=counted) == read(file, {30, 41})


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
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert more < 30_000, "kilobytes, for 100 MB read"


def test_an_answer_that_is_recorded_as_endless_has_a_time(tmp_path: Path) -> None:
    file = tmp_path / "exchanges.jsonl"
    endless = msgspec.structs.replace(exchange(1, ROLES, answer=envelope([])), elapsed_ms=1e308)
    file.write_bytes(msgspec.json.encode(endless))

    (timing,) = read(file, {1}).timings

    assert timing.max_ms == LONGEST_ELAPSED
