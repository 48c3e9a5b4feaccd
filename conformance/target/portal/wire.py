"""The wire to a portal: HTTP/1.1, with a deadline and a bound in bytes for each request."""

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

from conformance.traffic.capture.bodies import LARGEST_ANSWER
from conformance.traffic.http_library import httpx

IS_CUT = "is_cut"
"""The extension of an answer that was longer than the bound, and of which the beginning is there."""

LARGEST_HEAD = 100 * 1024
READ_BYTES = 64 * 1024
FRESH_SECONDS = 2.0
"""Seconds after which an idle connection is given up: a server closes one after 5 s or later."""

MOST_IDLE = 20
UNTRIED = 2
"""Connections at first on which it is waited for a greeting before the request goes out."""

GREETING_SECONDS = 0.05
"""How long it is waited; a server of HTTP speaks only when it is asked."""

LISTENING_SECONDS = 0.2
"""How long it is waited for what may follow an answer, where a kind of request is sent for the first time."""

EARLY = "bytes came before the request was sent: the connection was closed"
UNASKED = "unexpected bytes followed the answer: the connection was closed"

Place: TypeAlias = tuple[str, str, int]


class Wire(httpx.BaseTransport):
    """Sends requests, each within the time-out that it carries, and answers of at most ``most`` bytes.

    ``listens``: it is waited a moment for bytes that nobody asked for, at first and after the first answers.
    ``proxy`` is the address of an HTTP proxy; its user and password may stand in it. Nothing is taken from
    the environment. Safe from threads. Raises httpx's errors, ``LocalProtocolError`` before anything is sent.
    """

    def __init__(
        self,
        *,
        verify: ssl.SSLContext | bool = True,
        most: int = LARGEST_ANSWER,
        proxy: str | None = None,
        listens: bool = True,
    ) -> None:
        self._verify = verify
        self._most = most
        self._proxy = proxy
        self._context: ssl.SSLContext | None = None
        self._idle: list[tuple[float, Connection]] = []
        self._lock = threading.Lock()
        self._untried = UNTRIED if listens else 0
        self._speaks_unasked = False
        self._keeps_connections = True
        """Whether no bytes ever followed an answer: they might pass for the answer to the next request."""
        self._listened_after: set[bool] = set() if listens else {False, True}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        deadline = Deadline(float(request.extensions["timeout"]["read"]))
        target = request.url.raw_path
        if self._proxy and request.url.scheme == "http":
            target = f"http://{request.url.netloc.decode('ascii')}".encode() + target
        head = _head_of(request, target, self._proxy if request.url.scheme == "http" else None)
        reused = self._reused(_place_of(request.url))
        connection = reused or self._greeted(request.url, deadline)
        try:
            answer = connection.ask(head, request.read(), deadline, most=self._most)
            is_reusable = connection.is_reusable()
            if is_reusable and self._is_listened_after("authorization" in request.headers):
                self._demand_silence(connection)
        except BaseException:
            # A server that closes after each answer without saying so would lose request after request.
            self._keeps_connections = self._keeps_connections and (connection.has_answered or reused is None)
            connection.close()
            raise
        if is_reusable and self._keeps_connections:
            self._keep(connection)
        else:
            connection.close()
        return answer

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
                self._speaks_unasked, self._keeps_connections = True, False
            connection.close()

    def _is_listened_after(self, is_authorized: bool) -> bool:
        """Whether it is waited for what may follow an answer: once without a token, and once with one."""
        with self._lock:
            is_first = is_authorized not in self._listened_after
            self._listened_after.add(is_authorized)
        return is_first

    def _demand_silence(self, connection: Connection) -> None:
        """Waits for what may follow an answer; where something does, no connection is used twice."""
        if connection.holds_bytes(LISTENING_SECONDS):
            self._keeps_connections = False
            raise httpx.RemoteProtocolError(UNASKED)

    def _greeted(self, url: httpx.URL, deadline: Deadline) -> Connection:
        """A new connection on which nothing came; it is waited for what comes at first, and where unasked
        bytes came before. Bytes that were there before the request are the answer to none."""
        connection = self._connected(url, deadline)
        with self._lock:
            is_waiting = self._untried > 0 or self._speaks_unasked
            self._untried -= 1
        if connection.holds_bytes(min(GREETING_SECONDS, deadline.seconds) if is_waiting else 0.0):
            self._speaks_unasked = True
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
        proxy = urlsplit(self._proxy) if self._proxy else None
        reached = (proxy.hostname or "", proxy.port or 80) if proxy else place[1:]
        plain: socket.socket | None = None
        try:
            plain = _plain(reached, deadline)
            if url.scheme == "https" and proxy is not None:
                _tunnel(plain, place[1:], deadline, proxy=self._proxy or "")
            if url.scheme == "https":
                plain.settimeout(deadline.left())
                plain = self._secured(plain, place[1])
        except TimeoutError:
            _close(plain)
            raise httpx.ConnectTimeout("timed out") from None
        except (OSError, UnicodeError) as problem:
            _close(plain)
            raise httpx.ConnectError(str(problem)) from None
        return Connection(plain, place)

    def _secured(self, plain: socket.socket, host: str) -> ssl.SSLSocket:
        if self._context is None:
            # Certificates take longer to load than several requests: only where they are needed.
            self._context = (
                self._verify
                if isinstance(self._verify, ssl.SSLContext)
                else httpx.create_ssl_context(verify=self._verify)
            )
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
        self._protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=LARGEST_HEAD)
        self._received = 0

    def ask(self, head: h11.Request, body: bytes, deadline: Deadline, *, most: int) -> httpx.Response:
        """Sends a request and reads its answer, both within the deadline."""
        self._received = 0
        try:
            data = [self._protocol.send(head)]
            if body:
                data.append(self._protocol.send(h11.Data(body)))
            data.append(self._protocol.send(h11.EndOfMessage()))
            self._socket.settimeout(deadline.left())
            self._socket.sendall(b"".join(chunk for chunk in data if chunk))
            return self._answer(deadline, most)
        except TimeoutError:
            if self._received:
                raise httpx.ReadTimeout(f"the answer did not end within {deadline.seconds:g} s") from None
            raise httpx.ReadTimeout("") from None
        except h11.RemoteProtocolError as problem:
            raise httpx.RemoteProtocolError(str(problem)) from None
        except OSError as problem:
            raise httpx.ReadError(problem.strerror or str(problem)) from None

    @property
    def has_answered(self) -> bool:
        """Whether any byte came since the last request."""
        return self._received > 0

    def is_reusable(self) -> bool:
        """Whether another request may follow; begins the next cycle where it may."""
        if self._protocol.our_state is not h11.DONE or self._protocol.their_state is not h11.DONE:
            return False
        self._protocol.start_next_cycle()
        return True

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

    def _answer(self, deadline: Deadline, most: int) -> httpx.Response:
        head: h11.Response | None = None
        body, is_cut = bytearray(), False
        while not is_cut:
            event = self._next(deadline, head is not None)
            if isinstance(event, h11.Response):
                head = event
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage | h11.PAUSED | h11.ConnectionClosed):
                break
            is_cut = self._received > most + LARGEST_HEAD or len(body) > most
        if head is None:
            raise httpx.RemoteProtocolError(f"no answer began in the first {self._received:,} bytes")
        if not is_cut:
            self._demand_silence()
        return httpx.Response(
            head.status_code,
            headers=head.headers.raw_items(),
            stream=httpx.ByteStream(bytes(memoryview(body)[:most])),
            extensions={IS_CUT: is_cut},
        )

    def _next(self, deadline: Deadline, has_begun: bool) -> object:
        while True:
            event = self._protocol.next_event()
            if event is not h11.NEED_DATA:
                return event
            self._socket.settimeout(deadline.left())
            data = self._socket.recv(READ_BYTES)
            if not data and not has_begun:
                raise httpx.RemoteProtocolError("the connection was closed without an answer")
            self._received += len(data)
            self._protocol.receive_data(data)

    def _demand_silence(self) -> None:
        """Rejects bytes after an answer: they belong to no request."""
        unasked = self._protocol.trailing_data[0]
        if not unasked and self._protocol.their_state is h11.DONE and self.is_readable():
            self._socket.setblocking(False)
            try:
                unasked = self._socket.recv(READ_BYTES)
            except (BlockingIOError, ssl.SSLWantReadError):
                return
        if unasked:
            raise httpx.RemoteProtocolError(UNASKED)


