"""What was learned of a target, as TOML: to paste, or written into a profile whose comments stay."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.container import OutOfOrderTableProxy
from tomlkit.items import Comment, InlineTable, Item, Key, Table, Whitespace

from conformance.errors import UsageError
from conformance.traffic.exchange import Json

RECORDS = "records"
RECORDS_NOTE = 'Found at the target. A run only reads them; it may change those whose "# " you remove.'
INLINE_NOTE = "Found at the target. A run only reads them; it may change those that you write into records."

EXAMPLE = re.compile(r"# (\w+) = .*?(?:\s{2,}(#.*))?")
"""A key that a comment shows, with its own comment."""

T = TypeVar("T")

MARK = "\ufeff"
"""What some editors put before a text in UTF-8."""

ProfileTable = Table | InlineTable | OutOfOrderTableProxy
"""The forms of a table: with a header or dotted keys, in one line, and in several places."""


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


def as_toml(learned: Learned) -> str:
    """What was learned, as tables to paste."""
    return written("", learned)


def written(text: str, learned: Learned) -> str:
    """The text of a profile with what was learned; what the profile says already stays as it is, with its
    comments, order and line ends. A table that only comments show becomes one where it stands. UsageError:
    what should be a table is none."""
    if text.startswith(MARK):
        return MARK + written(text.removeprefix(MARK), learned)
    new = unsaid(text, learned)
    if not new:
        return text
    end = "\r\n" if "\r\n" in text else "\n"
    whole = text if not text or text.endswith("\n") else text + end
    opened = _with_tables_of_comments(whole.replace("\r\n", "\n"), new).replace("\n", end)
    new = unsaid(opened, new)
    document = tomlkit.parse(opened)
    for name, values in new.tables.items():
        _add_values(document, name, values, notes=new.notes.get(name, ()), end=end)
    _add_records(document, new, end=end)
    return tomlkit.dumps(document)


def unsaid(text: str, learned: Learned) -> Learned:
    """Learned values that the profile lacks; records in comments count as present."""
    document = tomlkit.parse(text.removeprefix(MARK))
    tables = {name: _lacking(document, name, values) for name, values in learned.tables.items()}
    records = {
        name: value
        for name, value in _lacking(document, RECORDS, learned.records).items()
        if not re.search(rf'(?m)^# {name} = (?!"…")', text)
    }
    notes = {name: lines for name, lines in learned.notes.items() if name not in document}
    return Learned({name: lacking for name, lacking in tables.items() if lacking}, records, notes)


def differing(text: str, learned: Learned) -> Iterator[tuple[str, Json, Json]]:
    """Keys whose profile value differs from the learned one, with both values."""
    document = tomlkit.parse(text.removeprefix(MARK))
    for name, values in learned.tables.items():
        present = _checked(document, name).unwrap() if name in document else {}
        for key, value in values.items():
            if key in present and present[key] != value:
                yield f"[{name}] {key}", present[key], value


def _lacking(document: TOMLDocument, name: str, values: Mapping[str, T]) -> dict[str, T]:
    present = _checked(document, name) if name in document else ()
    return {key: value for key, value in values.items() if key not in present}


def _with_tables_of_comments(text: str, new: Learned) -> str:
    """The text with the tables that it shows in comments only, and the keys among them that were learned.
    Records stay comments, with their ids."""
    names = [*new.tables, *([RECORDS] if new.records else [])]
    for name in names:
        lines = text.split("\n")
        start = _commented_table(lines, name)
        if start is None:
            continue
        notes = (RECORDS_NOTE,) if name == RECORDS else new.notes.get(name, ())
        lines[start : start + 1] = [f"[{name}]", *(f"# {note}" for note in notes)]
        values = new.records if name == RECORDS else new.tables[name]
        _fill_comments(lines, start + 1, values, mark="# " if name == RECORDS else "")
        text = "\n".join(lines)
    return text


def _commented_table(lines: Sequence[str], name: str) -> int | None:
    """The line that shows a table's head in a comment, where no key of another table follows that would fall
    to it; None where there is none, or the table is there."""
    heads = [f"[{name}]", f"{name} = ", f"{name}."]
    if any(line.startswith(tuple(heads)) for line in lines) or f"# [{name}]" not in lines:
        return None
    start = lines.index(f"# [{name}]")
    for line in lines[start:]:
        if line.startswith("["):
            return start
        if line.strip() and not line.startswith("#"):
            return None
    return start


def _fill_comments(lines: list[str], start: int, values: Mapping[str, Json], *, mark: str) -> None:
    """Writes values in place of the examples in the comments below a table's head."""
    for number in range(start, len(lines)):
        if not lines[number].startswith("#") or lines[number].startswith("# ["):
            return
        example = EXAMPLE.fullmatch(lines[number])
        if example is not None and example[1] in values:
            value = f"{mark}{example[1]} = {tomlkit.item(values[example[1]]).as_string()}"
            column = len(lines[number]) - len(example[2] or "")
            lines[number] = f"{value.ljust(column - 2)}  {example[2]}" if example[2] else value


