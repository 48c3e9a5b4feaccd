"""Records what real clients do: a reverse proxy before a portal, and a capture of all that passes."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Self

import uvicorn

from conformance.errors import ExitCode, UsageError
from conformance.judging import Watch, watch
from conformance.record.channel import OpenChannel
from conformance.record.log import Bounds, Log
from conformance.spec import REQUIREMENTS
from conformance.target.profile.model import Profile
from conformance.traffic.address import is_http_address
from conformance.traffic.redaction.finder import SecretFinder, finder_of
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.findings import Finding, Ledger, Verdict

__all__ = ["RecordOptions", "Recording", "run", "serve"]

STARTUP_SECONDS = 10.0
"""Seconds that the recorder may take to start, and to stop."""


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """How a recorder listens. Port 0 takes a free one. ``open_channel`` offers an RSA key of the recorder's
    own in place of the portal's, so that the plaintext of encrypted bodies is recorded. ``verify``: whether,
    or by what context, TLS to the portal is checked; ``proxy``: the address of an HTTP proxy before it.
    ``timeout`` is the longest an exchange may take, in seconds; ``bounds``, where given, are all the bounds
    of what it takes. ``certificate`` is a PEM file with a certificate and its key, for clients that ask for
    HTTPS; at ``max_bytes`` of the file recording stops."""

    port: int = 0
    host: str = "127.0.0.1"
    open_channel: bool = False
    verify: bool | ssl.SSLContext = True
    proxy: str | None = None
    certificate: Path | None = None
    max_bytes: int | None = None
    timeout: float = 60.0
    bounds: Bounds | None = None
    redact: Sequence[str] = ()
    """Headers, fields and patterns between slashes whose values are secrets."""
    keep: Sequence[str] = ()
    """Headers and fields whose values only look like secrets."""


DEFAULTS = RecordOptions()


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
        self.thread.join(timeout=STARTUP_SECONDS)
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
    options: RecordOptions = DEFAULTS,
    *,
    judge: Watch | None = None,
    secrets: Secrets | None = None,
    profile: Profile | None = None,
    on_finding: Callable[[Finding], None] = lambda finding: None,
) -> Recording:
    """Starts a recorder for the portal at ``upstream`` in a thread.

    UsageError: the port is taken, the address is none, or an extra is missing; CaptureError: ``out`` exists
    or cannot be written.
    """
    protocol = _extra()
    from conformance.record.proxy import Proxy  # needs the extra

    if not is_http_address(upstream):
        raise UsageError(f"--upstream {upstream}: give an address such as http://127.0.0.1:8000.")
    _check_certificate(options.certificate)
    secrets = Secrets() if secrets is None else secrets
    finder = _finder(options, profile, secrets)
    listening = _listening(options.host, options.port)
    bounds = options.bounds or Bounds(request_seconds=options.timeout, upstream_seconds=options.timeout)
    log = Log(Path(out), secrets, judge, on_finding, finder=finder, max_bytes=options.max_bytes)
    proxy = Proxy(
        upstream,
        log,
        channel=OpenChannel(secrets) if options.open_channel else None,
        verify=options.verify,
        proxy=options.proxy,
        timeout=bounds.upstream_seconds,
    )
    bounded = type("ProtocolWithinBounds", (protocol.BoundedProtocol,), {"bounds": bounds})
    server = _server(proxy, bounded, bounds.connections, options.certificate)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + STARTUP_SECONDS
    while not server.started and thread.is_alive() and time.monotonic() < deadline:
        time.sleep(0.005)
    scheme = "https" if options.certificate else "http"
    host = f"[{options.host}]" if ":" in options.host else options.host
    return Recording(f"{scheme}://{host}:{listening.getsockname()[1]}", log, server, thread)


def _check_certificate(path: Path | None) -> None:
    """UsageError: the file has no certificate with its key."""
    if path is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(path)
    except (OSError, ssl.SSLError) as problem:
        raise UsageError(
            f"--certificate {path}: it cannot be read ({problem}). Give a PEM file of a certificate and key."
        ) from None


def _finder(options: RecordOptions, profile: Profile | None, secrets: Secrets) -> SecretFinder:
    """Finds what no place shows; the profile's secrets are registered by value, ids of records are none."""
    if profile is None:
        return finder_of(options.redact, options.keep)
    for secret in profile.secrets():
        secrets.add(*secret)
    finder = finder_of(options.redact, options.keep, profile.secret_names())
    finder.take_for_ids(profile.record_ids())
    return finder


def _extra() -> ModuleType:
    """The module that needs the extra. UsageError: it is not installed."""
    try:
        from conformance.record import protocol, proxy  # noqa: F401
    except ImportError as error:
        raise UsageError(f"record needs {error.name}: pip install 'portal-conformance[replay]'.") from error
    return protocol


def _server(
    proxy: Any, protocol: type[asyncio.Protocol], connections: int, certificate: Path | None
) -> uvicorn.Server:
    """The HTTP server in front of the proxy; it adds no headers to answers."""
    return uvicorn.Server(
        uvicorn.Config(
            proxy,
            http=protocol,
            limit_concurrency=connections,
            log_level="critical",
            access_log=False,
            lifespan="on",
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=2,
            ssl_certfile=certificate,
        )
    )


def run(
    upstream: str,
    out: str | Path,
    options: RecordOptions,
    *,
    judge: bool = False,
    profile: Profile | None = None,
    print_line: Callable[[str], None] = print,
) -> int:
    """Records until interrupted, and prints what was recorded. Exit code 4 if the capture could not be
    written to the end, 1 if ``judge`` found a FAIL, else 0."""
    secrets, ledger = Secrets(), Ledger(REQUIREMENTS)

    def show(finding: Finding) -> None:
        print_line(secrets.redact(_line(finding)))
        sys.stdout.flush()

    watching = watch(ledger) if judge else None
    with serve(
        upstream, out, options, judge=watching, secrets=secrets, profile=profile, on_finding=show
    ) as recording:
        print_line(f"Recording {upstream} at {recording.url} into {out} (stop with Ctrl-C).")
        if options.open_channel:
            print_line("The secure channel is opened: clients are given the recorder's public key.")
        sys.stdout.flush()
        if not is_loopback(options.host):
            warning = f"Anyone who can reach {options.host} can use the portal through this recorder."
            print(warning, file=sys.stderr)
        with contextlib.suppress(KeyboardInterrupt):
            # Not `join`: an interrupt there has Python 3.11 take the thread for ended, and crash at its exit.
            while recording.thread.is_alive():
                time.sleep(0.2)
    for line in _closing(recording.log, out):
        print_line(line)
    if recording.log.stopped:
        return ExitCode.USAGE
    failed = any(finding.verdict is Verdict.FAIL for finding in ledger.findings)
    return ExitCode.FAILED if failed else ExitCode.CONFORMANT


def _line(finding: Finding) -> str:
    verdict, numbers = finding.verdict.value.upper(), ", ".join(map(str, finding.exchanges))
    return f"{verdict} {finding.requirement} {finding.endpoint}: {finding.message} (exchange {numbers})"


def _closing(log: Log, out: str | Path) -> Iterator[str]:
    yield f"Recorded {log.count} exchanges to {out}; redacted {len(log.secrets)} secrets."
    yield from log.finder.lines()
    if log.unanswered:
        yield f"{log.unanswered} of them got no answer from the portal."
    if log.stopped:
        yield "The recording is not complete: make room, or choose another --out."


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


def is_loopback(host: str) -> bool:
    """Whether a host name or an IP address is this machine's own."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
