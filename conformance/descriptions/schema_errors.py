"""What a JSON value has otherwise than a schema says, place by place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from conformance.traffic.exchange import Json
from conformance.traffic.values import is_redacted, placed_texts

WITNESSES = "x-portal-witnesses"
"""The key that says how many values a part of a learned description was learned from."""

NEEDED_WITNESSES = {"required": 3, "format": 3}
NON_NULL_WITNESSES = 8

Error = Any
"""A ``jsonschema.ValidationError``, whose attributes are untyped."""

SchemaDifference = tuple[str, Json, Json]
"""The place in a body, what the schema says, and what is there."""

BRANCHED = frozenset({"anyOf", "oneOf", "not", "contains"})
EXPECTED_NAMES = {"required": "a value", "additionalProperties": "no such field"}


@dataclass(frozen=True, slots=True)
class JsonSchema:
    """The schema of a body. It says nothing of values that were redacted, nor where it cannot be used."""

    validator: Any
    """One of jsonschema."""

    def differences(self, body: Json, *, is_hypothesis: bool) -> Iterator[SchemaDifference]:
        """``is_hypothesis``: what it learned from few values says nothing."""
        try:
            for error in self.validator.iter_errors(body):
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
