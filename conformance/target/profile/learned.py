"""What was learned of a target, as TOML: to paste, or written into a profile whose comments stay."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.items import Comment, Item, Key, Table, Whitespace

from conformance.errors import UsageError
from conformance.traffic.exchange import Json

RECORDS = "records"
RECORDS_NOTE = 'Found at the target. A run only reads them; it may change those whose "# " you remove.'

T = TypeVar("T")

OWN = "# By `doctor`"
"""What the comment of a table begins with that the doctor wrote."""

MARK = "\ufeff"
"""What some editors put before a text in UTF-8."""


@dataclass(frozen=True, slots=True)
class Learned:
    """``tables``: keys and values by table. ``records``: ids that were found, by their key in [records];
    they are written as comments, because a run may change the records that a profile names. ``notes``: by
    table, the comments that stand above its keys."""

    tables: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    records: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.tables or self.records)


def written(text: str, learned: Learned) -> str:
    """The text of a profile with what was learned; what the profile says already stays as it is, with its
    comments, order and line ends. UsageError: a table stands without a line of its own."""
    if text.startswith(MARK):
        return MARK + written(text.removeprefix(MARK), learned)
    text = renewed(text, learned)
    new = unsaid(text, learned)
    if not new:
        return text
    end = _end_of(text)
    document = tomlkit.parse(text if not text or text.endswith("\n") else text + end)
    for name, values in new.tables.items():
        _add(document, name, [*_comments(new.notes.get(name, ())), *_items(values)], end=end)
    if new.records:
        note = [] if RECORDS_NOTE in text else [RECORDS_NOTE]
        lines = [f"{name} = {tomlkit.string(id).as_string()}" for name, id in new.records.items()]
        _add(document, RECORDS, _comments([*note, *lines]), end=end)
    return tomlkit.dumps(document)


def renewed(text: str, learned: Learned) -> str:
    """The text with newer values in the tables that an earlier doctor wrote, as the comment above their keys
    says."""
    if not text or text.startswith(MARK):
        return text
    document = tomlkit.parse(text)
    for name, lines in learned.notes.items():
        table = document.get(name)
        if not isinstance(table, Table):
            continue
        body = table.value.body
        first = next((at for at, (_, item) in enumerate(body) if item.as_string().startswith(OWN)), None)
        if first is None or all(table[key] == value for key, value in learned.tables[name].items()):
            continue
        for at, (_, comment) in enumerate(_comments(lines), first):
            if at < len(body) and isinstance(body[at][1], Comment):
                body[at] = (None, _ended(comment, _end_of(text)))
        table.update(learned.tables[name])
    return tomlkit.dumps(document)


def _end_of(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def unsaid(text: str, learned: Learned) -> Learned:
    """Learned values that the profile lacks; records in comments count as present."""
    present = tomllib.loads(text.removeprefix(MARK))
    tables = {name: _lacking(present.get(name), values) for name, values in learned.tables.items()}
    records = {
        name: value
        for name, value in _lacking(present.get(RECORDS), learned.records).items()
        if not re.search(rf'(?m)^# {name} = (?!"…")', text)
    }
    notes = {name: lines for name, lines in learned.notes.items() if name not in present}
    return Learned({name: lacking for name, lacking in tables.items() if lacking}, records, notes)


def differing(text: str, learned: Learned) -> Iterator[tuple[str, Json, Json]]:
    """Keys whose profile value differs from the learned one, with both values."""
    document = tomllib.loads(text.removeprefix(MARK))
    for name, values in learned.tables.items():
        present = document.get(name, {})
        for key, value in values.items():
            if key in present and present[key] != value:
                yield f"[{name}] {key}", present[key], value


def _lacking(present: Json, values: Mapping[str, T]) -> dict[str, T]:
    return {
        key: value for key, value in values.items() if not isinstance(present, dict) or key not in present
    }


def _comments(lines: Iterable[str]) -> Iterator[tuple[str | None, Item]]:
    return ((None, tomlkit.comment(line)) for line in lines)


def _items(values: Mapping[str, Json]) -> Iterator[tuple[str | None, Item]]:
    return ((key, tomlkit.item(value)) for key, value in values.items())


def _add(document: TOMLDocument, name: str, items: Iterable[tuple[str | None, Item]], *, end: str) -> None:
    """Adds items to a document's table, which is made where it is missing. Blank lines and comments that lead
    to the next table stay where they are. UsageError: the table stands without a line of its own."""
    if name not in document:
        if document.as_string().strip():
            document.add(tomlkit.ws(end))
        document.add(name, _ended(tomlkit.table(), end))
    table = document[name]
    is_dotted = any(key is not None and key.key == name and key.is_dotted() for key, _ in document.body)
    if not isinstance(table, Table) or is_dotted:
        raise UsageError(
            f"[{name}] has no line of its own in the profile; nothing was written. Write [{name}] above its "
            "keys."
        )
    below = _below(table.value.body, is_last=document.body[-1][1] is table)
    for key, item in items:
        table.add(*((_ended(item, end),) if key is None else (key, _ended(item, end))))
    table.value.body.extend(below)


def _below(body: list[tuple[Key | None, Item]], *, is_last: bool) -> list[tuple[Key | None, Item]]:
    """Takes from the end of a table what leads to the next one: blank lines, and the comments below them."""
    below: list[tuple[Key | None, Item]] = []
    for kind in (Whitespace,) if is_last else (Comment, Whitespace):
        while body and body[-1][0] is None and isinstance(body[-1][1], kind):
            below.insert(0, body.pop())
    return below


def _ended(item: Item, end: str) -> Item:
    item.trivia.trail = end
    return item
