"""A line of a capture in two halves, request and answer, with marks in place of what is other each time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from conformance.exchange import Exchange, Request

LEAST_VARYING = 12
"""A shorter request id might stand in a line by chance."""

_REQUEST_ID = re.compile(rb'\["[Xx]-[Rr]equest-[Ii][Dd]", *"([^"\\]+)"')
_DATE = re.compile(rb'\["[Dd]ate", *"([^"\\]+)"')

REQUEST, RESPONSE = '"request":', '"response":'
STAMP = '"timestamp":'
STAMP_DIGITS = 13


ID, DATE, MOMENT = ("\0", "\1", "\2")

_ENCODE = msgspec.json.Encoder().encode


class Half(NamedTuple):
    """``values`` are what the marks stand for: control characters, which JSON has only escaped."""

    text: str
    values: tuple[tuple[str, str], ...]

    def filled(self, clean: str) -> str:
        """The text, or one made from it, with the values in place of the marks."""
        for mark, value in self.values:
            clean = clean.replace(mark, value)
        return clean


def request_half(request: Request) -> Half:
    """A request as it stands in a line, from its name on. It is kept with the request, and for the next that
    is ``sent_again``."""
    half: Half | None = request.__dict__.get("half")
    if half is None:
        varying = _long_enough((ID, request.header("x-request-id")))
        half = request.__dict__["half"] = _half(f"{REQUEST}{_ENCODE(request).decode()}", varying)
    return half


def sent_again(request: Request, before: Request, id: str) -> Request:
    """The request, which is another but for its id, with the half of that."""
    half: Half | None = before.__dict__.get("half")
    if half is not None:
        request.__dict__["half"] = Half(
            half.text, tuple((mark, id if mark == ID else value) for mark, value in half.values)
        )
    return request


def answer_half(exchange: Exchange) -> Half:
    """The rest of a line: the answer, and what follows it."""
    told = {
        name: value
        for name, value in (
            ("response", exchange.response),
            ("error", exchange.error),
            ("plain", exchange.plain),
        )
        if value is not None
    }
    date = exchange.response.header("date") if exchange.response is not None else None
    varying = _long_enough((ID, exchange.request.header("x-request-id")), (DATE, date))
    return _half(_ENCODE(told).decode()[1:], varying)


def request_in(line: bytes) -> bytes:
    """The first half of a line of a capture without its request id; all of it where it has no second one."""
    start, end = line.find(REQUEST.encode()), line.find(RESPONSE.encode())
    if not 0 <= start < end:
        return line
    request = line[start:end]
    found = _REQUEST_ID.search(request)
    return b"%b\0%b" % (request[: found.start(1)], request[found.end(1) :]) if found else request


def answer_in(line: bytes) -> str:
    """The second half of a line of a capture without what is other each time; all of it where it has none."""
    start = line.find(RESPONSE.encode())
    answer = line[max(start, 0) :].decode(errors="surrogateescape")
    id, date = _REQUEST_ID.search(line), _DATE.search(line, max(start, 0))
    varying = _long_enough(
        *(
            (mark, found[1].decode(errors="surrogateescape"))
            for mark, found in ((ID, id), (DATE, date))
            if found
        )
    )
    return _half(answer, varying).text


def note_said(live: Exchange, answer: Half) -> None:
    """Keeps a hash of the answer with an exchange of the replay."""
    live.__dict__["said"] = hash(answer.text)


def said_in(recorded: int, live: Exchange) -> tuple[int, int] | None:
    """The hashes of what was said when recorded, and now; None where the second was not noted."""
    said: int | None = live.__dict__.get("said")
    return None if said is None else (recorded, said)


def _long_enough(*varying: tuple[str, str | None]) -> list[tuple[str, str]]:
    return [
        (mark, value)
        for mark, value in varying
        if value is not None and len(value) >= LEAST_VARYING and value.isprintable() and '"' not in value
    ]


def _half(text: str, varying: Iterable[tuple[str, str]]) -> Half:
    values = []
    for mark, value in varying:
        if value in text:
            text = text.replace(value, mark)
            values.append((mark, value))
    begin = text.find(STAMP) + len(STAMP)
    end = begin + STAMP_DIGITS
    if begin >= len(STAMP) and text[begin:end].isdigit() and text[end : end + 1] in (",", "}"):
        values.append((MOMENT, text[begin:end]))
        text = f"{text[:begin]}{MOMENT}{text[end:]}"
    return Half(text, tuple(values))
