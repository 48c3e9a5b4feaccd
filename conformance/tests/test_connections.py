"""Connections: to a portal behind mutual TLS and a proxy, to a recorder, over IPv6."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
import ssl
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from conformance import record
from conformance.cli import main
from conformance.errors import UsageError
from conformance.target.profile.model import load
from conformance.target.tls import tls_context
from conformance.tests.hostile.certificates import authority, context_with
from conformance.tests.reached import MINIMAL
from conformance.tests.test_record import command
from conformance.tests.traffic import account, answer
from conformance.traffic import capture
from reference_impl import serve

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while chunk := await reader.read(65_536):
            writer.write(chunk)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def join(near: Streams, far: Streams) -> None:
    await asyncio.gather(pump(near[0], far[1]), pump(far[0], near[1]))


@contextmanager
def serving(
    handle: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
    context: ssl.SSLContext | None = None,
) -> Iterator[int]:
    """The port at which a handler of connections listens, in a thread of its own."""
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(handle, "127.0.0.1", 0, ssl=context))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)


@dataclass
class Secured:
    """A portal that answers to who shows a certificate, and only through the proxy that counts."""

    folder: Path
    portal_port: int
    asked: list[str] = field(default_factory=list)

    async def front(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await join((reader, writer), await asyncio.open_connection("127.0.0.1", self.portal_port))

    async def proxy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.asked.append(head)
        host, _, port = head.split()[1].rpartition(":")
        far = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await join((reader, writer), far)


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[Secured]:
    context = context_with("trusted", tmp_path)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(authority(tmp_path))
    with serve.start() as portal:
        secured = Secured(tmp_path, int(portal.url.rpartition(":")[2]))
        with serving(secured.front, context) as port, serving(secured.proxy) as proxy:
            lines = (
                f'url = "https://127.0.0.1:{port}"',
                f'verify = "{authority(tmp_path)}"',
                f'client_cert = "{tmp_path / "trusted.pem"}"',
                f'proxy = "http://user:word@127.0.0.1:{proxy}"',
            )
            text = re.sub(r'(?m)^url = "[^"]*"$', "\n".join(lines), portal.profile(), count=1)
            (tmp_path / "portal.toml").write_text(text, encoding="utf-8")
            yield secured


def test_each_command_reaches_the_portal_by_its_profile(secured: Secured) -> None:
    folder = secured.folder
    profile = ["--profile", str(folder / "portal.toml")]
    capture = folder / "visit.jsonl"
    counted: list[str] = []

    def has_asked() -> bool:
        before, counted[:] = len(counted), secured.asked
        return len(counted) > before

    assert main(["run", *profile, "--rerun", "ENV-001", "--quiet", "--out", str(folder / "run")]) == 0
    assert has_asked()
    assert main(["doctor", *profile]) == 0
    assert has_asked()
    known = load(folder / "portal.toml")
    options = record.RecordOptions(verify=tls_context(known) or True, proxy=known.portal.proxy)
    with record.serve(known.portal.url, capture, options) as recorder:
        assert httpx.get(f"{recorder.url}{PUBLIC}").status_code == NO_CODE
    assert has_asked()
    assert main(["replay", str(capture), *profile, "--out", str(folder / "replay")]) in (0, 5)
    assert has_asked()
    assert all("Proxy-Authorization: Basic dXNlcjp3b3Jk" in head for head in secured.asked)


@pytest.mark.slow
def test_an_unchecked_certificate_leaves_the_clients_own_in_use(secured: Secured) -> None:
    path = secured.folder / "portal.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub("(?m)^verify = .*$", "", text), encoding="utf-8")
    url = load(path).portal.url
    words = ("--insecure", "--profile", str(path), "--out", "visit.jsonl")

    with command(secured.folder, url, *words) as (recorder, recording):
        status = httpx.get(f"{recording}{PUBLIC}").status_code
        recorder.send_signal(signal.SIGINT)
        recorder.communicate(timeout=30)

    assert status == NO_CODE


def test_a_missing_client_certificate_is_named(secured: Secured, capsys: pytest.CaptureFixture[str]) -> None:
    path = secured.folder / "portal.toml"
    path.write_text(re.sub("(?m)^client_cert.*$", "", path.read_text(encoding="utf-8")), encoding="utf-8")

    main(["doctor", "--profile", str(path)])
    main(["run", "--profile", str(path), "--quiet", "--out", str(secured.folder / "out")])

    assert capsys.readouterr().out.count("Does it ask for a client certificate?") == 2


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('client_cert = "none.pem"', "[portal] client_cert: none.pem cannot be read"),
        ('verify = "none.pem"', "[portal] verify: none.pem cannot be read"),
        ('client_cert = "portal.toml"', "[portal] client_cert: portal.toml cannot be read"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        ["run", "--profile", "portal.toml", "--out", "out"],
        ["doctor", "--profile", "portal.toml"],
        ["record", "--profile", "portal.toml", "--upstream", "https://127.0.0.1:9", "--out", "new.jsonl"],
        ["replay", "old.jsonl", "--profile", "portal.toml", "--out", "out"],
    ],
    ids=lambda command: command[0],
)
def test_each_command_names_a_certificate_that_cannot_be_read(
    line: str,
    said: str,
    command: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with capture.Writer(tmp_path / "old.jsonl") as writer:
        writer.write(answer("GET /web/v1/system/profile", account()))
    text = MINIMAL.replace("http:", "https:").replace("[portal]", f"[portal]\n{line}")
    (tmp_path / "portal.toml").write_text(text, encoding="utf-8")

    assert main(command) == 4

    assert said in "".join(capsys.readouterr())


def test_tls_at_an_address_of_http_is_named(secured: Secured, capsys: pytest.CaptureFixture[str]) -> None:
    path = secured.folder / "portal.toml"
    text = path.read_text(encoding="utf-8").replace('url = "https:', 'url = "http:')
    path.write_text(re.sub("(?m)^(client_cert|verify|proxy) = .*$", "", text), encoding="utf-8")

    assert main(["doctor", "--profile", str(path)]) == 4

    assert "speaks TLS at that port, and no plain HTTP" in capsys.readouterr().out


@pytest.fixture
def portal() -> Iterator[serve.Running]:
    with serve.start() as running:
        yield running


NO_CODE = 403
"""The status of an answer to a request without the access code."""
PUBLIC = "/web/v1/secure-channel/public-key"


def test_a_recorder_takes_https_from_its_clients(portal: serve.Running, tmp_path: Path) -> None:
    context_with("trusted", tmp_path)
    options = record.RecordOptions(certificate=tmp_path / "trusted.pem")

    with record.serve(portal.url, tmp_path / "visit.jsonl", options) as recorder:
        trusting = ssl.create_default_context(cafile=authority(tmp_path))
        answer = httpx.get(f"{recorder.url}{PUBLIC}", verify=trusting)

    assert recorder.url.startswith("https:")
    assert answer.status_code == NO_CODE
    assert recorder.log.count == 1


def test_a_certificate_without_its_key_is_refused(portal: serve.Running, tmp_path: Path) -> None:
    context_with("trusted", tmp_path)
    options = record.RecordOptions(certificate=authority(tmp_path))

    with pytest.raises(UsageError, match=r"--certificate .* cannot be read"):
        record.serve(portal.url, tmp_path / "visit.jsonl", options)

    assert not (tmp_path / "visit.jsonl").exists()


def test_a_recording_ends_at_its_largest_size(
    portal: serve.Running, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "visit.jsonl"

    with record.serve(portal.url, path, record.RecordOptions(max_bytes=1)) as recorder:
        statuses = [httpx.get(f"{recorder.url}{PUBLIC}").status_code for _ in range(3)]

    assert statuses == [NO_CODE] * 3
    assert recorder.log.count == 1
    assert len(path.read_text(encoding="utf-8").splitlines()) == 1
    assert "traffic passes on unrecorded" in capsys.readouterr().err


@pytest.mark.slow
def test_a_restarted_recorder_writes_a_new_file_in_its_folder(portal: serve.Running, tmp_path: Path) -> None:
    for number in range(2):
        with command(tmp_path, portal.url, "--out", ".") as (recorder, url):
            httpx.get(f"{url}{PUBLIC}")
            recorder.send_signal(signal.SIGINT)
            recorder.communicate(timeout=30)
        assert recorder.returncode == 0
        assert len(list(tmp_path.glob("2*.jsonl"))) == number + 1
        time.sleep(1)


def test_half_a_head_is_given_up_after_the_timeout(portal: serve.Running, tmp_path: Path) -> None:
    options = record.RecordOptions(timeout=0.3)

    with record.serve(portal.url, tmp_path / "visit.jsonl", options) as recorder:
        _, _, port = recorder.url.rpartition(":")
        with socket.create_connection(("127.0.0.1", int(port)), timeout=20) as half:
            half.sendall(b"GET / HTTP/1.1\r\nHost: a")
            assert half.recv(1) == b""


def test_a_portal_at_an_ipv6_address_is_reached(tmp_path: Path) -> None:
    with serve.start(host="::1") as running:
        (tmp_path / "portal.toml").write_text(running.profile(), encoding="utf-8")
        profile = ["--profile", str(tmp_path / "portal.toml")]

        assert main(["doctor", "--offline", str(tmp_path / "portal.toml")]) == 0
        assert main(["run", *profile, "--rerun", "ENV-001", "--quiet", "--out", str(tmp_path / "out")]) == 0

    assert running.url.startswith("http://[::1]:")