def _add_values(
    document: TOMLDocument, name: str, values: Mapping[str, Json], *, notes: Sequence[str], end: str
) -> None:
    """Adds keys at the end of a document's table; a new table gets notes above its keys."""
    table = _table(document, name, end=end)
    if isinstance(table, InlineTable):
        document[name] = _longer(table, values)
        return
    items = {key: _ended(tomlkit.item(value), end) for key, value in values.items()}
    if isinstance(table, OutOfOrderTableProxy):
        for key, item in items.items():
            table[key] = item
        return
    comments = [(None, _ended(tomlkit.comment(note), end)) for note in notes]
    _add_above_the_next_table(document, table, [*comments, *items.items()])


def _add_records(document: TOMLDocument, learned: Learned, *, end: str) -> None:
    """Adds the records that were found as comments: to [records], or last where that stands in one line."""
    lines, text = list(_record_lines(learned)), document.as_string()
    if not lines:
        return
    table = _table(document, RECORDS, end=end)
    is_plain = isinstance(table, Table) and not _is_dotted(document, RECORDS)
    note = RECORDS_NOTE if is_plain else INLINE_NOTE
    comments = [_ended(tomlkit.comment(line), end) for line in ([] if note in text else [note]) + lines]
    if isinstance(table, Table) and is_plain:
        _add_above_the_next_table(document, table, [(None, comment) for comment in comments])
        return
    for item in (tomlkit.ws(end), *comments):
        document.add(item)


def _add_above_the_next_table(
    document: TOMLDocument, table: Table, items: Iterable[tuple[str | None, Item]]
) -> None:
    """Adds items to a table; blank lines and comments that lead to the next table stay where they are."""
    below = _below(table.value.body, is_last=document.body[-1][1] is table)
    for key, item in items:
        if key is None:
            table.add(item)  # type: ignore[call-overload]
        else:
            table.add(key, item)
    table.value.body.extend(below)


def _below(body: list[tuple[Key | None, Item]], *, is_last: bool) -> list[tuple[Key | None, Item]]:
    """Takes from the end of a table what leads to the next one: blank lines, and the comments below them."""
    below: list[tuple[Key | None, Item]] = []
    for kind in (Whitespace,) if is_last else (Comment, Whitespace):
        while body and body[-1][0] is None and isinstance(body[-1][1], kind):
            below.insert(0, body.pop())
    return below


def _longer(table: InlineTable, values: Mapping[str, Json]) -> InlineTable:
    """An inline table with further keys."""
    longer = tomlkit.inline_table()
    longer.update({**table.unwrap(), **values})
    return longer


def _table(document: TOMLDocument, name: str, *, end: str) -> ProfileTable:
    """The document's table of this name, appended if missing."""
    if name not in document:
        if document.as_string().strip():
            document.add(tomlkit.ws(end))
        document.add(name, _ended(tomlkit.table(), end))
    return _checked(document, name)


def _checked(document: TOMLDocument, name: str) -> ProfileTable:
    table = document[name]
    if not isinstance(table, ProfileTable):
        raise UsageError(
            f"[{name}] is no table in the profile; nothing was written. Write [{name}] above its keys."
        )
    return table


def _is_dotted(document: TOMLDocument, name: str) -> bool:
    """Whether a table is written as dotted keys (``records.role = …``)."""
    return any(key is not None and key.key == name and key.is_dotted() for key, _ in document.body)


def _ended(item: Item, end: str) -> Item:
    """The item with the document's line end."""
    item.trivia.trail = end
    return item


def _record_lines(learned: Learned) -> Iterator[str]:
    for name, value in learned.records.items():
        yield f"{name} = {tomlkit.string(value).as_string()}"
