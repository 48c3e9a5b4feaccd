"""Redacts JSON texts that are much alike: each piece of text is searched for secrets once."""

from __future__ import annotations

import re

from conformance.replay.fast_lane.epoch import Epoch
from conformance.replay.fast_lane.line_template import (
    LineTemplate,
    Personal,
    Values,
    filled,
    pieces_around_marks,
)

CACHED_PIECES = 100_000
"""Pieces of text that are cached as searched."""

CACHED_CHARACTERS = 1 << 22
"""Characters of line templates that are cached, with their redacted form."""

CACHED_CLIENTS = 1_000
"""Clients whose own values are cached without secrets."""

_QUOTE = re.compile(r'(?<!\\)"')


def pieces_of(text: str) -> list[str]:
    """The text between the quotes in some JSON: its texts and names, and in turn what separates them."""
    return _QUOTE.split(text) if '\\"' in text else text.split('"')


class CachingRedactor:
    """As ``Secrets.redact_line``, for many lines that share pieces of text."""

    def __init__(self, epoch: Epoch, *, cached_pieces: int = CACHED_PIECES) -> None:
        self.is_stale = False
        """Whether a redacted text may contain what was registered as a secret later."""
        self._epoch = epoch
        self._secrets = epoch.secrets
        self._refreshed = epoch.of_lines
        self._cached_pieces = cached_pieces
        self._was_emptied = False
        self._searched: set[str] = set()
        self._redacted: dict[str, str] = {}
        self._names: dict[str, str] = {}
        """Pieces that are redacted otherwise as the name of a member: a word of letters stays there."""
        self._unquoted: set[str] = set()
        self._templates: dict[str, list[str]] = {}
        """By the text of a template, the same without secrets, in pieces around its marks."""
        self._joined: dict[tuple[str, str], list[str]] = {}
        """By the texts of a request's and a response's template, the pieces of both, with a comma between."""
        self._personal: dict[Personal, Values] = {}
        """What is a client's own, without secrets."""
        self._size = 0

    def redact_templates(
        self, request: LineTemplate, response: LineTemplate, values: Values, is_cached: bool
    ) -> str | None:
        """Both parts of a line, filled, without secrets; None where a number would have to go, which only a
        whole line can lose."""
        pieces = self._joined.get((request.text, response.text)) or self._join(request, response, is_cached)
        if pieces is None:
            return None
        for template in (request, response):
            if template.personal:
                personal = self._redact_personal(template.personal)
                if personal is None:
                    return None
                values = {**values, **personal}
        try:
            return filled(pieces, values)
        except KeyError:
            return filled(pieces, {**dict(request.values), **dict(response.values), **values})

    def _join(self, request: LineTemplate, response: LineTemplate, is_cached: bool) -> list[str] | None:
        """The pieces of a line."""
        first, second = self._pieces_of(request.text, is_cached), self._pieces_of(response.text, is_cached)
        if first is None or second is None:
            return None
        between = f"{first[-1]},{second[0]}"
        pieces = [*first[:-1], between, *second[1:]]
        if is_cached:
            self._joined[request.text, response.text] = pieces
            self._size += len(between)
        return pieces

    def _pieces_of(self, template: str, is_cached: bool) -> list[str] | None:
        pieces = self._templates.get(template)
        if pieces is not None:
            return pieces
        text = self._redact_pieces(template)
        if text is None:
            return None
        pieces = pieces_around_marks(text)
        if is_cached:
            self._templates[template] = pieces
            self._size += len(text) + len(template)
        return pieces

    def _redact_personal(self, personal: Personal) -> Values | None:
        """Values that stand for themselves within a piece, without secrets; None as ``redact_templates``."""
        redacted = self._personal.get(personal)
        if redacted is None:
            values = dict(personal)
            new = set(values.values()) - self._searched
            if new:
                self._search(new)
            if not self._unquoted.isdisjoint(values.values()):
                return None
            redacted = {mark: self._redacted.get(value, value) for mark, value in personal}
            if len(self._personal) >= CACHED_CLIENTS:
                self._personal.clear()
            self._personal[personal] = redacted
        return redacted

    def redact_line(self, text: str, *, opening: str = "") -> str:
        """A line without secrets. It stays JSON, also where a number had to go; ``opening`` makes it JSON
        where it is the end of some."""
        redacted = self._redact_pieces(text)
        return self._secrets.redact_line(opening + text)[len(opening) :] if redacted is None else redacted

    def refresh(self) -> None:
        """Searches the cached pieces again, where more secrets are registered by now."""
        if self._refreshed != self._epoch.of_lines:
            self._refreshed = self._epoch.of_lines
            self._search_again()
        if len(self._searched) > self._cached_pieces or self._size > CACHED_CHARACTERS:
            self._was_emptied = True
            for cache in (self._searched, self._redacted, self._names, self._unquoted, self._templates):
                cache.clear()
            self._joined.clear()
            self._personal.clear()
            self._size = 0

    def _search_again(self) -> None:
        searched, redacted, unquoted = self._searched, self._redacted, self._unquoted
        lasting = self._lasting()
        self._personal.clear()
        self._searched, self._redacted, self._names, self._unquoted = set(lasting), lasting, {}, set()
        with_secrets = searched & (redacted.keys() | unquoted)
        self._search(searched - with_secrets)
        self._search(with_secrets - lasting.keys())
        if redacted != self._redacted or unquoted != self._unquoted:
            self.is_stale = True
            self._templates.clear()
            self._joined.clear()
        self.is_stale |= self._was_emptied

    def _lasting(self) -> dict[str, str]:
        """The pieces that are secrets themselves, as tokens are: whatever else is one, they are named so."""
        return {
            piece: text
            for piece, text in self._redacted.items()
            if piece not in self._names and text == self._secrets.placeholder(piece)
        }

    def _redact_pieces(self, text: str) -> str | None:
        pieces = pieces_of(text)
        present = set(pieces)
        new = present - self._searched
        if new:
            self._search(new)
        if not self._unquoted.isdisjoint(present):
            return None
        redacted, names = self._redacted, self._names
        if redacted.keys().isdisjoint(present):
            return text
        if names.keys().isdisjoint(present):
            return '"'.join([redacted.get(piece, piece) for piece in pieces])
        is_name = [then.lstrip()[:1] == ":" for then in [*pieces[1:], ""]]
        return '"'.join(
            [
                names[piece] if named and piece in names else redacted.get(piece, piece)
                for piece, named in zip(pieces, is_name, strict=True)
            ]
        )

    def _search(self, new: set[str]) -> None:
        self._searched |= new
        together = "\n".join(new)
        if self._secrets.redact(together) == together and not self._secrets.needs_whole_line(together):
            return
        for piece in new:
            if self._secrets.needs_whole_line(piece):
                self._unquoted.add(piece)
                continue
            redacted = self._secrets.redact(piece)
            if redacted == piece:
                continue
            if piece[:1] in (":", ",", "[", "{"):
                self._unquoted.add(piece)
                continue
            self._redacted[piece] = redacted
            name = self._secrets.redact(piece + '":')[:-2]
            if name != redacted:
                self._names[piece] = name