def _head_of(request: httpx.Request, target: bytes, proxy: str | None) -> h11.Request:
    """The head as it goes out. Raises httpx.LocalProtocolError where no header may look like that."""
    headers: list[tuple[bytes, bytes]] = list(request.headers.raw)
    if proxy and _credentials(proxy):
        headers.append((b"Proxy-Authorization", _credentials(proxy).encode()))
    try:
        return h11.Request(method=request.method, target=target, headers=headers)
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


def tunnelled(proxy: str, place: tuple[str, int], seconds: float) -> socket.socket:
    """A connection to a host and port through an HTTP proxy. Raises OSError where there is none in time."""
    parts, deadline = urlsplit(proxy), Deadline(seconds)
    plain = _plain((parts.hostname or "", parts.port or 80), deadline)
    try:
        _tunnel(plain, place, deadline, proxy=proxy)
    except OSError:
        plain.close()
        raise
    plain.setblocking(False)
    return plain


def _plain(reached: tuple[str, int], deadline: Deadline) -> socket.socket:
    plain = socket.create_connection(reached, timeout=deadline.left())
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return plain


def _tunnel(plain: socket.socket, place: tuple[str, int], deadline: Deadline, *, proxy: str) -> None:
    """Asks the proxy to connect to a host and port. Raises OSError where it refuses."""
    host = f"[{place[0]}]" if ":" in place[0] else place[0]
    lines = [f"CONNECT {host}:{place[1]} HTTP/1.1", f"Host: {host}:{place[1]}"]
    if _credentials(proxy):
        lines.append(f"Proxy-Authorization: {_credentials(proxy)}")
    plain.settimeout(deadline.left())
    plain.sendall("\r\n".join([*lines, "", ""]).encode())
    head = b""
    while b"\r\n\r\n" not in head:
        plain.settimeout(deadline.left())
        # A byte at a time: what follows the head belongs to TLS.
        byte = plain.recv(1)
        if not byte or len(head) > LARGEST_HEAD:
            raise OSError("the proxy gave no answer")
        head += byte
    status = head.split(b"\r\n")[0].split(b" ")[1:2]
    if not status or not status[0].startswith(b"2"):
        raise OSError(f"the proxy refuses with HTTP {b''.join(status).decode('latin-1')[:3]}")


def _close(plain: socket.socket | None) -> None:
    if plain is not None:
        plain.close()
