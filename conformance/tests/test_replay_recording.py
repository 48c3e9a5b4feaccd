"""The analysis of a recording: repeated lines are analyzed once, and that comes to the same."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from conformance.errors import CaptureError, UsageError
from conformance.replay import replay
from conformance.replay.compare.outcome import State
from conformance.replay.recording.analysis import CACHED_BYTES, planned
from conformance.replay.recording.descriptions.overview import recorded_latencies
from conformance.replay.recording.fingerprint import Likeness, fingerprint_of, likeness_of, marked
from conformance.replay.recording.plan import ReplaySelection
from conformance.replay.recording.store import Store
from conformance.report.latency.spread import Spread
from conformance.spec.endpoints import COUNTRIES
from conformance.tests.polling import crowd, poll, recording_of
from conformance.tests.replays import options_for, profile_of
from conformance.tests.traffic import NO_TOKEN, answer
from conformance.traffic import capture
from conformance.traffic.exchange import ABSENT, Exchange, Json, Request, Response
from reference_impl import serve as reference


@pytest.fixture(scope="module")
def polled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recording_of(poll, tmp_path_factory.mktemp("polled") / "polled.jsonl")


def test_fingerprints_differ_where_lines_differ_in_more_than_ids_and_times() -> None:
    def line(
        id: str = "request-000001",
        date: str = "Sun, 22 Nov 2026 02:49:34 GMT",
        stamp: int = 1_795_315_774_236,
        path: str = "one",
        name: str = "One",
        started: str = "2026-11-22T02:49:34Z",
    ) -> bytes:
        headers = [("date", date), ("x-request-id", id)]
        url = f"http://portal.example.test/{path}"
        return msgspec.json.encode(
            Exchange(
                n=1,
                started=started,
                request=Request(method="GET", url=url, headers=headers[1:]),
                response=Response(status=200, headers=headers, body={"timestamp": stamp, "name": name}),
            )
        )

    request, answer, portal_ms = fingerprint_of(line())

    later = line(id="request-000002", date="Sun, 22 Nov 2026 02:49:35 GMT", stamp=1_795_315_774_237)
    assert fingerprint_of(later) == (request, answer, 1_795_315_774_237)
    assert portal_ms == 1_795_315_774_236
    assert fingerprint_of(line(started="2026-11-22T02:50:00Z")) == (request, answer, portal_ms)
    assert fingerprint_of(line(path="two"))[0] != request
    assert fingerprint_of(line(path="two"))[1] == answer
    assert fingerprint_of(line(name="Two"))[0] == request
    assert fingerprint_of(line(name="Two"))[1] != answer


def test_requests_are_alike_that_differ_in_token_and_client_hash_alone() -> None:
    def like(token: str, client: str, *, id: str = "request-000001", body: Json = ABSENT) -> Likeness:
        headers = [("X-Request-Id", id), ("Authorization", f"Bearer {token}"), ("x-client-hash", client)]
        request = Request(method="POST", url="http://portal.example.test/", headers=headers, body=body)
        line = msgspec.json.encode(Exchange(n=1, started="2026-11-22T02:49:34Z", request=request))
        return likeness_of(marked(line)[1])

    first = like("token-1", "client-1")
    assert first.own == (b"Bearer token-1", b"client-1")
    assert (first.token, first.client_hash) == ("token-1", "client-1")
    assert like("token-2", "client-2", id="request-000002").alike == first.alike
    assert like("token-1", "client-1", body=["authorization", "token-1"]).alike != first.alike
    other = (
        like("token-1", "client-1", body=[["authorization", "1"]]),
        like("t", "c", body=[["authorization", "2"]]),
    )
    assert other[0].alike != other[1].alike


def test_a_recording_that_is_written_otherwise_is_planned_alike(polled: Path, tmp_path: Path) -> None:
    spaced = tmp_path / "spaced.jsonl"
    lines = [json.loads(line) for line in polled.read_text().splitlines()]
    spaced.write_text("".join(f"{json.dumps(line)}\n" for line in lines))

    assert plan_of(polled) == plan_of(spaced)


def test_repeated_lines_are_planned_as_if_each_were_analyzed(polled: Path) -> None:
    assert plan_of(polled) == plan_of(polled, cached_bytes=0)


def test_lines_of_several_clients_are_planned_as_if_each_were_analyzed(tmp_path: Path) -> None:
    crowded = recording_of(crowd, tmp_path / "crowded.jsonl")

    assert plan_of(crowded) == plan_of(crowded, cached_bytes=0)


@pytest.mark.parametrize("chunk", [*range(2, 60), 997, 1 << 20])
def test_lines_are_read_whole_wherever_a_chunk_of_the_file_ends(chunk: int, tmp_path: Path) -> None:
    files = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    lines = [exchange_line(number) for number in range(1, 8)]
    files[0].write_bytes(b"\n".join(lines[:4]) + b"\n")
    files[1].write_bytes(b"\r\n".join(lines[4:]))

    with Store(files, chunk_bytes=chunk) as recorded:
        assert list(recorded.lines()) == lines
        assert [recorded.line(at) for at in range(7)] == lines


def test_lines_are_read_wherever_another_reader_of_the_file_stands(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    lines = [exchange_line(number) for number in range(1, 8)]
    file.write_bytes(b"\n".join(lines))

    with Store([file], chunk_bytes=100) as recorded:
        pairs = list(zip(recorded.lines(), recorded.lines(), strict=True))

    assert pairs == [(line, line) for line in lines]


def test_a_file_that_becomes_shorter_is_named(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_bytes(exchange_line(1) + b"\n" + exchange_line(2) + b"\n")
    with Store([file]) as recorded:
        file.write_bytes(exchange_line(1) + b"\n")
        with pytest.raises(CaptureError, match=r"one\.jsonl:2: the file became shorter"):
            list(recorded.lines())


def two_hosts(folder: Path) -> Path:
    """A page of two portals: of one the countries, of the other a page of its own with a token of its own."""
    at_one = answer(COUNTRIES, [], headers=NO_TOKEN)
    request = replace(
        at_one.request,
        url="http://tenant.example.test/web/v1/tenant/orders",
        headers=[*at_one.request.headers, ("Authorization", "Bearer a-token-of-the-tenants-portal")],
    )
    path = folder / "two.jsonl"
    with capture.Writer(path) as writer:
        for _ in range(2):
            writer.write(at_one)
        writer.write(replace(at_one, request=request))
    return path


def test_what_was_recorded_at_several_hosts_is_named_and_one_can_be_chosen(tmp_path: Path) -> None:
    with Store([two_hosts(tmp_path)]) as store:
        both = planned(store, ReplaySelection())
        chosen = planned(store, ReplaySelection(hosts=frozenset({"portal.example.test"})))
        with pytest.raises(UsageError, match="Nothing was recorded at --recorded-host"):
            planned(store, ReplaySelection(hosts=frozenset({"elsewhere.example.test"})))

    (note,) = both.notes
    assert "2 hosts is replayed at one portal: portal.example.test (2), tenant.example.test (1)" in note
    assert note.endswith("Name one with --recorded-host.")
    assert both.ignored == {}
    assert chosen.notes == []
    assert chosen.ignored == {"another host": 1}
    assert [session >= 0 for session in chosen.session_of] == [True, True, False]


def test_a_token_without_a_source_is_not_sent_to_an_endpoint_that_is_not_described(tmp_path: Path) -> None:
    with reference.start() as portal:
        result = replay([two_hosts(tmp_path)], profile_of(portal), options_for(tmp_path / "out"))

    assert result.tally.counts[State.NOT_REPLAYABLE] == 1
    sent = [exchange.request.path for exchange in capture.read(tmp_path / "out" / "exchanges.jsonl")]
    assert sent == [COUNTRIES.partition(" ")[2]] * 2


def exchange_line(number: int) -> bytes:
    request = Request(method="GET", url=f"http://portal.example.test/{'x' * number}")
    return msgspec.json.encode(Exchange(n=number, started="2026-11-22T07:00:00Z", request=request))


def plan_of(recording: Path, *, cached_bytes: int = CACHED_BYTES) -> dict[str, object]:
    with Store([recording]) as store:
        plan = planned(store, ReplaySelection(impact="disruptive"), cached_bytes=cached_bytes)
        return {
            "sessions": plan.session_of.tolist(),
            "sources": plan.sources,
            "handles": plan.handles,
            "accepted": plan.accepted,
            "passwords": plan.passwords,
            "code": plan.access_codes,
            "order": plan.order.tolist(),
            "times": (plan.started.tolist(), plan.moments.tolist()),
            "same": [plan.responses.index(each) for each in plan.responses],
            "asked": [plan.requests.index(each) for each in plan.requests],
        }


def test_the_recorded_latencies_are_those_of_all_lines(polled: Path) -> None:
    spreads: dict[str, Spread] = {}
    for exchange in capture.read(polled):
        if exchange.request.operation is not None:
            spreads.setdefault(exchange.request.operation.key, Spread()).note(exchange.elapsed_ms)
    with Store([polled]) as store:
        recorded = recorded_latencies(planned(store, ReplaySelection(impact="disruptive")))

    assert len(recorded) > 3
    assert recorded == {key: {"counts": spread.as_json()} for key, spread in spreads.items()}
