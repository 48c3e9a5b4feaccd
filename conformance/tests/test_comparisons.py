"""The comparisons that checks and cases are made of."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.tests.traffic import answer, refusal
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.verdicts.comparisons import (
    equal,
    holds,
    is_error,
    is_error_of_table,
    is_held_back,
    is_invalid_parameter,
    is_not_invalid_parameter,
    is_rate_limited,
    is_refused,
    is_success,
    meets,
    one_of,
    same,
    summary,
)
from conformance.verdicts.findings import HELD, Comparison, Contradiction

ROLES = "GET /web/v1/system/roles"
SERVED = answer(ROLES, {"name": "Owner", "count": 1, "open": True})
REFUSED = refusal(ROLES, "RESOURCE.NOT_FOUND", 404)
NO_ENVELOPE = answer(ROLES, body={"length": 6}, status=200, form="not-json")
TURNED_AWAY = answer(ROLES, body={"length": 6}, status=403, form="not-json")


def contradiction(comparison: Comparison) -> Contradiction:
    assert isinstance(comparison, Contradiction)
    return comparison


@pytest.mark.parametrize(
    "left, right, are_same",
    [
        *((1, 1.0, True), ("a", "a", True), (None, None, True), ([1], [1.0], True), (True, True, True)),
        *((1, True, False), (0, False, False), ("1", 1, False), (None, False, False)),
        *((ABSENT, None, False), ({}, [], False)),
    ],
)
def test_equal_json_values_are_the_same_and_others_are_not(left: Json, right: Json, are_same: bool) -> None:
    assert same(left, right) is are_same


def test_equal_says_what_was_expected_and_what_was_seen() -> None:
    assert equal(SERVED, "data.name", "Owner") is HELD
    wrong = contradiction(equal(SERVED, "data.name", "Guest", REFUSED, message="another role"))
    assert (wrong.path, wrong.expected, wrong.actual) == ("data.name", "Guest", "Owner")
    assert (wrong.message, wrong.also) == ("another role", (REFUSED,))


def test_equal_looks_at_the_status_and_at_headers_too() -> None:
    assert equal(REFUSED, "status", 404) is HELD
    assert equal(REFUSED, "headers.content-type", "application/json") is HELD


def test_what_is_not_there_is_equal_to_nothing() -> None:
    assert contradiction(equal(SERVED, "data.missing", None)).actual is ABSENT


def test_one_of_names_all_that_would_do() -> None:
    assert one_of(SERVED, "data.count", (2, 1)) is HELD
    assert contradiction(one_of(SERVED, "data.count", (2, 3))).expected == {"one of": [2, 3]}


def test_holds_shows_what_stands_at_the_place_unless_it_is_told() -> None:
    assert holds(SERVED, "data.count", True, "any") is HELD
    assert contradiction(holds(SERVED, "data.count", False, "more")).actual == 1
    assert contradiction(holds(SERVED, "data.count", False, "more", actual="few")).actual == "few"


def test_meets_passes_a_test_and_a_test_that_raises_is_not_passed() -> None:
    assert meets(SERVED, "data.count", lambda count: count > 0, "above 0") is HELD
    assert contradiction(meets(SERVED, "data.name", lambda name: name > 0, "above 0")).actual == "Owner"
    assert contradiction(meets(SERVED, "data.missing", lambda value: True, "anything")).actual is ABSENT


def test_a_success_is_what_the_envelope_says() -> None:
    assert is_success(SERVED) is HELD
    assert contradiction(is_success(REFUSED)).actual == summary(REFUSED)
    assert contradiction(is_success(NO_ENVELOPE)).actual == {"status": 200, "body": "no envelope"}


def test_a_refusal_is_whatever_is_no_success() -> None:
    assert is_refused(REFUSED) is HELD
    assert is_refused(TURNED_AWAY) is HELD
    assert contradiction(is_refused(SERVED, message="it was served")).message == "it was served"
    assert contradiction(is_refused(NO_ENVELOPE)).message == "the request was accepted"


def test_an_error_has_one_of_the_codes_whatever_its_status() -> None:
    assert is_error(refusal(ROLES, "RESOURCE.NOT_FOUND", 500), "RESOURCE.NOT_FOUND") is HELD
    assert is_error(REFUSED, ("4040", "RESOURCE.NOT_FOUND")) is HELD
    assert contradiction(is_error(REFUSED, "4040")).expected == "4040"
    assert contradiction(is_error(REFUSED, ("4040", "4041"))).expected == {"one of": ["4040", "4041"]}


def test_a_success_with_the_code_of_an_error_is_no_error() -> None:
    assert is_error(refusal(ROLES, "4040", 200, success=True), "4040") is not HELD


@pytest.mark.parametrize("code", ["VALIDATION.INVALID_PARAMETER", "4000"])
def test_an_invalid_parameter_has_either_code_and_400(code: str) -> None:
    assert is_invalid_parameter(refusal(ROLES, code, 400)) is HELD
    assert is_invalid_parameter(refusal(ROLES, code, 422)) is not HELD
    assert is_not_invalid_parameter(refusal(ROLES, code, 422)) is not HELD


def test_another_refusal_is_no_invalid_parameter() -> None:
    assert is_invalid_parameter(refusal(ROLES, "OTHER", 400)) is not HELD
    assert is_not_invalid_parameter(refusal(ROLES, "OTHER", 400)) is HELD
    assert is_not_invalid_parameter(TURNED_AWAY) is HELD


@pytest.mark.parametrize(
    "code, status, ok",
    [("AUTH.INVALID_CREDENTIALS", 400, True), ("AUTH.INVALID_CREDENTIALS", 403, False), ("4040", 418, True)],
)
def test_an_error_of_the_table_has_a_status_that_the_table_names(code: str, status: int, ok: bool) -> None:
    assert (is_error_of_table(refusal(ROLES, code, status), code) is HELD) is ok


@pytest.mark.parametrize(
    "status, message, is_limited",
    [(503, "Too many requests", True), (500, "Too many requests", False), (403, "Not for you", False)],
)
def test_a_message_tells_a_rate_with_503_alone(status: int, message: str, is_limited: bool) -> None:
    assert is_rate_limited(refusal(ROLES, "E-17", status, message=message)) is is_limited


@pytest.mark.parametrize(
    "compare",
    [
        lambda exchange, also: is_success(exchange, also),
        lambda exchange, also: is_error(exchange, "4000", also),
        lambda exchange, also: is_error_of_table(exchange, "4000", also),
        lambda exchange, also: is_invalid_parameter(exchange, also),
        lambda exchange, also: one_of(exchange, "status", (1,), also),
        lambda exchange, also: meets(exchange, "status", lambda status: False, "", also),
    ],
)
def test_every_comparison_keeps_the_steps_that_led_there(
    compare: Callable[[Exchange, Exchange], Comparison],
) -> None:
    assert contradiction(compare(REFUSED, SERVED)).also == (SERVED,)


def bare(status: int, label: str = "application/json") -> Exchange:
    headers = {"Content-Type": label}
    return answer(ROLES, body={"length": 6}, status=status, form="not-json", answered=headers)


def test_a_gateway_or_a_firewall_holds_an_answer_back_and_any_other_status_is_the_portals_own() -> None:
    gateway, own = (408, 429, 502, 503, 504, 520, 530), (400, 403, 500, 501, 505, 519, 531)

    assert [status for status in gateway + own if is_held_back(bare(status))] == [*gateway]
    assert is_held_back(bare(403, "text/html; charset=utf-8"))
    assert is_held_back(bare(415, "text/html"))
    assert not is_held_back(bare(404, "text/html"))
    assert not is_held_back(bare(403, "text/plain"))
    assert not is_held_back(
        refusal(ROLES, "ACCESS.PERMISSION_DENIED", 403, answered={"Content-Type": "text/html"})
    )


def test_a_bare_answer_is_a_refusal_by_its_status_and_a_page_with_200_is_one_too() -> None:
    statuses = (200, 299, 300, 404)

    assert [status for status in statuses if is_refused(bare(status)) is HELD] == [300, 404]
    assert is_refused(bare(200, "text/html")) is HELD
    assert isinstance(is_refused(NO_ENVELOPE), Contradiction)
