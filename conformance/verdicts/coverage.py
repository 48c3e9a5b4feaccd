"""What traffic shows of the specification: operations, fields of answers, error codes, states of bodies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from conformance.spec import OPERATIONS, Operation
from conformance.spec.resources import RESOURCES
from conformance.spec.tables import ERROR_BY_CODE
from conformance.traffic.exchange import UNKNOWN_FORMS, Exchange, Json
from conformance.verdicts.comparisons import is_block_page

UNDECODABLE = "undecodable"
"""How the states end of bodies whose bytes are there."""

PAGES_NAMED = 3
"""How many endpoints are named that answered with a page."""

Path = tuple[str, ...]
"""Names that lead to a field, ``[]`` for every item of an array: ``("data", "items", "[]", "bizId")``."""


@dataclass
class Coverage:
    """Fed with each exchange; keeps counts only. ``missing`` shrinks as fields are seen."""

    operations: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    unknown_bodies: Counter[str] = field(default_factory=Counter)
    unanswered: int = 0
    sealed: int = 0
    """Encrypted answers without their plaintext."""
    expected: dict[str, int] = field(default_factory=dict)
    missing: dict[str, set[Path]] = field(default_factory=dict)
    pages: Counter[str] = field(default_factory=Counter)
    """Answers that are a page in HTML, which is taken for that of a firewall or proxy."""

    def feed(self, exchange: Exchange) -> None:
        operation = exchange.request.operation
        if operation is None:
            return
        if exchange.response is None:
            self.unanswered += 1
            return
        self.operations[operation.key] += 1
        self._see_state(operation, exchange)
        if exchange.request.form in UNKNOWN_FORMS:
            self.unknown_bodies[f"request {exchange.request.form}"] += 1
        if exchange.success:
            self._see_fields(operation, exchange)
        elif exchange.code is not None:
            self.codes[exchange.code] += 1

    def _see_state(self, operation: Operation, exchange: Exchange) -> None:
        if exchange.response is not None and exchange.response.is_unknown:
            self.unknown_bodies[f"response {exchange.response.form}"] += 1
        elif exchange.is_sealed:
            self.sealed += 1
        elif is_block_page(exchange):
            self.pages[operation.key] += 1

    @property
    def judged(self) -> int:
        """How many exchanges of the specification's operations have an answer that can be read, and is
        no page in HTML."""
        unread = sum(times for state, times in self.unknown_bodies.items() if state.startswith("response "))
        return self.operations.total() - unread - self.sealed - self.pages.total()

    def merged(self, other: Coverage) -> Coverage:
        """What both saw together."""
        keys = self.missing.keys() | other.missing.keys()
        return Coverage(
            self.operations + other.operations,
            self.codes + other.codes,
            self.unknown_bodies + other.unknown_bodies,
            self.unanswered + other.unanswered,
            self.sealed + other.sealed,
            {**self.expected, **other.expected},
            {
                key: self.missing.get(key, other.missing.get(key, set()))
                & other.missing.get(key, self.missing.get(key, set()))
                for key in keys
            },
            self.pages + other.pages,
        )

    def as_json(self) -> dict[str, Json]:
        """Coverage as ``results.json`` holds it: seen and unseen parts."""
        return {
            "operations": {
                "seen": {row.key: times for row in OPERATIONS if (times := self.operations[row.key])},
                "missing": [row.key for row in OPERATIONS if row.key not in self.operations],
            },
            "fields": {
                key: {
                    "seen": count - len(self.missing[key]),
                    "of": count,
                    "missing": sorted(map(shown, self.missing[key])),
                }
                for key, count in sorted(self.expected.items())
            },
            "codes": {
                "seen": dict(sorted(self.codes.items())),
                "missing": [code for code in ERROR_BY_CODE if code not in self.codes],
            },
            "unknown_bodies": dict(sorted(self.unknown_bodies.items())),
            "unanswered": self.unanswered,
            "sealed": self.sealed,
            "pages": dict(sorted(self.pages.items())),
        }

    def sentences(self) -> Iterator[str]:
        """Coverage for readers, one line per aspect."""
        judged = self.judged
        count = "1 exchange" if judged == 1 else f"{judged:,} exchanges"
        yield f"{count} of the specification's endpoints {'was' if judged == 1 else 'were'} judged."
        yield f"{len(self.operations)} of {len(OPERATIONS)} operations were answered."
        fields = sum(self.expected.values())
        shown_fields = fields - sum(map(len, self.missing.values()))
        yield f"{shown_fields} of the {fields} fields that their answers may have were seen."
        listed = sum(code in ERROR_BY_CODE for code in self.codes)
        yield f"{listed} of {len(ERROR_BY_CODE)} error codes were seen."
        states = [(state, f"{times} {state}") for state, times in _most_first(self.unknown_bodies)]
        if absent := ", ".join(text for state, text in states if not state.endswith(UNDECODABLE)):
            cure = "Where the source is a HAR file, save it with content."
            yield f"Not judged, because the source lacks the bodies: {absent}. {cure}"
        if broken := ", ".join(text for state, text in states if state.endswith(UNDECODABLE)):
            yield f"Not judged, because the bodies cannot be decoded: {broken}."
        if self.unanswered:
            yield f"{self.unanswered} requests got no answer, and were not judged."
        if self.sealed:
            are = "1 answer is" if self.sealed == 1 else f"{self.sealed} answers are"
            were = "was" if self.sealed == 1 else "were"
            yield f"{are} encrypted, and {were} not judged: record with --open-channel."
        if self.pages:
            yield self._pages_in_words()

    def _pages_in_words(self) -> str:
        """The number of paginated answers, and their most frequent endpoint."""
        times = self.pages.total()
        are = "1 answer is an HTML page" if times == 1 else f"{times:,} answers are HTML pages"
        first = [key for key, _ in _most_first(self.pages)]
        where = ", ".join(first[:PAGES_NAMED]) + (" and others" if len(first) > PAGES_NAMED else "")
        taken = "taken for that" if times == 1 else "taken for those"
        return f"{are} in place of the envelope ({where}): {taken} of a firewall or proxy, not judged."

    def _see_fields(self, operation: Operation, exchange: Exchange) -> None:
        if operation.key not in self.missing:
            paths = set(fields_of(operation))
            self.expected[operation.key], self.missing[operation.key] = len(paths), paths
        missing = self.missing[operation.key]
        if missing:
            missing -= {path for path in missing if _is_in(exchange.envelope, path)}


def _most_first(counts: Counter[str]) -> list[tuple[str, int]]:
    """Counts in descending order; equal counts by name, independent of traffic order."""
    return sorted(counts.items(), key=lambda row: (-row[1], row[0]))


def coverage_from(document: Mapping[str, Json]) -> Coverage:
    """The coverage that ``as_json`` gave; none of an empty document."""
    if not document:
        return Coverage()
    fields = document["fields"]
    return Coverage(
        Counter(document["operations"]["seen"]),
        Counter(document["codes"]["seen"]),
        Counter(document["unknown_bodies"]),
        document["unanswered"],
        document.get("sealed", 0),
        {key: row["of"] for key, row in fields.items()},
        {
            key: {tuple(name.replace("[]", ".[]").split(".")) for name in row["missing"]}
            for key, row in fields.items()
        },
        Counter(document.get("pages", {})),
    )


def fields_of(operation: Operation) -> Iterator[Path]:
    """The fields that a successful answer of an operation is stated to have; none where none are shown."""
    if operation.data is None:
        return
    resource = RESOURCES[operation.data.removesuffix("[]")]
    start: Path = ("data", "[]") if operation.data.endswith("[]") else ("data",)
    yield from _fields(resource, start)


def shown(path: Path) -> str:
    return ".".join(path).replace(".[]", "[]")


def _fields(annotation: Any, path: Path) -> Iterator[Path]:
    for part in parts_of(annotation):
        if get_origin(part) is list:
            yield from _fields(get_args(part)[0], (*path, "[]"))
        elif isinstance(part, type) and issubclass(part, BaseModel):
            for name, info in part.model_fields.items():
                choices = getattr(info.validation_alias, "choices", None) or [name]
                yield (*path, str(choices[0]))
                yield from _fields(info.annotation, (*path, str(choices[0])))


def parts_of(annotation: Any) -> list[Any]:
    """The types that an annotation allows, without metadata."""
    if get_origin(annotation) is Annotated:
        return parts_of(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [part for choice in get_args(annotation) for part in parts_of(choice)]
    return [annotation]


def _is_in(value: Json, path: Path) -> bool:
    for at, name in enumerate(path):
        if name == "[]":
            return isinstance(value, list) and any(_is_in(item, path[at + 1 :]) for item in value)
        if not isinstance(value, dict) or name not in value:
            return False
        value = value[name]
    return True
