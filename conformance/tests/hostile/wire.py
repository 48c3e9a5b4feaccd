"""One connection of a hostile portal: requests come in as HTTP, bytes go out as its row says."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from http.client import HTTPConnection, responses
from itertools import repeat
from typing import Any, BinaryIO

import msgspec

LONGEST = 60.0
"""Seconds after which a connection ends, whatever its row still has in mind."""

FRAMING = frozenset({b"connection", b"content-length", b"transfer-encoding"})


class Gone(Exception):
    """The client is gone, or the connection has lasted long enough."""


@dataclass(frozen=True)
class Asked:
    """A request as it came in."""

    method: str
    target: str
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    def header(self, name: str) -> str:
        wanted = name.lower().encode()
        return next((value.decode("latin-1") for key, value in self.headers if key.lower() == wanted), "")


@dataclass(frozen=True)
class Answer:
    """An answer before it is framed."""

    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = ((b"Content-Type", b"application/json"),)
    body: bytes = b""
    reason: bytes | None = None
    version: bytes = b"HTTP/1.1"

    def head(self, *framing: bytes) -> bytes:
        """The status line and the headers; ``framing`` are lines that say where the body ends."""
        reason = responses.get(self.status, "").encode() if self.reason is None else self.reason
        lines = [b"%s %03d %s" % (self.version, self.status, reason)]
        lines += [b"%s: %s" % pair for pair in self.headers]
        return b"\r\n".join([*lines, *framing, b"", b""])

    def framed(self) -> bytes:
        """The whole answer with its Content-Length."""
        return self.head(b"Content-Length: %d" % len(self.body)) + self.body

    def chunked(self, size: int = 64) -> bytes:
        """The whole answer in chunks, its last chunk included."""
        parts = [self.body[at : at + size] for at in range(0, len(self.body), size)]
        return self.head(b"Transfer-Encoding: chunked") + b"".join(map(chunk, parts)) + b"0\r\n\r\n"

    def with_headers(self, *pairs: tuple[bytes, bytes]) -> Answer:
        return replace(self, headers=(*self.headers, *pairs))

    def with_json(self, value: Any) -> Answer:
        return replace(self, body=msgspec.json.encode(value))


def chunk(data: bytes) -> bytes:
    """The data as one chunk of a chunked body."""
    return b"%x\r\n%s\r\n" % (len(data), data)


@dataclass
class Wire:
    """The server's end of a connection."""

    socket: socket.socket
    ends: float = field(default_factory=lambda: time.monotonic() + LONGEST)
    is_open: bool = True

    def send(self, data: bytes) -> None:
        """Raises Gone."""
        if time.monotonic() > self.ends:
            raise Gone
        try:
            self.socket.sendall(data)
        except OSError:
            raise Gone from None

    def drip(self, data: bytes, pause: float = 0.25) -> None:
        """Sends a byte, then nothing for a while, and so on."""
        for at in range(len(data)):
            self.send(data[at : at + 1])
            self.rest(pause)

    def pour(self, pieces: Iterable[bytes], pause: float = 0.0) -> None:
        """Sends piece after piece until the client has enough."""
        for piece in pieces:
            self.send(piece)
            if pause:
                self.rest(pause)

    def forever(self, piece: bytes, pause: float = 0.0) -> None:
        """Sends the same piece without end."""
        self.pour(repeat(piece), pause)

    def rest(self, seconds: float) -> None:
        """Waits; Gone where the client closes meanwhile, which a pending byte does not count as."""
        until = min(time.monotonic() + seconds, self.ends)
        self.socket.settimeout(max(0.01, until - time.monotonic()))
        try:
            if self.socket.recv(1, socket.MSG_PEEK) == b"":
                raise Gone
            time.sleep(max(0.0, until - time.monotonic()))
        except TimeoutError:
            pass
        except OSError:
            raise Gone from None
        finally:
            self.socket.settimeout(LONGEST)

    def hang(self) -> None:
        """Says nothing until the client gives up."""
        self.rest(LONGEST)
        raise Gone

    def close(self) -> None:
        """Ends the connection as it should be ended."""
        self.is_open = False
        try:
            self.socket.shutdown(socket.SHUT_WR)
            self.socket.settimeout(1.0)
            while self.socket.recv(65536):
                pass
        except OSError:
            pass
        self.socket.close()

    def reset(self) -> None:
        """Ends the connection with a reset."""
        self.is_open = False
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


@dataclass
class Turn:
    """A request and the way to answer it. ``number`` counts the requests of the server, from 1."""

    number: int
    asked: Asked
    wire: Wire
    forward: Callable[[Asked], Answer]
    trap: str
    """The address of a server that nobody is to call."""

    @cached_property
    def answer(self) -> Answer:
        """What the correct portal answers."""
        return self.forward(self.asked)

    def be_correct(self) -> None:
        answer = self.answer
        has_body = self.asked.method != "HEAD" and answer.status not in (204, 304)
        self.wire.send(answer.framed() if has_body else answer.head())


Play = Callable[[Turn], None]
When = Callable[[Turn], bool]


def constants(turn: Turn) -> bool:
    """The lists of constants: eight endpoints that are read once each."""
    return "/constants/" in turn.asked.path


@dataclass(frozen=True)
class Row:
    """A hostile behaviour.

    ``play`` answers the requests of which ``when`` is true; the others get what a correct portal answers.
    ``greet`` acts on a connection before its first request.
    """

    name: str
    sentence: str
    play: Play
    when: When = constants
    greet: Callable[[Wire], None] | None = None
    certificate: str = ""
    """Which one the server shows: trusted, self-signed, expired or other-host; none for plain HTTP."""
    scheme: str = ""
    """What the profile says where that is not what the server speaks."""
    is_clock: bool = False
    """Whether the profile's ``[clock] advance`` goes to this server as well."""
    group: str = ""


def read_request(stream: BinaryIO) -> Asked | None:
    """The next request; None where the client has none."""
    first = stream.readline(65536)
    method, _, rest = first.decode("latin-1").strip().partition(" ")
    if not rest:
        return None
    headers: list[tuple[bytes, bytes]] = []
    while (line := stream.readline(65536).rstrip(b"\r\n")) != b"":
        name, _, value = line.partition(b":")
        headers.append((name, value.strip()))
    named = {name.lower(): value for name, value in headers}
    if named.get(b"transfer-encoding", b"").lower() == b"chunked":
        body = _chunks(stream)
    else:
        body = stream.read(int(named.get(b"content-length", b"0")))
    return Asked(method, rest.rpartition(" ")[0], tuple(headers), body)


def _chunks(stream: BinaryIO) -> bytes:
    body = b""
    while size := int(stream.readline().split(b";")[0], 16):
        body += stream.read(size)
        stream.readline()
    while stream.readline().strip():
        pass
    return body


def forwarded(asked: Asked, origin: tuple[str, int]) -> Answer:
    """What the portal at ``origin`` answers to the request."""
    connection = HTTPConnection(*origin, timeout=20)
    try:
        connection.putrequest(asked.method, asked.target, skip_host=True, skip_accept_encoding=True)
        for name, value in asked.headers:
            if name.lower() not in FRAMING:
                connection.putheader(name.decode("latin-1"), value)
        if asked.body or asked.method != "GET":
            connection.putheader("Content-Length", str(len(asked.body)))
        connection.endheaders(asked.body or None)
        answer = connection.getresponse()
        headers = tuple(
            (name.encode("latin-1"), value.encode("latin-1"))
            for name, value in answer.getheaders()
            if name.lower().encode() not in FRAMING
        )
        return Answer(answer.status, headers, answer.read())
    finally:
        connection.close()
