"""Learns what recorded traffic shows of the endpoints that the specification does not describe: their paths,
and the shapes of what they take and answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from conformance.descriptions import WITNESSES, media_type
from conformance.judging.described import WITHOUT_TOKEN
from conformance.judging.dispatch import is_of_an_endpoint
from conformance.spec.endpoints import PORTAL_PATH
from conformance.spec.operations import MOST_SEGMENTS, UNDESCRIBED, endpoint_key, is_word
from conformance.spec.tables import TOKEN_REFUSED
from conformance.traffic.exchange import ABSENT, Exchange, Json, Response
from conformance.traffic.values import is_redacted, placed_texts
from conformance.verdicts.comparisons import is_held_back

DEEPEST = 30
MOST_FIELDS = 200
"""Names of an object that are told apart; one with more of them is a map."""

WHOLE_NUMBERS = 50
"""Witnesses that are all whole numbers, from which on a field is an integer."""

ALIKE_OBJECTS = 10
"""Witnesses that have the same names, from which on a further name differs."""

FORMATS = {
    "date-time": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"),
    "date": re.compile(r"\d{4}-\d\d-\d\d"),
    "uuid": re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
}
KINDS: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}
ITEMS, MEMBERS = "items", "additionalProperties"


@dataclass(eq=False)
class LearnedShape:
    """Types and names of the values at one place. ``inner``: the shape of the items of an array, and of the
    values of a map, which is an object whose names are ids."""

    witnesses: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    formats: Counter[str] = field(default_factory=Counter)
    fields: dict[str, LearnedShape] = field(default_factory=dict)
    inner: dict[str, LearnedShape] = field(default_factory=dict)

    def part(self, name: str) -> LearnedShape:
        """The shape of a field, empty at first; beyond MOST_FIELDS the shape of all others."""
        if name not in self.fields and len(self.fields) >= MOST_FIELDS:
            return self.inner.setdefault(MEMBERS, LearnedShape())
        return self.fields.setdefault(name, LearnedShape())

    def add(self, value: Json, depth: int = 0) -> None:
        """Takes a value; ABSENT is a witness that shows nothing."""
        self.witnesses += 1
        if value is ABSENT:
            return
        if is_redacted(value) or depth > DEEPEST:
            self.kinds["unknown"] += 1
            return
        self.kinds[KINDS.get(type(value), "unknown")] += 1
        if isinstance(value, dict):
            is_map = bool(value) and not any(map(is_word, value))
            for name, inner in value.items():
                shape = self.inner.setdefault(MEMBERS, LearnedShape()) if is_map else self.part(name)
                shape.add(inner, depth + 1)
        elif isinstance(value, list):
            for inner in value:
                self.inner.setdefault(ITEMS, LearnedShape()).add(inner, depth + 1)
        elif isinstance(value, str):
            self.formats[next((name for name, form in FORMATS.items() if form.fullmatch(value)), "")] += 1

    def merge(self, other: LearnedShape) -> None:
        self.witnesses += other.witnesses
        self.kinds += other.kinds
        self.formats += other.formats
        for own, further in ((self.fields, other.fields), (self.inner, other.inner)):
            for name, shape in further.items():
                own.setdefault(name, LearnedShape()).merge(shape)

    @property
    def outline(self) -> set[str]:
        """The names two levels deep: what tells the answers of two endpoints apart."""
        rows = ((name, shape.inner.get(ITEMS, shape).fields) for name, shape in self.fields.items())
        return {*self.fields, *(f"{name}.{below}" for name, fields in rows for below in fields)}

    def schema(self) -> dict[str, Json]:
        """JSON Schema 2020-12, as OpenAPI 3.1 has it."""
        schema: dict[str, Json] = {WITNESSES: self.witnesses}
        if "unknown" in self.kinds or self.kinds.keys() <= {"null"}:
            return schema
        kinds = dict.fromkeys(self.kinds)
        if "number" in kinds or self.kinds["integer"] < WHOLE_NUMBERS:
            kinds = dict.fromkeys("number" if kind == "integer" else kind for kind in kinds)
        schema["type"] = next(iter(kinds)) if len(kinds) == 1 else sorted(kinds)
        formats = [name for name in self.formats if self.formats[name] == self.kinds["string"]]
        if formats and formats[0]:
            schema["format"] = formats[0]
        objects = self.kinds["object"]
        required = [name for name, shape in self.fields.items() if shape.witnesses == objects]
        if self.fields:
            schema["properties"] = {name: shape.schema() for name, shape in self.fields.items()}
        if required:
            schema["required"] = required
        if len(required) == len(self.fields) and objects >= ALIKE_OBJECTS:
            schema[MEMBERS] = False
        return schema | {name: shape.schema() for name, shape in self.inner.items()}


ID = "{id}"
METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
MOST_VALUES = 100_000
"""Ids in answers that are remembered while traffic is read: a segment of a path that is one of them is an id,
whatever it looks like."""

NAMES_OF_IDS = re.compile(r"(?i)(id|code|key|ref|symbol|currency|slug|name|no)\Z")

LONG_ID = 12
"""Characters from which on letters and digits are no number and no word that stands for itself."""

ALIKE_ENDPOINTS = 3
"""Endpoints that differ in one word and answer alike, from which on the word may be an id."""


@dataclass(eq=False)
class LearnedOperation:
    """What was seen of a method and a path template. ``traffic`` is the shape of its exchanges: of the
    query, the body, and the answers by status and media type. ``without_token`` counts whether it served
    without a token. ``example`` is a path of it; ``ids`` are the ids of segments in which one alone
    stood; both are forgotten with the learner."""

    method: str
    path: str
    example: str
    traffic: LearnedShape = field(default_factory=LearnedShape)
    ids: dict[int, str] = field(default_factory=dict)
    without_token: Counter[bool] = field(default_factory=Counter)

    @property
    def key(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def segments(self) -> list[str]:
        return self.path.strip("/").split("/")

    @property
    def answers(self) -> dict[str, LearnedShape]:
        """The answers by status, with the bodies of successes by media type."""
        return self.traffic.part("answers").fields

    @property
    def outline(self) -> frozenset[str]:
        """The names in its answers."""
        bodies = (body for answer in self.answers.values() for body in answer.fields.values())
        return frozenset(name for body in bodies for name in body.outline)

    def with_id(self, at: int) -> str:
        """The path with an id in place of a segment."""
        segments = self.segments
        return "/" + "/".join((*segments[:at], ID, *segments[at + 1 :]))


@dataclass(eq=False)
class Learner:
    """Learns operations from exchanges. ``unsure`` says what a person should look at."""

    operations: dict[str, LearnedOperation] = field(default_factory=dict)
    unsure: list[str] = field(default_factory=list)
    _ids: set[str] = field(default_factory=set)

    def by_path(self) -> list[LearnedOperation]:
        return sorted(self.operations.values(), key=lambda each: (each.path, each.method))

    def add(self, exchange: Exchange) -> None:
        """Takes an exchange. What another than the endpoint answered says nothing, nor does a server
        error."""
        request, response = exchange.request, exchange.response
        if response is None:
            return
        for place, text in placed_texts(exchange.data):
            if NAMES_OF_IDS.search(place) and len(self._ids) < MOST_VALUES:
                self._ids.add(text.lower())
        if request.operation_key != UNDESCRIBED or request.method not in METHODS or response.status >= 500:
            return
        if exchange.is_sealed or is_held_back(exchange):
            return
        label = media_type(response.header("content-type"))
        is_file = response.status < 300 and bool(label) and "html" not in label and "json" not in label
        if not (is_of_an_endpoint(exchange) or is_file):  # a page may be anyone's
            return
        _add(self._operation(request.method, request.path), exchange, response)

    def _operation(self, method: str, path: str) -> LearnedOperation:
        key, example = endpoint_key(method, path) or "", path[path.find(PORTAL_PATH) :]
        operation = self.operations.setdefault(key, LearnedOperation(method, key.partition(" ")[2], example))
        for at, segment in enumerate(example.strip("/").split("/")[:MOST_SEGMENTS]):
            if not is_word(segment):
                operation.ids[at] = segment if operation.ids.get(at, segment) == segment else ""
        return operation

    def conclude(self) -> None:
        """Finds words of paths that are ids, and notes what it is unsure of. To be called once, at the
        end."""
        for key, operation in list(self.operations.items()):
            if all(int(status) >= 400 for status in operation.answers):
                self.unsure.append(
                    f"{key} was never served ({', '.join(operation.answers)}), and is left out."
                )
                del self.operations[key]
        for at in range(MOST_SEGMENTS - 1, 1, -1):
            for words in list(self._alike(at)):
                self._take_for_ids(words, at)
        for operation in self.operations.values():
            for at, id in operation.ids.items():
                if id.isalnum() and len(id) < LONG_ID:
                    self.unsure.append(f"{operation.key}: segment {at + 1} had one value alone.")

    def _alike(self, at: int) -> Iterator[list[LearnedOperation]]:
        """Operations that differ in the word of one segment, and show no name that the fullest of them
        lacks."""
        groups: dict[tuple[str, str], list[LearnedOperation]] = {}
        for operation in self.operations.values():
            if at < len(operation.segments) and operation.segments[at] != ID:
                groups.setdefault((operation.method, operation.with_id(at)), []).append(operation)
        for same in groups.values():
            fullest = max((operation.outline for operation in same), key=len)
            yield [operation for operation in same if operation.outline <= fullest]

    def _take_for_ids(self, alike: list[LearnedOperation], at: int) -> None:
        """Merges those whose word an answer shows as an id; of others, many alike are unsure."""
        shown = [operation for operation in alike if operation.segments[at].lower() in self._ids]
        is_template = f"{alike[0].method} {alike[0].with_id(at)}" in self.operations
        has_digits = any(letter.isdigit() for operation in shown for letter in operation.segments[at])
        if len(shown) > 1 or has_digits or is_template:
            for operation in shown:
                self._rename(operation, at)
        elif len(alike) >= ALIKE_ENDPOINTS and alike[0].outline:
            names = ", ".join(sorted(operation.segments[at] for operation in alike)[:5])
            self.unsure.append(f"{alike[0].key}: segment {at + 1} may be an id, as {names} answer alike.")

    def _rename(self, operation: LearnedOperation, at: int) -> None:
        del self.operations[operation.key]
        operation.path, operation.ids = operation.with_id(at), {}
        first = self.operations.setdefault(operation.key, operation)
        if first is not operation:
            first.traffic.merge(operation.traffic)
            first.without_token += operation.without_token


def _add(operation: LearnedOperation, exchange: Exchange, response: Response) -> None:
    operation.traffic.witnesses += 1
    for name, value in exchange.request.query:
        operation.traffic.part("query").part(name).add(_typed(value))
    if exchange.sent is not ABSENT:
        operation.traffic.part("body").add(exchange.sent)
    if WITHOUT_TOKEN.takes(exchange) and (exchange.success or exchange.code in TOKEN_REFUSED):
        operation.without_token[exchange.success] += 1
    answer = operation.traffic.part("answers").part(str(response.status))
    answer.witnesses += 1
    label = media_type(response.header("content-type"))
    if label and response.status < 300:
        plain = ABSENT if exchange.plain is None else exchange.plain.response
        answer.part(label).add(plain if plain is not ABSENT else response.json)


def _typed(value: str) -> Json:
    """The value of a query as the JSON value that it writes."""
    if value in ("true", "false"):
        return value == "true"
    return int(value) if value.isdecimal() and value.isascii() and len(value) < 16 else value
