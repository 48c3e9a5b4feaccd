"""The operations of descriptions as values, and which of them a request belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol

from conformance.spec.endpoints import PORTAL_PATH
from conformance.traffic.exchange import Json

ParameterPlace = Literal["path", "query", "header", "cookie"]

STATUS, ACCEPTED, LEARNED = "x-portal-status", "accepted", "learned"
"""The key that says whether a person has accepted a description, and its values."""

WITNESSES = "x-portal-witnesses"
"""The key that says how many values a part of a learned description was learned from."""

MOST_REMEMBERED = 4_096
"""Requests of which the operation is remembered."""


SchemaDifference = tuple[str, Json, Json]
"""The place in a body, what the schema says, and what is there."""


class BodySchema(Protocol):
    """What a description says of a body. ``is_hypothesis``: what it learned from few values says nothing."""

    def differences(self, body: Json, *, is_hypothesis: bool) -> Iterator[SchemaDifference]: ...


@dataclass(frozen=True, slots=True)
class DescribedParameter:
    """A parameter of an operation. ``examples`` are values that its description shows, the best first."""

    name: str
    place: ParameterPlace
    is_required: bool = False
    examples: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True)
class DescribedAnswer:
    """What a status answers with: a schema by media type, None where the type has none that can be used.
    Without media types nothing is said of the body."""

    schemas: Mapping[str, BodySchema | None] = field(default_factory=dict)

    def media_type_of(self, content_type: str) -> str | None:
        """The described type that a content type is of, also by the ranges ``application/*`` and ``*/*``."""
        sent = content_type.partition(";")[0].strip().lower()
        ranges = (sent, f"{sent.partition('/')[0]}/*", "*/*")
        return next((name for name in ranges if name in self.schemas), None)


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
    answers: Mapping[str, DescribedAnswer] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return f"{self.method} {self.path}"

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(template_pattern(self.path) + r"/?\Z")

    @cached_property
    def rank(self) -> tuple[bool, ...]:
        """Concrete segments come before parameters, from the left, as OpenAPI has it."""
        return tuple("{" in segment for segment in self.path.split("/"))

    def answer_for(self, status: int) -> DescribedAnswer | None:
        for name in (str(status), f"{status // 100}XX", "default"):
            if name in self.answers:
                return self.answers[name]
        return None


def template_pattern(path: str) -> str:
    """The regular expression of a path template; a parameter may be a part of a segment."""
    parts = re.split(r"{[^{}/]*}", path)
    return "[^/]+".join(map(re.escape, parts))


class Descriptions:
    """All operations that are described. ``notes`` name what could not be used of the files."""

    def __init__(self, operations: Sequence[DescribedOperation] = (), notes: Sequence[str] = ()) -> None:
        self.operations = tuple(operations)
        self.notes = tuple(notes)
        self._by_length: dict[tuple[str, int], list[DescribedOperation]] = {}
        for operation in sorted(operations, key=lambda each: each.rank):
            self._by_length.setdefault((operation.method, operation.path.count("/")), []).append(operation)
        self._remembered: dict[tuple[str, str], DescribedOperation | None] = {}

    def __bool__(self) -> bool:
        return bool(self.operations)

    def operation_of(self, method: str, path: str) -> DescribedOperation | None:
        """The operation of a request; a prefix before ``/web/v1/`` is ignored."""
        if (method, path) not in self._remembered:
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            self._remembered[method, path] = self._operation_of(method, path)
        return self._remembered[method, path]

    def _operation_of(self, method: str, path: str) -> DescribedOperation | None:
        start = path.find(PORTAL_PATH)
        requested = path[max(start, 0) :].rstrip("/")
        candidates = self._by_length.get((method, requested.count("/")), ())
        return next((each for each in candidates if each.pattern.match(requested)), None)


NO_DESCRIPTIONS = Descriptions()
