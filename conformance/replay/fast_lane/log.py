"""The log of a replay with line templates: writes the same lines as ``UncachedLog``, faster."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from conformance.replay.engine.log import (
    BUFFER_BYTES,
    FindSecrets,
    LogLine,
    find_no_secrets,
    head_of,
    numbered,
    redact_again,
    request_text,
    response_text,
)
from conformance.replay.fast_lane.epoch import Epoch
from conformance.replay.fast_lane.line_counter import LineCounter
from conformance.replay.fast_lane.line_template import NO_VALUES, LineTemplate, Personal, Values, template_of
from conformance.replay.fast_lane.redactor import CACHED_PIECES, CachingRedactor, pieces_of
from conformance.report.model.evidence import RunEvidence
from conformance.traffic.exchange import Exchange
from conformance.traffic.log import RedactedLines
from conformance.traffic.redaction.places import (
    in_headers_and_query,
    is_placeholder,
    names_a_secret,
    secrets_in,
    takes_secrets,
)

WAITING_CHARACTERS = 1 << 20
"""Characters of lines that wait to be written."""

_PACKED_END = re.compile(r'\\(?<=[\w-]\\)\\{0,7}"\s?:')
"""The end of a member's name in JSON that stands in a text."""
_PACKED_NAME = re.compile(r"[\w-]+\Z")
LONGEST_NAME = 64
"""Characters up to which a name is read."""


class Templates(NamedTuple):
    """The templates of a line: that of its request, and that of its response."""

    request: LineTemplate
    response: LineTemplate


class TemplatedLine(LogLine, frozen=True, gc=False):
    """A line with its templates. ``is_cacheable``: a line with the same ones contains no further secret."""

    templates: Templates | None = None
    is_cacheable: bool = False


_WaitingLine = tuple[str, Templates, Values, bool, str, float]
"""A line until it is written: its head, templates and values, whether its templates are cached without
secrets, when the exchange started, and how long it took."""


