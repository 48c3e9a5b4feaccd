"""The blocking client of a portal: HTTP/1.1 with a deadline and a bound in bytes for each request."""

from __future__ import annotations

import base64
import selectors
import socket
import ssl
import threading
import time
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import unquote, urlsplit

import h11

from conformance.target.http1 import (
    EARLY,
    FRESH_SECONDS,
    UNASKED,
    ResponseReader,
    ServerManners,
    WireResponse,
    reason_of,
)
from conformance.traffic.capture.bodies import LARGEST_ANSWER
from conformance.traffic.http_library import httpx

IS_CUT = "is_cut"
"""The extension of an answer that was longer than the bound, and of which the beginning is there."""

READ_BYTES = 64 * 1024
MOST_IDLE = 20

Place: TypeAlias = tuple[str, str, int]


class Wire(httpx.BaseTransport):
    """Sends requests, each within the time-out that it carries, and answers of at most ``most`` bytes.

    ``listens``: it is waited a moment for bytes that nobody asked for, at first and after the first answers.
    ``context`` is that of TLS; without one, certificates are checked as usual. ``proxy`` is the address of an
    HTTP proxy; its user and password may stand in it. Nothing is taken from the environment. Safe from
    threads. Raises httpx's errors, ``LocalProtocolError`` before anything is sent.
    """

    def __init__(
        self,
        *,
        context: ssl.SSLContext | None = None,
        most: int = LARGEST_ANSWER,
        proxy: str | None = None,
        listens: bool = True,
    ) -> None:
        self._most = most
        self._proxy = proxy
        self._context = context
        self._idle: list[tuple[float, Connection]] = []
        self._lock = threading.Lock()
        self._manners = ServerManners(listens=listens)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        deadline = Deadline(float(request.extensions["timeout"]["read"]))
        content = _bytes_of(request, self._proxy if request.url.scheme == "http" else None)
        reader = ResponseReader(is_head=request.method == "HEAD", most=self._most)
        reused = self._reused(_place_of(request.url))
        connection = reused or self._greeted(request.url, deadline)
        try:
            response = connection.ask(content, reader, deadline)
            if not response.is_cut:
                self._demand_silence(connection, reader, is_authorized="authorization" in request.headers)
        except BaseException:
            if reused is not None and not reader.received:
                self._manners.note_silent_end()
            connection.close()
            raise
        if reader.is_reusable and self._manners.keeps_connections:
            self._keep(connection)
        else:
            connection.close()
        return httpx.Response(
            response.status,
            headers=response.raw_headers,
            stream=httpx.ByteStream(response.body),
            extensions={IS_CUT: response.is_cut},
        )

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def _reused(self, place: Place) -> Connection | None:
        """An idle connection to the place on which nothing came since; others are closed on the way."""
        while True:
            with self._lock:
                pooled = next((idle for idle in reversed(self._idle) if idle[1].place == place), None)
                if pooled is None:
                    return None
                self._idle.remove(pooled)
            since, connection = pooled
            if time.monotonic() - since < FRESH_SECONDS and not connection.is_readable():
                return connection
            if connection.holds_bytes(0.0):
                self._manners.note_unasked()
            connection.close()

    def _demand_silence(self, connection: Connection, reader: ResponseReader, *, is_authorized: bool) -> None:
        """Rejects bytes that follow an answer: they belong to no request."""
        seconds = self._manners.listening_seconds(is_authorized=is_authorized) if reader.is_reusable else 0.0
        if connection.holds_bytes(seconds):
            self._manners.note_unasked()
            raise httpx.RemoteProtocolError(UNASKED)

    def _greeted(self, url: httpx.URL, deadline: Deadline) -> Connection:
        """A new connection on which nothing came: bytes before the request are the answer to none."""
        connection = self._connected(url, deadline)
        if connection.holds_bytes(min(self._manners.greeting_seconds(), deadline.seconds)):
            self._manners.note_unasked()
            connection.close()
            raise httpx.RemoteProtocolError(EARLY)
        return connection

    def _keep(self, connection: Connection) -> None:
        with self._lock:
            self._idle.append((time.monotonic(), connection))
            old = self._idle.pop(0)[1] if len(self._idle) > MOST_IDLE else None
        if old is not None:
            old.close()

    def _connected(self, url: httpx.URL, deadline: Deadline) -> Connection:
        place = _place_of(url)
        plain: socket.socket | None = None
        try:
            if self._proxy and url.scheme == "https":
                plain = tunnelled(self._proxy, place[1:], deadline)
            else:
                plain = _to_proxy(self._proxy, deadline) if self._proxy else connected(place[1:], deadline)
            if url.scheme == "https":
                plain.settimeout(deadline.left())
                plain = self._secured(plain, place[1])
        except TimeoutError:
            _close(plain)
            raise httpx.ConnectTimeout("timed out") from None
        except (OSError, UnicodeError) as problem:
            _close(plain)
            raise httpx.ConnectError(reason_of(problem)) from None
        return Connection(plain, place)

    def _secured(self, plain: socket.socket, host: str) -> ssl.SSLSocket:
        if self._context is None:
            self._context = httpx.create_ssl_context()  # only where it is needed: it takes long to load
        return self._context.wrap_socket(plain, server_hostname=host)


