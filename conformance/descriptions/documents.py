"""Files of descriptions as JSON values: written as JSON, or as YAML by the rules of YAML 1.2; and the
OpenAPI Overlays 1.0 and 1.1 that change them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import jsonpath
import yaml

from conformance.errors import UsageError
from conformance.traffic.documents import user_text
from conformance.traffic.exchange import Json

OVERLAY = "an OpenAPI Overlay"


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
    text = user_text(path, error=UsageError, missing=f"Name {what}.")
    is_json = text.lstrip()[:1] == "{"
    try:  # names are texts in JSON (``200:`` is a number in YAML)
        value = json.loads(text if is_json else json.dumps(yaml.load(text, Loader=_Loader), default=str))
    except (yaml.YAMLError, ValueError, RecursionError) as problem:
        reason = " ".join(str(problem).split())
        raise UsageError(f"{path}: cannot be read as JSON or YAML: {reason}.") from None
    if not isinstance(value, dict):
        raise UsageError(f"{path}: this is not {what}: it holds no object.")
    return value


def change(document: dict[str, Json], overlay: Path, *, name: str, notes: list[str]) -> None:
    """Follows an overlay file, where it extends the file of this name, or any. Notes name actions that match
    nothing. UsageError: the file is no overlay, or an action cannot be followed."""
    changes = document_of(overlay, OVERLAY)
    actions = changes.get("actions")
    if not str(changes.get("overlay", "")).startswith("1.") or not isinstance(actions, list):
        raise UsageError(f'{overlay}: this is not {OVERLAY}. It lacks overlay: 1.0.0, or a list "actions".')
    if str(changes.get("extends", "")).rpartition("/")[2] not in ("", name):
        return
    for number, action in enumerate(actions, 1):
        place = f"{overlay}: action {number}"
        if not isinstance(action, dict) or not isinstance(action.get("target"), str):
            raise UsageError(f'{place} lacks a "target", a JSONPath such as $.paths.')
        try:
            if not _follow(action, document):
                notes.append(f"{place} changes nothing: {action['target']} matches no place.")
        except jsonpath.JSONPathError as problem:
            raise UsageError(f"{place}: target {action['target']}: {problem}.") from None


def _follow(action: Mapping[str, Json], document: dict[str, Json]) -> bool:
    """Follows an action; whether it matches a place."""
    matches = list(jsonpath.finditer(action["target"], document))
    addition = action.get("update")
    if "copy" in action:
        addition = next((match.value for match in jsonpath.finditer(str(action["copy"]), document)), None)
    for match in reversed(matches):
        holder: Json = document if match.parent is None else match.parent.obj
        if match.parent is None:
            document.update(_merged(document, addition if isinstance(addition, dict) else {}))
        elif action.get("remove") is True:
            del holder[match.parts[-1]]
        elif addition is not None:
            holder[match.parts[-1]] = _merged(match.value, addition)
    return bool(matches)


def _merged(value: Json, addition: Json) -> Json:
    """As an overlay merges: objects name by name, an array gets a further item, anything else is replaced."""
    if isinstance(value, dict) and isinstance(addition, dict):
        return value | {name: _merged(value.get(name), inner) for name, inner in addition.items()}
    if isinstance(value, list):
        return [*value, *(addition if isinstance(addition, list) else [addition])]
    return addition
