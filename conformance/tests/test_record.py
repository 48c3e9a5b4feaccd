"""The recorder: what passes is recorded before it is answered, without its secrets, whatever it is."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import tomllib
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from conformance import record
from conformance.errors import CaptureError
from conformance.judging import watch
from conformance.record.channel import OpenChannel, new_key
from conformance.record.log import Bounds
from conformance.spec import REQUIREMENTS
from conformance.spec.endpoints import SECURE_SESSION
from conformance.target.portal.cipher import find_key, wrap
from conformance.tests.full_disk import no_more_than
from conformance.tests.test_unreachable import mute, nobody
from conformance.traffic import capture, exchange
from conformance.traffic.exchange import Exchange
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.findings import Finding, Ledger
from reference_impl import sealing
from reference_impl import serve as reference
from reference_impl.choices import Choices


async def echo(request: Request) -> Response:
    """What arrived, as the upstream saw it."""
    body = (await request.body()).decode("latin-1")
    headers = [[name.decode(), value.decode()] for name, value in request.headers.raw]
    target = request.scope["raw_path"].decode() + "?" + request.scope["query_string"].decode()
    return JSONResponse({"method": request.method, "target": target, "headers": headers, "body": body})


async def twice(request: Request) -> Response:
    answer = JSONResponse({"ok": True})
    answer.headers.append("set-cookie", "a=1")
    answer.headers.append("set-cookie", "b=2")
    return answer


async def packed(request: Request) -> Response:
    headers = {"content-encoding": "gzip", "content-type": "application/json"}
    return Response(gzip.compress(b'{"packed": true}'), headers=headers)


async def slow(request: Request) -> Response:
    async def chunks() -> object:
        for n in range(3):
            yield f"data: {n}\n\n"
            await asyncio.sleep(0.15)

    return StreamingResponse(chunks(), media_type="text/event-stream")  # type: ignore[arg-type]


async def large(request: Request) -> Response:
    return Response(b"x" * 3_000_000, media_type="text/plain")


METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]
UPSTREAM = Starlette(
    routes=[
        Route("/twice", twice),
        Route("/packed", packed),
        Route("/slow", slow),
        Route("/large", large),
        Route("/{path:path}", echo, methods=METHODS),
    ]
)


@pytest.fixture(scope="module")
def upstream() -> Iterator[str]:
    """A small server that shows what arrives at it."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(UPSTREAM, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join(5)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "traffic.jsonl"


def recorded(out: Path) -> list[Exchange]:
    return list(capture.read(out))


def answered(one: Exchange) -> exchange.Response:
    """The response of an exchange that has one."""
    assert one.response is not None
    return one.response


def test_what_passes_is_recorded_and_passed_on_unchanged(upstream: str, out: Path) -> None:
    headers = [("X-One", "1"), ("X-Twice", "a"), ("X-Twice", "b"), ("Accept-Encoding", "br, gzip")]
    with record.serve(upstream, out) as recording:
        answer = httpx.post(f"{recording.url}/a%2Fb/c?q=1&q=2", json={"name": "é"}, headers=headers)
        cookies = httpx.get(f"{recording.url}/twice").headers.get_list("set-cookie")
        packed = httpx.get(f"{recording.url}/packed", headers=headers)

    exchange, repeated, unpacked = recorded(out)
    seen = answer.json()
    assert recording.url.startswith("http://127.0.0.1:")
    assert seen["target"] == "/a%2Fb/c?q=1&q=2"
    assert [value for name, value in seen["headers"] if name == "x-twice"] == ["a", "b"]
    assert json.loads(seen["body"].encode("latin-1")) == {"name": "é"}
    assert exchange.request.url == f"{upstream}/a%2Fb/c?q=1&q=2"
    assert exchange.request.body == {"name": "é"}
    assert exchange.request.header("x-one") == "1"
    assert exchange.request.header("host") == upstream.removeprefix("http://")
    assert (exchange.status, answered(exchange).body) == (200, seen)
    assert exchange.client == "127.0.0.1"
    assert exchange.elapsed_ms > 0
    assert cookies == ["a=1", "b=2"]
    assert sum(name == "set-cookie" for name, _ in answered(repeated).headers) == 2
    assert (packed.headers["content-encoding"], packed.json()) == ("gzip", {"packed": True})
    assert unpacked.envelope == {"packed": True}
    assert unpacked.request.header("accept-encoding") == "gzip"


