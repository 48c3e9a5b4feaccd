"""The exchanges of a replay as they end: numbered, their secrets learned, and written without them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import msgspec
from msgspec.structs import replace

from conformance.exchange import Exchange
from conformance.redact import Secrets, secrets_in

KEPT = 100_000
"""Pieces of text that are remembered as holding no secret."""


_QUOTE = re.compile(r'(?<!\\)"')


class Cleaner:
    """Takes secrets out of lines of JSON that are much alike: each text in them is looked through once."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._count = -1
        self._forget()

    def line(self, text: str) -> str:
        """The line without its secrets. It stays JSON, also where a number had to go."""
        if len(self._secrets) != self._count or len(self._seen) > KEPT:
            self._forget()
        pieces = _QUOTE.split(text) if '\\"' in text else text.split('"')
        new = set(pieces).difference(self._seen)
        if new:
            self._look_through(new)
        if not self._unquoted.isdisjoint(pieces):
            return self._secrets.redact_line(text)
        clean = self._clean
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

    def take(self, exchange: Exchange) -> Exchange:
        """Writes an exchange, and gives it back with its number."""
        for value, kind in secrets_in(exchange):
            self._secrets.add(value, kind)
        self._note_new_secrets()
        self.count += 1
        numbered = replace(exchange, n=self.count)
        self._file.write(self._cleaner.line(self._encode(numbered).decode()) + "\n")
        return numbered

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
                out.write(self._cleaner.line(next(lines).rstrip("\n")) + "\n")
            shutil.copyfileobj(lines, out)
        clean.replace(self.path)
