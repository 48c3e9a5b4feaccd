"""What was learned of a target, as TOML: to paste, or written into a profile whose comments stay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import tomlkit
from tomlkit.items import Table

from conformance.traffic.exchange import Json

RECORDS = "records"
RECORDS_NOTE = 'Found at the target. A run only reads them; it may change those whose "# " you take away.'


@dataclass(frozen=True, slots=True)
class Learned:
    """``tables``: keys and values by table. ``records``: ids that were found, by their key in [records];
    they are written as comments, because a run may change the records that a profile names."""

    tables: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    records: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.tables or self.records)


def as_toml(learned: Learned) -> str:
    """What was learned, as tables to paste."""
    return written("", learned)


def written(text: str, learned: Learned) -> str:
    """The text of a profile with what was learned; what the profile says already stays as it is."""
    document = tomlkit.parse(text)
    for name, values in learned.tables.items():
        table = _table(document, name)
        for key, value in values.items():
            if key not in table:
                table.add(key, value)
    lines = [line for line in _record_lines(learned) if f"# {line}" not in text]
    if lines and RECORDS_NOTE not in text:
        lines = [RECORDS_NOTE, *lines]
    if lines:
        table = _table(document, RECORDS)
        for line in lines:
            table.add(tomlkit.comment(line))
    return tomlkit.dumps(document)


def _record_lines(learned: Learned) -> Iterator[str]:
    for name, value in learned.records.items():
        yield f"{name} = {tomlkit.string(value).as_string()}"


def _table(document: tomlkit.TOMLDocument, name: str) -> Table:
    """A table of the document; a new one at its end where there is none."""
    if name not in document:
        if document.as_string().strip():
            document.add(tomlkit.nl())
        document.add(name, tomlkit.table())
    table = document[name]
    assert isinstance(table, Table)
    return table
