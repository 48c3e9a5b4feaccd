"""Of a body that is no JSON nothing is written but its length and a digest; what judges it still does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.check import CheckOptions, check
from conformance.record.log import Log
from conformance.tests.test_likely_secrets import request_to
from conformance.traffic import capture
from conformance.traffic.capture.bodies import answered, body_of
from conformance.traffic.exchange import Exchange, Request, Response
from conformance.traffic.log import ExchangeLog
from conformance.traffic.redaction.redact import Secrets

BODIES = {
    "a form": b"email=a%40b&password=Wide-1234",
    "an element": b"<login><password>Wide-1234</password></login>",
    "JSON that is cut off": b'{"email":"a","password":"Wide-1234',
    "UTF-16": '{"password":"Wide-1234",}'.encode("utf-16"),
    "MessagePack": b"\x82\xa5email\xa1a\xa8password\xa9Wide-1234",
    "a password alone": b"Wide-1234",
    "a JSON string": b'"Wide-1234"',
}
PACKED = {
    "JSON in UTF-16": '{"password":"Wide-1234"}'.encode("utf-16"),
    "JSON in a string": json.dumps(json.dumps({"password": "Wide-1234"})).encode(),
    "JSON in a list": json.dumps([json.dumps({"password": "Wide-1234"})]).encode(),
    "JSON in a field": json.dumps({"payload": json.dumps({"password": "Wide-1234"})}).encode(),
}

ACCESS_CODE = [{"name": "X-PORTAL-ACCESS-CODE", "value": "code"}]


def exchange_with(raw: bytes) -> Exchange:
    """A sign-in that sends the bytes, and is answered with them."""
    url = request_to("auth/login/complete").url
    sent, form = body_of(raw)
    shown, answered_form = answered(raw, None)
    return Exchange(
        n=1,
        started="2031-05-06T07:08:09Z",
        client="c",
        request=Request(method="POST", url=url, headers=[("accept", "*/*")], body=sent, form=form),
        response=Response(status=200, headers=[("server", "x")], body=shown, form=answered_form),
    )


def files_with(exchange: Exchange, folder: Path) -> list[Path]:
    """Everything that the suite writes of an exchange: captures, logs of runs and replays, checks."""
    for name in ("recorded.jsonl", "recorded.har"):
        log = Log(folder / name, Secrets())
        log.write(exchange.request, exchange.response, started=exchange.started, elapsed_ms=1.0, client="c")
        log.close()
        check([folder / name], CheckOptions(out=folder / f"checked-{name}"))
    live = ExchangeLog(folder / "live.jsonl", Secrets())
    live.write(exchange)
    live.close()
    return [file for file in folder.rglob("*") if file.is_file()]


@pytest.mark.parametrize("raw", (BODIES | PACKED).values(), ids=(BODIES | PACKED).keys())
def test_no_file_holds_a_secret_of_it(tmp_path: Path, raw: bytes) -> None:
    files = files_with(exchange_with(raw), tmp_path)

    assert len(files) > 10
    assert [file for file in files if b"Wide-1234" in file.read_bytes().replace(b"\0", b"")] == []


@pytest.mark.parametrize("raw", BODIES.values(), ids=BODIES.keys())
def test_a_capture_and_a_har_file_hold_its_length_and_that_it_is_no_json(tmp_path: Path, raw: bytes) -> None:
    exchange = exchange_with(raw)
    for name in ("raw.jsonl", "raw.har"):
        with capture.Writer(tmp_path / name) as writer:
            writer.write(exchange)

        (read,) = capture.read(tmp_path / name)

        assert (read.request, read.response) == (exchange.request, exchange.response)
        assert (read.request.state, read.request.body) == ("not-json", {"length": len(raw)})


def test_a_har_file_of_a_browser_is_judged_and_its_text_is_not_written(tmp_path: Path) -> None:
    page = {"size": 20, "mimeType": "text/plain", "text": "password: Wide-1234."}
    sent = {"mimeType": "application/x-www-form-urlencoded", "text": "password=Wide-1234"}
    url = request_to("notifications/channels/query").url
    request = {"method": "POST", "url": url, "headers": ACCESS_CODE, "postData": sent}
    headers = [{"name": "content-type", "value": "text/plain"}]
    response = {"status": 403, "headers": headers, "content": page}
    entry = {"startedDateTime": "2031-05-06T07:08:09Z", "request": request, "response": response}
    (tmp_path / "browser.har").write_text(json.dumps({"log": {"version": "1.2", "entries": [entry]}}))

    checked = check([tmp_path / "browser.har"], CheckOptions(out=tmp_path / "out"))

    (finding,) = (row for row in checked.run.findings if row.requirement == "ENV-001")
    assert finding.actual == {"length": 20, "content-type": "text/plain"}
    assert not any("Wide-1234" in file.read_text() for file in (tmp_path / "out").iterdir())
    again = check([tmp_path / "out" / "exchanges.jsonl"], CheckOptions(out=tmp_path / "again"))
    assert [row.signature for row in again.run.findings] == [row.signature for row in checked.run.findings]
