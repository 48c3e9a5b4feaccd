"""Templates of log lines: a text with marks in place of the values that differ each time."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from conformance.replay.recording.fingerprint import DATE, REQUEST_ID, SHORTEST_ID, TIMESTAMP

STAMP = '"timestamp":'
STAMP_DIGITS = 13

Values = Mapping[str, str]
NO_VALUES: Values = MappingProxyType({})


class LineTemplate(NamedTuple):
    """``values`` are those that the marks in ``text`` stood for first."""

    text: str
    values: tuple[tuple[str, str], ...]

    def filled(self, text: str, values: Values = NO_VALUES) -> str:
        """The text of the template, or its redacted form, with values in place of the marks."""
        for mark, first in self.values:
            text = text.replace(mark, values.get(mark, first))
        return text


def template_of(text: str, *, request_id: str | None, date: str | None = None) -> LineTemplate:
    """The template of one part of a line, with marks for the request's id, the date and the timestamp."""
    values = []
    for mark, value in ((REQUEST_ID, request_id), (DATE, date)):
        if value is not None and _can_be_marked(value) and value in text:
            text = text.replace(value, mark)
            values.append((mark, value))
    begin = text.find(STAMP) + len(STAMP)
    end = begin + STAMP_DIGITS
    if begin >= len(STAMP) and text[begin:end].isdigit() and text[end : end + 1] in (",", "}"):
        values.append((TIMESTAMP, text[begin:end]))
        text = f"{text[:begin]}{TIMESTAMP}{text[end:]}"
    return LineTemplate(text, tuple(values))


def _can_be_marked(value: str) -> bool:
    return len(value) >= SHORTEST_ID and value.isprintable() and '"' not in value
