"""The judging middleware: it counts what contradicts the specification, and changes no answer."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
from collections.abc import Awaitable, Callable
from typing import Any
from unittest.mock import AsyncMock

import httpx
import pytest

from conformance.embed.asgi import JudgedCounts, JudgingMiddleware
from conformance.embed.bridge import ApplicationTransport
from conformance.target.bundled import in_process
from conformance.tests.traffic import envelope

KEY = "/web/v1/secure-channel/public-key"
HEADERS = {"X-PORTAL-ACCESS-CODE": "code-1"}
FAULTY = envelope(data={"keyId": "k-1", "publicKey": "AAAA"}) | {"success": "yes"}

App = Callable[..., Awaitable[None]]


def answering(*parts: bytes, **headers: str) -> App:
    """An application that answers each request with these parts."""
    pairs = [(b"content-type", b"application/json")]
    pairs += [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": pairs})
        for number, part in enumerate(parts, 1):
            more = number < len(parts)
            await send({"type": "http.response.body", "body": part, "more_body": more})

    return app


def client_of(app: App) -> httpx.Client:
    return httpx.Client(transport=ApplicationTransport(app), base_url="http://localhost", headers=HEADERS)


def test_an_answer_passes_as_it_is_and_its_contradictions_are_counted() -> None:
    raw = json.dumps(FAULTY).encode()
    judging = JudgingMiddleware(answering(raw[:20], raw[20:]))

    with client_of(judging) as client:
        responses = [client.get(KEY) for _ in range(3)]

    assert [response.content for response in responses] == [raw] * 3
    assert judging.drain()
    assert (judging.counts.total("judged"), judging.counts.total("dropped")) == (3, 0)
    assert [finding.requirement for finding in judging.counts.latest] == ["ENV-002"] * 3
    assert judging.counts.findings == {("ENV-002", "fail", f"GET {KEY}"): 3}


def test_a_secret_is_not_kept_with_a_finding() -> None:
    token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLW9mLXRoaXM"
    judging = JudgingMiddleware(answering(json.dumps(FAULTY | {"success": token}).encode()))

    with client_of(judging) as client:
        client.get(KEY, headers={"Authorization": f"Bearer {token}"})

    assert judging.drain()
    (finding,) = judging.counts.latest
    assert finding.requirement == "ENV-002"
    assert token not in repr(finding)


def test_the_whole_reference_portal_passes_through_without_a_finding() -> None:
    portal = in_process()
    judging = JudgingMiddleware(portal.app)

    with client_of(judging) as client:
        client.headers["X-PORTAL-ACCESS-CODE"] = str(portal.profile.portal.access_code)
        key = client.get(KEY)
        refused = client.post("/web/v1/system/auth/login/initiate", json={"email": 1})

    assert judging.drain()
    assert (key.status_code, refused.status_code) == (200, 400)
    assert judging.counts.total("judged") == 2
    assert judging.counts.latest == []


def test_other_paths_are_not_judged() -> None:
    judging = JudgingMiddleware(answering(b"{}"))

    with client_of(judging) as client:
        assert [client.get(path).json() for path in ("/health", "/web/v2/x")] == [{}, {}]

    assert judging.drain()
    assert judging.counts.total("judged") == 0


def test_nothing_is_concluded_from_a_body_beyond_the_bound_and_a_packed_one_is_read() -> None:
    raw = json.dumps(FAULTY).encode()
    cut = JudgingMiddleware(answering(raw), largest=50)
    packed = JudgingMiddleware(answering(gzip.compress(raw), content_encoding="gzip"))

    for judging in (cut, packed):
        with client_of(judging) as client:
            assert client.get(KEY).json() == FAULTY
        assert judging.drain()

    assert cut.counts.latest == []
    assert [finding.requirement for finding in packed.counts.latest] == ["ENV-002"]


def test_what_waits_is_bounded_and_the_rest_is_dropped_and_counted() -> None:
    held = threading.Event()

    class Slow(JudgedCounts):
        def count(self, name: str, times: int = 1) -> None:
            if name == "judged":
                held.wait(10)
            super().count(name, times)

    judging = JudgingMiddleware(answering(json.dumps(FAULTY).encode()), Slow(), waiting=2)

    with client_of(judging) as client:
        answered = [client.get(KEY).status_code for _ in range(10)]
    assert not judging.drain(0.05)
    held.set()

    assert answered == [200] * 10
    assert judging.drain()
    assert judging.counts.total("judged") + judging.counts.total("dropped") == 10
    assert judging.counts.total("judged") <= 4


def test_an_error_of_the_application_stays_one_and_is_not_judged() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise LookupError("of the application")

    judging = JudgingMiddleware(app)
    scope = {"type": "http", "path": KEY, "method": "GET", "headers": []}

    with pytest.raises(LookupError, match="of the application"):
        asyncio.run(judging(scope, AsyncMock(), AsyncMock()))
    assert judging.counts.total("judged") == 0
