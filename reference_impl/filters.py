"""How the filters of a query body narrow a listing: a table of filters, each with a test."""

from collections.abc import Callable, Sequence
from typing import Any

from reference_impl.portal import Portal, Record
from reference_impl.shapes import Body

Test = Callable[[Portal, Any, Any], bool]  # portal, what is wanted, what the record has
Filter = tuple[str, str, Test]  # the filter's name, the record's field, the test


def matching(
    portal: Portal, filters: Sequence[Filter], records: Sequence[Record], body: Body
) -> list[Record]:
    """The records that pass every filter that was given; null gives none."""
    active = [(field, test, body[name]) for name, field, test in filters if body.get(name) not in (None, "")]
    return [
        record
        for record in records
        if all(test(portal, wanted, record[field]) for field, test, wanted in active)
    ]


def equals(codes: str = "") -> Test:
    """The same value; where ``codes`` names a list, by symbol or number of that list."""

    def test(portal: Portal, wanted: Any, actual: Any) -> bool:
        return bool(actual == (portal.symbol(codes, wanted) if codes else wanted))

    return test


def mentions(portal: Portal, wanted: Any, actual: Any) -> bool:
    wanted, actual = wanted.casefold(), (actual or "").casefold()
    return bool(wanted in actual if portal.choices.text_filters == "contains" else wanted == actual)


def only(state: str) -> Test:
    """A flag: true keeps what is in this state, false keeps all."""

    def test(portal: Portal, wanted: Any, actual: Any) -> bool:
        return not wanted or bool(actual == state)

    return test
