"""HAR as each tool really writes it: what it leaves out becomes a state, never a value."""

from __future__ import annotations

import json
from collections import Counter
from operator import attrgetter
from pathlib import Path

import pytest

from conformance.tests.har_files import DIALECTS, many_entries, one_entry, read
from conformance.traffic import capture
from conformance.traffic.exchange import Json

STATES = {
    "charles.har": "not-json/json omitted/empty empty/json",
    "chrome-with-secrets.har": "empty/json empty/json",
    "chrome.har": "json/json empty/json empty/none empty/omitted",
    "fiddler.har": "json/json empty/json",
    "firefox.har": "json/json empty/omitted omitted/json empty/truncated empty/json",
    "headers-as-pairs.har": "empty/json",
    "insomnia.har": "empty/json empty/none",
    "mitmproxy.har": "json/json omitted/json",
    "playwright-attach.har": "json/json empty/omitted",
    "playwright-minimal.har": "json/json empty/omitted",
    "playwright.zip": "json/json empty/omitted",
    "safari.har": "json/json empty/none",
    "sanitized.har": "sanitized/json empty/sanitized",
    "truncated.har": "empty/json empty/json",
    "undecoded.har": "empty/json empty/undecodable empty/json",
}
"""Of each dialect, the states of the bodies sent and answered; ``none`` is no answer at all."""

SIGN_IN = {"email": "admin@example.test", "password": "«password:1»"}
READ: list[tuple[str, int, str, Json]] = [
    ("charles.har", 0, "request.body", {"length": len("email=admin%40example.test&turnstileToken=a+b%26c")}),
    ("charles.har", 2, "data.bizId", "a-1"),
    ("chrome-with-secrets.har", 0, "request.bearer", "«access-token:1»"),
    ("chrome.har", 1, "request.headers", [("accept", "application/json"), ("x-client-hash", "c-1")]),
    ("chrome.har", 2, "error", "net::ERR_CONNECTION_RESET"),
    ("fiddler.har", 0, "time", pytest.approx(1767225600.250123)),
    ("fiddler.har", 1, "time", pytest.approx(1767225601.250123)),
    *(("firefox.har", at, "started", "2026-01-01T01:00:03.250+01:00") for at in (3, 4)),  # it has none itself
    ("firefox.har", 4, "elapsed_ms", 0),
    ("firefox.har", 4, "data", []),
    ("headers-as-pairs.har", 0, "request.method", "GET"),
    ("headers-as-pairs.har", 0, "request.path", "/web/v1/system/profile"),
    ("headers-as-pairs.har", 0, "elapsed_ms", 12),
    ("headers-as-pairs.har", 0, "status", 200),
    ("headers-as-pairs.har", 0, "data.bizId", "a-1"),
    ("insomnia.har", 0, "request.path", "/web/v1/system/profile/invitations"),
    ("insomnia.har", 0, "request.parts.query", "statuses=10050301"),
    ("mitmproxy.har", 1, "request.method", "DELETE"),
    *((name, 0, "sent", SIGN_IN) for name in ("playwright-attach.har", "playwright.zip")),
    *((name, 0, "data.sessionId", "s-1") for name in ("playwright-attach.har", "playwright.zip")),
    ("playwright-minimal.har", 0, "success", True),
    ("safari.har", 0, "status", 200),
    ("sanitized.har", 1, "request.lacks", ("authorization", "cookie")),
    ("undecoded.har", 0, "data.bizId", "a-1"),
    ("undecoded.har", 2, "data.bizId", "a-1"),
]
"""What an exchange of a dialect has."""


def test_each_dialect_has_its_states() -> None:
    files = {path.name for path in DIALECTS.iterdir() if path.suffix in (".har", ".zip")}
    assert files == STATES.keys()


@pytest.mark.parametrize("name", STATES)
def test_every_body_of_a_dialect_has_its_state(name: str) -> None:
    exchanges, _ = read(name, salvage=True)

    states = [f"{one.request.state}/{one.response.state if one.response else 'none'}" for one in exchanges]
    assert " ".join(states) == STATES[name]


@pytest.mark.parametrize("name, number, place, value", READ)
def test_what_a_dialect_writes_is_read_as_it_was(name: str, number: int, place: str, value: Json) -> None:
    exchange = read(name)[0][number]

    assert (exchange.at(place) if place.startswith("data.") else attrgetter(place)(exchange)) == value


