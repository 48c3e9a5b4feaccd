"""A JSON body as lines: the marked place is never left out, however much stands around it."""

from __future__ import annotations

import time
from typing import Any

import pytest

from conformance.report.model.marked import MOST_LINES, at, literal, marked, place
from conformance.traffic.clip import clipped
from conformance.traffic.exchange import Exchange, Request, Response


def texts(value: Any, path: tuple[str | int, ...] = ()) -> list[str]:
    return [f"{line.kind}|{line.name}|{line.text}" for line in marked(value, path)]


def test_a_small_body_is_shown_whole_with_its_place_marked() -> None:
    assert texts({"data": {"items": [{"id": 1}, {"id": 2}]}}, ("data", "items", 1, "id")) == [
        "||{", "|data|{", "|items|[", "||{", "|id|1", "||}", "|[1]|{", "seen|id|2", "||}", "||]", "||}",
        "||}",
    ]  # fmt: skip


def test_a_name_that_is_not_there_is_marked_as_missing_in_its_object() -> None:
    assert "missing|timestamp|missing" in texts({"code": "2000"}, ("timestamp",))


@pytest.mark.parametrize(
    "value, path",
    [
        ({"data": {"items": [{"id": n} for n in range(200_000)]}}, ("data", "items", 123_456, "id")),
        ({f"k{n}": "x" * 500 for n in range(5_000)}, ("k4321",)),
        ({"a": [[[["deep"] * 50] * 50] * 50], "b": {"c": 1}}, ("b", "c")),
        ({"data": "x" * 10_000_000}, ("data",)),
    ],
    ids=["long array", "many names", "bushy", "long text"],
)
def test_however_much_is_around_it_a_place_is_in_few_lines(value: Any, path: tuple[str | int, ...]) -> None:
    began = time.process_time()
    lines = marked(value, path)

    assert [line for line in lines if line.kind == "seen"]
    assert len(lines) <= MOST_LINES + 2
    assert sum(len(line.text) + len(line.name) for line in lines) < 40_000
    assert time.process_time() - began < 20


def test_hostile_names_are_quoted_and_visible() -> None:
    (line,) = (line for line in marked({"<b>\u202e": 1}) if line.text == "1")

    assert line.name == '"<b>‹U+202E›"'


@pytest.mark.parametrize("path", ["data[evil].x", "data.x[]", "status", "headers.x-y"])
def test_a_place_that_is_none_in_the_body_leads_nowhere_and_breaks_nothing(path: str) -> None:
    assert list(place(path)) == []


def test_at_reads_the_status_a_header_and_the_body() -> None:
    answer = Response(status=404, headers=[("Server", "x")], body={"data": {"a": [5]}})
    exchange = Exchange(
        n=1, started="2026-11-21T00:00:00Z", request=Request(method="GET", url="/"), response=answer
    )

    assert at(exchange, "status") == 404
    assert at(exchange, "headers.server") == "x"
    assert at(exchange, "data.a[0]") == 5


def test_literals_are_json_in_one_visible_line() -> None:
    assert literal("a\n\x00\u202e") == '"a\\n\\u0000‹U+202E›"'
    assert literal({"a": None}) == '{"a": null}'


def test_clipped_values_stay_json_and_say_what_is_left_out() -> None:
    assert clipped(list(range(103)))[-1] == "… 3 more"
    assert clipped({str(n): n for n in range(150)})["…"] == "… 50 more"
    assert clipped(10**4000).startswith("… a number of")
    assert clipped({"a": [True, None, 1.5]}) == {"a": [True, None, 1.5]}
