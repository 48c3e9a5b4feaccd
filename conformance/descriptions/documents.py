"""Files of descriptions and overlays as JSON values: written as JSON, or as YAML by the rules of YAML 1.2."""

from __future__ import annotations

import json
import re
from pathlib import Path

import yaml

from conformance.errors import UsageError
from conformance.traffic.documents import document_text
from conformance.traffic.exchange import Json

MOST_NODES = 2_000_000
"""Values in a document, each alias of YAML counted as what it stands for."""

DEEPEST = 200
"""Values that stand in each other."""


class _Loader(yaml.SafeLoader):
    """Reads plain scalars as YAML 1.2 does: ``no`` and ``2026-01-31`` are texts."""


_BOOLEAN, _TIMESTAMP = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp"
_Loader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in rows if tag not in (_BOOLEAN, _TIMESTAMP)]
    for first, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(_BOOLEAN, re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"), list("tTfF"))


def document_of(path: Path, what: str) -> dict[str, Json]:
    """The object that a file holds. UsageError: it cannot be read; ``what`` names its kind."""
    try:
        value = _parsed(path, document_text(path))
    except (OSError, UnicodeDecodeError) as problem:
        reason = (isinstance(problem, OSError) and problem.strerror) or str(problem)
        raise UsageError(f"{path}: cannot be read ({reason.lower()}). Name {what}.") from None
    if not isinstance(value, dict):
        raise UsageError(f"{path}: this is not {what}: it holds no object.")
    return value


def _parsed(path: Path, text: str) -> Json:
    """The value of a JSON or YAML text. UsageError: it is neither, or too large."""
    try:
        if text.lstrip()[:1] == "{":
            return _plain(json.loads(text))
        return _plain(yaml.load(text, Loader=_Loader))
    except json.JSONDecodeError as problem:
        raise UsageError(
            f"{path}:{problem.lineno}:{problem.colno}: this is not JSON: {problem.msg}."
        ) from None
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark
        place = f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""
        raise UsageError(f"{path}{place}: this is not YAML: {problem.problem}.") from None
    except (yaml.YAMLError, ValueError, RecursionError) as problem:
        reason = str(problem).partition("\n")[0] or "it is nested too deep"
        raise UsageError(f"{path}: cannot be read ({reason}).") from None


def _plain(value: Json) -> Json:
    """The value as JSON has it: names are texts (``200:`` is a number in YAML). ValueError: it is too
    large."""
    count = 0

    def plain(value: Json, depth: int) -> Json:
        nonlocal count
        count += 1
        if count > MOST_NODES or depth > DEEPEST:
            raise ValueError("it is too large")
        if isinstance(value, dict):
            return {str(name): plain(inner, depth + 1) for name, inner in value.items()}
        if isinstance(value, list):
            return [plain(inner, depth + 1) for inner in value]
        return value if value is None or isinstance(value, str | int | float) else str(value)

    return plain(value, 0)
