"""Rows about where an answer begins and ends: 1xx, chunks, trailers, lengths, status lines."""

from __future__ import annotations

from conformance.tests.hostile.plays import constants, everywhere, framing, raw, rest, signed_in, status_line
from conformance.tests.hostile.wire import Row, Turn, chunk

MEGABYTE = b" " * 1_000_000
GIGABYTE = 1000
CHUNKED = b"Transfer-Encoding: chunked"
SHORT = b'{"success":true}'


def endless_continue(turn: Turn) -> None:
    turn.wire.forever(b"HTTP/1.1 100 Continue\r\n\r\n", pause=0.01)


def endless_hints(turn: Turn) -> None:
    turn.wire.forever(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 500)


def hundred_hints(turn: Turn) -> None:
    turn.wire.send(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 100)
    turn.be_correct()


def endless_trailers(turn: Turn) -> None:
    turn.wire.send(turn.answer.chunked()[:-2])
    turn.wire.forever(b"X-Trailer: 1\r\n", pause=0.01)


def fast_trailers(turn: Turn) -> None:
    turn.wire.send(turn.answer.chunked()[:-2])
    turn.wire.forever(b"X-Trailer: 1\r\n" * 5000)


def endless_chunks(turn: Turn) -> None:
    turn.wire.send(turn.answer.head(CHUNKED))
    turn.wire.forever(chunk(b" "), pause=0.05)


def fast_chunks(turn: Turn) -> None:
    turn.wire.send(turn.answer.head(CHUNKED))
    turn.wire.forever(chunk(b" " * 65536))


def endless_extension(turn: Turn) -> None:
    turn.wire.send(turn.answer.head(CHUNKED) + b"10;name=")
    turn.wire.forever(b"a" * 65536)


def gigabyte(turn: Turn) -> None:
    turn.wire.send(turn.answer.head(b"Content-Length: %d" % (GIGABYTE * len(MEGABYTE))))
    turn.wire.pour(MEGABYTE for _ in range(GIGABYTE))


def gigabyte_until_end(turn: Turn) -> None:
    turn.wire.send(turn.answer.head(b"Connection: close"))
    turn.wire.pour(MEGABYTE for _ in range(GIGABYTE))
    turn.wire.close()


def endless_head(turn: Turn) -> None:
    turn.wire.send(b"HTTP/1.1 200 OK\r\n")
    turn.wire.forever(b"X-More: 1\r\n" * 5000)


def switching(turn: Turn) -> None:
    turn.wire.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n")
    turn.wire.hang()


ROWS = (
    Row("endless-100", "Sends 100 Continue without end.", endless_continue, constants),
    Row("endless-103", "Sends 103 Early Hints without end, as fast as it goes.", endless_hints, signed_in),
    Row("hundred-103", "Sends a hundred 103 before a correct answer.", hundred_hints, constants),
    Row("switching-protocols", "Answers 101 and says no more.", switching, constants),
    Row("endless-trailers", "Sends trailers without end.", endless_trailers, constants),
    Row("fast-trailers", "Sends trailers without end, as fast as it goes.", fast_trailers, constants),
    Row("endless-chunks", "Sends a small chunk every 50 ms, without end.", endless_chunks, constants),
    Row("fast-chunks", "Sends chunks without end, as fast as it goes.", fast_chunks, constants),
    Row("endless-extension", "Sends a chunk extension without end.", endless_extension, constants),
    Row("gigabyte", "Sends a body of 1 GB.", gigabyte, constants),
    Row("gigabyte-without-length", "Sends 1 GB, which the connection ends.", gigabyte_until_end, constants),
    Row("endless-head", "Sends headers without end.", endless_head, constants),
    Row(
        "length-too-long", "Promises more bytes than it sends.", framing(b"Content-Length: 999999"), constants
    ),
    Row("length-too-short", "Promises fewer bytes than it sends.", framing(b"Content-Length: 10"), signed_in),
    Row("length-negative", "Gives a negative length.", framing(b"Content-Length: -5"), constants),
    Row("length-words", "Gives a length that is no number.", framing(b"Content-Length: many"), constants),
    Row("length-huge", "Gives a length of 10^30.", framing(b"Content-Length: 1" + b"0" * 30), constants),
    Row(
        "lengths-conflict",
        "Gives two lengths.",
        framing(b"Content-Length: 10", b"Content-Length: 20"),
        constants,
    ),
    Row("lengths-list", "Gives two lengths in one header.", framing(b"Content-Length: 10, 20"), constants),
    Row(
        "length-and-chunks",
        "Gives a length and Transfer-Encoding both.",
        rest(chunk(SHORT) + b"0\r\n\r\n", b"Content-Length: 5\r\n" + CHUNKED),
        signed_in,
    ),
    Row("unknown-transfer", "Frames in an unknown way.", framing(b"Transfer-Encoding: strange"), constants),
    Row(
        "chunk-size-words", "Gives a chunk size that is no number.", rest(b"zz\r\n{}\r\n", CHUNKED), constants
    ),
    Row(
        "chunk-size-huge",
        "Gives a chunk size of 2^64.",
        rest(b"1" + b"0" * 16 + b"\r\n{}\r\n", CHUNKED),
        constants,
    ),
    Row("chunk-size-negative", "Gives a negative chunk size.", rest(b"-5\r\n{}\r\n", CHUNKED), constants),
    Row(
        "chunk-overrun",
        "Sends more than a chunk's size.",
        rest(b"2\r\n{}{}{}\r\n0\r\n\r\n", CHUNKED),
        constants,
    ),
    Row("chunk-unended", "Never sends the last chunk.", rest(chunk(SHORT), CHUNKED), constants),
    Row("http-0.9", "Sends a body and no head.", raw(SHORT), constants),
    Row(
        "http-2-preface",
        "Speaks HTTP/2.",
        raw(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + b"\0" * 18),
        everywhere,
    ),
    Row("status-999", "Answers with status 999.", status_line(b"HTTP/1.1 999 Odd"), constants),
    Row("status-000", "Answers with status 000.", status_line(b"HTTP/1.1 000 Odd"), constants),
    Row("status-words", "Answers with no number for a status.", status_line(b"HTTP/1.1 fine"), constants),
    Row(
        "status-endless", "Gives a reason of 10 MB.", status_line(b"HTTP/1.1 200 " + MEGABYTE * 10), constants
    ),
)
