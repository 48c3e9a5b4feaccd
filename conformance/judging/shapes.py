"""Field tables: whether ``data`` is what it is stated to be (chapter "Resources and their fields")."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
from pydantic import TypeAdapter, ValidationError

from conformance.judging.fields import (
    collect_codes,
    extra_fields,
    node_of,
    place_of,
    requirement_of,
    requirements_of,
    shown_fields,
    shows,
    stated_along,
)
from conformance.judging.structs import Degree, struct_of
from conformance.spec import Operation
from conformance.spec.resources import RESOURCES
from conformance.traffic.exchange import Exchange, Json, dig
from conformance.traffic.facts import called
from conformance.verdicts.findings import Contradiction
from conformance.verdicts.verdicts import NO_VERDICTS, Verdicts

EXTRAS_KEPT = 200
INSPECTED_AT_FIRST, INSPECTED_OF_LATER = 200, 16
"""So many first responses of an operation are inspected field by field, and then one of so many."""

INEXACT_IN_A_ROW = 16
"""After so many responses with more than is stated, no other is taken for exact."""

MOST_ALIKE = 100
"""Contradictions of one answer that are kept, whatever they are; beyond them the first of each place without
indexes is kept, so that a list of very many items weighs no more than a short one."""

ITEMS_COMPARED = 2_000
"""Items of a list of which each contradiction is sought, also where there are ``MOST_ALIKE`` already."""

SLICE = 500
"""Items of a list that are validated together, so that what is wrong with very many is never held at once."""

INSTANCE = "a valid dictionary or instance of "
"""How pydantic begins to name an object."""

NAME = "shape"
"""What findings and requirements name in place of a check."""


_data_of = called(Exchange.data)


class Shape:
    """The model of one operation's ``data``, and which of its fields were shown.

    Memory is bounded by the model, not by the traffic.
    """

    def __init__(self, operation: Operation) -> None:
        resource = RESOURCES[(operation.data or "").removesuffix("[]")]
        self.key = operation.key
        self.root = operation.requirement
        self.annotation: Any = list[resource] if (operation.data or "").endswith("[]") else resource  # type: ignore[valid-type]
        self.node = node_of(self.annotation)
        self.loose = _struct(self.annotation)
        self.exact = _struct(self.annotation, "exact")
        self.responses = 0
        """How many were compared, or equal one that was."""
        self._holds_codes = self.node.holds_codes
        self.not_shown = {self.root, *requirements_of(self.annotation)}
        """The requirements of the fields that no response has shown yet."""
        self._extras: set[str] = set()
        self._null_forms: set[str] = set() if self.node.may_lack_fields else {"left out"}
        if not self.node.names and (self.node.item is None or not self.node.item.names):
            self._null_forms = {"left out", "null"}  # no field is stated
        self._inexact_in_a_row = 0

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.annotation)

    @cached_property
    def whole(self) -> type[msgspec.Struct] | None:
        return _struct(self.annotation, "whole")

    @property
    def is_inspected(self) -> bool:
        """Whether the fields of the response that was counted last are to be inspected."""
        return self.responses <= INSPECTED_AT_FIRST or self.responses % INSPECTED_OF_LATER == 0

    def compare(self, exchange: Exchange) -> Verdicts:
        """Contradictions of the data, and what an inspected response shows first."""
        is_exact = self.is_exact_in(exchange)
        contradictions = [] if is_exact else self.contradictions(exchange)
        shown = NO_VERDICTS
        if self.is_inspected:
            extras = [] if is_exact else self.new_extras(exchange)
            shown = self._shown(exchange, extras, {requirement for requirement, _ in contradictions})
        if not contradictions:
            return shown
        is_kept_whole = len(contradictions) < MOST_ALIKE
        places = [each.path for _, each in contradictions] if is_kept_whole else ["data"]
        return Verdicts(
            self.key,
            exchange.n,
            shown.held,
            shown.readings,
            tuple([(requirement, NAME, contradiction) for requirement, contradiction in contradictions]),
            misshapen=tuple(places),
            is_clean=False,
        )

    def _shown(self, exchange: Exchange, extras: list[str], contradicted: Collection[str]) -> Verdicts:
        """What the data is the first to show: fields, fields beyond the stated ones, and forms of null."""
        held = [((requirement, NAME), 1) for requirement in self.newly_shown(exchange, contradicted)]
        readings = [("extra-fields", path) for path in extras]
        readings += [("null-fields", form) for form in self.new_null_forms(exchange)]
        if not held and not readings:
            return NO_VERDICTS
        return Verdicts(self.key, exchange.n, tuple(held), tuple(readings))

    def contradictions(self, exchange: Exchange) -> list[tuple[str, Contradiction]]:
        data = exchange.data
        if self.annotation is Any:
            return [] if data is not None else [(self.root, Contradiction(exchange, "data", "a value", None))]
        if _takes(self.loose, data):
            return []
        contradictions: dict[str, tuple[str, Contradiction]] = {}
        places: set[tuple[str | int, ...]] = set()
        for part in slices_of(data):
            if part.first >= ITEMS_COMPARED and len(contradictions) >= MOST_ALIKE:
                break
            for location, message in self._errors(part):
                place = tuple([step for step in location if not isinstance(step, int)])
                if place in places and len(contradictions) >= MOST_ALIKE:
                    continue
                places.add(place)
                requirement, at = self._requirement(place_of(part.in_whole(location), data))
                path = "data" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in at)
                contradiction = Contradiction(exchange, path, _words(message), dig(data, at))
                contradictions.setdefault(path, (requirement, contradiction))
        return list(contradictions.values())

    def _errors(self, part: Slice) -> Iterator[tuple[tuple[str | int, ...], str]]:
        try:
            self.adapter.validate_python(part.data)
        except ValidationError as error:
            for detail in error.errors(include_url=False, include_context=False, include_input=False):
                yield detail["loc"], detail["msg"]

    def is_exact_in(self, exchange: Exchange) -> bool:
        """Whether the data surely holds nothing but what is stated; False also where that is not certain.

        Then its enumeration objects are collected where they are stated, and need not be searched for.
        """
        if self._inexact_in_a_row == INEXACT_IN_A_ROW or self.exact is None:
            return False
        data = _data_of(exchange)
        if not _takes(self.exact, data):
            self._inexact_in_a_row += 1
            return False
        self._inexact_in_a_row = 0
        codes: list[tuple[str, dict[str, Json]]] = []
        if self._holds_codes:
            collect_codes(self.node, "", data, codes)
        Exchange.coded.store(exchange, codes)
        return True

    def newly_shown(self, exchange: Exchange, contradicted: Collection[str]) -> Iterator[str]:
        """The requirements that this response is the first to satisfy."""
        if not self.not_shown:
            return
        shown = {self.root, *shown_fields(self.node, exchange.data)}
        for requirement in sorted((shown & self.not_shown).difference(contradicted)):
            self.not_shown.discard(requirement)
            yield requirement

    def new_extras(self, exchange: Exchange) -> list[str]:
        """Fields that the specification does not show, each once, without indexes."""
        if len(self._extras) >= EXTRAS_KEPT or self.is_exact_in(exchange):
            return []
        new = sorted(set(extra_fields(self.node, exchange.data, "data")) - self._extras)
        self._extras.update(new)
        return new

    def new_null_forms(self, exchange: Exchange) -> list[str]:
        """Whether nullable fields are sent as null or left out; each form once."""
        data, new = exchange.data, []
        if "left out" not in self._null_forms and not _takes(self.whole, data):
            new = ["left out"] if shows("left out", self.node, data) else []
        if "null" not in self._null_forms and b"null" in msgspec.json.encode(data):
            new += ["null"] if shows("null", self.node, data) else []
        self._null_forms.update(new)
        return new

    def _requirement(self, place: Sequence[str | int]) -> tuple[str, tuple[str | int, ...]]:
        """The deepest field on the way to a place that a requirement states, and the way to it."""
        requirement, at = self.root, place[:0]
        for depth, _, field in stated_along(self.annotation, place):
            requirement, at = requirement_of(field) or requirement, place[:depth]
        return requirement, tuple(at)


def _struct(annotation: Any, degree: Degree = "loose") -> type[msgspec.Struct] | None:
    """A struct whose field ``data`` stands for a model: what a type of arrays means would be found anew with
    each answer. None where there is no struct for the model, or all that it takes would mean nothing."""
    if annotation is Any and degree != "loose":
        return None
    with suppress(TypeError):
        return msgspec.defstruct("Data", [("data", struct_of(annotation, degree))], gc=False)
    return None


def _takes(struct: type[msgspec.Struct] | None, data: Json) -> bool:
    """Whether a struct takes some data; None takes nothing."""
    if struct is None:
        return False
    try:
        msgspec.convert({"data": data}, struct)
    except msgspec.ValidationError:
        return False
    return True


@dataclass(frozen=True)
class Slice:
    """The data with one of its lists cut: ``path`` leads to the list, ``first`` is where the slice begins."""

    data: Json
    path: tuple[str, ...] = ()
    first: int = 0

    def in_whole(self, location: tuple[str | int, ...]) -> tuple[str | int, ...]:
        at = next((at for at, step in enumerate(location) if isinstance(step, int)), None)
        if at is None or tuple(step for step in location[:at] if step in self.path) != self.path:
            return location
        return (*location[:at], int(location[at]) + self.first, *location[at + 1 :])


def slices_of(data: Json) -> Iterator[Slice]:
    """Slices of long lists in the data; short data is one slice."""
    if _is_long(data):
        for first in range(0, len(data), SLICE):
            yield Slice(data[first : first + SLICE], first=first)
        return
    if not isinstance(data, dict) or not any(map(_is_long, data.values())):
        yield Slice(data)
        return
    short = {name: value[:SLICE] if _is_long(value) else value for name, value in data.items()}
    yield Slice(short)
    for name, value in data.items():
        for first in range(SLICE, len(value) if _is_long(value) else 0, SLICE):
            yield Slice({**short, name: value[first : first + SLICE]}, (name,), first)


def _is_long(value: Json) -> bool:
    return isinstance(value, list) and len(value) > SLICE


WORDS = {
    "Field required": "the field to be present",
    "a valid string": "a string",
    "a valid list": "an array",
    "a valid integer": "an integer",
    "a valid number": "a number",
    "a valid boolean": "a boolean",
    f"{INSTANCE}Enumeration": "an enumeration object",
}
"""What pydantic says of a value of another type, in the specification's words."""


def _words(message: str) -> str:
    text = message.removeprefix("Value error, ").removeprefix("Input should be ")
    return WORDS.get(text) or ("an object" if text.startswith(INSTANCE) else text)
