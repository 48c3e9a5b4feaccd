"""What a hostile portal does to the wire ends in time, within bounds, and is never judged as an answer."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import msgspec
import pytest

from conformance import record
from conformance.errors import NoAnswer, ProfileError, TargetUnreachable, Untestable
from conformance.judging import watch
from conformance.replay.engine.wire import Connection, Server
from conformance.spec import REQUIREMENTS
from conformance.target.http1 import WireResponse
from conformance.target.portal.sign_ins.session import lifetime
from conformance.target.portal.transport import clock_of
from conformance.target.profile.model import Profile, parse
from conformance.tests.hostile.certificates import authority
from conformance.tests.hostile.elsewhere import clock_only, odd_clock
from conformance.tests.hostile.json_values import token_with
from conformance.tests.hostile.plays import playing, raw
from conformance.tests.hostile.server import Hostile
from conformance.tests.hostile.table import ROWS
from conformance.tests.hostile.wire import Answer as Sent
from conformance.tests.hostile.wire import Row
from conformance.tests.reached import MINIMAL, profile_at, transport
from conformance.traffic import capture
from conformance.traffic.exchange import Exchange, Request, Response
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.findings import Ledger
from reference_impl import serve as reference

TIMEOUT = 0.5
HANGING = 30.0
"""Seconds that none of this takes, on however slow a machine; whoever waits for the portal takes a minute."""
QUADRATIC = 20.0
"""Seconds of CPU that only a search of each secret in each place takes."""
PATH = "/web/v1/system/constants/countries"

SILENT = (
    "silent-accept", "close-at-accept", "reset-at-accept", "other-protocol", "empty-answer", "hangs-inside",
    "cut-head", "cut-body", "reset-midway", "late-answer", "dripped-status", "dripped-head", "dripped-body",
    "garbage-after-answer", "answer-after-answer", "endless-100", "endless-103", "switching-protocols",
    "endless-trailers", "fast-trailers", "endless-chunks", "endless-head", "endless-extension",
    "length-too-long", "length-too-short", "length-negative", "length-words", "length-huge",
    "lengths-conflict", "lengths-list", "unknown-transfer", "chunk-size-words", "chunk-size-huge",
    "chunk-size-negative", "chunk-overrun", "chunk-unended", "http-0.9", "http-2-preface", "status-000",
    "status-words", "status-endless", "header-of-10-mb", "headers-10000", "header-without-colon",
    "header-nul", "header-injected-answer", "tls-handshake-dripped", "speaks-first",
)  # fmt: skip
"""Rows after which there is no answer."""

UNJUDGED = (
    "fast-chunks", "gigabyte", "gigabyte-without-length", "gzip-bomb-3", "gzip-in-name", "gzip-cut",
    "gzip-wrong-sum", "gzip-and-more", "gzip-layers-20", "br-bomb", "deep-lists", "deep-data", "long-text",
)  # fmt: skip
"""Rows that are recorded, and of which the body is not judged."""


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    with reference.start() as portal:
        yield portal.url


def outcome(known: Profile) -> Exchange:
    """The record of one request, with an answer or without."""
    exchanges: list[Exchange] = []
    try:
        return transport(known=known, seen=exchanges).send("GET", PATH)
    except NoAnswer:
        return exchanges[-1]
    except TargetUnreachable as gone:
        request = Request(method="GET", url=known.portal.url + PATH)
        return Exchange(n=1, started="", request=request, error=str(gone))


@contextmanager
def timed(clock: Callable[[], float], most: float) -> Iterator[None]:
    """Fails where what is within takes longer."""
    began = clock()
    yield
    assert clock() - began < most


@pytest.mark.parametrize("name", SILENT)
def test_what_is_no_answer_ends_in_time_and_says_why(name: str, origin: str, tmp_path: Path) -> None:
    with Hostile(ROWS[name], origin, tmp_path) as portal, timed(time.monotonic, HANGING):
        exchange = outcome(profile_at(portal.url))

    assert exchange.response is None
    assert exchange.error


@pytest.mark.parametrize("name", UNJUDGED)
def test_what_is_beyond_the_bounds_is_recorded_and_not_judged(name: str, origin: str, tmp_path: Path) -> None:
    with Hostile(ROWS[name], origin, tmp_path) as portal:
        exchange = outcome(profile_at(portal.url, timeout=20.0))

    assert exchange.response is not None
    assert exchange.response.is_unknown


def replayed(url: str) -> WireResponse:
    """One request as a replay sends it."""

    async def ask() -> WireResponse:
        host, _, port = url.partition("//")[2].partition(":")
        connection = Connection(Server(host, int(port)))
        request = f"GET {PATH} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
        response = await connection.ask(request, timeout=TIMEOUT)
        connection.close()
        return response

    return asyncio.run(ask())


@pytest.mark.parametrize("name", [one for one in SILENT if not one.startswith("tls")])
def test_a_replay_takes_for_no_answer_what_a_run_does_not(name: str, origin: str, tmp_path: Path) -> None:
    with Hostile(ROWS[name], origin, tmp_path) as portal, timed(time.monotonic, HANGING):
        answer = replayed(portal.url)

    assert answer.error or answer.is_cut or name in ("headers-10000",)


@pytest.mark.parametrize("name", ["fast-chunks", "gigabyte", "gigabyte-without-length"])
def test_a_replay_cuts_an_answer_beyond_the_bound(name: str, origin: str, tmp_path: Path) -> None:
    with Hostile(ROWS[name], origin, tmp_path) as portal:
        answer = replayed(portal.url)

    assert answer.is_cut
    assert len(answer.body) < 10_000_000


def test_an_answer_that_comes_before_its_request_is_judged_nowhere(origin: str, tmp_path: Path) -> None:
    with Hostile(ROWS["speaks-first"], origin, tmp_path) as portal:
        exchanges: list[Exchange] = []
        sender = transport(known=profile_at(portal.url), seen=exchanges)
        for number in range(3):
            with pytest.raises(NoAnswer):
                sender.send("GET", f"{PATH}?number={number}")
            problem = "bytes came before the request was sent: the connection was closed"
            assert exchanges[-1].error == problem


@pytest.mark.parametrize(
    "name, statuses, error",
    [
        ("endless-103", (502,), "no final answer came after 1,000 of HTTP 1xx"),
        ("hundred-103", (401, 403), ""),
    ],
)
def test_a_recorder_gives_up_a_portal_that_only_announces_answers(
    origin: str, tmp_path: Path, name: str, statuses: tuple[int, ...], error: str
) -> None:
    out = tmp_path / "capture.jsonl"
    with Hostile(ROWS[name], origin, tmp_path) as portal, record.serve(portal.url, out) as recorder:
        with timed(time.monotonic, HANGING):
            answer = httpx.get(recorder.url + PATH, timeout=20)

    (exchange,) = capture.read(out)
    assert answer.status_code in statuses
    assert exchange.error == error if error else exchange.status == answer.status_code


def listing(count: int) -> Exchange:
    records = [{"bizId": f"{number:08}", "name": "x" * 40} for number in range(count)]
    request = Request(method="GET", url=f"http://portal.example.test{PATH}")
    body = {"success": True, "code": "2000", "data": records}
    return Exchange(n=1, started="", request=request, response=Response(status=200, body=body))


def test_a_list_of_very_many_items_is_contradicted_at_a_bounded_number_of_places() -> None:
    few, many = (watch(Ledger(REQUIREMENTS))(listing(count)) for count in (60, 20_000))

    assert len(many) <= len(few) * 3
    assert {finding.signature for finding in many} == {finding.signature for finding in few}


def test_a_secret_of_equal_characters_is_searched_in_time_in_a_long_list() -> None:
    secrets = Secrets()
    for number in range(30):
        secrets.add(f"Wrong-{number}-" + "x" * 60, "password")
    secrets.add("x" * 30 + "Tail-123" + "x" * 30, "password")
    hidden = "Wrong-7-" + "x" * 60
    line = msgspec.json.encode([{"name": "x" * 40, "at": number} for number in range(20_000)]).decode()

    with timed(time.process_time, QUADRATIC):
        clean = secrets.redact_line(line[:-1] + f',"{hidden}"]')

    assert hidden not in clean
    assert "[password-8]" in clean


CORRECT = playing(lambda turn: turn.wire.send(Sent(body=b"{}").framed()))
RESETTING = playing(lambda turn: turn.wire.reset())


def test_nothing_goes_out_but_what_the_profile_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".netrc").write_text("machine localhost login someone password of-the-netrc\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")

    with Hostile(CORRECT, "", tmp_path) as portal:
        exchange = outcome(profile_at(portal.url.replace("127.0.0.1", "localhost")))

    assert exchange.status == 200
    assert portal.asked[0].header("authorization") == ""


def test_a_proxy_of_the_profile_is_asked_with_its_own_credentials(tmp_path: Path) -> None:
    with Hostile(CORRECT, "", tmp_path) as proxy:
        address = proxy.url.replace("//", "//user:pass%20word@")
        exchange = outcome(profile_at("http://portal.example.test", f'proxy = "{address}"\n'))

    assert exchange.status == 200
    assert proxy.asked[0].target == f"http://portal.example.test{PATH}"
    basic = "Basic " + base64.b64encode(b"user:pass word").decode()
    assert proxy.asked[0].header("proxy-authorization") == basic


@pytest.mark.parametrize("ends", [b"1e999", b"1e300", b"9" * 4000, b"NaN", b'"soon"', b"[]"])
def test_a_token_that_never_ends_lives_as_long_as_is_assumed(ends: bytes) -> None:
    token = token_with(ends)({"accessToken": ""})["accessToken"]

    assert lifetime(None, token, 1_700_000_000.0) == 300.0


@pytest.mark.parametrize("name", ["clock-redirects", "clock-infinite", "clock-digits", "clock-year-1"])
def test_a_clock_that_is_none_is_a_mistake_of_the_profile(name: str, origin: str, tmp_path: Path) -> None:
    problem = r"\[clock\] advance: .*(neither a number of seconds|answers HTTP)"
    with Hostile(ROWS[name], origin, tmp_path) as portal:
        known = parse(MINIMAL + f'\n[clock]\nadvance = "{portal.url}/clock/advance"\n', {})
        with pytest.raises(ProfileError, match=problem):
            clock_of(known).now()

    assert portal.trapped == []


@pytest.mark.parametrize("now", [b'"2031-05-06T07:08:09Z"', b'"2031-05-06T07:08:09"', b"1935817689"])
def test_a_clock_says_its_time_as_a_number_or_in_iso_8601(now: bytes, origin: str, tmp_path: Path) -> None:
    row = Row("clock", "Says its time.", odd_clock(b'{"now":%s}' % now), clock_only, is_clock=True)
    with Hostile(row, origin, tmp_path) as portal:
        known = parse(MINIMAL + f'\n[clock]\nadvance = "{portal.url}/clock/advance"\n', {})
        assert clock_of(known).now() == pytest.approx(1_935_817_689, abs=60)


def test_an_endpoint_that_stays_silent_is_given_up_and_counted(tmp_path: Path) -> None:
    with Hostile(RESETTING, "", tmp_path) as portal:
        sender = transport(known=profile_at(portal.url))
        for _ in range(3):
            with pytest.raises(NoAnswer):
                sender.send("GET", PATH)
        with pytest.raises(Untestable, match="3 times in a row"):
            sender.send("GET", PATH)

    assert len(portal.asked) == 3
    assert (sender.availability.sentence() or "").startswith("3 of 3 requests had no answer (3 × ")


def test_a_portal_that_gives_no_answers_is_gone(tmp_path: Path) -> None:
    with Hostile(RESETTING, "", tmp_path) as portal:
        sender = transport(known=profile_at(portal.url))
        for number in range(15):
            with pytest.raises(NoAnswer):
                sender.send("GET", f"/number/{number}")
        with pytest.raises(TargetUnreachable, match="went away: 15 of 15 requests had no answer"):
            sender.send("GET", PATH)


def test_a_header_that_the_target_made_begins_no_line(tmp_path: Path) -> None:
    injecting = [("Authorization", "a\r\nX-Injected: 1")]
    with Hostile(playing(raw(b"")), "", tmp_path) as portal:
        with pytest.raises(Untestable, match="the request cannot be sent"):
            transport(known=profile_at(portal.url)).send("GET", PATH, headers=injecting)

    assert portal.asked == []


def test_a_redirect_is_not_followed_and_a_cookie_not_sent_back(origin: str, tmp_path: Path) -> None:
    for name in ("redirect-302", "cookies-1000"):
        with Hostile(ROWS[name], origin, tmp_path) as portal:
            sender = transport(known=profile_at(portal.url))
            sender.send("GET", PATH)
            sender.send("GET", PATH)

        assert portal.trapped == []
        assert [asked.header("cookie") for asked in portal.asked] == ["", ""]


@pytest.mark.parametrize("name", ["self-signed", "expired", "other-host", "plain", "handshake-cut"])
def test_a_certificate_that_is_not_trusted_is_no_answer(name: str, origin: str, tmp_path: Path) -> None:
    with Hostile(ROWS[f"tls-{name}"], origin, tmp_path) as portal:
        verify = f'verify = "{authority(tmp_path)}"\n' if name == "expired" else ""
        assert outcome(profile_at(portal.url, verify)).error

    assert "GET" not in [asked.method for asked in portal.asked]


def test_a_trusted_certificate_is_answered(origin: str, tmp_path: Path) -> None:
    with Hostile(ROWS["tls-correct"], origin, tmp_path) as portal:
        sender = transport(known=profile_at(portal.url, f'verify = "{authority(tmp_path)}"\n', timeout=5.0))
        assert {sender.send("GET", PATH).status for _ in range(3)} <= {401, 403}
