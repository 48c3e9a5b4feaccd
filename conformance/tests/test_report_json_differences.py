"""Two long values that differ are shown by their differing places."""

from __future__ import annotations

from conformance.report.model.json_differences import MOST_PLACES, differences_in
from conformance.traffic.exchange import Json

LONG: dict[str, Json] = {"name": "x" * 200, "list": [1, 2, 3], "status": {"code": "ACTIVE"}}


def test_each_differing_place_is_named_with_both_values() -> None:
    found = differences_in(LONG, {**LONG, "list": [1, 5], "status": {"code": "LOCKED"}, "more": None})

    assert [each.text for each in found] == [
        "list[1]: 2 is now 5",
        "list[2]: no longer 3",
        'status.code: "ACTIVE" is now "LOCKED"',
        "more: new null",
    ]


def test_a_number_and_a_boolean_differ_though_python_takes_them_for_equal() -> None:
    assert [each.path for each in differences_in({**LONG, "flag": True}, {**LONG, "flag": 1})] == ["flag"]


def test_many_places_are_bounded() -> None:
    old, new = [{"n": at} for at in range(90)], [{"n": -at - 1} for at in range(90)]

    assert len(differences_in(old, new)) == MOST_PLACES
