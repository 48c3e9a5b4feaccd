"""The fast lane of a replay: what it repeats and caches comes to the same as what is rebuilt and compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.replay.compare.outcome import State
from conformance.replay.engine.step import Attempt, ReplayStep
from conformance.replay.fast_lane import CachedResponse, RepeatedStep, cached_response_of
from conformance.replay.rebuild.actions import Received, Send, exchange_of
from conformance.target.http1 import WireResponse
from conformance.tests.polling import crowd, poll, recording_of
from conformance.tests.replay_logs import conclusions, log_of
from conformance.tests.replays import recorded, steps_of
from conformance.tests.scripted_client import Walker
from conformance.tests.traffic import role
from conformance.traffic import capture
from conformance.traffic.capture.bodies import LARGEST_ANSWER
from conformance.traffic.exchange import Exchange, Json, Request
from conformance.traffic.log import ExchangeLog
from conformance.traffic.redaction.redact import Secrets


def from_templates(steps: list[ReplayStep]) -> list[Attempt]:
    """The attempts whose request was not rebuilt."""
    return [step.attempt for step in steps if step.attempt is not None and step.attempt.rebuilt is None]


def test_reads_that_repeat_are_sent_from_a_template_each_under_an_id_of_its_own(
    polled: Path, tmp_path: Path
) -> None:
    result, steps = steps_of(polled, tmp_path / "out", concurrency=2)

    repeated = from_templates(steps)
    assert result.tally.counts == {State.SAME: result.tally.wanted}
    assert len(repeated) >= 20
    assert sum(isinstance(step, RepeatedStep) for step in steps) >= 10, "recognised by their bytes"
    operations = {attempt.live.request.operation for attempt in repeated}
    assert {each.impact for each in operations if each} == {"read-only"}
    assert not [each for each in operations if each is None or "/auth/" in each.path]
    live = list(capture.read(tmp_path / "out" / "exchanges.jsonl"))
    ids = [exchange.request.header("x-request-id") for exchange in live]
    assert len(set(ids)) == len(ids) == result.tally.wanted
    for send in (attempt.send for attempt in repeated):
        head, target = send.head.decode(), send.request.url.partition("://")[2].partition("/")[2]
        assert head.startswith(f"{send.request.method} /{target} HTTP/1.1\r\n")
        assert all(f"\r\n{name}: {value}\r\n" in head for name, value in send.request.headers)


SEED = 11

Recordings = dict[str, Path]


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Recordings:
    """Two clients and several who look at the same pages, and a whole visit with the channel opened."""
    folder = tmp_path_factory.mktemp("recordings")
    return {
        "polled": recording_of(poll, folder / "polled.jsonl", seed=SEED),
        "crowded": recording_of(crowd, folder / "crowded.jsonl", seed=SEED),
        "visit": recorded(folder / "visit.jsonl", Walker.visit, seed=SEED),
    }


@pytest.fixture(scope="module")
def polled(recordings: Recordings) -> Path:
    return recordings["polled"]


def differs_nowhere(
    recording: Path, out: Path, *, faults: tuple[str, ...] = (), variants: tuple[str, ...] = ()
) -> bool:
    """Whether a replay with caches and one without come to the same. Where they do not, both are repeated
    once: two times that a portal makes may be the same millisecond in one replay alone."""
    fast, slow = _both(recording, out / "first", faults, variants)
    if fast != slow:
        fast, slow = _both(recording, out / "second", faults, variants)
    assert fast == slow
    return len(slow[1]) > 20


Outcome = tuple[dict[str, object], list[object]]


def _both(
    recording: Path, out: Path, faults: tuple[str, ...], variants: tuple[str, ...]
) -> tuple[Outcome, Outcome]:
    """What a replay with caches comes to and logs, and one without."""
    fast, _ = steps_of(recording, out / "fast", faults=faults, variants=variants, seed=SEED)
    slow, _ = steps_of(recording, out / "slow", faults=faults, variants=variants, seed=SEED, cache=False)
    with_caches, without = list(log_of(out / "fast")), list(log_of(out / "slow"))
    return (conclusions(fast), with_caches), (conclusions(slow), without)


IN_FIELDS = ("a-method-twice", "role-without-a-name", "account-status-of-another-list")
AT_THE_SECOND = ("a-method-twice", "profile-is-another-from-the-second-call")


@pytest.mark.parametrize(
    ("name", "faults", "variants"),
    [
        ("polled", (*IN_FIELDS, "channel-password-in-the-clear"), ()),
        ("polled", ("profile-is-another-from-the-second-call",), ()),
        ("polled", ("refresh-is-refused",), ()),
        ("polled", ("issued-token-is-not-accepted",), ()),
        ("polled", (), ("gzip", "further-headers", "numeric-ids")),
        ("polled", (), ("chunked", "header-case", "opaque-tokens", "cookies")),
        ("crowded", AT_THE_SECOND, ()),
        ("crowded", ("issued-token-is-not-accepted",), ()),
        ("visit", ("a-method-twice", "login-session-expires-in-text"), ()),
    ],
)
def test_a_replay_comes_to_the_same_without_caches(
    recordings: Recordings, tmp_path: Path, name: str, faults: tuple[str, ...], variants: tuple[str, ...]
) -> None:
    assert differs_nowhere(recordings[name], tmp_path, faults=faults, variants=variants)


ID, STAMP, DATE = "request-000001", 1_795_315_774_236, "Sun, 22 Nov 2026 02:49:34 GMT"
URL = "http://portal.example.test/web/v1/system/roles"


def body(*, stamp: object = STAMP, echo: str | None = None, name: str = "one") -> bytes:
    told = {"version": "2.0.0", "timestamp": stamp, "success": True, "code": "2000", "message": "ok"}
    data = [role(roleName=name, description=echo or "as before")]
    return json.dumps({**told, "data": data}).encode()


def came_as(content: bytes, *headers: tuple[str, str], status: int = 200) -> WireResponse:
    raw = [
        (name.encode(), value.encode()) for name, value in (("content-type", "application/json"), *headers)
    ]
    return WireResponse(status=status, raw_headers=raw, body=content)


class Lane:
    """The log of a replay, and the responses that it caches."""

    def __init__(self, folder: Path) -> None:
        self.secrets = Secrets()
        self.log = ExchangeLog(folder / "exchanges.jsonl", self.secrets)

    def first(self, came: WireResponse) -> CachedResponse | None:
        """The cached response that the first response makes."""
        send, received = self.sent(ID), Received(came, "2026-11-22T02:49:34Z", 1.0)
        exchange = exchange_of(send, received, largest_body=LARGEST_ANSWER)
        self.log.write(exchange)
        return cached_response_of(Attempt(send, received, exchange))

    def again(self, cached: CachedResponse | None, came: WireResponse, id: str = ID) -> Exchange | None:
        """The exchange with a later response, where it is recognised, which is logged then."""
        assert cached is not None
        exchange = cached.repeated(self.sent(id), Received(came, "2026-11-22T02:49:35Z", 1.0), 2)
        if exchange is not None:
            cached.write(exchange, self.log)
        return exchange

    def sent(self, id: str) -> Send:
        headers = [("Authorization", "Bearer abcdefgh12345678"), ("X-Request-Id", id)]
        return Send(0, Request(method="GET", url=URL, headers=headers), b"", b"")

    def written(self) -> list[dict[str, Json]]:
        """The lines of the log."""
        self.log.close()
        return [json.loads(line) for line in self.log.path.read_text().splitlines()]


@pytest.fixture
def lane(tmp_path: Path) -> Lane:
    return Lane(tmp_path)


@pytest.mark.parametrize("echoed", [False, True])
def test_what_differs_by_date_time_and_id_is_recognised_and_recorded_with_its_own(
    echoed: bool, lane: Lane
) -> None:
    def came(seconds: int) -> WireResponse:
        date = DATE.replace(":34 ", f":{34 + seconds} ")
        echo = [("x-request-id", f"request-00000{seconds}")] if echoed else []
        return came_as(body(stamp=STAMP + 1000 * seconds), ("date", date), *echo)

    cached = lane.first(came(1))
    shown = [lane.again(cached, came(seconds), f"request-00000{seconds}") for seconds in (2, 5)]

    for exchange, line, whole in zip(shown, lane.written()[1:], (came(2), came(5)), strict=True):
        assert exchange is not None
        assert exchange.response is not None
        assert exchange.response.body == line["response"]["body"] == json.loads(whole.body)
        assert [tuple(pair) for pair in line["response"]["headers"]] == whole.headers
        assert ["X-Request-Id", exchange.request.header("x-request-id")] in line["request"]["headers"]


@pytest.mark.parametrize(
    "other",
    [
        came_as(body(), ("date", DATE), status=201),
        came_as(body(name="two"), ("date", DATE)),
        came_as(body(stamp=179_531_577_423), ("date", DATE)),
        came_as(body(stamp="1795315774236"), ("date", DATE)),
        came_as(body().replace(b"1795315774236", b"17953157742.6"), ("date", DATE)),
        came_as(body().replace(b"1795315774236", b"0795315774236"), ("date", DATE)),
        came_as(body() + b" ", ("date", DATE)),
        came_as(body(), ("date", DATE), ("retry-after", "5")),
        came_as(body(), ("Date", DATE)),
        came_as(body(), ("date", 'a date "in quotes" of some length')),
        came_as(b"", ("date", DATE)),
    ],
)
def test_a_response_that_differs_otherwise_is_not_recognised(other: WireResponse, lane: Lane) -> None:
    cached = lane.first(came_as(body(), ("date", DATE)))

    assert lane.again(cached, came_as(body(), ("date", DATE))) is not None
    assert lane.again(cached, other) is None


@pytest.mark.parametrize(
    "first, later",
    [
        (body(echo=f"at {STAMP}"), body(stamp=STAMP + 1000, echo=f"at {STAMP + 1000}")),
        (body(echo=f"at {STAMP}"), body(stamp=STAMP + 1000, echo=f"at {STAMP}")),
        (body(echo=f"of {ID}"), body(echo="of request-000005")),
    ],
)
def test_where_the_marks_are_not_certain_nothing_is_recognised(
    first: bytes, later: bytes, lane: Lane
) -> None:
    cached = lane.first(came_as(first, ("date", DATE)))

    assert lane.again(cached, came_as(later, ("date", DATE)), "request-000005") is None


@pytest.mark.parametrize("name, value", [("expires", DATE), ("x-trace", f"of {ID}")])
def test_a_header_beside_the_marks_is_compared(name: str, value: str, lane: Lane) -> None:
    date = DATE.replace(":34 ", ":35 ")
    cached = lane.first(came_as(body(), ("date", DATE), (name, value)))

    assert lane.again(cached, came_as(body(), ("date", date), (name, value))) is not None
    other = value.replace(DATE, date).replace(ID, "request-000005")
    assert lane.again(cached, came_as(body(), ("date", date), (name, other)), "request-000005") is None


def test_an_answer_that_names_a_secret_later_is_written_without_it(lane: Lane) -> None:
    cached = lane.first(came_as(body(name="later-known-1"), ("date", DATE)))
    lane.again(cached, came_as(body(name="later-known-1"), ("date", DATE)))
    lane.secrets.add("later-known-1", "secret")
    lane.again(cached, came_as(body(name="later-known-1"), ("date", DATE)))

    lines = [json.dumps(line) for line in lane.written()]
    assert ["later-known-1" in line for line in lines] == [False] * 3
    assert "Bearer [token-1]" in lines[2]
