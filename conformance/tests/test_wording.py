"""Values of our own are read in words; those of a target stay JSON."""

from __future__ import annotations

import json

import pytest

from conformance.traffic.exchange import Json
from conformance.verdicts.wording import in_words


@pytest.mark.parametrize(
    "value, words",
    [
        ({"one of": [400, "4000"]}, '400 or "4000"'),
        ({"none of": ["A", "B"]}, 'neither "A" nor "B"'),
        ({"codes": ["CN", "JP"]}, 'the codes "CN", "JP"'),
        ({"missing": ["CN", "JP"]}, 'no "CN", no "JP"'),
        ({"twice": ["7"]}, '"7" twice'),
        ({"others": ["7"]}, '"7" as well'),
        (
            {"status": 400, "code": {"one of": ["VALIDATION.INVALID_PARAMETER", "4000"]}},
            'status 400 with code "VALIDATION.INVALID_PARAMETER" or "4000"',
        ),
        ({"status": [404, 410], "code": "4040"}, 'status 404 or 410 with code "4040"'),
        ({"status": [], "code": "4040"}, 'status any with code "4040"'),
        ({"status": 422, "success": False, "code": "4000"}, 'status 422 with code "4000"'),
        ({"status": 200, "success": True, "code": "2000"}, 'status 200 with success and code "2000"'),
        ({"status": 500, "success": False, "code": None}, "status 500 without a code"),
        (
            {"length": 4, "content-type": "text/plain"},
            "a body of 4 bytes that is no JSON object (text/plain)",
        ),
        (
            {"length": 1, "content-type": None},
            "a body of 1 bytes that is no JSON object (without a content type)",
        ),
        ({"status": 502, "body": "no envelope"}, "status 502 with no envelope"),
    ],
)
def test_a_value_of_our_own_is_read_in_words(value: Json, words: str) -> None:
    assert in_words(value, json.dumps) == words


@pytest.mark.parametrize(
    "value",
    ["one of", ["one of"], {}, {"one of": 3}, {"twice": []}, {"code": "OTP"}, {"status": 1, "name": "x"}],
)
def test_a_value_of_the_target_stays_json(value: Json) -> None:
    assert in_words(value, json.dumps) is None
