from typing import Any

import pytest

from reference_impl import wire
from reference_impl.errors import Refusal
from reference_impl.limits import Limits
from reference_impl.shapes import (
    Shape,
    allowed,
    checked,
    coded,
    email,
    flag,
    integer,
    needed,
    nullable,
    text,
    texts,
)

SHAPE = Shape(
    {"name": needed(text(least=1, most=3)), "count": allowed(integer(least=0)), "note": nullable(text())}
)


def accepted(shape: Shape, given: Any, *, strict: bool = False) -> Any:
    return checked(shape, given, limits=Limits(), strict=strict)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"name": "abc"}, {"name": "abc"}),
        ({"name": "é", "count": 0}, {"name": "é", "count": 0}),
        ({"name": "a", "note": None}, {"name": "a", "note": None}),
        ({"name": "a", "other": 1}, {"name": "a"}),
    ],
)
def test_known_fields_are_kept(given: Any, kept: Any) -> None:
    assert accepted(SHAPE, given) == kept


@pytest.mark.parametrize(
    "given",
    [None, [], "x", {}, {"name": None}, {"name": ""}, {"name": "abcd"}, {"name": 1}, {"name": "a\0"}]
    + [{"name": "a", "count": wrong} for wrong in (None, -1, True, 1.0, "1", 2**31)],
)
def test_what_breaks_a_rule_is_refused(given: Any) -> None:
    with pytest.raises(Refusal, match=r"VALIDATION\.INVALID_PARAMETER"):
        accepted(SHAPE, given)


def test_unknown_properties_are_refused_where_strict() -> None:
    with pytest.raises(Refusal):
        accepted(SHAPE, {"name": "a", "other": 1}, strict=True)


@pytest.mark.parametrize(
    ("rule", "value", "kept"),
    [
        (coded, "ACTIVE", "ACTIVE"),
        (coded, 10010202, 10010202),
        (coded, "10010202", 10010202),
        (coded, {"code": "ACTIVE", "value": 10010202, "label": "Active"}, "ACTIVE"),
        (email, "a.b+c@sub.example.test", "a.b+c@sub.example.test"),
        (flag, False, False),
        (texts, ["a", ""], ["a", ""]),
    ],
)
def test_a_rule_gives_the_value_to_use(rule: Any, value: Any, kept: Any) -> None:
    assert rule(value, Limits()) == kept


@pytest.mark.parametrize(
    "octets",
    [b"", b"{", b"NaN", b'"\\ud800"', b'"\xff"', b"1e999", b"[" * 5000 + b"]" * 5000, b"9" * 5000, b"{} {}"],
)
def test_octets_that_are_no_json_are_malformed(octets: bytes) -> None:
    with pytest.raises(wire.Malformed):
        wire.decoded(octets)
