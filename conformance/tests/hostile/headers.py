"""Rows about headers: their size, their number, their form, and values that a client goes by."""

from __future__ import annotations

from conformance.tests.hostile.plays import at, header, refused
from conformance.tests.hostile.wire import Play, Row, Turn


def unframed(*lines: bytes) -> Play:
    """The portal's answer with lines among its headers that are none."""

    def play(turn: Turn) -> None:
        turn.wire.send(turn.answer.head(*lines, b"Content-Length: %d" % len(turn.answer.body)))
        turn.wire.send(turn.answer.body)

    return play


def line(name: str, sentence: str, content: bytes) -> Row:
    return Row(name, sentence, unframed(content))


MANY = [(b"X-%d" % number, b"value") for number in range(10_000)]
INITIATE = at("/auth/login/initiate")
RETRY = b"Retry-After"

ROWS = (
    Row("header-of-10-mb", "Sends a header of 10 MB.", header((b"X-Long", b"a" * 10_000_000))),
    Row("headers-10000", "Sends 10,000 headers.", header(*MANY)),
    line("header-without-colon", "Sends a header without a colon.", b"no colon at all"),
    line("header-nul", "Puts NUL into a header.", b"X-Nul: a\x00b"),
    line("header-injected-answer", "Injects an answer.", b"X-A: b\r\n\r\nHTTP/1.1 200 OK\r\nX-C: d"),
    Row(
        "retry-after-digits",
        "Asks to wait a number of seconds of a hundred digits.",
        refused(429, (RETRY, b"9" * 100)),
        INITIATE,
    ),
    Row(
        "retry-after-year-9999",
        "Asks to wait until the year 9999.",
        refused(429, (RETRY, b"Fri, 31 Dec 9999 23:59:59 GMT")),
        INITIATE,
    ),
    Row("retry-after-infinite", "Asks to wait for ever, in words.", refused(429, (RETRY, b"inf")), INITIATE),
)
