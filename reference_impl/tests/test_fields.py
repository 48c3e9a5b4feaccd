import pytest

from reference_impl.enumerations import enumerations
from reference_impl.fields import FIELDS, INSTANT, PLAIN, instant, seconds, without_nulls


def test_every_kind_of_field_is_known() -> None:
    kinds = {kind for fields in FIELDS.values() for _, kind in fields}

    assert kinds <= {PLAIN, INSTANT, *enumerations()}


@pytest.mark.parametrize(("digits", "text"), [(3, "250Z"), (6, "250000Z"), (9, "250000000Z")])
def test_an_instant_is_utc_with_a_fraction(digits: int, text: str) -> None:
    assert instant(0.25, digits) == f"1970-01-01T00:00:00.{text}"


@pytest.mark.parametrize(
    "text",
    ["1970-01-01T00:00:10Z", "1970-01-01T00:00:10", "1970-01-01T01:00:10+01:00", "1970-01-01T00:00:10.000Z"],
)
def test_a_moment_is_read_in_any_zone(text: str) -> None:
    assert seconds(text) == 10


def test_nulls_are_left_out_at_every_depth() -> None:
    assert without_nulls({"a": None, "b": [{"c": None, "d": 1}, None]}) == {"b": [{"d": 1}, None]}
