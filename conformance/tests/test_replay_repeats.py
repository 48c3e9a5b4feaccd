"""A client that asks the same again and again: making its requests anew once comes to the same."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from conformance import record
from conformance.errors import CaptureError
from conformance.replay import Replayed
from conformance.replay.compare.assess import Assessor
from conformance.replay.compare.comparer import Comparer
from conformance.replay.compare.outcome import State
from conformance.replay.engine.actions import Send
from conformance.replay.fast_lane.answers import Familiar
from conformance.replay.fast_lane.requests import Repeat, Repeats
from conformance.replay.recording import analysis as survey
from conformance.replay.recording import store
from conformance.replay.recording.fingerprint import glance
from conformance.replay.recording.plan import Choice
from conformance.replay.recording.store import Store
from conformance.tests.replays import replayed
from conformance.tests.scripted_client import Walker
from conformance.traffic import capture
from conformance.traffic.exchange import Exchange, Request, Response
from conformance.verdicts.findings import Finding
from reference_impl import serve as reference

ROUNDS = 4


@pytest.fixture(scope="module")
def polled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clients who look at the same pages, one of them with a change and a new token between."""
    out = tmp_path_factory.mktemp("polled") / "polled.jsonl"
    with reference.start() as portal, record.serve(portal.url, out) as recorder:
        profile = tomllib.loads(portal.profile())
        watcher, admin = (Walker(recorder.url, profile, hash=name) for name in ("watcher", "admin"))
        watcher.sign_in(profile["accounts"]["spare"])
        admin.sign_in(profile["accounts"]["admin"])
        for number in range(ROUNDS):
            watcher.get("/profile")
            watcher.get("/security/mfa")
            look(admin)
            if number == 1:
                admin.channel()
            if number == 2:
                admin.renew_token()
    return out


def look(walker: Walker) -> None:
    role = walker.get("/roles")["data"][0]
    walker.get(f"/roles/{role['bizId']}")
    walker.get("/security/mfa")
    walker.post("/notifications/channels/query", {"page": 0, "size": 20})
    walker.look_at_orders(walker.get("/workspaces/current")["data"]["bizId"])


@pytest.fixture
def sent_again(monkeypatch: pytest.MonkeyPatch) -> list[Exchange]:
    """What was recorded of those whose request was not made anew."""
    recorded: list[Exchange] = []
    of = Repeats.of

    def noted(self: Repeats, position: int) -> Repeat | None:
        found = of(self, position)
        if found is not None:
            recorded.append(found.recorded)
        return found

    monkeypatch.setattr(Repeats, "of", noted)
    return recorded


def test_what_repeats_is_sent_again_each_under_an_id_of_its_own(
    polled: Path, tmp_path: Path, sent_again: list[Exchange]
) -> None:
    told = replayed(polled, tmp_path / "out", concurrency=2)

    assert told.tally.counts == {State.SAME: told.tally.wanted}
    assert len(sent_again) >= 20
    live = list(capture.read(tmp_path / "out" / "exchanges.jsonl"))
    ids = [exchange.request.header("x-request-id") for exchange in live]
    assert len(set(ids)) == len(ids) == told.tally.wanted


def test_only_what_reads_and_is_not_part_of_a_sign_in_is_sent_again(
    polled: Path, tmp_path: Path, sent_again: list[Exchange]
) -> None:
    replayed(polled, tmp_path / "out", concurrency=2)

    operations = {exchange.request.operation for exchange in sent_again}
    assert None not in operations
    assert {one.impact for one in operations if one} == {"read-only"}
    assert not [one.key for one in operations if one and "/auth/" in one.path]


