"""A call carries the common headers, the profile's and the case's; bodies and ids come from the profile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import httpx
import pytest

from conformance.errors import Untestable
from conformance.target.portal import Portal
from conformance.tests.reached import MINIMAL, Played, answer, answering, connected, without
from conformance.traffic.exchange import Json

FORGOT = "POST /web/v1/system/auth/password/forgot"
ROLE = "GET /web/v1/system/roles/{roleBizId}"
CREATE = "POST /web/v1/system/notifications/channels/create"
OWN_ONLY = "a run changes only records that the profile names"
NO_BODY = r'the profile has no \[operations\."POST .*channels/create"\] body'
UNGIVEN = r"body has \{otp\}, and there is no value for it"


def body(key: str, text: str) -> str:
    """A table of a profile with the body of an operation."""
    return f'[operations."{key}"]\nbody = {text}\n'


ACCOUNT_STATUS = "POST /web/v1/system/accounts/admin/status"


@pytest.fixture
def recorder() -> Played:
    return Played(answer({"bizId": "b-1"}))


def test_a_call_carries_the_common_headers(recorder: Played) -> None:
    portal = answering(recorder)

    portal.call("GET /web/v1/system/profile", token="a-token")
    first = recorder.asked[-1].headers
    portal.call("GET /web/v1/system/profile", token="a-token")
    second = recorder.asked[-1].headers

    assert first["x-portal-access-code"] == "the-access-code"
    assert first["authorization"] == "Bearer a-token"
    assert first["x-forwarded-proto"] == "https"
    assert first["cf-connecting-ip"] == first["x-real-ip"]
    assert "content-type" not in first
    assert first["x-client-hash"] == second["x-client-hash"]
    assert first["x-request-id"] != second["x-request-id"]


@dataclass
class Busy:
    """Turns requests away, each as often as it is to."""

    times: int
    wait: str = "0"
    asked: int = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked += 1
        if self.asked <= self.times:
            return answer(status=429, code="RATE_LIMIT.EXCEEDED", headers={"Retry-After": self.wait})
        return answer({"bizId": "b-1"})


@pytest.mark.parametrize(
    "busy, calls, status, asked",
    [
        (Busy(1), 1, 200, 2),
        (Busy(2), 1, 200, 3),
        (Busy(1000), 10, 429, 10 + 3 * 2),  # given up: not waited for again and again
        (Busy(1, "61"), 1, 429, 1),  # a long wait is the case's own matter
        (Busy(1, "soon"), 1, 429, 1),
    ],
)
def test_a_request_that_an_edge_turns_away_is_sent_once_more_when_it_says(
    busy: Busy, calls: int, status: int, asked: int
) -> None:
    portal = answering(busy)

    assert {portal.call("GET /web/v1/system/profile").status for _ in range(calls)} == {status}
    assert busy.asked == asked


def test_headers_of_the_profile_and_of_the_case_come_last_and_none_takes_away(recorder: Played) -> None:
    portal = answering(
        recorder, profile=MINIMAL.replace("[accounts", 'headers = {"x-locale" = "ja"}\n[accounts', 1)
    )

    portal.call("GET /web/v1/system/profile", headers={"x-portal-access-code": None, "X-Own": "1"})

    assert recorder.asked[-1].headers["x-locale"] == "ja"
    assert recorder.asked[-1].headers["x-own"] == "1"
    assert "x-portal-access-code" not in recorder.asked[-1].headers


def test_parameters_fill_the_path_in_one_segment_each(recorder: Played) -> None:
    portal = answering(recorder)

    portal.call(ROLE, roleBizId="a/b?c", query={"statuses": ["1", "2"], "q": "x y"})
    assert recorder.asked[-1].url.raw_path == b"/web/v1/system/roles/a%2Fb%3Fc?statuses=1&statuses=2&q=x+y"

    portal.call(ROLE, roleBizId="..")
    assert recorder.asked[-1].url.raw_path == b"/web/v1/system/roles/%2E%2E"


def test_the_bot_challenge_token_goes_where_the_body_has_no_place_for_it(recorder: Played) -> None:
    portal = answering(recorder)

    portal.call("GET /web/v1/admin/transfer/query/orders/workspace/{workspaceId}", workspaceId="w")
    assert recorder.asked[-1].headers["x-turnstile-token"] == "the-bot-token"

    portal.call("GET /web/v1/system/profile", bot_challenge=False)
    assert "x-turnstile-token" not in recorder.asked[-1].headers

    portal.call(FORGOT, json={"email": "a@example.test", "turnstileToken": portal.bot_token})
    assert "x-turnstile-token" not in recorder.asked[-1].headers


@pytest.mark.parametrize(
    "json_value, raw, sent, content_type",
    [
        ({"a": "ü"}, None, '{"a":"ü"}'.encode(), "application/json"),
        (None, None, b"null", "application/json"),
        ({"a": "\ud800"}, None, b'{"a":"\\ud800"}', "application/json"),
        ({}, b"{broken", b"{broken", "application/json"),
    ],
)
def test_a_body_goes_out_as_it_was_given(
    recorder: Played, json_value: Json, raw: bytes | None, sent: bytes, content_type: str
) -> None:
    answering(recorder).call("POST /web/v1/system/profile/update", json=json_value, raw=raw)

    assert recorder.asked[-1].content == sent
    assert recorder.asked[-1].headers["content-type"] == content_type


def test_mails_are_counted_and_end_with_the_budget(recorder: Played) -> None:
    portal = answering(recorder, profile=MINIMAL + "[limits]\nmax_mails = 1\n")
    body = {"email": "admin@example.test", "turnstileToken": "x"}

    portal.call(FORGOT, json=body)
    with pytest.raises(Untestable, match=r"1 mails were sent, the most that \[limits\] max_mails allows"):
        portal.call(FORGOT, json=body)

    assert len(recorder.asked) == 1
    refusing = answering(lambda request: answer(code="VALIDATION.INVALID_PARAMETER", status=400))
    refusing.call(FORGOT, json={})
    assert refusing.budget.mails == 0


@pytest.mark.parametrize(
    "further, ask, said",
    [
        ("", lambda portal: portal.account("spare"), r"the profile has no \[accounts\.spare\]"),
        ("", lambda portal: portal.record("file"), r"the profile has no \[records\] file"),
        ("", lambda portal: portal.records.own_id_of("channel"), rf"no \[records\] channel, and {OWN_ONLY}"),
        ("", lambda portal: portal.operation_body(CREATE), NO_BODY),
        (body(CREATE, '{ a = "{otp}" }'), lambda portal: portal.operation_body(CREATE), UNGIVEN),
        (
            body(ACCOUNT_STATUS, '{ userBizId = "{account}" }'),
            lambda portal: portal.operation_body(ACCOUNT_STATUS),
            OWN_ONLY,
        ),
    ],
)
def test_what_the_profile_lacks_is_named(
    recorder: Played, further: str, ask: Callable[[Portal], object], said: str
) -> None:
    with pytest.raises(Untestable, match=said) as caught:
        ask(answering(recorder, profile=MINIMAL + further))

    assert caught.value.fault_class == "configuration"
    assert not [
        request for request in recorder.asked if request.method == "POST" and "query" not in request.url.path
    ]


# --- records


def test_a_record_of_the_profile_is_not_looked_up(recorder: Played) -> None:
    portal = answering(recorder, profile=MINIMAL + '[records]\nrole = "r-1"\n')

    assert portal.record("role") == "r-1"
    assert recorder.asked == []


@pytest.mark.parametrize(
    "name", ["workspace", "institution", "role", "account", "channel", "channel_type", "other_workspace"]
)
def test_a_record_that_the_profile_leaves_out_is_found_in_a_listing(name: str) -> None:
    with connected(edit=without("records")) as (portal, seen, _):
        found = portal.record(name)
        requests = len(seen)

        assert found
        assert portal.record(name) == found
        assert len(seen) == requests
        assert all(
            exchange.request.method == "GET" or "/query" in exchange.request.path for exchange in seen[2:]
        )


# --- operation bodies


def test_placeholders_of_a_body_are_filled(recorder: Played) -> None:
    text = '{ name = "suite-{unique}", n = "{code}", deep = [{ x = "a {{b}} {email}" }] }'
    portal = answering(recorder, profile=MINIMAL + body(CREATE, text))

    filled = portal.operation_body(CREATE, code=7, email="e@example.test")

    assert filled["name"].startswith("suite-" + portal.run_id)
    assert filled["n"] == 7
    assert filled["deep"] == [{"x": "a {b} e@example.test"}]


PAGE = httpx.Response(200, text="<html>Welcome</html>", headers={"content-type": "text/html"})
LEFT = httpx.Response(301, headers={"location": "https://new.example.test/"})


@pytest.mark.parametrize(
    ("first", "most"),
    [
        (PAGE, 2),
        (LEFT, 2),
        (httpx.Response(404, text="not found"), 2),
        (httpx.Response(204), 2),
        (httpx.Response(503, text="<html>Later</html>"), 1),
        (answer({}), 1),
        (answer(status=500, code="BROKEN"), 1),
        (httpx.Response(401, text="x"), 1),
    ],
)
def test_a_portal_is_recognised_by_one_answer_out_of_two(first: httpx.Response, most: int) -> None:
    played = Played(answer(status=401, code="ACCESS.TOKEN_MISSING"), **{"public-key": first})

    answering(played).recognise()

    assert played.words[0] == "public-key"
    assert len(played.asked) <= most
