"""Rows about Content-Encoding: bombs, what is not what it says, and layers on layers."""

from __future__ import annotations

import gzip
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterator
from functools import lru_cache, reduce

import zstandard

from conformance.tests.hostile.plays import body, changed, everywhere, signed_in
from conformance.tests.hostile.wire import Answer, Play, Row

BROTLI = b64decode(
    "G8oA+K8K7IbzG8XKIqoGhJ0IkF+MjkHNgvQMDQpa294LapUvkXZfIpUQrXmDSIoQg1ny5JMkusQJ9AnaAhzD96rXOxXx"
    "CbMCgI5GMBRt52HryguyI4+V0eVnATPVJGecwKqgZl3NF6IhQSbpf4DUDXPOE6qKj2po8Rn+wQ1Mbuzf5XSmDhY="
)
"""256 MB of NUL in two layers of Brotli."""

GIGABYTE = 1000


def _megabytes(count: int) -> Iterator[bytes]:
    return (bytes(1_000_000) for _ in range(count))


@lru_cache
def gzipped(layers: int) -> bytes:
    """1 GB of NUL in so many layers of gzip."""
    pressing = zlib.compressobj(9, wbits=31)
    packed = b"".join([*map(pressing.compress, _megabytes(GIGABYTE)), pressing.flush()])
    for _ in range(layers - 1):
        packed = gzip.compress(packed, mtime=0)
    return packed


@lru_cache
def deflated() -> bytes:
    pressing = zlib.compressobj(9)
    return b"".join([*map(pressing.compress, _megabytes(GIGABYTE)), pressing.flush()])


@lru_cache
def zstandardised() -> bytes:
    """4 GB of NUL."""
    pressing = zstandard.ZstdCompressor(level=3).compressobj()
    return b"".join([*map(pressing.compress, _megabytes(4 * GIGABYTE)), pressing.flush()])


def warm() -> None:
    """Makes the bombs, which takes longer than a client waits."""
    for layers in (1, 2, 3):
        gzipped(layers)
    deflated()
    zstandardised()


def encoded(name: bytes) -> tuple[bytes, bytes]:
    return b"Content-Encoding", name


def pressed(packed: Callable[[bytes], bytes], name: bytes = b"gzip") -> Play:
    """A body in an encoding, of the portal's own; it is made when it is sent."""

    def change(answer: Answer) -> Answer:
        return Answer(answer.status, (*answer.headers, encoded(name)), packed(answer.body))

    return changed(change)


def layered(content: bytes) -> bytes:
    """Twenty layers of gzip."""
    return reduce(lambda packed, _: gzip.compress(packed, mtime=0), range(20), content)


ROWS = (
    Row("gzip-bomb", "Sends 1 GB in one layer of gzip.", pressed(lambda content: gzipped(1))),
    Row(
        "gzip-bomb-3",
        "Sends 1 GB in three layers of gzip.",
        pressed(lambda content: gzipped(3), b"gzip, gzip, gzip"),
        everywhere,
    ),
    Row(
        "zstd-bomb", "Sends 4 GB in Zstandard.", pressed(lambda content: zstandardised(), b"zstd"), signed_in
    ),
    Row("br-bomb", "Sends 256 MB in two layers of Brotli.", body(BROTLI, encoded(b"br, br"))),
    Row("gzip-in-name", "Says gzip and sends none.", body(b'{"success":true}', encoded(b"gzip"))),
    Row("gzip-cut", "Ends in the middle of gzip.", pressed(lambda content: gzip.compress(content)[:-20])),
    Row(
        "gzip-wrong-sum",
        "Gives a wrong checksum at the end of gzip.",
        pressed(lambda content: gzip.compress(content)[:-8] + b"\0" * 8),
    ),
    Row(
        "gzip-and-more",
        "Sends garbage after the end of gzip.",
        pressed(lambda content: gzip.compress(content) + b"garbage" * 100),
    ),
    Row("gzip-layers-20", "Packs the answer twenty times.", pressed(layered, b", ".join([b"gzip"] * 20))),
)