def test_an_event_stream_arrives_as_it_is_sent(upstream: str, out: Path) -> None:
    with record.serve(upstream, out) as recording:
        with httpx.stream("GET", f"{recording.url}/slow") as answer:
            arrived = [time.monotonic() for _ in answer.iter_bytes()]

    assert arrived[1] > arrived[0]
    response = answered(recorded(out)[0])
    assert (response.state, response.body["length"]) == ("not-json", 27)


def test_a_body_past_the_limit_passes_whole_and_is_recorded_as_truncated(
    upstream: str, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.record.proxy.LONGEST_BODY", 1000)

    with record.serve(upstream, out) as recording:
        answer = httpx.get(f"{recording.url}/large")

    assert len(answer.content) == 3_000_000
    assert answered(recorded(out)[0]).state == "truncated"


def test_every_method_passes(upstream: str, out: Path) -> None:
    with record.serve(upstream, out) as recording, httpx.Client(base_url=recording.url) as client:
        answers = [client.request(method, "/x", content=b"body") for method in (*METHODS, "HEAD")]

    assert [answer.status_code for answer in answers] == [200] * len(answers)
    assert [answer.json()["method"] for answer in answers[:-1]] == METHODS
    assert [exchange.request.body for exchange in recorded(out)] == [{"length": 4}] * len(answers)


@pytest.mark.parametrize("silent", [nobody, mute])
def test_a_portal_that_is_not_there_or_hangs_is_recorded_as_no_answer(
    out: Path, silent: Callable[[], AbstractContextManager[str]]
) -> None:
    options = record.RecordOptions(bounds=Bounds(upstream_seconds=0.3))
    with silent() as nowhere, record.serve(nowhere, out, options) as recording:
        answer = httpx.get(f"{recording.url}/x", timeout=5)

    assert answer.status_code == 502
    assert "ssl:default" not in answer.text
    (exchange,) = recorded(out)
    assert exchange.response is None
    assert exchange.error


def test_an_existing_recording_is_never_overwritten(upstream: str, out: Path) -> None:
    out.write_text("precious")

    with pytest.raises(CaptureError, match="exists already"):
        record.serve(upstream, out)
    assert out.read_text() == "precious"


@pytest.mark.parametrize("name", ["traffic.jsonl", "traffic.har"])
def test_without_room_recording_stops_and_says_so_while_the_traffic_passes(
    upstream: str, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / name
    with record.serve(upstream, out) as recording:
        client = httpx.Client(base_url=recording.url)
        with no_more_than(5_000):
            answers = [client.get(f"/{n}") for n in range(20)]
        told = capsys.readouterr().err
        late = client.get("/late")

    kept = [exchange.request.path for exchange in recorded(out)]
    assert {answer.status_code for answer in (*answers, late)} == {200}
    assert kept == [f"/{n}" for n in range(len(kept))]
    assert 2 < len(kept) < 20
    assert told == (
        f"{out} cannot be written: File too large. "
        f"Recording stopped: {out} holds {len(kept)} exchanges; traffic passes on unrecorded.\n"
    )
    assert recording.log.count == len(kept)


@contextmanager
def command(folder: Path, upstream: str, *words: str, shell: str = 'exec "$@"') -> Iterator[Recorder]:
    """``record`` in a process of its own, which a shell begins, and the address that it listens at."""
    told = [sys.executable, "-m", "conformance.cli", "record", "--upstream", upstream, "--port", "0", *words]
    with subprocess.Popen(
        ["bash", "-c", shell, "bash", *told],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
    ) as process:
        assert process.stdout is not None
        listening = re.search(r"at (\S+) into", process.stdout.readline())
        assert listening is not None
        yield process, listening[1]


Recorder = tuple[subprocess.Popen[str], str]


@pytest.mark.slow
def test_a_recording_that_stopped_ends_with_exit_code_4(upstream: str, tmp_path: Path) -> None:
    cramped = 'export PYTHONDONTWRITEBYTECODE=1; ulimit -f 1; exec "$@"'  # a compiled file would be cut off
    with command(tmp_path, upstream, "--out", "traffic.jsonl", shell=cramped) as (recorder, url):
        assert recorder.stderr is not None
        assert [httpx.get(f"{url}/{n}").status_code for n in range(3)] == [200] * 3
        assert "Recording stopped: traffic.jsonl holds 1 exchange;" in recorder.stderr.readline()
        recorder.send_signal(signal.SIGINT)
        said, _ = recorder.communicate(timeout=30)

    assert recorder.returncode == 4
    assert said.splitlines()[-1] == "The recording is not complete: make room, or choose another --out."
    assert len(recorded(tmp_path / "traffic.jsonl")) == 1


def planted(text: str, secrets: Sequence[str]) -> list[str]:
    return [secret for secret in secrets if secret in text]


def test_findings_are_told_as_they_are_seen_and_once(out: Path) -> None:
    found: list[Finding] = []
    with reference.start(faults=["login-session-expires-in-text"]) as portal:
        account = tomllib.loads(portal.profile())["accounts"]["admin"]
        judge = watch(Ledger(REQUIREMENTS))
        with record.serve(portal.url, out, judge=judge, on_finding=found.append) as recording:
            for _ in range(2):
                httpx.post(
                    f"{recording.url}/web/v1/system/auth/login/initiate",
                    json={"email": account["email"], "password": account["password"]},
                    headers=ingress(portal),
                )

    assert [finding.path for finding in found] == ["data.expiresIn"]
    assert planted(out.read_text(), [account["password"]]) == []


def ingress(portal: reference.Running) -> dict[str, str]:
    return {"X-PORTAL-ACCESS-CODE": tomllib.loads(portal.profile())["portal"]["access_code"]}


@pytest.mark.parametrize(
    "choices",
    [
        Choices(),
        Choices(encrypted_body="object", public_key_format="pem", key_id_field="kid", public_key_field="pem"),
        Choices(public_key_format="jwk", rsa_padding="oaep-sha1", mgf1="sha1", payload="tag+iv+ciphertext"),
        Choices(mgf1="sha1", payload="ciphertext+tag+iv"),
        Choices(rsa_padding="pkcs1v15", aes_mode="cbc", payload="iv+ciphertext", responses="encrypted"),
    ],
    ids=lambda choices: f"{choices.public_key_format}-{choices.rsa_padding}-{choices.payload}",
)
def test_an_opened_channel_shows_what_was_encrypted_and_works_for_both_sides(
    out: Path, choices: Choices
) -> None:
    with reference.start(choices=choices) as portal:
        account = tomllib.loads(portal.profile())["accounts"]["admin"]
        headers = ingress(portal)
        with record.serve(portal.url, out, record.RecordOptions(open_channel=True)) as recording:
            client = httpx.Client(base_url=recording.url, headers=headers)
            session, keys = channel_of(client, choices)
            body = {"email": account["email"], "code": "000000", "newPassword": account["password"]}
            sealed = sealing.seal(json.dumps(body).encode(), keys[0], os.urandom(16), choices)
            answer = client.post(
                "/web/v1/system/auth/password/reset",
                json=sealed,
                headers={"X-Secure-Channel-Session-Id": session},
            )

    shown = recorded(out)[-1]
    assert "cannot be opened" not in answer.text
    assert shown.plain is not None
    assert shown.plain.request == {
        "email": account["email"],
        "code": "[code-1]",
        "newPassword": "[password-1]",
    }
    assert shown.request.json != shown.plain.request
    assert planted(out.read_text(), [account["password"], *encodings(keys[0]), *encodings(keys[1])]) == []


@pytest.mark.parametrize(
    "choices",
    [Choices(rsa_padding="oaep-sha256"), Choices(rsa_padding="pkcs1v15")],
    ids=lambda choices: choices.rsa_padding,
)
@pytest.mark.parametrize("sizes", [(16, 32), (32, 16), (32, None), (None, 32), (5, 32), (32, 190)])
def test_each_key_of_a_session_reaches_the_portal_as_the_client_sent_it(
    choices: Choices, sizes: tuple[int | None, ...]
) -> None:
    """One of another length, and beside one that is none: the portal decides, and no recorder."""
    portal, channel = new_key(), OpenChannel(Secrets())
    channel.portals, scheme = portal.public_key(), sealing._padding(choices)
    keys = [None if size is None else os.urandom(size) for size in sizes]
    client = [b"no key" if key is None else channel.private.public_key().encrypt(key, scheme) for key in keys]
    names = ("encReqKey", "encRespKey")
    body = {name: b64encode(text).decode() for name, text in zip(names, client, strict=True)}

    content, unwrapped_keys = channel.request_to_portal(SECURE_SESSION, json.dumps(body).encode())

    sent = json.loads(content)
    for name, key, unwrapped in zip(names, keys, unwrapped_keys, strict=True):
        if key is None or (choices.rsa_padding == "pkcs1v15" and len(key) not in (16, 32)):
            assert (sent[name], unwrapped) == (body[name], None)
        else:
            assert portal.decrypt(b64decode(sent[name]), scheme) == key


def test_the_portals_own_key_is_recorded_and_the_recorders_is_offered(out: Path) -> None:
    with reference.start() as portal:
        path, headers = "/web/v1/secure-channel/public-key", ingress(portal)
        own = httpx.get(portal.url + path, headers=headers).json()["data"]
        with record.serve(portal.url, out, record.RecordOptions(open_channel=True)) as recording:
            offered = httpx.get(recording.url + path, headers=headers).json()["data"]

    assert offered["keyId"] == own["keyId"]
    assert offered["publicKey"] != own["publicKey"]
    assert recorded(out)[0].data == own


def channel_of(client: httpx.Client, choices: Choices) -> tuple[str, tuple[bytes, bytes]]:
    """A secure-channel session as a client makes one, and its AES keys."""
    offered = client.get("/web/v1/secure-channel/public-key").json()["data"]
    found = find_key(offered, id_field=choices.key_id_field, key_field=choices.public_key_field)
    assert found is not None
    keys = (os.urandom(32), os.urandom(32))
    wrapped = [wrap(key, found.public, rsa=choices.rsa_padding, mgf1=choices.mgf1) for key in keys]
    body = {"keyId": found.id, "encReqKey": wrapped[0], "encRespKey": wrapped[1]}
    made = client.post("/web/v1/secure-channel/session", json=body).json()
    return made["data"]["sessionId"], keys


def encodings(key: bytes) -> list[str]:
    return [key.hex(), b64encode(key).decode().rstrip("="), urlsafe_b64encode(key).decode().rstrip("=")]


@pytest.mark.slow
def test_every_answered_exchange_is_in_the_file_after_a_kill(upstream: str, out: Path) -> None:
    answered: set[str] = set()
    enough = threading.Event()

    def load(url: str, worker: int) -> None:
        with httpx.Client() as client:
            for n in range(10_000):
                try:
                    client.get(f"{url}/{'small' if worker else 'large'}?{worker}-{n}").raise_for_status()
                except httpx.HTTPError:
                    return
                answered.add(f"{worker}-{n}")
                if len(answered) >= 200:
                    enough.set()

    with command(out.parent, upstream, "--out", out.name) as (recorder, url), ThreadPoolExecutor(4) as pool:
        workers = [pool.submit(load, url, number) for number in range(4)]
        assert enough.wait(30)
        recorder.kill()
        for worker in workers:
            worker.result()

    # What nobody was answered yet may be cut off, as the last line.
    reader = capture.read(out, salvage=True)
    kept = {exchange.request.url.partition("?")[2] for exchange in reader}
    assert answered <= kept
    assert len(reader.notes) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [signal.SIGTERM, signal.SIGINT])
def test_a_recorder_in_the_background_of_a_script_is_ended_by_a_signal_and_its_har_is_whole(
    wanted: signal.Signals, upstream: str, tmp_path: Path
) -> None:
    """It hands on an answer that has begun."""
    in_background = "trap '' INT; exec \"$@\""  # as a shell does for a job
    with command(tmp_path, upstream, "--out", "traffic.har", shell=in_background) as (recorder, url):
        with httpx.stream("GET", f"{url}/slow") as answer:
            chunks = answer.iter_text()
            first = next(chunks)
            recorder.send_signal(wanted)
            text = first + "".join(chunks)
        said, _ = recorder.communicate(timeout=30)

    assert text.count("data:") == 3
    assert recorder.returncode == 0
    assert "Recorded 1 exchanges to" in said
    assert [exchange.request.path for exchange in recorded(tmp_path / "traffic.har")] == ["/slow"]
    assert stat.filemode((tmp_path / "traffic.har").stat().st_mode) == "-rw-------"
