"""Rows of TOML files that people edit: read with the reason of a refusal, written with comments and order."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import tomlkit

from conformance.errors import UsageError
from conformance.report.across.toml_text import TomlBlock, TomlText
from conformance.report.model.visible import visible
from conformance.traffic.documents import document_text
from conformance.traffic.replacing import replace_file, text_of

NO_REASON = "say here why this is accepted"

RowKey = tuple[str, ...]
Scalar = str | int | float | bool
RowValues = Mapping[str, Scalar | date | None]
LONGEST_VALUE = 200
"""Characters of a text that is a value of a row."""
NOT_SCALAR = f"must be a text of at most {LONGEST_VALUE} characters, a number, true or false."


@dataclass(frozen=True, slots=True)
class RowForm:
    """The keys of a row: ``texts`` in their order, of which the ``needed`` are not empty, and ``expires``.
    ``unknown``, ``not_text`` and ``purpose`` complete the sentences that refuse a row. ``choices``: the words
    that a text may be. ``scalars`` are texts, numbers or booleans, a part of the row's key."""

    texts: tuple[str, ...]
    needed: tuple[str, ...]
    unknown: Callable[[str], str]
    not_text: str
    purpose: str
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    scalars: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        return *self.texts, *self.scalars, "expires"

    def values_of(self, row: object) -> RowValues:
        return {name: getattr(row, name) for name in self.keys}

    def checked(self, row: Any, where: str) -> dict[str, Any]:
        """The values of a row, with its last day as a date. UsageError: it lacks something, or has a key that
        is none."""
        if not isinstance(row, dict):
            raise UsageError(f"{where} is not a table. Write its keys below it, each as name = value.")
        unknown = next((name for name in row if name not in self.keys), None)
        if unknown is not None:
            raise UsageError(f'{where} has no key "{unknown}". {self.unknown(unknown)}'.rstrip())
        other = next((name for name in self.texts if not isinstance(row.get(name, ""), str)), None)
        if other is not None:
            raise UsageError(f"{where}: {other} {self.not_text}")
        other = next((name for name in self.scalars if name in row and not is_short_scalar(row[name])), None)
        if other is not None:
            raise UsageError(f"{where}: {other} {NOT_SCALAR}")
        lacking = next((name for name in self.needed if not row.get(name, "").strip()), None)
        if lacking is not None:
            raise UsageError(f"{where} lacks {lacking}. {self.purpose}")
        values = {**row, "expires": day_of(row.get("expires"), where)}
        self._check_words(row, where)
        return values

    def _check_words(self, row: Mapping[str, str], where: str) -> None:
        for name, words in self.choices.items():
            if row[name] not in words:
                near = get_close_matches(row[name].lower(), words, n=1)
                hint = f' Did you mean "{near[0]}"?' if near else ""
                raise UsageError(f'{where}: {name} must be {_listed(words)}, not "{row[name]}".{hint}')

    def text(self, table: str, values: RowValues) -> str:
        """The row as TOML; what is empty and not needed is left out."""
        row = tomlkit.table()
        for name in self.texts:
            if values[name] or name in self.needed:
                row.add(name, visible(str(values[name])))
        for name in self.scalars:
            if values[name] is not None:
                row.add(name, values[name])
        if values["expires"] is not None:
            row.add("expires", values["expires"])
        rows, document = tomlkit.aot(), tomlkit.document()
        rows.append(row)
        document.add(table, rows)
        return tomlkit.dumps(document)


def is_short_scalar(value: Any) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and len(value) <= LONGEST_VALUE)


def _listed(words: Sequence[str]) -> str:
    """``"status", "code" or "type"``."""
    quoted = [f'"{word}"' for word in words]
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}"


@dataclass(frozen=True, slots=True)
class TomlRow:
    """A row to write. It replaces the file's row with the same ``key``, also in another table."""

    table: str
    key: RowKey
    values: RowValues
    form: RowForm

    @property
    def text(self) -> str:
        return self.form.text(self.table, self.values)

    def fitted(self, block: str, table: str) -> str:
        """The text of this row as it stands in the file, with the values that differ replaced."""
        document = tomlkit.parse(block)
        row = document[table][0]
        present = self.form.checked(row.unwrap(), table)
        for name, value in self.values.items():
            if name in self.form.scalars or (present.get(name) or None) == (value or None):
                continue
            if value:
                row[name] = visible(value) if isinstance(value, str) else value
            else:
                row.remove(name)
        return tomlkit.dumps(document)


@dataclass(frozen=True, slots=True)
class RowFile:
    """A file of rows. ``header`` is the comment that a new file begins with, ``about`` the comment before the
    first row of a table."""

    header: str
    key_of: Callable[[str, Mapping[str, Any]], RowKey]
    about: Mapping[str, str]

    def write(self, rows: list[TomlRow], path: Path) -> None:
        """Writes the rows, in one step. Comments, order and line ends of rows that stay are kept; new rows
        stand below those of their table. UsageError: the file cannot be written."""
        try:
            before = text_of(path) if path.exists() else ""
            after = self.rewritten(before, rows)
            if after != before or not before:
                path.parent.mkdir(parents=True, exist_ok=True)
                replace_file(path, after)
        except OSError as refused:
            raise UsageError(
                f"{path}: cannot be written ({refused.strerror}). Check its permissions."
            ) from None

    def rewritten(self, text: str, rows: list[TomlRow]) -> str:
        is_crlf = "\r\n" in text and text.count("\n") == text.count("\r\n")
        after = self._with_rows(text.replace("\r\n", "\n") if is_crlf else text, rows)
        return after.replace("\n", "\r\n") if is_crlf else after

    def _with_rows(self, text: str, rows: list[TomlRow]) -> str:
        file = TomlText.of(text) or TomlText(self.header)
        wanted = {(row.table, row.key): row for row in rows}
        removed: dict[RowKey, TomlBlock] = {}
        for block in reversed(file.blocks):
            key = self.key_of(block.table, block.values())
            row = wanted.pop((block.table, key), None)
            if row is None:
                removed[key] = block
                block.is_removed = True
            else:
                block.own = row.fitted(block.own, block.table)
        for row in wanted.values():
            old = removed.get(row.key)
            file.add(TomlBlock(row.table, row.text) if old is None else _moved(old, row))
        return file.text(self.about)


def _moved(block: TomlBlock, row: TomlRow) -> TomlBlock:
    """A row of the file with its comments, for another table."""
    return TomlBlock(
        row.table, row.fitted(block.own, block.table).replace(block.table, row.table, 1), block.lead
    )


def document_of(path: Path, *, absent: str) -> dict[str, Any]:
    """The tables of a file. UsageError: it cannot be read; ``absent`` says what to do where there is none."""
    try:
        return tomllib.loads(document_text(path))
    except FileNotFoundError:
        raise UsageError(f"{path}: {absent}") from None
    except OSError as refused:
        raise UsageError(f"{path}: cannot be read ({refused.strerror}). Check the path.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as broken:
        raise UsageError(f"{path}: this is not TOML: {broken}.") from None


def day_of(value: Any, where: str) -> date | None:
    """The last day of a row. UsageError: it is none."""
    if value is None or value == "":
        return None
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise UsageError(f"{where}: expires must be a day such as 2027-01-31.") from None
