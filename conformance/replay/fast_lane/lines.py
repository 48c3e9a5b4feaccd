"""A line of a capture in two halves, request and answer, with marks in place of what is other each time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from conformance.traffic.exchange import Exchange, Header, Request

if TYPE_CHECKING:  # its HTTP parser comes with an extra
    from conformance.replay.engine.wire import Answer

LEAST_VARYING = 12
"""A shorter request id might stand in a line by chance."""

REQUEST, RESPONSE = '"request":', '"response":'
STAMP = '"timestamp":'
STAMP_DIGITS = 13


ID, DATE, MOMENT = ("\0", "\1", "\2")

_ENCODE = msgspec.json.Encoder().encode


NO_OTHERS: Mapping[str, str] = MappingProxyType({})


class Half(NamedTuple):
    """``values`` are what the marks stand for: control characters, which JSON has only escaped."""

    text: str
    values: tuple[tuple[str, str], ...]

    def filled(self, clean: str, others: Mapping[str, str] = NO_OTHERS) -> str:
        """The text, or one made from it, with the values in place of the marks, or others in their place."""
        for mark, value in self.values:
            clean = clean.replace(mark, others.get(mark, value))
        return clean


Halves = tuple[Half, Half]


def request_half(request: Request) -> Half:
    """A request as it stands in a line, from its name on. The text is kept with the request."""
    half: Half | None = request.__dict__.get("half")
    id = request.header("x-request-id")
    if half is None:
        text = f"{REQUEST}{_ENCODE(request).decode()}"
        half = request.__dict__["half"] = _half(text, _long_enough((ID, id)))
    elif id is not None and (ID, id) not in half.values:
        values = tuple((mark, id if mark == ID else value) for mark, value in half.values)
        half = request.__dict__["half"] = Half(half.text, values)
    return half


def kept_half(request: Request) -> Half | None:
    """The same, where it was made before; perhaps for another id."""
    half: Half | None = request.__dict__.get("half")
    return half


def sent_again(before: Request, headers: list[Header]) -> Request:
    """The request with other headers, of which only the request's id is another, and its half."""
    request = Request(
        headers=headers,
        body=before.body,
        form=before.form,
        lacks=before.lacks,
        method=before.method,
        url=before.url,
    )
    request.__dict__.update(before.__dict__)
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


def note_said(live: Exchange, answer: Half) -> None:
    """Keeps the answer with an exchange of the replay."""
    live.__dict__["said"] = answer


def said_by(live: Exchange) -> Half | None:
    """What the answer says; None where that was not noted."""
    said: Half | None = live.__dict__.get("said")
    return said


def note_answer(live: Exchange, answer: Answer) -> None:
    """Keeps the answer as it came with an exchange of the replay."""
    live.__dict__["answer"] = answer


def answer_to(live: Exchange) -> Answer | None:
    """The answer as it came; None where it was not noted."""
    answer: Answer | None = live.__dict__.get("answer")
    return answer


def said_in(recorded: int, live: Exchange) -> tuple[int, int] | None:
    """The hashes of what was said when recorded, and now; None where the second was not noted."""
    said = said_by(live)
    return None if said is None else (recorded, hash(said.text))


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
