"""The operations of descriptions as values, and which of them a request belongs to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from conformance.descriptions.schema_errors import JsonSchema
from conformance.spec.endpoints import PORTAL_PATH
from conformance.traffic.exchange import Json

STATUS, ACCEPTED, LEARNED = "x-portal-status", "accepted", "learned"
"""The key that says whether a person has accepted a description, and its values."""

Contents = Mapping[str, JsonSchema | None]
"""What a status answers with: a schema by media type, None where the type has none that can be used. Without
media types nothing is said of the body."""


def media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


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