def test_chrome_entries_come_in_the_order_in_which_they_were_sent() -> None:
    exchanges, _ = read("chrome.har")

    assert [exchange.started[17:23] for exchange in exchanges] == ["00.250", "01.500", "02.000", "03.000"]
    assert [exchange.n for exchange in exchanges] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "name, number, header, is_without",
    [
        ("chrome.har", 1, "Authorization", False),
        ("chrome.har", 1, "X-Request-Id", True),
        ("chrome-with-secrets.har", 1, "authorization", True),
        ("sanitized.har", 1, "authorization", False),
    ],
    ids=["taken out by default", "never taken out", "shown elsewhere in the file", "a word in its place"],
)
def test_a_header_is_missing_only_where_its_source_would_show_it(
    name: str, number: int, header: str, is_without: bool
) -> None:
    request = read(name)[0][number].request

    assert request.header(header) is None
    assert request.is_without(header) is is_without


@pytest.mark.parametrize(
    "name, aside",
    [
        ("chrome.har", {"answered from a cache": 1, "WebSocket": 1, "not HTTP": 1}),
        ("safari.har", {"answered from a cache": 2}),
        ("mitmproxy.har", {"WebSocket": 1}),
    ],
)
def test_what_never_was_an_exchange_is_set_aside_and_counted(name: str, aside: dict[str, int]) -> None:
    _, reader = read(name)

    assert reader.set_aside == Counter(aside)
    assert reader.first_aside.keys() == reader.set_aside.keys()


def test_an_attachment_never_leaves_the_folder_of_the_har(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text("{}")
    folder = tmp_path / "inner"
    folder.mkdir()
    har = one_entry(folder, response={"content": {"size": 2, "_file": "../secret.json"}})

    (exchange,) = capture.read(har)

    assert exchange.response is not None
    assert exchange.response.state == "omitted"


@pytest.mark.parametrize(
    "told", ["2026-01-01T02:00:15+02:00", "2026-01-01 00:00:15Z", "2026-01-01T00:00:15", "20260101T000015Z"]
)
def test_times_of_other_zones_and_forms_stand_in_one_order(tmp_path: Path, told: str) -> None:
    exchanges = capture.read(many_entries(tmp_path, 40, startedDateTime=told))

    seconds = [exchange.started[-1:] == "Z" and exchange.started[17:19] for exchange in exchanges]
    assert seconds[15] == "15"
    assert seconds[16] != "16"
    assert seconds[17:21] == ["16", "17", "18", "19"]


def test_an_authorization_anywhere_tells_that_chrome_did_not_sanitize(tmp_path: Path) -> None:
    request = json.loads(one_entry(tmp_path).read_text())["log"]["entries"][0]["request"]
    shown = {**request, "headers": [{"name": "Authorization", "value": "Bearer a"}]}
    path = many_entries(tmp_path, 40, request=shown)
    log = json.loads(path.read_text())["log"]
    path.write_text(json.dumps({"log": {"creator": {"name": "WebInspector"}, **log}}))

    assert all("authorization" not in exchange.request.lacks for exchange in capture.read(path))


def test_values_of_other_types_are_read_as_text(tmp_path: Path) -> None:
    odd = {"headers": [{"name": "x-locale", "value": None}], "queryString": [{"name": "page", "value": 2}]}
    (exchange,) = capture.read(one_entry(tmp_path, request=odd))

    assert exchange.request.headers == [("x-locale", "")]
    assert exchange.request.url.endswith("/roles?page=2")


def test_what_was_taken_out_of_one_entry_is_lacking_in_each_and_stands_in_none(tmp_path: Path) -> None:
    english, french = {":path": "/a", "x-locale": "en"}, {":path": "/a", "x-locale": "fr"}
    lists = (
        english | {"cookie": "[redacted]"},
        english | {"cookie": "[redacted]"},
        english | {"cookie": "a=b"},
        french | {"cookie": "***"},
        {"cookie": "a=b", "x-locale": "fr", "accept": "d"},
    )
    path = one_entry(tmp_path)
    (entry,) = json.loads(path.read_text())["log"]["entries"]
    headers = ([{"name": n, "value": v} for n, v in one.items()] for one in lists)
    entries = [
        {**entry, "time": at, "request": {**entry["request"], "headers": listed}}
        for at, listed in enumerate(headers)
    ]
    path.write_text(json.dumps({"log": {"entries": entries}}))

    requests = [exchange.request for exchange in capture.read(path)]

    assert [(dict(request.headers), request.lacks) for request in requests] == [
        ({"x-locale": "en"}, ("cookie",)),
        ({"x-locale": "en"}, ("cookie",)),
        ({"cookie": "a=b", "x-locale": "en"}, ()),
        ({"x-locale": "fr"}, ("cookie",)),
        ({"cookie": "a=b", "x-locale": "fr", "accept": "d"}, ()),
    ]
