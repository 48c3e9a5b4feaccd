"""What is asked of nearly every exchange is found by a short way: it must lead where the long one does."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.traffic.exchange import Exchange, Json, Plain, Request, Response, named

WORDS = (
    "http:// https:// HTTP:// a.test u@ :80 : // / ? # x=1 & %2F ; [ ] é /web/v1/system/roles .. _ - size= \\"
)
PIECES = st.sampled_from([*WORDS.split(), "\t", "\n", " "])
BODIES: st.SearchStrategy[Json] = st.sampled_from(
    [
        {"success": True, "code": "2000", "data": [1]},
        {"success": 1, "code": 5},
        {"data": None},
        {},
        [],
        None,
        "x",
        1,
    ]
)


def split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", url, "", "")


@given(st.lists(PIECES, max_size=9).map("".join))
def test_a_url_is_taken_apart_as_the_standard_library_does_and_what_is_none_is_a_path(url: str) -> None:
    assert Request(method="GET", url=url).parts == split(url)


@given(BODIES, BODIES | st.none(), st.sampled_from([None, "json", "text", "truncated"]))
def test_the_envelope_is_the_same_by_whatever_is_asked_first(body: Json, plain: Json, form: Json) -> None:
    def asked(first: str) -> Json:
        exchange = Exchange(
            n=1,
            started="2031-05-06T07:08:09Z",
            request=Request(method="GET", url="http://portal.example.test/"),
            response=Response(status=200, body=body, form=form),
            plain=None if plain is None else Plain(response=plain),
        )
        getattr(exchange, first)
        return exchange.envelope, exchange.success, exchange.code, exchange.data

    envelope, success, code, data = asked("envelope")
    assert all(asked(name) == (envelope, success, code, data) for name in ("success", "code", "data"))
    assert envelope is None or isinstance(envelope, dict)
    assert success is (envelope is not None and envelope.get("success") is True)
    assert code == (envelope or {}).get("code") or code is None
    assert data == (envelope or {}).get("data")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://portal.example.test/app.js", "GET https://portal.example.test/app.js"),
        ("https://u:p@example.test/reset/4f1c?token=x#y", "GET https://example.test/reset/…"),
        ("https://example.test", "GET https://example.test/"),
    ],
)
def test_a_request_is_named_without_what_may_be_secret(url: str, words: str) -> None:
    assert named("GET", url) == words
