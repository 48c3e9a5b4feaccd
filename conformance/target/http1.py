"""HTTP/1.1 as a client reads it, without I/O: the bytes of a response, and how far a server is trusted."""

from __future__ import annotations

import os
import threading

import h11
import msgspec

from conformance.traffic.exchange import Header

LARGEST_HEAD = 100 * 1024
"""Bytes that may come before the headers of a response have ended."""

FRESH_SECONDS = 2.0
"""Seconds after which an idle connection is given up: a server closes one after 5 s or later."""

UNTRIED_CONNECTIONS = 2
"""The first connections, on which a client waits for a greeting before its request goes out."""

GREETING_SECONDS = 0.05
"""How long a client waits for a greeting; a server of HTTP speaks only when it is asked."""

LISTENING_SECONDS = 0.2
"""How long a client waits for what may follow the first response of a kind."""

HOP_BY_HOP = frozenset(
    ["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"]
)
"""Headers of a connection, which nobody passes on."""

NO_CONNECTION = "no connection"
"""What begins the error of a request of which nothing was sent."""

EARLY = "bytes came before the request was sent: the connection was closed"
UNASKED = "unexpected bytes followed the answer: the connection was closed"

_REQUESTS = {
    is_head: h11.Request(method="HEAD" if is_head else "GET", target="/", headers=[("Host", "")])
    for is_head in (False, True)
}
"""Stands for the request in h11, which reads a response by the request's method: only HEAD has none."""


def reason_of(error: Exception) -> str:
    """Why there is no connection, as the system says it: the words of an event loop name no cause."""
    if isinstance(error, ConnectionError) and error.errno:
        return os.strerror(error.errno)
    return getattr(error, "strerror", None) or str(error)


class WireResponse(msgspec.Struct, gc=False):
    """A response as it came over the wire. ``error`` says why none came, or not all of it; ``is_refused``:
    nobody listens there."""

    status: int = 0
    raw_headers: list[tuple[bytes, bytes]] = []
    body: bytes = b""
    is_cut: bool = False
    error: str | None = None
    is_refused: bool = False

    @property
    def headers(self) -> list[Header]:
        return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in self.raw_headers]


class ResponseReader:
    """Reads the response to one request, up to ``most`` bytes of its body."""

    def __init__(self, *, is_head: bool, most: int) -> None:
        self.received = 0
        self.is_reusable = False
        """Whether the connection may carry another request, once the response is whole."""
        self._most = most
        self._protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=LARGEST_HEAD)
        self._protocol.send(_REQUESTS[is_head])
        self._head: h11.Response | None = None
        self._body = bytearray()

    def take(self, data: bytes) -> WireResponse | None:
        """The response once it is whole, cut or broken, and None before. ``data`` came over the connection;
        it is empty where that ended."""
        self.received += len(data)
        if not data and self._head is None:
            return WireResponse(error="the connection was closed without an answer")
        try:
            self._protocol.receive_data(data)
            is_whole = self._read_events()
        except h11.RemoteProtocolError as problem:
            return WireResponse(error=str(problem))
        if is_whole and self._protocol.trailing_data[0]:
            return WireResponse(error=UNASKED)
        bound = LARGEST_HEAD if self._head is None else LARGEST_HEAD + self._most
        is_cut = len(self._body) > self._most or self.received > bound
        if not is_whole and not is_cut:
            return None
        if self._head is None:
            return WireResponse(error=f"no answer began in the first {self.received:,} bytes")
        self.is_reusable = not is_cut and self._protocol.their_state is h11.DONE
        body = bytes(memoryview(self._body)[: self._most])
        return WireResponse(self._head.status_code, self._head.headers.raw_items(), body, is_cut)

    def _read_events(self) -> bool:
        """Reads what has come; returns whether the response has ended."""
        while (event := self._protocol.next_event()) is not h11.NEED_DATA:
            if type(event) is h11.Response:
                self._head = event
            elif type(event) is h11.Data:
                self._body += event.data
                if len(self._body) > self._most:
                    return False
            elif type(event) is not h11.InformationalResponse:
                return True
        return False


class ServerManners:
    """What a server was seen to send unasked, by which a client listens longer and keeps no connection. Bytes
    without a request might pass for the answer to the next one. Safe from threads.

    ``listens``: the first connections are listened to, as nothing is known of the server yet.
    """

    def __init__(self, *, listens: bool = True) -> None:
        self._lock = threading.Lock()
        self._untried = UNTRIED_CONNECTIONS if listens else 0
        self._listened_after: set[bool] = set() if listens else {False, True}
        self._speaks_unasked = False
        self._closes_silently = False

    @property
    def keeps_connections(self) -> bool:
        """Whether a connection may carry another request."""
        return not self._speaks_unasked and not self._closes_silently

    def note_unasked(self) -> None:
        self._speaks_unasked = True

    def note_silent_end(self) -> None:
        """Notes that a kept connection ended without an answer: request after request could be lost so."""
        self._closes_silently = True

    def greeting_seconds(self) -> float:
        """How long to listen to a new connection before a request goes out."""
        with self._lock:
            is_awaited = self._untried > 0 or self._speaks_unasked
            self._untried -= 1
        return GREETING_SECONDS if is_awaited else 0.0

    def listening_seconds(self, *, is_authorized: bool) -> float:
        """How long to listen after a response: once without a token, and once with one."""
        with self._lock:
            is_first = is_authorized not in self._listened_after
            self._listened_after.add(is_authorized)
        return LISTENING_SECONDS if is_first else 0.0
