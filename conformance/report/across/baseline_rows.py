"""Rows of what is known to fail or to differ, in a file beside the code that runs the suite.

::

    [[known]]
    rule = "ENV-008"
    endpoint = "POST /web/v1/system/auth/login/initiate"
    path = "data"
    reason = "the error handler fills data; fixed in the next release"
    ticket = "PORTAL-123"
    until = 2027-01-31

    [[known]]
    endpoint = "GET /web/v1/system/roles"
    path = "data[*].roleName"
    kind = "value"
    reason = "the roles were renamed in release 7"

A row with a rule lists a finding, one with a kind a difference of a replay. One with both lists a difference,
and the findings of its rule at its endpoint.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import Any

import tomlkit

from conformance.errors import UsageError
from conformance.report.across.older_rows import in_present_form
from conformance.report.model.marked import literal
from conformance.report.model.regressions import Place
from conformance.report.model.run import OF_REPLAYS, BaselineEntry, FindingEntry, Regression, short_id
from conformance.report.model.visible import visible
from conformance.spec import present_id
from conformance.traffic.difference_kinds import DIFFERENCE_KINDS
from conformance.traffic.documents import toml_tables, user_text
from conformance.traffic.exchange import Json
from conformance.traffic.replacing import replace_file, text_of
from conformance.verdicts.findings import Finding

TABLE = "known"
NO_REASON = "say here why this is accepted"
NOISE = "differs between two replays of one build"
UNEXPLAINED = frozenset({NO_REASON, NOISE})
"""The reasons that the suite writes: a row that has one lacks a reason of its own."""
HEADER = """\
# What is known to fail or to differ. What is listed here fails nothing until its last day. A row that lists
# nothing any more, or whose day has passed, fails a run until it is removed.
"""
LONGEST_VALUE = 200
"""Characters of a text that is a value of a row."""
Scalar = str | int | float | bool
RowKey = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BaselineRow:
    """One row, with its keys in the order of the file. ``path`` has ``[*]`` for each index. ``was`` is the
    recorded value and ``now`` the replayed one; without them a row lists any. A ``flaky`` row may list
    nothing. ``until`` is the last day on which it holds."""

    rule: str = ""
    endpoint: str = ""
    path: str = ""
    kind: str = ""
    was: Scalar | None = None
    now: Scalar | None = None
    reason: str = NO_REASON
    flaky: bool = False
    ticket: str = ""
    until: date | None = None

    @property
    def key(self) -> RowKey:
        """What tells two rows apart."""
        return self.rule, self.endpoint, self.path, self.kind, literal(self.was), literal(self.now)

    @property
    def place(self) -> Place:
        return self.endpoint, self.path, self.kind

    @property
    def has_values(self) -> bool:
        return self.was is not None or self.now is not None

    @property
    def signature(self) -> str:
        """The finding as its results name it, or the difference: ``GET /roles status status 200 → 404``."""
        if not self.kind:
            return f"{self.rule} {self.endpoint} {self.path.replace('[*]', '[]')}".strip()
        sides = ("any" if value is None else literal(value) for value in (self.was, self.now))
        values = f" {' → '.join(sides)}" if self.has_values else ""
        return f"{self.endpoint} {self.path} {self.kind}{values}"

    def is_expired(self, today: date) -> bool:
        return self.until is not None and self.until < today

    def lists(self, finding: Finding | FindingEntry) -> bool:
        """Whether the row lists a finding. One that names a difference lists all of its rule there."""
        is_there = self.rule == finding.requirement and self.endpoint == finding.endpoint
        return is_there and (bool(self.kind) or self.signature == finding.signature)

    def accepts(self, difference: Regression) -> bool:
        """Whether the row lists a difference at its place, by the values."""
        sides = ((self.was, difference.recorded), (self.now, difference.replayed))
        return all(value is None or _is_same(value, actual) for value, actual in sides)

    def entry(self) -> BaselineEntry:
        """The row as ``results.json`` has it."""
        return BaselineEntry(
            id=short_id(*self.place) if self.kind else short_id(self.signature),
            signature=self.signature,
            requirement=OF_REPLAYS if self.kind else self.rule,
            endpoint=self.endpoint,
            reason=self.reason,
            ticket=self.ticket,
            expires=self.until.isoformat() if self.until else "",
        )

    @property
    def text(self) -> str:
        """TOML text of the row, without default values."""
        values = ((each, getattr(self, each.name)) for each in fields(self))
        shown = {
            each.name: visible(value) if isinstance(value, str) else value
            for each, value in values
            if value != each.default or each.name == "reason"
        }
        return f"[[{TABLE}]]\n{tomlkit.dumps(shown)}"


def _is_same(value: Scalar, actual: Json) -> bool:
    """Whether two values are one as JSON: ``true`` is no 1."""
    return isinstance(value, bool) == isinstance(actual, bool) and bool(value == actual)


def load(path: Path) -> tuple[BaselineRow, ...]:
    """The rows of a file. UsageError: it cannot be read, or a row says something that cannot be."""
    command = f"compare RUN --known {shlex.quote(str(path))} --accept ID"
    text = user_text(path, error=UsageError, missing=f"`{command}` writes it from a finished run.")
    document = toml_tables(text, str(path), error=UsageError)
    for table, rows in document.items():
        row = next((row for row in rows if isinstance(row, dict)), {}) if isinstance(rows, list) else {}
        if table == "gone":
            raise UsageError(f"{path}: rows under [[gone]] accepted nothing. Remove them.")
        present = in_present_form(table, row)
        if present is not None:
            example = BaselineRow(**{"reason": NOISE, **present}).text
            raise UsageError(
                f"{path}: [[{table}]] has an older form. Write each of its rows so:\n\n{example}"
            )
        if table != TABLE:
            raise UsageError(f'{path}: there is no key "{table}". Rows stand under [[known]].')
    rows = document.get(TABLE, [])
    if not isinstance(rows, list):
        raise UsageError(f"{path}: rows stand under [[known]], with two brackets.")
    read = tuple(_row(row, f"{path}: [[known]] number {number}") for number, row in enumerate(rows, 1))
    by_key = {row.key: row for row in reversed(read)}
    repeated = next((row for row in read if by_key[row.key] is not row), None)
    if repeated is not None:
        raise UsageError(f'{path}: two rows list "{repeated.signature}". Keep one.')
    return read


def _row(row: Any, where: str) -> BaselineRow:
    if not isinstance(row, dict):
        raise UsageError(f"{where} is not a table. Write its keys below it, each as name = value.")
    if problem := next(_mistakes(row), "") or next(_lacks(row), ""):
        raise UsageError(f"{where}{problem}".rstrip())
    until = _day_of(row.get("until"))
    return BaselineRow(**{**row, "rule": present_id(row.get("rule", "")), "until": until})


def _mistakes(row: Mapping[str, Any]) -> Iterator[str]:
    """Names unknown keys of a row, and values of the wrong form."""
    for name, value in row.items():
        if name not in FORMS:
            yield f' has no key "{name}". {_nearest(name, KEYS)}The keys are {", ".join(KEYS)}.'
        is_right, sentence = FORMS[name]
        if not is_right(value):
            yield f": {name} {sentence}"


def _lacks(row: Mapping[str, Any]) -> Iterator[str]:
    """What a row without mistakes lacks, or has of another kind of row."""
    kind = row.get("kind")
    if not kind and not row.get("rule"):
        yield " lacks rule, the id of a requirement, or kind, of a difference."
    for name in ("endpoint", "reason", *(("path",) if kind else ())):
        if not row.get(name, "").strip():
            yield f" lacks {name}. A row names what fails and says why that is accepted."
    if kind and kind not in DIFFERENCE_KINDS:
        choices = f"{', '.join(DIFFERENCE_KINDS[:-1])} or {DIFFERENCE_KINDS[-1]}"
        yield f': kind must be {choices}, not "{kind}". {_nearest(kind.lower(), DIFFERENCE_KINDS)}'
    if not kind and ("was" in row or "now" in row):
        yield " has a value, which belongs to a difference. Give its kind."


def _is_short_scalar(value: Any) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and len(value) <= LONGEST_VALUE)


def scalar_of(value: Json) -> Scalar | None:
    """A value as a row holds it; None where no row can."""
    return value if _is_short_scalar(value) else None


def _day_of(value: Any) -> date | None:
    """The last day of a row; None where it is none."""
    if isinstance(value, date):
        return value.date() if isinstance(value, datetime) else value
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        return None


A_SCALAR = f"must be a text of at most {LONGEST_VALUE} characters, a number, true or false."
TEXT = (lambda value: isinstance(value, str), "must be text in quotes.")
FORMS: Mapping[str, tuple[Callable[[Any], object], str]] = {
    **dict.fromkeys(("rule", "endpoint", "path", "kind"), TEXT),
    **dict.fromkeys(("was", "now"), (_is_short_scalar, A_SCALAR)),
    "reason": TEXT,
    "flaky": (lambda value: isinstance(value, bool), "must be true or false."),
    "ticket": TEXT,
    "until": (_day_of, "must be a day such as 2027-01-31."),
}
"""Of each key what its value must be."""
KEYS = tuple(FORMS)


def _nearest(name: str, names: Sequence[str]) -> str:
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    return f'Did you mean "{near[0]}"? ' if near else ""


def write(rows: Sequence[BaselineRow], path: Path) -> None:
    """Writes the rows, in one step; comments, order and line ends of those that stay are kept. UsageError:
    the file cannot be written."""
    try:
        before = text_of(path) if path.exists() else ""
        after = _rewritten(before, rows)
        if after != before:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, after)
    except OSError as refused:
        raise UsageError(f"{path}: cannot be written ({refused.strerror}). Check its permissions.") from None


def _rewritten(text: str, rows: Sequence[BaselineRow]) -> str:
    is_crlf = "\r\n" in text and text.count("\n") == text.count("\r\n")
    before = text.replace("\r\n", "\n") if is_crlf else text
    after, *blocks = _blocks(f"{before.rstrip()}\n" if before.strip() else HEADER)
    present = [tomllib.loads(block)[TABLE][0] for block in blocks]
    if present != tomllib.loads(before).get(TABLE, []):  # an array of inline tables
        after, blocks = HEADER, []
    wanted = {row.key: row.text for row in rows}
    for block, values in zip(blocks, present, strict=False):
        is_kept = wanted.pop(_row(values, "").key, None) is not None
        after = f"{_spaced(after)}{block}" if is_kept else after + OF_ROW.sub("", block, count=1).lstrip("\n")
    for block in wanted.values():
        after = f"{_spaced(after)}{block}"
    after = f"{after.rstrip()}\n"
    return after.replace("\n", "\r\n") if is_crlf else after


HEAD = re.compile(r"(?m)(?:^[ \t]*#.*\n)*^[ \t]*\[\[")
"""The beginning of a row, with the comments directly above it."""
OF_ROW = re.compile(r"(?s)(?:.*\n)?[ \t]*[^\s#][^\n]*\n(?:[ \t]*#[^\n]*\n)*")
"""A row with its own comments, without the blank lines and comments below, which stay where it goes."""


def _blocks(text: str) -> list[str]:
    """What stands above the rows, and each row's text; a line in a text of several lines is no header."""
    starts = [head.start() for head in HEAD.finditer(text)]
    blocks = [text[: starts[0]] if starts else text]
    for start, end in pairwise([*starts, len(text)]):
        if _is_toml(blocks[-1]):
            blocks.append(text[start:end])
        else:
            blocks[-1] += text[start:end]
    return blocks


def _is_toml(text: str) -> bool:
    try:
        return tomllib.loads(text) is not None
    except tomllib.TOMLDecodeError:
        return False


def _spaced(text: str) -> str:
    return text if not text or text.endswith("\n\n") else f"{text}\n"
