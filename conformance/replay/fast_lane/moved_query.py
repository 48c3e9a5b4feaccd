"""Queries with times: the same request, sent again, asks for times that moved with the clock."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote_plus, urlencode

from conformance.replay.fast_lane.line_template import MOVED, LineTemplate
from conformance.replay.rebuild.values import RequestValues, shifted_time
from conformance.replay.recording.kinds import ISO
from conformance.traffic.exchange import Exchange, parameters
from conformance.traffic.redaction.places import names_a_secret


class MovedQuery(NamedTuple):
    """A query whose times are moved by the clocks' difference, and all else is sent as it was."""

    sent: str
    """The query as it was sent first."""
    between: tuple[str, ...]
    """What stands before, between and behind the times."""
    times: tuple[str, ...]
    """The recorded times."""

    def at(self, shift: float) -> str:
        """The query with its times moved by so many seconds."""
        times = [quote_plus(shifted_time(time, shift)) for time in self.times]
        first, *others = self.between
        return first + "".join(f"{time}{text}" for time, text in zip(times, others, strict=True))

    def times_in(self, query: str) -> list[str] | None:
        """The moved times in such a query, as they stand there; None where it is another."""
        first, *others, last = self.between
        if not query.startswith(first) or not query.endswith(last):
            return None
        rest = query[len(first) : len(query) - len(last)]
        times = []
        for text in others:
            time, separator, rest = rest.partition(text)
            if not separator:
                return None
            times.append(time)
        return [*times, rest]

    def marked(self, line: LineTemplate, query: str) -> LineTemplate | None:
        """The template of a line whose request has such a query, with marks in place of its times; None where
        it is not certain which those are."""
        text, values, times = line.text, list(line.values), self.times_in(query)
        for mark, time in zip(MOVED, times or (), strict=False):
            if text.count(time) != 1:
                return None
            text = text.replace(time, mark)
            values.append((mark, time))
        return LineTemplate(text, tuple(values), line.personal) if times else None


def moved_query(recorded: Exchange, sent: str, values: RequestValues) -> MovedQuery | None:
    """The moved query of a recorded request that was sent with another one. ``values`` are its live values.
    None where something else in it than a few whole times is moved."""
    between: list[str] = []
    times: list[str] = []
    text = ""
    for at, (name, value) in enumerate(parameters(recorded.request.parts.query)):
        values.has_shifted = False
        live = values.value(name, value)
        text += "&" if at else ""
        if not values.has_shifted:
            text += urlencode([(name, str(live))])
        elif ISO.match(value) is None or names_a_secret(name) or len(times) == len(MOVED):
            return None
        else:
            between.append(f"{text}{quote_plus(name)}=")
            times.append(value)
            text = ""
    moved = MovedQuery(sent, (*between, text), tuple(times))
    return moved if times and moved.times_in(sent) is not None else None
