"""Request bodies drawn from the specification's models: one in order, with some flaws put into it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from hypothesis import strategies as st

from conformance.cases import ABSENT, BY_KEY, REQUESTS, Exchange, Json, Trial, holds

LETTERS = ("x", "7", "é", "ß", "漢", "Ж", "א")
"""One UTF-16 unit each, but up to three octets: all ways to count characters agree on them."""

LARGE = 100_000
LONGEST_SHOWN = 40
DEEP = (5, 40, 200)
NO_TEXT: tuple[Json, ...] = ({}, [], {"x": 1}, ["x"])
NO_NUMBER: tuple[Json, ...] = ("first", {}, ["x"], {"x": 1})
ODD: tuple[Json, ...] = (0, -1, 1.5, True, False, "", " ", 2**31, 2**63, 10**30, -(2**63))
"""What one portal refuses and another makes something of."""
UNKNOWN: tuple[Json, ...] = ("suite", 1, None, {"x": []})
NO_OBJECTS: tuple[Json, ...] = ([], "suite", 1, True)
SHAPES: tuple[Json, ...] = (*NO_OBJECTS, None, [{}])

Texts = Callable[[str, int], str]
"""Makes a text of a length from a letter to fill it with."""


@dataclass(frozen=True)
class Flaw:
    """``kind``: missing, null, type (surely wrong), odd, short, long, edge, unknown, large, deep, shape."""

    kind: str
    field: str = ""


@dataclass(frozen=True)
class Drawn:
    """A generated request body, and its flaws."""

    body: Json
    flaws: tuple[Flaw, ...] = ()

    def __str__(self) -> str:
        return json.dumps(_abbreviated(self.body), ensure_ascii=False)

    def has(self, kind: str, *fields: str) -> bool:
        return any(flaw.kind == kind and (not fields or flaw.field in fields) for flaw in self.flaws)

    @property
    def is_usual(self) -> bool:
        """Neither so large nor so deep that it may be turned away before anybody reads it, and an object."""
        return not (self.has("large") or self.has("deep") or self.has("shape"))


def _abbreviated(value: Json) -> Json:
    """A body as a finding shows it; the whole of it stands in the exchanges."""
    if isinstance(value, dict):
        return {name: _abbreviated(inner) for name, inner in value.items()}
    if isinstance(value, str) and len(value) > LONGEST_SHOWN:
        return f"{value[:8]}… ({len(value)} characters)"
    return value


@dataclass(frozen=True)
class Change:
    flaw: Flaw
    value: Json = ABSENT


def bodies(
    key: str,
    right: Mapping[str, Json],
    *,
    texts: Mapping[str, Texts] | None = None,
    keep: Collection[str] = (),
    most: int = 2,
) -> st.SearchStrategy[Drawn]:
    """Bodies of an endpoint: ``right``, with up to ``most`` flaws. Fields in ``keep`` have none.

    ``texts`` make the texts of a field whose length has bounds.
    """
    schema = REQUESTS[BY_KEY[key].request or "Open"].model_json_schema()
    rules: Mapping[str, Json] = schema.get("properties") or {
        name: _rule_of(value) for name, value in right.items()
    }
    fields = {name: rule for name, rule in rules.items() if name not in keep}
    plain = [change for name, rule in fields.items() for change in _plain(name, rule)]
    drawn: list[st.SearchStrategy[Change]] = [st.sampled_from([*plain, *_of_the_whole()])]
    for name, rule in fields.items():
        if "maxLength" in rule:
            drawn.append(_of_length(name, rule, (texts or {}).get(name, _filled)))
    changes = st.lists(st.one_of(drawn), max_size=most, unique_by=lambda change: change.flaw.field)
    return changes.map(lambda chosen: _changed(right, chosen))


def _plain(name: str, rule: Mapping[str, Json]) -> Iterator[Change]:
    yield Change(Flaw("missing", name))
    yield Change(Flaw("null", name), None)
    kind = _kind(rule)
    for value in NO_TEXT if kind == "string" else NO_NUMBER if kind in ("integer", "boolean") else ():
        yield Change(Flaw("type", name), value)
    # Of a filter without a type nobody can say what a number or a flag in it means.
    for value in (*ODD, [], "x") if kind == "object" else ODD if kind else ():
        if name != "size" or not isinstance(value, int) or value < 2:
            yield Change(Flaw("odd", name), value)
    if kind == "string" or not kind:
        yield Change(Flaw("large", name), "漢" * LARGE)


def _kind(rule: Mapping[str, Json]) -> str | None:
    """The type that a field must have; None where the model leaves it open."""
    options = rule.get("anyOf", [rule])
    return next((option["type"] for option in options if option.get("type") not in (None, "null")), None)


def _rule_of(value: Json) -> Json:
    """The type of a field that the specification does not show (N1), as the profile's body has it."""
    names = {bool: "boolean", int: "integer", str: "string"}
    return {"type": names.get(type(value), "object")}


def _of_the_whole() -> Iterator[Change]:
    for value in UNKNOWN:
        yield Change(Flaw("unknown", "suiteUnknown"), value)
    for depth in DEEP:
        yield Change(Flaw("deep", "suiteUnknown"), nested(depth))
    for value in SHAPES:
        yield Change(Flaw("shape"), value)


def nested(depth: int) -> Json:
    value: Json = "x"
    for _ in range(depth):
        value = {"x": [value]}
    return value


def _of_length(name: str, rule: Mapping[str, Json], texts: Texts) -> st.SearchStrategy[Change]:
    """Texts at and around the bounds of a length, in characters."""
    least, most = rule.get("minLength", 0), rule["maxLength"]
    lengths = [(length, "edge") for length in (most - 1, most)]
    lengths += [(length, "edge") for length in (least, least + 1) if least]
    lengths += [(length, "long") for length in (most + 1, most + 2, 2 * most)]
    lengths += [(length, "short") for length in (least - 1, 1) if 0 < length < least]
    return st.builds(
        lambda letter, length: Change(Flaw(length[1], name), texts(letter, length[0])),
        st.sampled_from(LETTERS),
        st.sampled_from(lengths),
    )


def _filled(letter: str, length: int) -> str:
    return letter * length


def _changed(right: Mapping[str, Json], changes: Collection[Change]) -> Drawn:
    body = dict(right)
    flaws = tuple(change.flaw for change in changes)
    for change in changes:
        if change.flaw.kind == "shape":
            return Drawn(change.value, flaws)
        if change.value is ABSENT:
            body.pop(change.flaw.field, None)
        else:
            body[change.flaw.field] = change.value
    return Drawn(body, flaws)


ANSWERED = (
    "ENV-001", "ENV-002", "ENV-003", "ENV-004", "ENV-006", "ENV-008", "ENV-014", "ENV-015", "ENV-018",
    "ERROR-003", "ERROR-008", "ERROR-014",
)  # fmt: skip
"""Judged of every answer: its envelope, that it is no server error, and that it follows the error table."""


def refuses_what_is_no_object(trial: Trial, drawn: Drawn, answer: Exchange) -> None:
    """A body that is JSON but no object is refused by a client error; of ``null`` nothing is said."""
    if drawn.has("shape") and drawn.body in NO_OBJECTS:
        refused = not answer.success and 400 <= (answer.status or 0) < 500
        trial.verify("ERROR-016", holds(answer, "status", refused, "a client error, 400 to 499"))
