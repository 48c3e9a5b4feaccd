"""The exchanges of a replay as they end: numbered, their secrets learned, and written without them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from conformance.replay.fast_lane.lines import (
    NO_OTHERS,
    REQUEST,
    Half,
    Halves,
    answer_half,
    note_answer,
    note_said,
    request_half,
    said_by,
)
from conformance.replay.recording.store import CHUNK
from conformance.traffic.exchange import Exchange
from conformance.traffic.redaction.places import (
    in_headers_and_query,
    is_placeholder,
    names_a_secret,
    secrets_in,
    takes_secrets,
)
from conformance.traffic.redaction.redact import Secrets

if TYPE_CHECKING:  # its HTTP parser comes with an extra
    from conformance.replay.engine.wire import Answer

KEPT = 100_000
"""Pieces of text that are remembered as holding no secret."""

KEPT_HALVES = 1 << 24
"""Characters of halves of lines that are remembered, with what is written in their place."""

WAITING = 1 << 22
"""Characters of lines that wait to be written."""

_QUOTE = re.compile(r'(?<!\\)"')


def pieces_of(text: str) -> list[str]:
    """What stands between the quotes in some JSON: its texts and names, and in turn what separates them."""
    return _QUOTE.split(text) if '\\"' in text else text.split('"')


@lru_cache(maxsize=1024)
def _quoted(text: str) -> str:
    return msgspec.json.encode(text).decode()


class Cleaner:
    """Takes secrets out of JSON that is much alike: each text in it is looked through once, and a half of a
    line that came before, but for its moment, not even that."""

    def __init__(self, secrets: Secrets) -> None:
        self.has_overlooked = False
        """Whether what was given back as clean may hold what became known as a secret later."""
        self._secrets = secrets
        self._count = len(secrets)
        self._has_forgotten = False
        self._seen: set[str] = set()
        self._clean: dict[str, str] = {}
        self._names: dict[str, str] = {}
        """What is another text as the name of a member: a word of letters stays there."""
        self._unquoted: set[str] = set()
        self._halves: dict[str, str] = {}
        self._size = 0

    def half(self, half: Half, others: Mapping[str, str], *, lasting: bool) -> str | None:
        """The half without its secrets; None where a number would have to go, which only a whole line can
        lose. ``lasting``: it is remembered. ``others``: what else its marks stand for."""
        clean = self._halves.get(half.text)
        if clean is None:
            clean = self._clean_pieces(half.text)
            if clean is None:
                return None
            if lasting:
                self._halves[half.text] = clean
                self._size += len(clean) + len(half.text)
        return half.filled(clean, others)

    def line(self, text: str, *, opening: str = "") -> str:
        """A line without its secrets. It stays JSON, also where a number had to go; ``opening`` makes it JSON
        where it is the end of some."""
        clean = self._clean_pieces(text)
        return self._secrets.redact_line(opening + text)[len(opening) :] if clean is None else clean

    def keep_up(self) -> None:
        """Looks again through what was clean, where more secrets are known by now."""
        if len(self._secrets) != self._count:
            self._count = len(self._secrets)
            seen, clean, unquoted = self._seen, self._clean, self._unquoted
            self._seen, self._clean, self._names, self._unquoted = set(), {}, {}, set()
            dirty = seen & (clean.keys() | unquoted)
            self._look_through(seen - dirty)
            self._look_through(dirty)
            if clean != self._clean or unquoted != self._unquoted:
                self.has_overlooked = True
                self._halves.clear()
            self.has_overlooked |= self._has_forgotten
        if len(self._seen) > KEPT or self._size > KEPT_HALVES:
            self._has_forgotten = True
            for kept in (self._seen, self._clean, self._names, self._unquoted, self._halves):
                kept.clear()
            self._size = 0

    def _clean_pieces(self, text: str) -> str | None:
        pieces = pieces_of(text)
        present = set(pieces)
        new = present - self._seen
        if new:
            self._look_through(new)
        if not self._unquoted.isdisjoint(present):
            return None
        clean, names = self._clean, self._names
        if clean.keys().isdisjoint(present):
            return text
        if names.keys().isdisjoint(present):
            return '"'.join([clean.get(piece, piece) for piece in pieces])
        is_name = [then.lstrip()[:1] == ":" for then in [*pieces[1:], ""]]
        return '"'.join(
            [
                names[piece] if named and piece in names else clean.get(piece, piece)
                for piece, named in zip(pieces, is_name, strict=True)
            ]
        )

    def _look_through(self, new: set[str]) -> None:
        self._seen |= new
        together = "\n".join(new)
        if self._secrets.redact(together) == together and not self._secrets.needs_whole_line(together):
            return
        for piece in new:
            if self._secrets.needs_whole_line(piece):
                self._unquoted.add(piece)
                continue
            clean = self._secrets.redact(piece)
            if clean == piece:
                continue
            if piece[:1] in (":", ",", "[", "{"):
                self._unquoted.add(piece)
                continue
            self._clean[piece] = clean
            name = self._secrets.redact(piece + '":')[:-2]
            if name != clean:
                self._names[piece] = name


class Line(NamedTuple):
    """A line that is to be written: what is the suite's own, and the exchange in two halves, with what else
    their marks stand for."""

    head: str
    halves: Halves
    others: Mapping[str, str]
    lasting: bool


class Evidence:
    """The file ``exchanges.jsonl``: an exchange's number is its line. The last lines wait to be written, so
    that what becomes known as a secret by the next answers does not stand in them."""

    def __init__(self, path: Path, secrets: Secrets) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.count = 0
        self._secrets = secrets
        self._cleaner = Cleaner(secrets)
        self._file = path.open("w", CHUNK, encoding="utf-8")
        self._waiting: list[Line] = []
        self._size = 0
        self._harmless: set[int] = set()
        self._looked: set[str] = set()
        self._naming: set[str] = set()

    def take(self, exchange: Exchange, answer: Answer | None = None) -> Exchange:
        """Notes its secrets, has it written soon, and gives it back with its number. What it says is noted
        with it, and the ``answer`` as it came where another like it would hold no secret."""
        self.count += 1
        numbered = exchange if exchange.n == self.count else replace(exchange, n=self.count)
        halves = request_half(exchange.request), said_by(exchange) or answer_half(exchange)
        hides = exchange.plain is not None or takes_secrets(exchange.request.path)
        lasting = not hides
        new = halves if hides else [half for half in halves if not self._is_harmless(half)]
        if new:
            lasting = not hides and not any(self._names_a_secret(half.text) for half in new)
            for value, kind in self._secrets_in(numbered, by_place=not lasting):
                self._secrets.add(value, kind)
            if lasting:
                self._harmless.update(hash(half.text) for half in new)
        self._wait(numbered, halves, NO_OTHERS, lasting=lasting)
        note_said(numbered, halves[1])
        if lasting and answer is not None:
            note_answer(numbered, answer)
        return numbered

    def take_familiar(self, exchange: Exchange, halves: Halves, others: Mapping[str, str]) -> None:
        """Has one written that is numbered, and like another but for what the marks in the halves of that
        stand for: it has no secret that the other had not."""
        self.count = exchange.n
        self._wait(exchange, halves, others, lasting=True)

    def _wait(self, exchange: Exchange, halves: Halves, others: Mapping[str, str], *, lasting: bool) -> None:
        self._waiting.append(Line(self._head(exchange), halves, others, lasting))
        self._size += len(halves[0].text) + len(halves[1].text)
        if self._size > WAITING:
            self._write()

    def _is_harmless(self, half: Half) -> bool:
        """Whether it came before, and names no secret."""
        if len(self._harmless) > 2 * KEPT:
            self._harmless.clear()
        return hash(half.text) in self._harmless

    def _head(self, exchange: Exchange) -> str:
        """What is the suite's own in a line, and other in each."""
        client = _quoted(exchange.client)
        times = f'"started":"{exchange.started}","elapsed_ms":{exchange.elapsed_ms}'
        return f'{{"n":{exchange.n},{times},"client":{client},'

    def _write(self) -> None:
        self._cleaner.keep_up()
        clean, write = self._cleaner.half, self._file.write
        for head, halves, others, lasting in self._waiting:
            first, second = (clean(half, others, lasting=lasting) for half in halves)
            if first is None or second is None:
                told = ",".join(half.filled(half.text, others) for half in halves)
                write(f"{head}{self._cleaner.line(told, opening='{')}\n")
            else:
                write(f"{head}{first},{second}\n")
        self._waiting.clear()
        self._size = 0

    def _names_a_secret(self, told: str) -> bool:
        """Whether a member in some JSON without blanks has the name of a secret."""
        pieces = set(pieces_of(told))
        if len(self._looked) > KEPT:
            self._looked.clear()
            self._naming.clear()
        new = pieces - self._looked
        if new:
            self._looked |= new
            self._naming.update(filter(names_a_secret, new))
        return any(f'"{name}":' in told for name in self._naming & pieces)

    def _secrets_in(self, exchange: Exchange, *, by_place: bool) -> Iterable[tuple[str, str]]:
        """As ``secrets_in``; the bodies need no look where no name in them is that of a secret."""
        if by_place:
            return secrets_in(exchange)
        return [one for one in in_headers_and_query(exchange) if not is_placeholder(one[0])]

    def close(self) -> None:
        """Writes what waits, and all lines again where they hold what was not known to be a secret."""
        self._write()
        self._cleaner.keep_up()
        self._file.close()
        if not self._cleaner.has_overlooked:
            return
        clean = self.path.with_suffix(".jsonl.clean")
        with self.path.open(encoding="utf-8") as lines, clean.open("w", encoding="utf-8") as out:
            for line in lines:
                head, between, told = line.rstrip("\n").partition(REQUEST)
                out.write(f"{head}{between}{self._cleaner.line(told, opening='{' + between)}\n")
        clean.replace(self.path)
