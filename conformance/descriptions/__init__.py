"""Descriptions of further endpoints: operations of OpenAPI files, which of them a request belongs to, and
what a body has otherwise than a schema."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from conformance.errors import UsageError
from conformance.spec.endpoints import PORTAL_PATH
from conformance.traffic.exchange import Json
from conformance.traffic.values import is_redacted, placed_texts

STATUS, ACCEPTED, LEARNED = "x-portal-status", "accepted", "learned"
"""The key that says whether a person has accepted a description, and its values."""

WITNESSES = "x-portal-witnesses"
"""The key that says how many values a part of a learned description was learned from."""

NEEDED_WITNESSES = {"required": 3, "format": 3}
NON_NULL_WITNESSES = 8

Error = Any
JsonSchema = Any
"""A ``jsonschema.ValidationError``, and a validator of the schema of a body, which are untyped."""

SchemaDifference = tuple[str, Json, Json]
"""The place in a body, what the schema says, and what is there."""

BRANCHED = frozenset({"anyOf", "oneOf", "not", "contains"})
EXPECTED_NAMES = {"required": "a value", "additionalProperties": "no such field"}


def differences(schema: JsonSchema, body: Json, *, is_hypothesis: bool) -> Iterator[SchemaDifference]:
    """Differences of a body from its schema; none of redacted values, of parts that a hypothesis learned from
    few values, and of a schema that cannot be used."""
    try:
        for error in schema.iter_errors(body):
            if not (is_hypothesis and _is_of_few(error)):
                yield from _differences(error)
    except Exception:  # jsonschema raises anything on what is no schema, which a reader has noted
        return


def _is_of_few(error: Error) -> bool:
    """Whether a part of a learned schema was learned from too few values to say that they all are so."""
    is_null = error.validator == "type" and error.instance is None
    needed = NON_NULL_WITNESSES if is_null else NEEDED_WITNESSES.get(error.validator, 1)
    return bool(error.schema.get(WITNESSES, needed) < needed)


def _differences(error: Error) -> Iterator[SchemaDifference]:
    rule, value, seen = error.validator, error.validator_value, error.instance
    if is_redacted(seen) or (rule in BRANCHED and any(is_redacted(text) for _, text in placed_texts(seen))):
        return
    branch = _fitting_branch(error)
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    if branch:
        for inner in branch:
            yield from _differences(inner)
    elif rule in EXPECTED_NAMES:
        for name in value if rule == "required" else seen:
            if repr(name) in error.message:  # there alone jsonschema says which names it means
                yield f"{place}.{name}".lstrip("."), EXPECTED_NAMES[rule], seen.get(name)
    else:
        expected = f"what the schema says by {rule}" if rule in BRANCHED else {rule: value}
        yield place.lstrip("."), expected, seen


def _fitting_branch(error: Error) -> list[Error]:
    """The errors of the one alternative whose type the value has; empty where there are several, or none."""
    branches = groupby(error.context, key=lambda inner: inner.relative_schema_path[0])
    fitting = [
        errors
        for errors in (list(group) for _, group in branches)
        if not any(inner.validator == "type" and not inner.relative_path for inner in errors)
    ]
    return fitting[0] if len(fitting) == 1 else []


Contents = Mapping[str, JsonSchema | None]
"""What a status answers with: a schema by media type, None where the type has none that can be used. Without
media types nothing is said of the body."""


def media_type(content_type: str | None) -> str:
    return (content_type or "").partition(";")[0].strip().lower()


def media_type_of(contents: Contents, content_type: str) -> str | None:
    """The described type that a content type is of, also by the ranges ``application/*`` and ``*/*``."""
    sent = media_type(content_type)
    ranges = (sent, f"{sent.partition('/')[0]}/*", "*/*")
    return next((name for name in ranges if name in contents), None)


@dataclass(frozen=True, slots=True)
class DescribedParameter:
    """A parameter of an operation. ``examples`` are values that its description shows, the best first."""

    name: str
    place: Literal["path", "query", "header", "cookie"]
    is_required: bool = False
    examples: tuple[Json, ...] = ()


@dataclass(frozen=True, eq=False)
class DescribedOperation:
    """An operation at a path that the specification does not describe.

    ``source`` is the file and the place in it. ``is_hypothesis``: it was learned from traffic, and nobody has
    accepted it. ``is_protected`` is None where the description says nothing of it.
    """

    method: str
    path: str
    source: str
    is_hypothesis: bool = False
    is_protected: bool | None = None
    parameters: tuple[DescribedParameter, ...] = ()
    needs_body: bool = False
    answers: Mapping[str, Contents] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return f"{self.method} {self.path}"

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The expression of its requests; a parameter may be a part of a segment."""
        return re.compile("[^/]+".join(map(re.escape, re.split(r"{[^{}/]*}", self.key))) + r"/?\Z")

    def contents_for(self, status: int) -> Contents | None:
        names = (str(status), f"{status // 100}XX", "default")
        return next((self.answers[name] for name in names if name in self.answers), None)


class Descriptions:
    """All operations that are described. ``notes`` name what could not be used of the files."""

    def __init__(self, operations: Sequence[DescribedOperation] = (), notes: Sequence[str] = ()) -> None:
        self.operations = tuple(operations)
        self.notes = tuple(notes)
        self._ranked = sorted(operations, key=lambda each: ["{" in part for part in each.path.split("/")])
        """Concrete segments come before parameters, from the left, as OpenAPI has it."""

    def __bool__(self) -> bool:
        return bool(self.operations)

    def operation_of(self, method: str, path: str) -> DescribedOperation | None:
        """The operation of a request; a prefix before ``/web/v1/`` is ignored."""
        requested = f"{method} {path[max(path.find(PORTAL_PATH), 0) :]}"
        return next((each for each in self._ranked if each.pattern.match(requested)), None)


NO_DESCRIPTIONS = Descriptions()


def described_by(files: Sequence[Path], overlays: Sequence[Path] = ()) -> Descriptions:
    """The operations that OpenAPI files describe, with the OpenAPI Overlays that change them. UsageError: one
    cannot be read, describes a path of the specification, or the extra is missing."""
    if overlays and not files:
        raise UsageError(f"{overlays[0]}: an overlay changes a description. Name that as well.")
    if not files:
        return NO_DESCRIPTIONS
    try:
        from conformance.descriptions.reading import read  # its extra is needed by descriptions alone
    except ImportError as error:
        message = f"a description needs {error.name}: pip install 'portal-conformance[describe]'."
        raise UsageError(message) from error
    return read(files, overlays)
