"""Templates of log lines: a text with marks in place of the values that differ each time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from conformance.replay.recording.fingerprint import DATE, REQUEST_ID, SHORTEST_ID, TIMESTAMP

STAMP = '"timestamp":'
STAMP_DIGITS = 13

TOKEN, CLIENT = ("\3", "\4")
"""Marks in place of what differs from client to client: control characters, as those of the fingerprints."""

MOVED = ("\5", "\6")
"""Marks in place of times in a query that are moved each time."""

_MARK = re.compile(f"([{REQUEST_ID}{DATE}{TIMESTAMP}{TOKEN}{CLIENT}{''.join(MOVED)}])")

Values = Mapping[str, str]
Personal = tuple[tuple[str, str], ...]
"""Marks, and the values of one client for them."""

NO_VALUES: Values = MappingProxyType({})


class LineTemplate(NamedTuple):
    """``values`` are those that the marks in ``text`` stood for first; ``personal`` are those of the client,
    which may be secrets."""

    text: str
    values: tuple[tuple[str, str], ...]
    personal: Personal = ()

    def raw(self, values: Values = NO_VALUES) -> str:
        """The text of the template as it was, with its values and those of its client."""
        all_values = {**dict(self.values), **values, **dict(self.personal)}
        return filled(pieces_around_marks(self.text), all_values)


def template_of(
    text: str,
    *,
    request_id: str | None,
    date: str | None = None,
    token: str | None = None,
    client: str | None = None,
) -> LineTemplate:
    """The template of one part of a line, with marks for the request's id, the date and the timestamp, and
    for the token and the fingerprint of the client."""
    text, values = _marked(text, ((REQUEST_ID, request_id), (DATE, date)))
    text, personal = _marked(text, ((TOKEN, token), (CLIENT, client)))
    begin = text.find(STAMP) + len(STAMP)
    end = begin + STAMP_DIGITS
    if begin >= len(STAMP) and text[begin:end].isdigit() and text[end : end + 1] in (",", "}"):
        values.append((TIMESTAMP, text[begin:end]))
        text = f"{text[:begin]}{TIMESTAMP}{text[end:]}"
    return LineTemplate(text, tuple(values), tuple(personal))


def pieces_around_marks(text: str) -> list[str]:
    """The text of a template, or its redacted form: what stands between the marks, and in turn the marks."""
    return _MARK.split(text)


def filled(pieces: list[str], values: Values) -> str:
    """Such pieces with values in place of the marks. KeyError: one has none."""
    pieces = pieces.copy()
    for at in range(1, len(pieces), 2):
        pieces[at] = values[pieces[at]]
    return "".join(pieces)


def _marked(text: str, marks: Iterable[tuple[str, str | None]]) -> tuple[str, list[tuple[str, str]]]:
    """The text with marks in place of values, and those that stood in it."""
    values = []
    for mark, value in marks:
        if value is not None and can_be_marked(value) and value in text:
            text = text.replace(value, mark)
            values.append((mark, value))
    return text, values


def can_be_marked(value: str) -> bool:
    """Whether a value stands in JSON as it is, and not by chance."""
    return len(value) >= SHORTEST_ID and value.isprintable() and '"' not in value
