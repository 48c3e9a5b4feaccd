"""Cached responses: a repeated response is recognised by its bytes, and only where it differs in no more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.replay.engine.decode import exchange_of
from conformance.replay.engine.log import ReplayLog
from conformance.replay.engine.step import Attempt
from conformance.replay.fast_lane.cached_response import CachedResponse, cached_response_of
from conformance.replay.rebuild.actions import Received, Send, WireResponse
from conformance.tests.traffic import role
from conformance.traffic.capture.bodies import LARGEST_ANSWER
from conformance.traffic.exchange import Exchange, Json, Request
from conformance.traffic.redaction.redact import Secrets

ID, STAMP, DATE = "request-000001", 1_795_315_774_236, "Sun, 22 Nov 2026 02:49:34 GMT"
URL = "http://portal.example.test/web/v1/system/roles"


def body(*, stamp: object = STAMP, echo: str | None = None, name: str = "one") -> bytes:
    told = {"version": "2.0.0", "timestamp": stamp, "success": True, "code": "2000", "message": "ok"}
    data = [role(roleName=name, description=echo or "as before")]
    return json.dumps({**told, "data": data}).encode()


def answer(content: bytes, *headers: tuple[str, str], status: int = 200) -> WireResponse:
    raw = [
        (name.encode(), value.encode()) for name, value in (("content-type", "application/json"), *headers)
    ]
    return WireResponse(status=status, raw_headers=raw, body=content)


class Replay:
    """The log of a replay, and the responses that it caches."""

    def __init__(self, folder: Path) -> None:
        self.secrets = Secrets()
        self.log = ReplayLog(folder / "exchanges.jsonl", self.secrets)

    def first(self, came: WireResponse) -> CachedResponse | None:
        """The cached response that the first response makes."""
        send, received = self.sent(ID), Received(came, "2026-11-22T02:49:34Z", 1.0)
        line = self.log.add(exchange_of(send, received, largest_body=LARGEST_ANSWER))
        return cached_response_of(Attempt(None, send, received, line))

    def again(self, cached: CachedResponse | None, came: WireResponse, id: str = ID) -> Exchange | None:
        """The exchange with a later response, where it is recognised, which is logged then."""
        assert cached is not None
        exchange = cached.repeated(self.sent(id), Received(came, "2026-11-22T02:49:35Z", 1.0))
        if exchange is not None:
            cached.line = self.log.add_repeated(exchange, cached.line, cached.renewed(exchange))
        return exchange

    def sent(self, id: str) -> Send:
        headers = [("Authorization", "Bearer abcdefgh12345678"), ("X-Request-Id", id)]
        return Send(0, Request(method="GET", url=URL, headers=headers), b"", b"")

    def written(self) -> list[dict[str, Json]]:
        """The lines of the log."""
        self.log.close()
        return [json.loads(line) for line in self.log.path.read_text().splitlines()]


@pytest.fixture
def replay(tmp_path: Path) -> Replay:
    return Replay(tmp_path)


@pytest.mark.parametrize("echoed", [False, True])
def test_what_differs_by_date_time_and_id_is_recognised_and_recorded_with_its_own(
    echoed: bool, replay: Replay
) -> None:
    def came(seconds: int) -> WireResponse:
        date = DATE.replace(":34 ", f":{34 + seconds} ")
        echo = [("x-request-id", f"request-00000{seconds}")] if echoed else []
        return answer(body(stamp=STAMP + 1000 * seconds), ("date", date), *echo)

    cached = replay.first(came(1))
    shown = [replay.again(cached, came(seconds), f"request-00000{seconds}") for seconds in (2, 5)]

    for exchange, line, whole in zip(shown, replay.written()[1:], (came(2), came(5)), strict=True):
        assert exchange is not None
        assert exchange.response is not None
        assert exchange.response.body == line["response"]["body"] == json.loads(whole.body)
        assert [tuple(pair) for pair in line["response"]["headers"]] == whole.headers
        assert ["X-Request-Id", exchange.request.header("x-request-id")] in line["request"]["headers"]


@pytest.mark.parametrize(
    "other",
    [
        answer(body(), ("date", DATE), status=201),
        answer(body(name="two"), ("date", DATE)),
        answer(body(stamp=179_531_577_423), ("date", DATE)),
        answer(body(stamp="1795315774236"), ("date", DATE)),
        answer(body().replace(b"1795315774236", b"17953157742.6"), ("date", DATE)),
        answer(body().replace(b"1795315774236", b"0795315774236"), ("date", DATE)),
        answer(body() + b" ", ("date", DATE)),
        answer(body(), ("date", DATE), ("retry-after", "5")),
        answer(body(), ("Date", DATE)),
        answer(body(), ("date", 'a date "in quotes" of some length')),
        answer(b"", ("date", DATE)),
    ],
)
def test_a_response_that_differs_otherwise_is_not_recognised(other: WireResponse, replay: Replay) -> None:
    cached = replay.first(answer(body(), ("date", DATE)))

    assert replay.again(cached, answer(body(), ("date", DATE))) is not None
    assert replay.again(cached, other) is None


@pytest.mark.parametrize(
    "first",
    [
        answer(body(echo=f"at {STAMP}"), ("date", DATE)),  # it cannot be told which of the two is the moment
        answer(body(), ("date", DATE), ("expires", DATE)),
        answer(body(), ("date", DATE), ("x-trace", f"of {ID}")),
    ],
)
def test_where_the_marks_are_not_certain_nothing_is_cached(first: WireResponse, replay: Replay) -> None:
    assert replay.first(first) is None


def test_an_answer_that_names_a_secret_later_is_written_without_it(replay: Replay) -> None:
    cached = replay.first(answer(body(name="later-known-1"), ("date", DATE)))
    replay.again(cached, answer(body(name="later-known-1"), ("date", DATE)))
    replay.secrets.add("later-known-1", "secret")
    replay.again(cached, answer(body(name="later-known-1"), ("date", DATE)))

    lines = [json.dumps(line) for line in replay.written()]
    assert ["later-known-1" in line for line in lines] == [False] * 3
    assert "Bearer [token-1]" in lines[2]
