"""The text of a TOML file of rows, as one block for each ``[[row]]`` with the comments that belong to it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

ROW = re.compile(r"[ \t]*\[\[[ \t]*([\w-]+)[ \t]*\]\]")


@dataclass(slots=True)
class TomlBlock:
    """One row. ``lead`` are the comments directly above it, ``own`` its header and keys, ``gap`` the blank
    lines and comments below it, which stay where the row is removed."""

    table: str
    own: str
    lead: str = ""
    gap: str = ""
    is_removed: bool = False

    def values(self) -> Mapping[str, Any]:
        (row,) = tomllib.loads(self.own)[self.table]
        return dict(row)

    @property
    def text(self) -> str:
        if self.is_removed:
            return self.gap.lstrip("\n")
        return f"{self.lead}{self.own}{self.gap}"


@dataclass(slots=True)
class TomlText:
    """A file of rows. ``opening`` is what stands above the first of them."""

    opening: str = ""
    blocks: list[TomlBlock] = field(default_factory=list)

    @classmethod
    def of(cls, text: str) -> TomlText | None:
        """The blocks of a text; None where it is empty, or its rows are not written with ``[[…]]``."""
        if not text.strip():
            return None
        parts = list(_parts(text if text.endswith("\n") else f"{text}\n"))
        file, lead = cls(), ""
        for number, part in enumerate(parts):
            own, gap, lead_of_next = _cut(part, is_last=number == len(parts) - 1)
            header = ROW.match(own)
            if header is None:
                file.opening = own + gap
            else:
                file.blocks.append(TomlBlock(header[1], own, lead, gap))
            lead = lead_of_next
        return file if _is_whole(file, text) else None

    def text(self) -> str:
        text = self.opening
        for block in self.blocks:
            text = text + block.text if block.is_removed else _spaced(text) + block.text
        return f"{text.rstrip()}\n"


def _parts(text: str) -> Iterator[str]:
    """The text from each row's header to the next; a line in a text of several lines is no header."""
    part = ""
    for line in text.splitlines(keepends=True):
        if ROW.match(line) and _is_toml(part):
            yield part
            part = ""
        part += line
    yield part


def _cut(part: str, *, is_last: bool) -> tuple[str, str, str]:
    """Splits off a row with its own comments, the gap below it, and the comments of the next row."""
    lines = part.splitlines(keepends=True)
    end = next((n for n in range(len(lines), 0, -1) if not _is_aside(lines[n - 1])), 0)
    lead = len(lines)
    while not is_last and lead > end and lines[lead - 1].strip():
        lead -= 1
    while end and end < lead and lines[end].strip():
        end += 1
    return "".join(lines[:end]), "".join(lines[end:lead]), "".join(lines[lead:])


def _is_aside(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _is_whole(file: TomlText, text: str) -> bool:
    """Whether the blocks hold every row of the text, and nothing stands above them."""
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for block in file.blocks:
        rows.setdefault(block.table, []).append(block.values())
    return rows == tomllib.loads(text) and not tomllib.loads(file.opening)


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _spaced(text: str) -> str:
    return text if not text or text.endswith("\n\n") else f"{text}\n"
