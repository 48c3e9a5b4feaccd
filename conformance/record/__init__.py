"""Records what real clients do: a reverse proxy before a portal, and a capture of all that passes."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

import uvicorn

from conformance.errors import UsageError
from conformance.judging import Watch, watch
from conformance.record.channel import OpenChannel
from conformance.record.log import Log
from conformance.spec import REQUIREMENTS
from conformance.traffic.addresses import is_loopback
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.findings import Finding, Ledger, Verdict

if TYPE_CHECKING:  # its HTTP parser comes with an extra
    from conformance.record.protocol import Bounds

__all__ = ["Recording", "run", "serve"]

STARTING = 10.0


@dataclass
class Recording:
    """A recorder that answers at ``url`` until it is stopped; ``log`` counts what it wrote."""

    url: str
    log: Log
    server: uvicorn.Server
    thread: threading.Thread

    def stop(self) -> None:
        """Ends it, and closes the file. What was answered is in it already."""
        self.server.should_exit = True
        self.thread.join(timeout=STARTING)
        self.log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def serve(
    upstream: str,
    out: str | Path,
    *,
    port: int = 0,
    host: str = "127.0.0.1",
    judge: Watch | None = None,
    open_channel: bool = False,
    secrets: Secrets | None = None,
    verify: bool | str = True,
    on_finding: Callable[[Finding], None] = lambda finding: None,
    bounds: Bounds | None = None,
) -> Recording:
    """Starts a recorder for the portal at ``upstream`` in a thread; port 0 takes a free one.

    ``open_channel`` offers an RSA key of the recorder's own in place of the portal's, so that the plaintext
    of encrypted bodies is recorded. UsageError: the port is taken, the address is none, or an extra is
    missing; CaptureError: ``out`` exists or cannot be written.
    """
    protocol = _extra()
    from conformance.record.proxy import Proxy  # needs the extra

    if urlsplit(upstream).scheme not in ("http", "https") or not urlsplit(upstream).hostname:
        raise UsageError(f"--upstream {upstream}: give an address such as http://127.0.0.1:8000.")
    known = Secrets() if secrets is None else secrets
    listening = _listening(host, port)
    log = Log(Path(out), known, judge, on_finding)
    bounds = bounds or protocol.Bounds()
    proxy = Proxy(
        upstream,
        log,
        channel=OpenChannel(known) if open_channel else None,
        verify=verify,
        timeout=bounds.upstream_seconds,
    )
    server = uvicorn.Server(
        uvicorn.Config(
            proxy,
            http=protocol.protocol_within(bounds),
            limit_concurrency=bounds.connections,
            log_level="critical",
            access_log=False,
            lifespan="on",
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=2,
        )
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + STARTING
    while not server.started and thread.is_alive() and time.monotonic() < deadline:
        time.sleep(0.005)
    return Recording(f"http://{_shown(host)}:{listening.getsockname()[1]}", log, server, thread)


def _extra() -> ModuleType:
    """The module that needs the extra. UsageError: it is not installed."""
    try:
        from conformance.record import protocol, proxy  # noqa: F401
    except ImportError as error:
        raise UsageError(f"record needs {error.name}: pip install 'portal-conformance[replay]'.") from error
    return protocol


def run(
    upstream: str,
    out: str | Path,
    *,
    port: int = 0,
    host: str = "127.0.0.1",
    judge: bool = False,
    open_channel: bool = False,
    verify: bool | str = True,
    timeout: float = 60.0,
) -> int:
    """Records until interrupted, and says what was recorded. Exit code 1 if ``judge`` saw a FAIL, else 0."""
    secrets = Secrets()
    ledger = Ledger(REQUIREMENTS)

    def tell(finding: Finding) -> None:
        print(secrets.redact(_line(finding)), flush=True)

    recording = serve(
        upstream,
        out,
        port=port,
        host=host,
        judge=watch(ledger) if judge else None,
        open_channel=open_channel,
        secrets=secrets,
        verify=verify,
        bounds=_extra().Bounds(upstream_seconds=timeout),
        on_finding=tell,
    )
    with recording:
        print(f"Recording {upstream} at {recording.url} into {out} (stop with Ctrl-C).", flush=True)
        if not is_loopback(host):
            print(f"Whoever reaches {host} can speak to the portal through this recorder.", file=sys.stderr)
        if open_channel:
            print("The secure channel is opened: clients are given the recorder's public key.", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            while recording.thread.is_alive():
                recording.thread.join(timeout=0.5)
    print(f"{recording.log.count} exchanges in {out}, {len(secrets)} secrets taken out of them.")
    if recording.log.unanswered:
        print(f"{recording.log.unanswered} of them got no answer from the portal.")
    return int(any(finding.verdict is Verdict.FAIL for finding in ledger.findings))


def _line(finding: Finding) -> str:
    verdict, numbers = finding.verdict.value.upper(), ", ".join(map(str, finding.exchanges))
    return f"{verdict} {finding.requirement} {finding.endpoint}: {finding.message} (exchange {numbers})"


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, without which asyncio leaves Nagle's algorithm on.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(512)
    except OSError as error:
        listening.close()
        reason = error.strerror or error
        raise UsageError(
            f"--port {port}: {host}:{port} cannot be used ({reason}). Choose another."
        ) from error
    return listening


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