@pytest.mark.parametrize(
    "fault",
    [
        "a-method-twice",
        "role-without-a-name",
        "profile-is-another-from-the-second-call",
        "refresh-is-refused",
        "account-status-by-another-name",
        "issued-token-is-not-accepted",
        "inactive-channels-tell-their-password",
    ],
)
def test_a_fault_is_told_as_where_everything_is_made_anew_and_compared(
    fault: str, polled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = outcomes(replayed(polled, tmp_path / "short", faults=(fault,)))
    answers = Comparer.answers

    monkeypatch.setattr(Repeats, "of", lambda self, position: None)
    monkeypatch.setattr(Comparer, "answers", lambda self, old, new, pair=None: answers(self, old, new))
    long = outcomes(replayed(polled, tmp_path / "long", faults=(fault,)))

    assert short == long


def outcomes(told: Replayed) -> dict[str, object]:
    return {
        "states": dict(told.tally.counts),
        "regressions": [(one.exchange, one.endpoint, one.path, one.kind) for one in told.run.regressions],
        "verdicts": {one.id: one.verdict for one in told.run.requirements},
        "readings": [(one.key, one.observed) for one in told.run.readings],
        "endpoints": told.tally.endpoints,
    }


@pytest.fixture
def told_by_bytes(monkeypatch: pytest.MonkeyPatch) -> list[Exchange]:
    """What was made of answers that were not decoded."""
    made: list[Exchange] = []
    again = Familiar.again

    def noted(self: Familiar, *given: Any, **named: Any) -> tuple[Exchange, Mapping[str, str]] | None:
        found = again(self, *given, **named)
        if found is not None:
            made.append(found[0])
        return found

    monkeypatch.setattr(Familiar, "again", noted)
    return made


@pytest.mark.parametrize("variants", [(), ("gzip",), ("chunked",), ("header-case",), ("further-headers",)])
def test_an_answer_that_is_known_by_its_bytes_is_recorded_as_one_that_is_decoded(
    variants: tuple[str, ...], polled: Path, tmp_path: Path, told_by_bytes: list[Exchange]
) -> None:
    replayed(polled, tmp_path, variants=variants)

    # What is packed is as long as chance has it, which its head tells.
    assert len(told_by_bytes) >= (0 if variants == ("gzip",) else 10)
    written = {exchange.n: exchange for exchange in capture.read(tmp_path / "exchanges.jsonl")}
    for made in told_by_bytes:
        assert made.response is not None
        line = written[made.n]
        assert line.response is not None
        assert line.request.url == made.request.url
        assert line.request.header("x-request-id") == made.request.header("x-request-id")
        assert line.response.headers == made.response.headers
        assert line.response.body == made.response.body
        assert made.data == made.response.body["data"]


def test_what_goes_over_the_wire_is_what_is_recorded_of_it(
    polled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Send] = []
    again = Repeats.again

    def noted(self: Repeats, *given: Any) -> Send:
        sent.append(again(self, *given))
        return sent[-1]

    monkeypatch.setattr(Repeats, "again", noted)

    replayed(polled, tmp_path)

    assert any(one.is_another for one in sent)
    for one in sent:
        head = one.head.decode()
        target = one.request.url.partition("://")[2].partition("/")[2]
        assert head.startswith(f"{one.request.method} /{target} HTTP/1.1\r\n")
        assert all(f"\r\n{name}: {value}\r\n" in head for name, value in one.request.headers)


def test_an_answer_to_a_request_of_another_time_is_judged_as_any(
    polled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[str] = []
    repeated = Assessor.again

    def noted(self: Assessor, live: Exchange, familiar: Familiar) -> list[Finding]:
        judged.append(live.request.url)
        return repeated(self, live, familiar)

    monkeypatch.setattr(Assessor, "again", noted)

    replayed(polled, tmp_path)

    assert judged
    assert not [url for url in judged if "startTime" in url]


def test_recorded_lines_are_told_apart_by_what_they_say() -> None:
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

    request, answer, told = glance(line())

    later = line(id="request-000002", date="Sun, 22 Nov 2026 02:49:35 GMT", stamp=1_795_315_774_237)
    assert glance(later) == (request, answer, 1_795_315_774_237)
    assert told == 1_795_315_774_236
    assert glance(line(started="2026-11-22T02:50:00Z")) == (request, answer, told)
    assert glance(line(path="two"))[0] != request
    assert glance(line(path="two"))[1] == answer
    assert glance(line(name="Two"))[0] == request
    assert glance(line(name="Two"))[1] != answer


def test_a_recording_that_is_written_otherwise_is_planned_alike(polled: Path, tmp_path: Path) -> None:
    spaced = tmp_path / "spaced.jsonl"
    lines = [json.loads(line) for line in polled.read_text().splitlines()]
    spaced.write_text("".join(f"{json.dumps(line)}\n" for line in lines))

    assert plan_of(polled) == plan_of(spaced)


def test_what_is_said_again_is_planned_as_if_each_were_looked_into(
    polled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = plan_of(polled)

    monkeypatch.setattr(survey, "REMEMBERED", 0)

    assert short == plan_of(polled)


@pytest.mark.parametrize("chunk", [*range(2, 60), 997, 1 << 20])
def test_lines_are_read_whole_wherever_a_chunk_of_the_file_ends(
    chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "CHUNK", chunk)
    files = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    told = [exchange_line(number) for number in range(1, 8)]
    files[0].write_bytes(b"\n".join(told[:4]) + b"\n")
    files[1].write_bytes(b"\r\n".join(told[4:]))

    with Store(files) as recorded:
        assert list(recorded.lines()) == told
        assert [recorded.line(at) for at in range(7)] == told


def test_a_file_that_becomes_shorter_is_named(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_bytes(exchange_line(1) + b"\n" + exchange_line(2) + b"\n")
    with Store([file]) as recorded:
        file.write_bytes(exchange_line(1) + b"\n")
        with pytest.raises(CaptureError, match=r"one\.jsonl:2: the file became shorter"):
            list(recorded.lines())


def exchange_line(number: int) -> bytes:
    request = Request(method="GET", url=f"http://portal.example.test/{'x' * number}")
    return msgspec.json.encode(Exchange(n=number, started="2026-11-22T07:00:00Z", request=request))


def plan_of(recording: Path) -> dict[str, object]:
    with Store([recording]) as store:
        plan = survey.planned(store, Choice(impact="disruptive"))
        return {
            "sessions": plan.session_of.tolist(),
            "given": plan.given,
            "handles": plan.handles,
            "passwords": plan.passwords,
            "code": plan.access_code,
            "order": plan.order.tolist(),
            "times": (plan.started.tolist(), plan.moments.tolist()),
            "same": [plan.answers.index(one) for one in plan.answers],
            "asked": [plan.requests.index(one) for one in plan.requests],
        }
