"""The recorder as a service: what it refuses to forward, what it bounds, and who may read what it writes."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from conformance import record
from conformance.cli import main
from conformance.record.log import Bounds
from conformance.traffic import capture
from reference_impl import serve

HEAD = b"Host: portal.example.test\r\nConnection: close\r\n"
CHUNKED = b"POST /x HTTP/1.1\r\n" + HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.fixture(scope="module")
def portal() -> Iterator[str]:
    with serve.start() as running:
        yield running.url


@contextmanager
def recorder(upstream: str, folder: Path, bounds: Bounds | None = None) -> Iterator[tuple[int, Path]]:
    """The port of a recorder, and its capture."""
    out = folder / "capture.jsonl"
    with record.serve(upstream, out, record.RecordOptions(bounds=bounds)) as recording:
        yield int(recording.url.rpartition(":")[2]), out


def reply(port: int, request: bytes, *, seconds: float = 5.0) -> bytes:
    """What comes back until the connection is closed, or reset since the request was not read to its end."""
    chunks = []
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(request)
        with contextlib.suppress(ConnectionError):
            while chunk := connection.recv(65536):
                chunks.append(chunk)
    return b"".join(chunks)


REFUSED = {
    "absolute form": b"GET http://other.example.test/x HTTP/1.1\r\n" + HEAD + b"\r\n",
    "absolute form of the portal": b"GET http://127.0.0.1/web/v1/x HTTP/1.1\r\n" + HEAD + b"\r\n",
    "userinfo instead of a path": b"GET @other.example.test/x HTTP/1.1\r\n" + HEAD + b"\r\n",
    "CONNECT": b"CONNECT other.example.test:443 HTTP/1.1\r\n" + HEAD + b"\r\n",
    "asterisk form": b"OPTIONS * HTTP/1.1\r\n" + HEAD + b"\r\n",
    "length and chunks": CHUNKED.replace(b"\r\n\r\n", b"\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"),
    "two lengths": b"POST /x HTTP/1.1\r\n" + HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
    "unknown transfer coding": CHUNKED.replace(b"chunked", b"xchunked") + b"0\r\n\r\n",
    "folded header": b"GET /x HTTP/1.1\r\n" + HEAD + b"X-A: b\r\n c\r\n\r\n",
    "blank before the colon": b"POST /x HTTP/1.1\r\n" + HEAD + b"Content-Length : 5\r\n\r\nabcde",
    "bare line feeds": b"GET /x HTTP/1.1\nHost: x\n\n",
    "bad chunk size": CHUNKED + b"zz\r\nabc\r\n0\r\n\r\n",
    "chunk longer than told": CHUNKED + b"2\r\nabcd\r\n0\r\n\r\n",
    "header over the bound": b"GET /x HTTP/1.1\r\n" + HEAD + b"X-A: " + b"a" * 100_000 + b"\r\n\r\n",
    "many headers": b"GET /x HTTP/1.1\r\n" + HEAD + b"X-A: aaaaaaaa\r\n" * 10_000 + b"\r\n",
    "target over the bound": b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n" + HEAD + b"\r\n",
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
}


@pytest.mark.parametrize("request_bytes", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_plain_request_to_the_portal_is_refused_and_never_forwarded(
    portal: str, tmp_path: Path, request_bytes: bytes
) -> None:
    with recorder(portal, tmp_path) as (port, out):
        assert reply(port, request_bytes)[:13] in (b"HTTP/1.1 400 ", b"")
        time.sleep(0.05)

    assert [exchange for exchange in capture.read(out) if exchange.response is not None] == []


def test_a_body_over_the_bound_is_refused(portal: str, tmp_path: Path) -> None:
    request = b"POST /web/v1/x HTTP/1.1\r\n" + HEAD + b"Content-Length: 5000\r\n\r\n" + b"a" * 5000

    with recorder(portal, tmp_path, Bounds(body_bytes=1000)) as (port, _):
        assert reply(port, request).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("begun", [b"", b"POST /x HTTP/1.1\r\nContent-Length: 9\r\n\r\nab"])
def test_a_request_that_does_not_arrive_in_time_is_closed(portal: str, tmp_path: Path, begun: bytes) -> None:
    with recorder(portal, tmp_path, Bounds(request_seconds=0.2)) as (port, _):
        assert reply(port, begun, seconds=20.0)[:13] in (b"HTTP/1.1 408 ", b"HTTP/1.1 400 ", b"")


def test_a_request_that_is_dripped_is_closed_in_time(portal: str, tmp_path: Path) -> None:
    def drip(connection: socket.socket) -> None:
        for byte in b"GET /web/v1/" + b"a" * 200:
            connection.sendall(bytes([byte]))
            time.sleep(0.02)

    with recorder(portal, tmp_path, Bounds(request_seconds=0.3)) as (port, _):
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection, pytest.raises(OSError):
            drip(connection)


def test_two_hundred_connections_at_once_are_served(portal: str, tmp_path: Path) -> None:
    async def all_at_once(port: int) -> list[int]:
        async with httpx.AsyncClient(limits=httpx.Limits(max_connections=200), timeout=60) as client:
            url = f"http://127.0.0.1:{port}/web/v1/secure-channel/public-key"
            answers = await asyncio.gather(*(client.get(url) for _ in range(200)))
        return [answer.status_code for answer in answers]

    with recorder(portal, tmp_path) as (port, out):
        statuses = asyncio.run(all_at_once(port))

    assert statuses == [403] * 200
    assert len(list(capture.read(out))) == 200


def test_connections_over_the_bound_are_turned_away(portal: str, tmp_path: Path) -> None:
    with recorder(portal, tmp_path, Bounds(connections=3)) as (port, _):
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
        time.sleep(0.1)
        request = b"GET /web/v1/secure-channel/public-key HTTP/1.1\r\n" + HEAD + b"\r\n"

        assert reply(port, request).startswith(b"HTTP/1.1 503 ")
        for connection in idle:
            connection.close()


def test_what_a_check_writes_is_readable_by_its_owner_alone(portal: str, tmp_path: Path) -> None:
    with recorder(portal, tmp_path) as (port, out):
        httpx.get(f"http://127.0.0.1:{port}/web/v1/secure-channel/public-key")
    main(["check", str(out), "--out", str(tmp_path / "reports")])

    written = list((tmp_path / "reports").iterdir())
    assert len(written) > 3
    assert {stat.filemode(path.stat().st_mode) for path in written} == {"-rw-------"}
