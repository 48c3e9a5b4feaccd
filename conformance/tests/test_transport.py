"""What is sent is recorded, what may not be sent is not, and no answer is never taken for one."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from conformance.errors import NoAnswer, NotAllowed, TargetUnreachable
from conformance.spec.operations import Impact
from conformance.target.portal.transport import impact_of
from conformance.target.profile.model import parse
from conformance.tests.hostile.plays import everywhere, hang, playing, raw
from conformance.tests.hostile.server import Hostile
from conformance.tests.hostile.table import ROWS
from conformance.tests.hostile.wire import Answer, Turn
from conformance.tests.reached import MINIMAL, Played, profile_at, transport
from conformance.traffic.exchange import ABSENT, Exchange
from conformance.traffic.redaction.redact import Secrets
from reference_impl import serve as reference

Respond = Callable[[httpx.Request], httpx.Response]


def fine(request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json={"success": True})


CLOSING = Answer(headers=((b"Connection", b"close"),), body=b"{}")


@pytest.mark.parametrize("status", [301, 302, 401, 404, 429, 500, 503])
def test_errors_and_redirects_are_answers_and_are_not_followed(status: int) -> None:
    headers = {"location": "http://elsewhere.example.test/", "retry-after": "5"}
    played = Played(httpx.Response(status, headers=headers))

    exchange = transport(played).send("GET", "/web/v1/system/profile")

    assert exchange.status == status
    assert exchange.at("headers.retry-after") == "5"
    (request,) = played.asked
    assert request.url == "http://portal.example.test/web/v1/system/profile"


@pytest.mark.parametrize(
    "content, headers, body, state",
    [
        (b'{"a": 1, "a": 2}', {}, {"a": 2}, "json"),
        (b'{"text": "x"}', {}, {"text": "x"}, "json"),
        (b"[123456789012345678901234567890, 1e999]", {}, [123456789012345678901234567890, 1.7976931348623157e308], "json"),  # noqa: E501
        (b'["\\ud800"]', {}, ["\ufffd"], "json"),
        (b"[NaN]", {}, {"length": 5, "digest": "06d6"}, "not-json"),
        (b"\xff\xfe", {}, {"length": 2, "digest": "2ad7"}, "not-json"),
        (b"[" * 5000 + b"]" * 5000, {}, ABSENT, "undecodable"),
        (gzip.compress(b'{"b": 1}', mtime=0), {"content-encoding": "gzip"}, {"b": 1}, "json"),
    ],
)  # fmt: skip
def test_each_body_is_kept(content: bytes, headers: dict[str, str], body: object, state: str) -> None:
    exchange = transport(Played(httpx.Response(200, content=content, headers=headers))).send("GET", "/x")

    assert exchange.response is not None
    assert exchange.response.body == body
    assert exchange.response.state == state


def test_a_body_beyond_the_bound_is_cut_and_says_so() -> None:
    known = parse(MINIMAL + "\n[limits]\nmax_answer = 2000\n", {})

    exchange = transport(Played(httpx.Response(200, content=b"x" * 5000)), known=known).send("GET", "/x")

    assert exchange.response is not None
    assert exchange.response.state == "truncated"


@pytest.mark.parametrize(
    "method, path, needed",
    [
        ("GET", "/web/v1/system/profile", "read-only"),
        ("POST", "/web/v1/system/auth/login/initiate", "read-only"),
        ("POST", "/web/v1/system/accounts/admin/query", "read-only"),
        ("POST", "/web/v1/system/profile/update", "mutating"),
        ("POST", "/web/v1/system/auth/logout", "disruptive"),
        ("POST", "/web/v1/system/auth/logout/", "disruptive"),
        ("post", "/web/v1/system/auth/logout", "disruptive"),
        ("POST", "/web/v1/system/auth/%6cogout", "disruptive"),
        ("POST", "/web/v1/system//auth/logout", "disruptive"),
        ("POST", "/web/v1/system/profile/../auth/logout?x=1", "disruptive"),
        ("GET", "/nowhere", "read-only"),
        ("DELETE", "/web/v1/system/profile", "mutating"),
        ("PUT", "/web/v1/system/auth/login/initiate", "mutating"),
        ("POST", "/nowhere", "mutating"),
    ],
)
def test_what_a_request_may_do_follows_from_its_method_and_path(method: str, path: str, needed: str) -> None:
    assert impact_of(method, path) == needed


@pytest.mark.parametrize("impact, path", [("read-only", "profile/update"), ("mutating", "auth/logout")])
def test_a_request_above_the_allowed_impact_is_never_sent(impact: Impact, path: str) -> None:
    played, seen = Played(), list[Exchange]()

    with pytest.raises(NotAllowed, match=f"{path} is .*, and the run may only be {impact}"):
        transport(played, impact=impact, seen=seen).send("POST", f"/web/v1/system/{path}")

    assert (played.asked, seen) == ([], [])


@pytest.mark.parametrize("path", ["@elsewhere.example.test/", ".elsewhere.example.test/x", ":81/x"])
def test_nothing_is_ever_sent_to_another_host(path: str) -> None:
    played = Played()

    with pytest.raises(ValueError, match="leads away"):
        transport(played).send("GET", path)

    assert played.asked == []


def test_no_answer_in_time_is_recorded_without_a_response(tmp_path: Path) -> None:
    exchanges: list[Exchange] = []
    with Hostile(playing(hang), "", tmp_path) as portal:
        with pytest.raises(NoAnswer, match=r"nothing came within 0\.2 s") as caught:
            transport(known=profile_at(portal.url, timeout=0.2), seen=exchanges).send("GET", "/x")

    assert [exchange.response for exchange in exchanges] == [None]
    assert caught.value.fault_class == "environment"


def test_a_target_that_answered_before_has_stopped_and_its_address_is_right(tmp_path: Path) -> None:
    with Hostile(playing(raw(CLOSING.framed())), "", tmp_path) as portal:
        sending = transport(known=profile_at(portal.url))
        sending.send("GET", "/x")
    sending.availability.patience = 1.0

    with pytest.raises(TargetUnreachable, match=r"does not answer any more \(connection refused\)"):
        sending.send("GET", "/x")

    assert (sending.availability.patience, sending.availability.away) == (0.0, 1.0)


def test_a_refused_connection_says_what_to_look_at_and_is_not_waited_for() -> None:
    exchanges: list[Exchange] = []
    started = time.monotonic()

    said = r"Nothing answers at .* \(connection refused\)\. Is the portal running\?"
    with pytest.raises(TargetUnreachable, match=said):
        transport(known=profile_at("http://127.0.0.1:9"), seen=exchanges).send("GET", "/x")

    assert time.monotonic() - started < 0.5
    assert exchanges[0].error is not None


def test_a_connection_refused_once_is_tried_again() -> None:
    attempts: list[int] = []

    def respond(request: httpx.Request) -> httpx.Response:
        attempts.append(1)
        if len(attempts) == 1:
            raise httpx.ConnectError("connection refused", request=request)
        return fine(request)

    assert transport(respond).send("GET", "/x").status == 200
    assert len(attempts) == 2


def test_secrets_of_the_wire_are_known_before_anyone_is_told_of_the_exchange() -> None:
    secrets, told = Secrets(), list[str]()

    class Told(list[Exchange]):
        def append(self, exchange: Exchange) -> None:
            told.append(secrets.redact(json.dumps(exchange.envelope)))

    issued = Played(httpx.Response(200, json={"data": {"accessToken": "a-token"}}))
    transport(issued, seen=Told(), secrets=secrets).send("GET", "/x")

    assert told == ['{"data": {"accessToken": "[token-1]"}}']


def test_requests_from_threads_are_numbered_without_gaps_and_told_one_at_a_time() -> None:
    exchanges: list[Exchange] = []
    sender = transport(fine, seen=exchanges)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: sender.send("GET", "/x"), range(40)))

    assert [exchange.n for exchange in exchanges] == list(range(1, 41))


def test_an_exchange_is_recorded_as_it_went_over_the_wire() -> None:
    exchanges: list[Exchange] = []

    exchange = transport(fine, seen=exchanges).send(
        "POST",
        "/web/v1/system/auth/login/initiate?a=b",
        headers=[("X-Twice", "1"), ("X-Twice", "2"), ("Content-Type", "application/json")],
        body=b'{"email":"a@example.test"}',
        client="admin",
    )

    assert exchanges == [exchange]
    assert (exchange.n, exchange.client) == (1, "admin")
    assert exchange.request.url == "http://portal.example.test/web/v1/system/auth/login/initiate?a=b"
    assert [value for name, value in exchange.request.headers if name == "X-Twice"] == ["1", "2"]
    named = [exchange.request.header(name) for name in ("host", "accept", "accept-language")]
    assert named == ["portal.example.test", None, None]
    assert exchange.request.body == {"email": "a@example.test"}
    assert exchange.envelope == {"success": True}


def test_an_answer_that_comes_a_moment_later_is_taken_for_no_other(tmp_path: Path) -> None:
    exchanges: list[Exchange] = []
    row = replace(ROWS["late-second-answer"], when=everywhere)
    with reference.start(seed=1) as portal, Hostile(row, portal.url, tmp_path) as hostile:
        wire = transport(known=profile_at(hostile.url, timeout=10.0), seen=exchanges)
        for number in range(5):
            with suppress(NoAnswer):
                wire.send("GET", f"/web/v1/system/constants/countries?number={number}")
        wire.close()

    first, *others = exchanges
    assert first.error is not None
    assert "followed the answer" in first.error
    assert ["code" in (exchange.envelope or {}) for exchange in others] == [True] * 4


def test_a_server_that_closes_after_each_answer_loses_one_request_at_most(tmp_path: Path) -> None:
    def close_late(turn: Turn) -> None:
        turn.wire.send(Answer(body=b"{}").framed())
        turn.wire.rest(0.3)
        turn.wire.close()

    exchanges: list[Exchange] = []
    with Hostile(playing(close_late), "", tmp_path) as portal:
        wire = transport(known=profile_at(portal.url, timeout=10.0), seen=exchanges)
        for number in range(6):
            with suppress(NoAnswer):
                wire.send("GET", f"/{number}")
        wire.close()

    assert [exchange.response is None for exchange in exchanges].count(True) == 1
