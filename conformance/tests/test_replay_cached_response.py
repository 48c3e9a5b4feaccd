"""Cached responses: a repeated response is recognised by its bytes, and only where it differs in no more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.judging import watch
from conformance.replay.engine.step import Attempt
from conformance.replay.fast_lane.cached_response import CachedResponse, cached_response_of
from conformance.replay.fast_lane.epoch import Epoch
from conformance.replay.fast_lane.log import CachingLog, Templates
from conformance.replay.rebuild.actions import Received, Send, WireResponse
from conformance.replay.rebuild.correlation import Correlation
from conformance.spec import REQUIREMENTS
from conformance.tests.traffic import role
from conformance.traffic.capture.bodies import body_of
from conformance.traffic.exchange import Exchange, Header, Request, Response
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.findings import Ledger

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


def request(id: str, *, url: str = URL, token: str = "abcdefgh12345678") -> Request:
    headers: list[Header] = [("Authorization", f"Bearer {token}"), ("X-Request-Id", id)]
    return Request(method="GET", url=url, headers=headers)


class Replay:
    """A judge and a log, as a replay has them."""

    def __init__(self, folder: Path) -> None:
        self.judge = watch(Ledger(REQUIREMENTS))
        self.secrets = Secrets()
        self.log = CachingLog(folder / "exchanges.jsonl", Epoch(Correlation(used=()), self.secrets))

    def first(self, came: WireResponse, sent: Request | None = None) -> CachedResponse | None:
        """The cached response that the first response makes."""
        content, form = body_of(came.body)
        response = Response(status=came.status, headers=came.headers, body=content, form=form)
        exchange = Exchange(
            n=0, started="2026-11-22T02:49:34Z", request=sent or request(ID), response=response
        )
        line = self.log.add(exchange)
        assert line.templates is not None
        self.sent = line.templates.request
        self.judge(line.exchange)
        send = Send(0, exchange.request, b"", b"")
        received = Received(came, exchange.started, 1.0)
        return cached_response_of(Attempt(exchange, send, received, line))

    def again(
        self, cached: CachedResponse | None, came: WireResponse, id: str = "request-000002"
    ) -> Exchange | None:
        assert cached is not None
        received = Received(came, "2026-11-22T02:49:35Z", 1.0)
        repeated = cached.repeated(Send(0, request(id), b"", b""), id, received, number=self.log.count + 1)
        if repeated is None:
            return None
        exchange, values = repeated
        self.log.add_repeated(exchange, Templates(self.sent, cached.line), values)
        return exchange

    def written(self) -> list[Exchange]:
        self.log.close()
        lines = self.log.path.read_text().splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture
def replay(tmp_path: Path) -> Replay:
    return Replay(tmp_path)


@pytest.mark.parametrize("echoed", [False, True])
def test_what_differs_by_date_time_and_id_is_recognised_and_recorded_with_its_own(
    echoed: bool, replay: Replay
) -> None:
    def came(id: str, stamp: int, date: str) -> WireResponse:
        more = [("x-request-id", id)] if echoed else []
        return answer(body(stamp=stamp, echo=id if echoed else None), ("date", date), *more)

    cached = replay.first(came(ID, STAMP, DATE))
    later = DATE.replace(":34", ":35")
    repeated = replay.again(cached, came("request-000002", STAMP + 1000, later))

    assert repeated is not None
    assert repeated.response is not None
    first, second = replay.written()
    whole = came("request-000002", STAMP + 1000, later)
    assert second["response"]["body"] == repeated.response.body == json.loads(whole.body)  # type: ignore[index]
    assert [tuple(one) for one in second["response"]["headers"]] == whole.headers  # type: ignore[index]
    assert ["X-Request-Id", "request-000002"] in second["request"]["headers"]  # type: ignore[index]
    assert first["response"]["body"] == json.loads(came(ID, STAMP, DATE).body)  # type: ignore[index]


@pytest.mark.parametrize("echoed", [False, True])
def test_responses_that_are_equal_but_for_id_and_times_are_held_once(echoed: bool, replay: Replay) -> None:
    def came(id: str, seconds: int) -> WireResponse:
        date = DATE.replace(":34 ", f":{34 + seconds} ")
        return answer(body(stamp=STAMP + 1000 * seconds), ("date", date), *([("x-id", id)] if echoed else []))

    first = replay.first(came(ID, 0))
    later = replay.first(came("request-000007", 5), request("request-000007", token="another-0123456"))

    assert first is not None
    assert later is not None
    assert later.equals(first)
    repeats = [
        (later, came("request-000008", 9), "request-000008"),
        (first, came("request-000009", 0), "request-000009"),
        (later, came(ID, 9), ID),
    ]
    shown = [replay.again(cached, each, number) for cached, each, number in repeats]
    written = replay.written()[2:]
    for (_, each, _), exchange, line in zip(repeats, shown, written, strict=True):
        assert exchange is not None
        assert exchange.response is not None
        assert exchange.response.body == line["response"]["body"] == json.loads(each.body)  # type: ignore[index]
        assert [tuple(pair) for pair in line["response"]["headers"]] == each.headers  # type: ignore[index]


@pytest.mark.parametrize(
    "other",
    [
        request(ID, url=f"{URL}?page=1"),  # its verdicts may differ
        request(ID, url=URL.replace("roles", "constants/countries")),
    ],
)
def test_equal_responses_to_other_requests_are_not_held_once(other: Request, replay: Replay) -> None:
    first = replay.first(answer(body(), ("date", DATE)))
    later = replay.first(answer(body(), ("date", DATE)), other)

    assert first is not None
    assert later is not None
    assert not later.equals(first)


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


def test_a_secret_in_an_answer_is_looked_for_each_time(replay: Replay) -> None:
    assert (
        replay.first(answer(body().replace(b"[{", b'[{"secretKey": "s3cret-s3cret", '), ("date", DATE)))
        is None
    )


def test_an_answer_that_names_a_secret_later_is_written_without_it(replay: Replay) -> None:
    cached = replay.first(answer(body(name="later-known-1"), ("date", DATE)))
    replay.again(cached, answer(body(name="later-known-1"), ("date", DATE)))
    replay.secrets.add("later-known-1", "secret")

    assert all("later-known-1" not in json.dumps(line) for line in replay.written())
