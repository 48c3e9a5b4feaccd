"""Rows about where an answer begins and ends: 1xx, chunks, trailers, lengths, status lines."""

from __future__ import annotations

from collections.abc import Callable

from conformance.tests.hostile.plays import everywhere, framing, raw, rest, signed_in, status_line
from conformance.tests.hostile.wire import Answer, Play, Row, Turn, chunk

MEGABYTE = b" " * 1_000_000
GIGABYTE = 1000
CHUNKED = b"Transfer-Encoding: chunked"
HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
TRAILER = b"X-Trailer: 1\r\n"
SHORT = b'{"success":true}'


def endless(
    piece: bytes, start: Callable[[Answer], bytes] = lambda answer: b"", *, pause: float = 0.0
) -> Play:
    """The start of an answer, then the same piece without end."""

    def play(turn: Turn) -> None:
        turn.wire.send(start(turn.answer))
        turn.wire.forever(piece, pause)

    return play


def in_chunks(answer: Answer) -> bytes:
    return answer.head(CHUNKED)


def before_trailers(answer: Answer) -> bytes:
    return answer.chunked()[:-2]


def hundred_hints(turn: Turn) -> None:
    turn.wire.send(HINTS * 100)
    turn.be_correct()


def gigabyte(turn: Turn) -> None:
    turn.wire.send(turn.answer.head(b"Content-Length: %d" % (GIGABYTE * len(MEGABYTE))))
    turn.wire.pour(MEGABYTE for _ in range(GIGABYTE))


def gigabyte_until_end(turn: Turn) -> None:
    turn.wire.send(turn.answer.head(b"Connection: close"))
    turn.wire.pour(MEGABYTE for _ in range(GIGABYTE))
    turn.wire.close()


def switching(turn: Turn) -> None:
    turn.wire.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n")
    turn.wire.hang()


ROWS = (
    Row(
        "endless-100",
        "Sends 100 Continue without end.",
        endless(b"HTTP/1.1 100 Continue\r\n\r\n", pause=0.01),
    ),
    Row(
        "endless-103",
        "Sends 103 Early Hints without end, as fast as it goes.",
        endless(HINTS * 500),
        signed_in,
    ),
    Row("hundred-103", "Sends a hundred 103 before a correct answer.", hundred_hints),
    Row("switching-protocols", "Answers 101 and says no more.", switching),
    Row("endless-trailers", "Sends trailers without end.", endless(TRAILER, before_trailers, pause=0.01)),
    Row(
        "fast-trailers",
        "Sends trailers without end, as fast as it goes.",
        endless(TRAILER * 5000, before_trailers),
    ),
    Row(
        "endless-chunks",
        "Sends a small chunk every 50 ms, without end.",
        endless(chunk(b" "), in_chunks, pause=0.05),
    ),
    Row(
        "fast-chunks",
        "Sends chunks without end, as fast as it goes.",
        endless(chunk(b" " * 65536), in_chunks),
    ),
    Row(
        "endless-extension",
        "Sends a chunk extension without end.",
        endless(b"a" * 65536, lambda answer: answer.head(CHUNKED) + b"10;name="),
    ),
    Row("gigabyte", "Sends a body of 1 GB.", gigabyte),
    Row("gigabyte-without-length", "Sends 1 GB, which the connection ends.", gigabyte_until_end),
    Row(
        "endless-head",
        "Sends headers without end.",
        endless(b"X-More: 1\r\n" * 5000, lambda answer: b"HTTP/1.1 200 OK\r\n"),
    ),
    Row("length-too-long", "Promises more bytes than it sends.", framing(b"Content-Length: 999999")),
    Row("length-too-short", "Promises fewer bytes than it sends.", framing(b"Content-Length: 10"), signed_in),
    Row("length-negative", "Gives a negative length.", framing(b"Content-Length: -5")),
    Row("length-words", "Gives a length that is no number.", framing(b"Content-Length: many")),
    Row("length-huge", "Gives a length of 10^30.", framing(b"Content-Length: 1" + b"0" * 30)),
    Row("lengths-conflict", "Gives two lengths.", framing(b"Content-Length: 10", b"Content-Length: 20")),
    Row("lengths-list", "Gives two lengths in one header.", framing(b"Content-Length: 10, 20")),
    Row(
        "length-and-chunks",
        "Gives a length and Transfer-Encoding both.",
        rest(chunk(SHORT) + b"0\r\n\r\n", b"Content-Length: 5\r\n" + CHUNKED),
        signed_in,
    ),
    Row("unknown-transfer", "Frames in an unknown way.", framing(b"Transfer-Encoding: strange")),
    Row("chunk-size-words", "Gives a chunk size that is no number.", rest(b"zz\r\n{}\r\n", CHUNKED)),
    Row("chunk-size-huge", "Gives a chunk size of 2^64.", rest(b"1" + b"0" * 16 + b"\r\n{}\r\n", CHUNKED)),
    Row("chunk-size-negative", "Gives a negative chunk size.", rest(b"-5\r\n{}\r\n", CHUNKED)),
    Row("chunk-overrun", "Sends more than a chunk's size.", rest(b"2\r\n{}{}{}\r\n0\r\n\r\n", CHUNKED)),
    Row("chunk-unended", "Never sends the last chunk.", rest(chunk(SHORT), CHUNKED)),
    Row("http-0.9", "Sends a body and no head.", raw(SHORT)),
    Row(
        "http-2-preface",
        "Speaks HTTP/2.",
        raw(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + b"\0" * 18),
        everywhere,
    ),
    Row("status-999", "Answers with status 999.", status_line(b"HTTP/1.1 999 Odd")),
    Row("status-000", "Answers with status 000.", status_line(b"HTTP/1.1 000 Odd")),
    Row("status-words", "Answers with no number for a status.", status_line(b"HTTP/1.1 fine")),
    Row("status-endless", "Gives a reason of 10 MB.", status_line(b"HTTP/1.1 200 " + MEGABYTE * 10)),
)