class CachingLog:
    """Logs exchanges. The last lines wait to be written, so that secrets registered by the next responses
    are redacted in them."""

    def __init__(
        self,
        path: Path,
        epoch: Epoch,
        *,
        waiting_characters: int = WAITING_CHARACTERS,
        cached_pieces: int = CACHED_PIECES,
        kept: int = 0,
        find_secrets: FindSecrets = find_no_secrets,
    ) -> None:
        self.path = path
        self._find_secrets = find_secrets
        self.count = kept
        self._lines = RedactedLines(path, buffering=BUFFER_BYTES, kept=kept)
        self._secrets = epoch.secrets
        self._redactor = CachingRedactor(epoch, cached_pieces=cached_pieces)
        self._waiting_characters = waiting_characters
        self._cached_pieces = cached_pieces
        self._waiting: list[_WaitingLine] = []
        self._size = 0
        self._harmless: set[int] = set()
        """Hashes of templates in which no member has the name of a secret."""
        self._harmful: set[int] = set()
        """Hashes of templates in which one has: those of a sign-in, say, come again with each client."""
        self._clients: set[Personal] = set()
        """The values of clients that were registered where they are secrets."""
        self._searched: set[str] = set()
        self._secret_names: set[str] = set()
        self._counter = LineCounter()
        self._is_counted = not kept

    @property
    def counted(self) -> RunEvidence | None:
        """None where lines of an earlier part are not counted, or a later secret changed some."""
        return self._counter.evidence if self._is_counted else None

    def add(self, exchange: Exchange) -> TemplatedLine:
        self.count += 1
        logged = numbered(exchange, self.count)
        templates = _templates_of(logged)
        shows_secrets = exchange.plain is not None or takes_secrets(exchange.request.path)
        is_cacheable = not shows_secrets
        new = templates if shows_secrets else [each for each in templates if not self._is_harmless(each)]
        if new or templates.request.personal not in self._clients:
            is_cacheable = is_cacheable and not any(map(self._names_a_secret, new))
            for value, kind in _secrets_in(logged, by_place=not is_cacheable):
                self._secrets.add(value, kind)
            self._find_secrets(logged)
            if is_cacheable:
                self._harmless.update(hash(each.text) for each in new)
                self._clients.add(templates.request.personal)
        self._wait(logged, templates, NO_VALUES, is_cacheable=is_cacheable)
        return TemplatedLine(logged, hash(templates.response.text), templates, is_cacheable)

    def knows(self, personal: Personal) -> bool:
        """Whether the values of a client were looked through for secrets."""
        return personal in self._clients

    def meet(self, exchange: Exchange, personal: Personal) -> None:
        """Looks through the values of a client for secrets, where its first exchange repeats another
        client's."""
        for value, kind in _secrets_in(exchange, by_place=False):
            self._secrets.add(value, kind)
        self._find_secrets(exchange)
        self._clients.add(personal)

    def add_repeated(self, exchange: Exchange, templates: Templates, values: Values) -> None:
        """Logs an exchange, of the next number, whose line has the templates of an earlier, cacheable one."""
        self.count = exchange.n
        self._wait(exchange, templates, values, is_cacheable=True)

    def flush(self) -> None:
        """Writes what waits, to the disk."""
        self._write()
        self._lines.flush()

    def close(self) -> None:
        """Writes what waits, and redacts all lines again where a later secret may stand in them."""
        self._write()
        self._redactor.refresh()
        self._lines.close()
        if self._redactor.is_stale:
            self._is_counted = False
            redact = self._redactor.redact_line
            redact_again(self._lines, lambda text, opening: redact(text, opening=opening), first=self.count)

    def _wait(self, exchange: Exchange, templates: Templates, values: Values, *, is_cacheable: bool) -> None:
        head = head_of(exchange)
        line = head, templates, values, is_cacheable, exchange.started, exchange.elapsed_ms
        self._waiting.append(line)
        self._size += len(templates.request.text) + len(templates.response.text)
        if self._size > self._waiting_characters:
            self._write()

    def _write(self) -> None:
        if not self._waiting:
            return
        self._redactor.refresh()
        self._lines.extend([self._counted(*line) for line in self._waiting])
        self._waiting.clear()
        self._size = 0

    def _counted(
        self,
        head: str,
        templates: Templates,
        values: Values,
        is_cacheable: bool,
        started: str,
        elapsed_ms: float,
    ) -> str:
        """A line without secrets, which is counted."""
        request, response = templates
        text = self._redactor.redact_templates(request, response, values, is_cacheable)
        if text is None:
            text = self._redactor.redact_line(f"{request.raw(values)},{response.raw(values)}", opening="{")
        line = head + text
        self._counter.count(request.text, line, started, elapsed_ms)
        return line

    def _is_harmless(self, template: LineTemplate) -> bool:
        if len(self._harmless) + len(self._harmful) + len(self._clients) > 2 * self._cached_pieces:
            self._harmless.clear()
            self._clients.clear()
            self._harmful.clear()
        return hash(template.text) in self._harmless

    def _names_a_secret(self, template: LineTemplate) -> bool:
        """Whether a member in some JSON without blanks, or in JSON in a text of it, has the name of a
        secret."""
        key = hash(template.text)
        if key not in self._harmful and self._has_such_a_name(template.text):
            self._harmful.add(key)
        return key in self._harmful

    def _has_such_a_name(self, text: str) -> bool:
        if ('\\":' in text or '\\" :' in text) and any(map(names_a_secret, set(_packed_names(text)))):
            return True
        pieces = set(pieces_of(text))
        if len(self._searched) > self._cached_pieces:
            self._searched.clear()
            self._secret_names.clear()
        new = pieces - self._searched
        if new:
            self._searched |= new
            self._secret_names.update(filter(names_a_secret, new))
        return any(f'"{name}":' in text for name in self._secret_names & pieces)


def _templates_of(exchange: Exchange) -> Templates:
    request = exchange.request
    request_id = request.header("x-request-id")
    date = exchange.response.header("date") if exchange.response is not None else None
    return Templates(
        template_of(
            request_text(exchange),
            request_id=request_id,
            token=request.bearer,
            client=request.header("x-client-hash"),
        ),
        template_of(response_text(exchange), request_id=request_id, date=date),
    )


def _packed_names(text: str) -> Iterator[str]:
    """The names of members in JSON that stands in a text of some JSON: the backslashes are searched first, as
    there are few."""
    for match in _PACKED_END.finditer(text):
        end = match.start()
        yield _PACKED_NAME.findall(text, max(0, end - LONGEST_NAME), end)[0]


def _secrets_in(exchange: Exchange, *, by_place: bool) -> Iterable[tuple[str, str]]:
    """As ``secrets_in``; the bodies need no search where no name in them is that of a secret."""
    if by_place:
        return secrets_in(exchange)
    return [pair for pair in in_headers_and_query(exchange) if not is_placeholder(pair[0])]
