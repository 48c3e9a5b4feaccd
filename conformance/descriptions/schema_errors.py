"""What a JSON value has otherwise than a schema says, place by place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from conformance.descriptions.operations import WITNESSES, SchemaDifference
from conformance.traffic.exchange import Json
from conformance.traffic.values import is_redacted

Error = Any
"""A ``jsonschema.ValidationError``, whose attributes are untyped."""

BRANCHING = frozenset({"anyOf", "oneOf"})
BRANCHED = frozenset({*BRANCHING, "not", "if", "then", "else", "dependentSchemas", "contains"})
NAMED_MEMBERS = 20
"""Names of an object, or values of an enumeration, that a difference lists at most."""


@dataclass(frozen=True, slots=True)
class JsonSchema:
    """The schema of a body. It says nothing of values that were redacted, nor where it cannot be used."""

    validator: Any
    """One of jsonschema."""

    def differences(self, body: Json, *, is_hypothesis: bool) -> Iterator[SchemaDifference]:
        try:
            for error in self.validator.iter_errors(body):
                if not (is_hypothesis and _is_of_few(error)):
                    yield from _differences(error)
        except Exception:  # jsonschema raises anything on what is no schema, which a reader has noted
            return


def _differences(error: Error) -> Iterator[SchemaDifference]:
    if is_redacted(error.instance) or (error.validator in BRANCHED and _holds_redacted(error.instance)):
        return
    branch = _fitting_branch(error) if error.validator in BRANCHING else None
    if branch is not None:
        for inner in branch:
            yield from _differences(inner)
        return
    place = _place(error.absolute_path)
    if error.validator == "required":
        name = next((name for name in error.validator_value if error.message.startswith(repr(name))), "")
        yield f"{place}.{name}".lstrip("."), "a value", None
    elif error.validator == "additionalProperties" and isinstance(error.instance, dict):
        described = error.schema.get("properties", {})
        patterns = error.schema.get("patternProperties", {})
        for name in list(error.instance)[:NAMED_MEMBERS]:
            if name not in described and not any(re.search(pattern, name) for pattern in patterns):
                yield f"{place}.{name}".lstrip("."), "no such field", error.instance[name]
    else:
        yield place, _expected(error), error.instance


def _is_of_few(error: Error) -> bool:
    """Whether a part of a learned schema was learned from too few values to say that they all are so."""
    is_null = error.validator == "type" and error.instance is None
    needed = NON_NULL_WITNESSES if is_null else NEEDED_WITNESSES.get(error.validator, 1)
    return bool(error.schema.get(WITNESSES, needed) < needed)


NEEDED_WITNESSES = {"required": 3, "format": 3}
NON_NULL_WITNESSES = 8


def _fitting_branch(error: Error) -> list[Error] | None:
    """The errors of the one alternative whose type the value has; None where there are several, or none."""
    branches: dict[Json, list[Error]] = {}
    for inner in error.context:
        branches.setdefault(inner.relative_schema_path[0], []).append(inner)
    fitting = [
        errors
        for errors in branches.values()
        if not any(inner.validator == "type" and not inner.relative_path for inner in errors)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _expected(error: Error) -> Json:
    rule, value = error.validator, error.validator_value
    if rule == "type":
        kinds = [value] if isinstance(value, str) else list(value)
        return f"a value of type {' or '.join(map(str, kinds))}"
    if rule == "enum":
        return {"one of": list(value)[:NAMED_MEMBERS]}
    if rule == "const":
        return value
    if rule == "format":
        return f"a text of format {value}"
    if rule in BRANCHED:
        return f"what the schema says by {rule}"
    return f"what the schema says: {rule} {value}"


def _place(path: Iterable[str | int]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


def _holds_redacted(value: Json) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_redacted, value.values()))
    return any(map(_holds_redacted, value)) if isinstance(value, list) else is_redacted(value)