@dataclass
class Deadline:
    """The moment until which a request has to be answered to its last byte."""

    seconds: float

    def __post_init__(self) -> None:
        self._ends = time.monotonic() + self.seconds

    def left(self) -> float:
        """Seconds that are left. Raises TimeoutError where none are."""
        left = self._ends - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


class Connection:
    """One connection: a request, its answer, the next request."""

    def __init__(self, plain: socket.socket, place: Place) -> None:
        self.place = place
        self._socket = plain

    def ask(self, content: bytes, reader: ResponseReader, deadline: Deadline) -> WireResponse:
        """Sends a request and reads its answer, both within the deadline."""
        try:
            self._socket.settimeout(deadline.left())
            self._socket.sendall(content)
            response: WireResponse | None = None
            while response is None:
                self._socket.settimeout(deadline.left())
                response = reader.take(self._socket.recv(READ_BYTES))
        except TimeoutError:
            began = f"the answer did not end within {deadline.seconds:g} s" if reader.received else ""
            raise httpx.ReadTimeout(began) from None
        except OSError as problem:
            raise httpx.ReadError(reason_of(problem)) from None
        if response.error:
            raise httpx.RemoteProtocolError(response.error)
        return response

    def is_readable(self) -> bool:
        return self._is_pending() or self._comes_within(0.0)

    def _comes_within(self, seconds: float) -> bool:
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            return bool(selector.select(seconds))

    def holds_bytes(self, seconds: float) -> bool:
        """Whether bytes come within so many seconds, rather than nothing or an end. They are read away."""
        ends = time.monotonic() + seconds
        while self._is_pending() or self._comes_within(ends - time.monotonic()):
            try:
                self._socket.setblocking(False)
                return bool(self._socket.recv(READ_BYTES))
            except (BlockingIOError, ssl.SSLWantReadError):
                continue  # a message of TLS itself, such as a session ticket
            except OSError:
                return False
        return False

    def _is_pending(self) -> bool:
        return isinstance(self._socket, ssl.SSLSocket) and bool(self._socket.pending())

    def close(self) -> None:
        _close(self._socket)


def _bytes_of(request: httpx.Request, proxy: str | None) -> bytes:
    """The request as it goes out. Raises httpx.LocalProtocolError where no header may look like that."""
    headers: list[tuple[bytes, bytes]] = list(request.headers.raw)
    target = request.url.raw_path
    if proxy:
        target = f"http://{request.url.netloc.decode('ascii')}".encode() + target
        if _credentials(proxy):
            headers.append((b"Proxy-Authorization", _credentials(proxy).encode()))
    writer, body = h11.Connection(h11.CLIENT), request.read()
    try:
        head = writer.send(h11.Request(method=request.method, target=target, headers=headers))
        content = writer.send(h11.Data(body)) if body else b""
        return head + content + writer.send(h11.EndOfMessage())
    except h11.LocalProtocolError:
        raise httpx.LocalProtocolError("a header or the path has characters that are not allowed") from None


def _place_of(url: httpx.URL) -> Place:
    host = url.raw_host.decode("ascii")
    return url.scheme, host, url.port or (443 if url.scheme == "https" else 80)


def _credentials(proxy: str) -> str:
    parts = urlsplit(proxy)
    if parts.username is None:
        return ""
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def connected(address: tuple[str, int], deadline: Deadline) -> socket.socket:
    """A connection to a host and port. Raises OSError where there is none in time."""
    plain = socket.create_connection(address, timeout=deadline.left())
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return plain


def _to_proxy(proxy: str, deadline: Deadline) -> socket.socket:
    try:
        parts = urlsplit(proxy)
        return connected((parts.hostname or "", parts.port or 80), deadline)
    except OSError as problem:
        raise OSError(f"the proxy: {problem}") from problem


def tunnelled(proxy: str, place: tuple[str, int], deadline: Deadline) -> socket.socket:
    """A connection to a host and port through an HTTP proxy. Raises OSError where there is none in time."""
    plain = _to_proxy(proxy, deadline)
    host = f"[{place[0]}]" if ":" in place[0] else place[0]
    lines = [f"CONNECT {host}:{place[1]} HTTP/1.1", f"Host: {host}:{place[1]}"]
    if _credentials(proxy):
        lines.append(f"Proxy-Authorization: {_credentials(proxy)}")
    try:
        plain.settimeout(deadline.left())
        plain.sendall("\r\n".join([*lines, "", ""]).encode())
        _demand_tunnel(plain, deadline)
    except OSError:
        plain.close()
        raise
    return plain


def _demand_tunnel(plain: socket.socket, deadline: Deadline) -> None:
    """Reads the proxy's answer to CONNECT. Raises OSError where it refuses."""
    reader = ResponseReader(is_head=True, most=0)
    response: WireResponse | None = None
    while response is None:
        plain.settimeout(deadline.left())
        response = reader.take(plain.recv(1))  # a byte at a time: what follows the head belongs to TLS
    if response.error or not 200 <= response.status < 300:
        raise OSError(f"the proxy: {response.error or f'it refuses with HTTP {response.status}'}")


def _close(plain: socket.socket | None) -> None:
    if plain is not None:
        plain.close()
