"""A likely cause is told where the pattern is known, and none where it is not."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.report.model.causes import cause
from conformance.tests.sample_run import PROFILE, envelope, error, exchange, finding
from conformance.traffic.exchange import ABSENT, Json

INVALID: Json = {"status": 400, "code": {"one of": ["VALIDATION.INVALID_PARAMETER", "4000"]}}


@pytest.mark.parametrize(
    "path, expected, answer, status, told",
    [
        ("timestamp", "an integer, epoch milliseconds", envelope(timestamp=1795254787), 200, "Epoch seconds"),
        ("data", None, error("X", data={}), 400, "fills data with a default"),
        ("data.currentPage", 0, envelope({"currentPage": 1}), 200, "0-based and 1-based"),
        ("data.totalPages", 4, envelope({"totalPages": 3}), 200, "rounded down"),
        ("data.accountName", "a string", envelope({"account_name": "x"}), 200, "another spelling"),
        ("data.accountName", "a string", envelope({"bizId": "x"}), 200, "left out"),
        ("data.value", 10010101, envelope({"value": 10010102}), 200, "neighbouring row"),
        ("data.value", "an integer", envelope({"value": "10010101"}), 200, "sent as text"),
        ("data.createdAt", "a UTC time", envelope({"createdAt": "2026-01-02T03:04:05"}), 200, "out a zone"),
        ("data.status", "an enumeration object", envelope({"status": "ACTIVE"}), 200, "bare code"),
        ("status", 401, error("ACCESS.TOKEN_MISSING"), 200, "An error has status 200"),
        ("status", 200, error("X"), 500, "exception that nothing handles"),
        ("code", "2000", error("X"), 429, "rate limit"),
        ("code", INVALID, error("AUTH.INVALID_CREDENTIALS"), 401, "rule of the body is not checked"),
        ("code", INVALID, error("VALIDATION.INVALID_PARAMETER"), 422, "framework validated the body"),
    ],
)  # fmt: skip
def test_a_known_pattern_is_told(path: str, expected: Json, answer: Json, status: int, told: str) -> None:
    seen = exchange(1, PROFILE, answer=answer, status=status)

    actual = None if seen.at(path) is ABSENT else seen.at(path)

    found = cause(finding(path=path, expected=expected, actual=actual), seen)

    assert found is not None
    assert told in found


def test_one_of_two_texts_is_no_enumeration() -> None:
    seen = finding(path="version", expected={"one of": ["2.0.0", "1.3.0"]}, actual="2.0.1")

    assert cause(seen, exchange(1, PROFILE, answer=envelope())) is None


def test_a_pinned_reading_that_differs_has_no_cause_in_the_answer() -> None:
    pinned = finding(requirement="READING-success-status", path="success-status", expected=201, actual=200)

    assert cause(pinned, exchange(1, PROFILE, answer=envelope())) is None


@pytest.mark.parametrize("value", [None, True, 5, -1e308, "", "x" * 9, [], {}, [[]], {"a": {}}])
@pytest.mark.parametrize("path", ["", "data", "data[0].value", "status", "headers.x", "a[b]"])
def test_no_value_of_any_kind_breaks_the_table(path: str, value: Any) -> None:
    cause(finding(path=path, expected=value, actual=value), exchange(1, PROFILE, answer=envelope(value)))
    cause(finding(path=path, expected=value, actual=value), None)
