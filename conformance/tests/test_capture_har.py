"""HAR as each tool really writes it: what it leaves out becomes a state, never a value."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from conformance.tests.har_files import DIALECTS, many_entries, one_entry, read
from conformance.traffic import capture

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


def test_each_dialect_has_its_states() -> None:
    files = {path.name for path in DIALECTS.iterdir() if path.suffix in (".har", ".zip")}
    assert files == STATES.keys()


@pytest.mark.parametrize("name", STATES)
def test_every_body_of_a_dialect_has_its_state(name: str) -> None:
    exchanges, _ = read(name, salvage=True)

    states = [f"{one.request.state}/{one.response.state if one.response else 'none'}" for one in exchanges]
    assert " ".join(states) == STATES[name]


def test_chrome_entries_come_in_the_order_in_which_they_were_sent() -> None:
    exchanges, _ = read("chrome.har")

    assert [exchange.started[17:23] for exchange in exchanges] == ["00.250", "01.500", "02.000", "03.000"]
    assert [exchange.n for exchange in exchanges] == [1, 2, 3, 4]


def test_chrome_pseudo_headers_are_no_headers() -> None:
    exchanges, _ = read("chrome.har")

    assert exchanges[1].request.headers == [("accept", "application/json"), ("x-client-hash", "c-1")]


def test_chrome_status_zero_is_no_answer() -> None:
    exchanges, _ = read("chrome.har")

    assert exchanges[2].response is None
    assert exchanges[2].error == "net::ERR_CONNECTION_RESET"


def test_chrome_sanitizes_by_default_so_that_a_missing_authorization_says_nothing() -> None:
    exchanges, _ = read("chrome.har")

    assert exchanges[1].request.header("authorization") is None
    assert not exchanges[1].request.is_without("Authorization")
    assert exchanges[1].request.is_without("X-Request-Id")


def test_chrome_with_secrets_shows_which_request_had_no_authorization() -> None:
    exchanges, _ = read("chrome-with-secrets.har")

    assert exchanges[0].request.bearer == "«access-token:1»"
    assert exchanges[1].request.is_without("authorization")


def test_a_body_that_chrome_evicted_is_left_out_not_empty() -> None:
    exchanges, _ = read("chrome.har")

    assert exchanges[3].response is not None
    assert exchanges[3].response.state == "omitted"
    assert exchanges[3].envelope is None


def test_what_never_was_an_exchange_is_set_aside_and_counted() -> None:
    _, reader = read("chrome.har")

    assert reader.set_aside == Counter({"answered from a cache": 1, "WebSocket": 1, "not HTTP": 1})
    assert reader.first_aside.keys() == reader.set_aside.keys()


def test_safari_cache_entries_are_set_aside() -> None:
    exchanges, reader = read("safari.har")

    assert [exchange.status for exchange in exchanges] == [200, None]
    assert reader.set_aside == Counter({"answered from a cache": 2})


def test_firefox_comments_mean_left_out_in_any_language() -> None:
    exchanges, _ = read("firefox.har")

    assert exchanges[1].response is not None
    assert exchanges[1].response.state == "omitted"
    assert exchanges[2].request.state == "omitted"


def test_firefox_bodies_cut_at_its_limit_are_truncated() -> None:
    exchanges, _ = read("firefox.har")

    assert exchanges[3].response is not None
    assert exchanges[3].response.state == "truncated"
    assert exchanges[3].envelope is None


def test_an_entry_without_a_time_stands_after_the_one_before_it() -> None:
    exchanges, _ = read("firefox.har")

    assert exchanges[4].started == exchanges[3].started
    assert exchanges[4].elapsed_ms == 0
    assert exchanges[4].data == []


def test_charles_forms_are_put_together_from_their_fields() -> None:
    exchanges, _ = read("charles.har")

    assert exchanges[0].request.state == "not-json"
    assert exchanges[0].request.body == {"length": len("email=admin%40example.test&turnstileToken=a+b%26c")}


def test_a_file_in_a_form_cannot_be_put_together_again() -> None:
    exchanges, _ = read("charles.har")

    assert exchanges[1].request.state == "omitted"
    assert exchanges[1].response is not None
    assert exchanges[1].response.state == "empty"


def test_base64_bodies_are_decoded() -> None:
    exchanges, _ = read("charles.har")

    assert exchanges[2].at("data.bizId") == "a-1"


def test_fiddler_byte_order_mark_and_seven_digit_fractions_are_read() -> None:
    exchanges, _ = read("fiddler.har")

    assert exchanges[1].time - exchanges[0].time == pytest.approx(1.0)
    assert exchanges[0].time == pytest.approx(1767225600.250123)


def test_mitmproxy_delete_bodies_are_left_out() -> None:
    exchanges, reader = read("mitmproxy.har")

    assert exchanges[1].request.method == "DELETE"
    assert exchanges[1].request.state == "omitted"
    assert reader.set_aside == Counter({"WebSocket": 1})


@pytest.mark.parametrize("name", ["playwright-attach.har", "playwright.zip"])
def test_playwright_attachments_are_read_from_their_files(name: str) -> None:
    exchanges, _ = read(name)

    assert exchanges[0].sent == {"email": "admin@example.test", "password": "«password:1»"}
    assert exchanges[0].at("data.sessionId") == "s-1"


def test_a_playwright_attachment_that_is_gone_is_left_out() -> None:
    exchanges, _ = read("playwright-attach.har")

    assert exchanges[1].response is not None
    assert exchanges[1].response.state == "omitted"


def test_an_attachment_never_leaves_the_folder_of_the_har(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text("{}")
    folder = tmp_path / "inner"
    folder.mkdir()
    har = one_entry(folder, response={"content": {"size": 2, "_file": "../secret.json"}})

    (exchange,) = capture.read(har)

    assert exchange.response is not None
    assert exchange.response.state == "omitted"


def test_playwright_minimal_mode_tells_no_sizes_so_that_a_body_may_be_left_out() -> None:
    exchanges, _ = read("playwright-minimal.har")

    assert exchanges[0].success
    assert exchanges[1].request.state == "empty"
    assert exchanges[1].response is not None
    assert exchanges[1].response.state == "omitted"


def test_insomnia_queries_stand_apart_from_the_url() -> None:
    exchanges, _ = read("insomnia.har")

    assert exchanges[0].request.url.endswith("/profile/invitations?statuses=10050301")
    assert exchanges[1].response is None


def test_headers_as_pairs_and_numbers_as_strings_are_read() -> None:
    exchanges, _ = read("headers-as-pairs.har")

    assert exchanges[0].request.method == "GET"
    assert exchanges[0].request.url.endswith("/profile")
    assert exchanges[0].request.header("x-client-hash") == "c-1"
    assert exchanges[0].elapsed_ms == 12
    assert exchanges[0].status == 200
    assert exchanges[0].at("data.bizId") == "a-1"


def test_gzip_left_undecoded_is_decoded_and_what_cannot_be_is_named_so() -> None:
    exchanges, _ = read("undecoded.har")

    assert exchanges[0].at("data.bizId") == "a-1"
    assert exchanges[1].response is not None
    assert exchanges[1].response.state == "undecodable"
    assert exchanges[2].at("data.bizId") == "a-1"


def test_a_word_in_place_of_a_value_is_sanitized_not_sent() -> None:
    exchanges, _ = read("sanitized.har")

    assert exchanges[0].request.state == "sanitized"
    assert exchanges[1].request.header("authorization") is None
    assert exchanges[1].request.lacks == ("authorization", "cookie")
    assert exchanges[1].response is not None
    assert exchanges[1].response.state == "sanitized"


@pytest.mark.parametrize(
    "told",
    ["2026-01-01T02:00:15+02:00", "2026-01-01 00:00:15Z", "2026-01-01T00:00:15", "20260101T000015Z"],
)
def test_times_of_other_zones_and_forms_stand_in_one_order(tmp_path: Path, told: str) -> None:
    exchanges = capture.read(many_entries(tmp_path, 40, startedDateTime=told))

    seconds = [exchange.started[-1:] == "Z" and exchange.started[17:19] for exchange in exchanges]
    assert seconds[15] == "15"
    assert seconds[16] != "16"
    assert seconds[17:21] == ["16", "17", "18", "19"]


def test_an_authorization_anywhere_tells_that_chrome_did_not_sanitize(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    request = json.loads(one_entry(tmp_path).read_text())["log"]["entries"][0]["request"]
    shown = {**request, "headers": [{"name": "Authorization", "value": "Bearer a"}]}
    path = many_entries(tmp_path, 40, request=shown)
    log = json.loads(path.read_text())["log"]
    path.write_text(json.dumps({"log": {"creator": {"name": "WebInspector"}, **log}}))
    monkeypatch.setattr("conformance.traffic.capture.har_reader.CHUNK", 1000)

    assert all("authorization" not in exchange.request.lacks for exchange in capture.read(path))


def test_a_header_without_a_value_is_an_empty_one(tmp_path: Path) -> None:
    (exchange,) = capture.read(
        one_entry(tmp_path, request={"headers": [{"name": "x-locale", "value": None}]})
    )

    assert exchange.request.headers == [("x-locale", "")]


def test_what_was_taken_out_of_one_entry_is_lacking_in_each_and_stands_in_none(tmp_path: Path) -> None:
    path = one_entry(tmp_path)
    (entry,) = json.loads(path.read_text())["log"]["entries"]
    lists = (
        {":path": "/a", "cookie": "[redacted]", "x-locale": "en"},
        {":path": "/a", "cookie": "[redacted]", "x-locale": "en"},
        {":path": "/a", "cookie": "a=b", "x-locale": "en"},
        {":path": "/a", "cookie": "***", "x-locale": "fr"},
        {"cookie": "a=b", "x-locale": "fr", "accept": "d"},
    )
    entries = [
        {
            **entry,
            "request": {**entry["request"], "headers": [{"name": n, "value": v} for n, v in one.items()]},
        }
        for one in lists
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


def test_a_query_of_other_types_is_read_as_text(tmp_path: Path) -> None:
    (exchange,) = capture.read(one_entry(tmp_path, request={"queryString": [{"name": "page", "value": 2}]}))

    assert exchange.request.url.endswith("/roles?page=2")
