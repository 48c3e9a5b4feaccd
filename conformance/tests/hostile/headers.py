"""Rows about headers: their size, their number, their form, and values that a client goes by."""

from __future__ import annotations

from conformance.tests.hostile.plays import at, constants, everywhere, header, refused, signed_in
from conformance.tests.hostile.wire import Play, Row, Turn


def unframed(*lines: bytes) -> Play:
    """The portal's answer with lines among its headers that are none."""

    def play(turn: Turn) -> None:
        turn.wire.send(turn.answer.head(*lines, b"Content-Length: %d" % len(turn.answer.body)))
        turn.wire.send(turn.answer.body)

    return play


def line(name: str, sentence: str, content: bytes) -> Row:
    return Row(name, sentence, unframed(content), constants)


MANY = [(b"X-%d" % number, b"value") for number in range(10_000)]
INITIATE = at("/auth/login/initiate")
RETRY = b"Retry-After"

ROWS = (
    Row("header-of-10-mb", "Sends a header of 10 MB.", header((b"X-Long", b"a" * 10_000_000)), constants),
    Row("header-of-90-kb", "Sends a header of 90 kB.", header((b"X-Long", b"a" * 90_000)), constants),
    Row("headers-10000", "Sends 10,000 headers.", header(*MANY), constants),
    line("header-without-colon", "Sends a header without a colon.", b"no colon at all"),
    line("header-folded", "Folds a header over two lines.", b"X-Folded: one\r\n two"),
    line("header-spaced", "Puts a space before the colon.", b"X-Spaced : one"),
    line("header-nameless", "Sends a header without a name.", b": one"),
    line("header-nul", "Puts NUL into a header.", b"X-Nul: a\x00b"),
    line("header-latin-1", "Puts bytes beyond ASCII into a header.", b"X-Bytes: \xe9\xff\xfe"),
    line("header-controls", "Puts escapes into a header.", b"X-Esc: \x1b]0;owned\x07\x1b[2J"),
    line("header-carriage-return", "Injects a carriage return.", b"X-Split: a\rSet-Cookie: b=c"),
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
    Row(
        "retry-after-infinite",
        "Asks to wait for ever, in words.",
        refused(429, (RETRY, b"inf")),
        INITIATE,
    ),
    Row("retry-after-nan", "Asks to wait for no number.", refused(429, (RETRY, b"nan")), INITIATE),
    Row("retry-after-negative", "Asks to wait minus 5 s.", refused(429, (RETRY, b"-5")), INITIATE),
    Row(
        "retry-after-everywhere",
        "Refuses everything for its rate limit, with a wait of a hundred digits.",
        refused(429, (RETRY, b"9" * 100)),
        everywhere,
    ),
    Row(
        "date-impossible",
        "Gives a date that is none.",
        header((b"Date", b"Fri, 31 Dec 99999 23:59:59 GMT")),
        everywhere,
    ),
    Row(
        "date-year-9999",
        "Gives the year 9999.",
        header((b"Date", b"Fri, 31 Dec 9999 23:59:59 -2359")),
        everywhere,
    ),
    Row(
        "charset-unknown",
        "Names a charset that nobody knows.",
        header((b"Content-Type", b"application/json; charset=\x1b[31mno-such")),
        constants,
    ),
    Row(
        "www-authenticate",
        "Refuses with WWW-Authenticate.",
        refused(401, (b"WWW-Authenticate", b'Basic realm="all", Negotiate, Digest nonce="x"')),
        signed_in,
    ),
    Row(
        "proxy-authenticate",
        "Refuses as a proxy does.",
        refused(407, (b"Proxy-Authenticate", b'Basic realm="all"')),
        signed_in,
    ),
)
