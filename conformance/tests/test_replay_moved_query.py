"""Queries with times that are moved: what is sent, and what stands in the log."""

from __future__ import annotations

import pytest

from conformance.replay.fast_lane.line_template import MOVED, LineTemplate
from conformance.replay.fast_lane.moved_query import MovedQuery

MOVED_QUERY = MovedQuery(
    "a=1&from=2026-11-15T20%3A00%3A00Z&to=2026-11-16T01%3A00%3A00.500Z&b=x+y",
    ("a=1&from=", "&to=", "&b=x+y"),
    ("2026-11-15T19:00:00Z", "2026-11-16T00:00:00.500Z"),
)


def test_the_times_of_a_query_are_moved_and_all_else_stays() -> None:
    assert MOVED_QUERY.at(3600.0) == MOVED_QUERY.sent
    assert MOVED_QUERY.at(1.0) == "a=1&from=2026-11-15T19%3A00%3A01Z&to=2026-11-16T00%3A00%3A01.500Z&b=x+y"
    assert MOVED_QUERY.times_in(MOVED_QUERY.at(1.0)) == [
        "2026-11-15T19%3A00%3A01Z",
        "2026-11-16T00%3A00%3A01.500Z",
    ]


@pytest.mark.parametrize("query", ["", "a=2&from=x&to=y&b=x+y", "a=1&from=x&b=x+y", "a=1&from=x&to=y"])
def test_another_query_has_no_such_times(query: str) -> None:
    assert MOVED_QUERY.times_in(query) is None


def test_the_times_stand_as_marks_in_the_template_of_a_line() -> None:
    line = LineTemplate(f'"url":"http://portal.example.test/orders?{MOVED_QUERY.sent}"', ())
    marked = MOVED_QUERY.marked(line, MOVED_QUERY.sent)

    assert marked is not None
    assert marked.raw() == line.text
    values = dict(zip(MOVED, ["one", "two"], strict=True))
    assert marked.raw(values) == '"url":"http://portal.example.test/orders?a=1&from=one&to=two&b=x+y"'
    twice = LineTemplate(line.text + line.text, ())
    assert MOVED_QUERY.marked(line, MOVED_QUERY.at(1.0)) is None
    assert MOVED_QUERY.marked(twice, MOVED_QUERY.sent) is None
