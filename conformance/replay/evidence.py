"""The exchanges of a replay as they end: numbered, their secrets learned, and written without them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from conformance.exchange import Exchange
from conformance.redact import Secrets
from conformance.secret_places import (
    in_headers_and_query,
    is_placeholder,
    names_a_secret,
    secrets_in,
    takes_secrets,
)

KEPT = 100_000
"""Pieces of text that are remembered as holding no secret."""


_QUOTE = re.compile(r'(?<!\\)"')


def pieces_of(text: str) -> list[str]:
    """What stands between the quotes in some JSON: its texts and names, and in turn what separates them."""
    return _QUOTE.split(text) if '\\"' in text else text.split('"')


class Cleaner:
    """Takes secrets out of lines of JSON that are much alike: each text in them is looked through once."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._count = -1
        self._forget()

    def line(self, text: str, pieces: list[str], *, opening: str = "") -> str:
        """The line without its secrets, given with its ``pieces_of``. It stays JSON, also where a number had
        to go; ``opening`` makes it JSON where it is the end of some."""
        if len(self._secrets) != self._count or len(self._seen) > KEPT:
            self._forget()
        present = set(pieces)
        new = present - self._seen
        if new:
            self._look_through(new)
        if not self._unquoted.isdisjoint(present):
            return self._secrets.redact_line(opening + text)[len(opening) :]
        clean = self._clean
        if clean.keys().isdisjoint(present):
            return text
        return '"'.join([clean.get(piece, piece) for piece in pieces])

    def _look_through(self, new: set[str]) -> None:
        self._seen |= new
        together = '"'.join(new)
        if self._secrets.redact(together) == together:
            return
        for piece in new:
            clean = self._secrets.redact(piece)
            if clean == piece:
                continue
            if piece[:1] in (":", ",", "[", "{"):
                self._unquoted.add(piece)
            else:
                self._clean[piece] = clean

    def _forget(self) -> None:
        """What was clean may hold a secret that is known only now."""
        self._count = len(self._secrets)
        self._seen: set[str] = set()
        self._clean: dict[str, str] = {}
        self._unquoted: set[str] = set()


class Evidence:
    """The file ``exchanges.jsonl``: an exchange's number is its line."""

    def __init__(self, path: Path, secrets: Secrets) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.count = 0
        self._secrets = secrets
        self._cleaner = Cleaner(secrets)
        self._encode = msgspec.json.Encoder().encode
        self._file = path.open("w", encoding="utf-8")
        self._known = len(secrets)
        self._written_before = 0
        self._looked: set[str] = set()
        self._naming: set[str] = set()

    def take(self, exchange: Exchange) -> Exchange:
        """Writes an exchange, and gives it back with its number."""
        self.count += 1
        numbered = replace(exchange, n=self.count)
        # Number and time are the suite's own, and other in each line.
        head, between, told = self._encode(numbered).decode().partition('"request":')
        pieces = pieces_of(told)
        for value, kind in self._secrets_in(numbered, pieces):
            self._secrets.add(value, kind)
        self._note_new_secrets()
        clean = self._cleaner.line(told, pieces, opening="{" + between)
        self._file.write(f"{head}{between}{clean}\n")
        return numbered

    def _secrets_in(self, exchange: Exchange, pieces: list[str]) -> Iterable[tuple[str, str]]:
        """As ``secrets_in``. Where no name in the JSON is that of a secret, the bodies need no look."""
        if len(self._looked) > KEPT:
            self._looked.clear()
            self._naming.clear()
        new = set(pieces) - self._looked
        if new:
            self._looked |= new
            self._naming.update(filter(names_a_secret, new))
        if (
            exchange.plain is not None
            or takes_secrets(exchange.request.path)
            or not self._naming.isdisjoint(pieces)
        ):
            return secrets_in(exchange)
        return [one for one in in_headers_and_query(exchange) if not is_placeholder(one[0])]

    def _note_new_secrets(self) -> None:
        """A secret may stand in what was written before it was known to be one."""
        if len(self._secrets) != self._known:
            self._known = len(self._secrets)
            self._written_before = self.count

    def close(self) -> None:
        """Closes the file, and goes over the lines that were written before the last secret was known."""
        self._note_new_secrets()
        self._file.close()
        if not self._written_before:
            return
        clean = self.path.with_suffix(".jsonl.clean")
        with self.path.open(encoding="utf-8") as lines, clean.open("w", encoding="utf-8") as out:
            for _ in range(self._written_before):
                line = next(lines).rstrip("\n")
                out.write(self._cleaner.line(line, pieces_of(line)) + "\n")
            shutil.copyfileobj(lines, out)
        clean.replace(self.path)
