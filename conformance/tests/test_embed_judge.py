"""``portal_judge``: answers of httpx, requests and Starlette, judged in other people's tests."""

from __future__ import annotations

import tomllib
from typing import Any

import httpx
import pytest
import requests
from starlette.testclient import TestClient

from conformance.embed.judge import PortalContradiction, PortalJudge, exchange_of
from conformance.errors import UsageError
from conformance.target.bundled import in_process
from conformance.tests.traffic import envelope
from reference_impl import serve

pytest_plugins = ["pytester"]

KEY = "/web/v1/secure-channel/public-key"


def answer(body: Any, path: str = KEY, **headers: str) -> httpx.Response:
    """An answer of httpx to a GET, with its request."""
    sent = {"X-PORTAL-ACCESS-CODE": "code-1", **headers}
    request = httpx.Request("GET", f"http://localhost{path}", headers=sent)
    return httpx.Response(200, json=body, request=request)


def key(**changes: Any) -> dict[str, Any]:
    return envelope(data={"keyId": "k-1", "publicKey": "AAAA"}) | changes


def test_a_lawful_answer_passes_and_one_that_contradicts_a_must_raises_with_everything_to_act_on() -> None:
    judge = PortalJudge()
    assert judge.feed(answer(key())) == []

    with pytest.raises(PortalContradiction) as raised:
        judge.feed(answer(key(success="yes")))

    text = str(raised.value)
    assert "FAIL ENV-002 (Response envelope): " in text
    assert f"at        success of GET {KEY}" in text
    assert "expected  a boolean\n" in text
    assert 'actual    "yes"' in text
    assert {finding.requirement for finding in raised.value.findings} == {"ENV-002"}
    assert judge.feed(answer(key())) == []


def test_rules_that_are_left_out_neither_fail_nor_warn(recwarn: pytest.WarningsRecorder) -> None:
    assert PortalJudge(skip=("ENV-*",)).feed(answer(key(success="yes", message="done"))) == []
    assert not recwarn
    with pytest.raises(UsageError, match="NONE-1"):
        PortalJudge(only=("NONE-1",))


def test_a_secret_of_the_answer_is_not_shown() -> None:
    token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLW9mLXRoaXM"
    shown = answer(key(success=token), Authorization=f"Bearer {token}")

    with pytest.raises(PortalContradiction, match="ENV-002") as raised:
        PortalJudge().feed(shown)

    assert token not in str(raised.value)


def test_answers_of_httpx_and_requests_are_judged_alike() -> None:
    with serve.start(faults=["code-as-number"]) as portal:
        code = str(tomllib.loads(portal.profile())["portal"]["access_code"])
        url, headers = f"{portal.url}{KEY}", {"X-PORTAL-ACCESS-CODE": code}
        answers = httpx.get(url, headers=headers), requests.get(url, headers=headers, timeout=10)

    for response in answers:
        with pytest.raises(PortalContradiction, match="ENV-004"):
            PortalJudge().feed(response)
        exchange = exchange_of(response)
        assert exchange.request.header("user-agent")
        assert exchange.elapsed_ms > 0


def test_answers_of_starlettes_test_client_are_judged_with_their_request() -> None:
    portal = in_process(faults=["code-as-number"])
    code = str(portal.profile.portal.access_code)
    client = TestClient(portal.app, base_url="http://localhost", headers={"X-PORTAL-ACCESS-CODE": code})

    refused = client.post("/web/v1/secure-channel/session", json={"keyId": 1})
    answered = client.get(KEY)

    assert exchange_of(refused).sent == {"keyId": 1}
    assert PortalJudge().feed(refused) == []
    with pytest.raises(PortalContradiction, match="ENV-004"):
        PortalJudge().feed(answered)


def test_nothing_is_concluded_from_a_body_that_nobody_has_read() -> None:
    request = httpx.Request("POST", f"http://localhost{KEY}", content=iter([b"x"]))
    unread = httpx.Response(200, stream=httpx.ByteStream(b"{}"), request=request)

    exchange = exchange_of(unread)

    assert (exchange.request.form, exchange.response and exchange.response.form) == ("omitted", "omitted")
    assert PortalJudge().feed(unread) == []


def test_what_is_no_response_is_refused() -> None:
    with pytest.raises(UsageError, match="httpx, requests or Starlette's test client is needed"):
        PortalJudge().feed("text")


OWN_TESTS = """
import httpx

ENVELOPE = {"version": "2.0.0", "timestamp": 1767225600000, "success": True, "code": "2000",
            "message": "Success", "data": {"keyId": "k-1", "publicKey": "AAAA"}}

def answer(**changes):
    headers = {"X-PORTAL-ACCESS-CODE": "code-1"}
    request = httpx.Request("GET", "http://localhost/web/v1/secure-channel/public-key", headers=headers)
    return httpx.Response(200, json=ENVELOPE | changes, request=request)

def test_lawful(portal_judge):
    portal_judge.feed(answer())

def test_faulty(portal_judge):
    portal_judge.feed(answer(success="yes"))

def test_noted(portal_judge):
    portal_judge.note(answer(success="yes"))

def test_warned(portal_judge):
    portal_judge.feed(answer(message="done"))
"""


def test_the_fixture_fails_a_test_at_the_feed_or_at_its_end(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(OWN_TESTS)

    normal = pytester.runpytest("-p", "no:cacheprovider")
    normal.assert_outcomes(passed=3, failed=1, errors=1, warnings=1)
    normal.stdout.fnmatch_lines(["*FAIL ENV-002 (Response envelope)*", '*actual    "yes"*'])
    strict = pytester.runpytest(
        "-p", "no:cacheprovider", "--portal-fail-on", "should", "--portal-skip", "ENV-002"
    )
    strict.assert_outcomes(passed=3, failed=1)
