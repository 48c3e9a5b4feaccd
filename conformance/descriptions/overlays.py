"""OpenAPI Overlay 1.0 and 1.1: changes to a description that stand beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import jsonpath

from conformance.descriptions.documents import document_of
from conformance.errors import UsageError
from conformance.traffic.exchange import Json

OVERLAY = "an OpenAPI Overlay"


class Overlay:
    """The actions of an overlay file. ``name`` is that of the description that it extends; empty: any."""

    def __init__(self, path: Path) -> None:
        """UsageError: the file is no overlay."""
        document = document_of(path, OVERLAY)
        actions = document.get("actions")
        if not str(document.get("overlay", "")).startswith("1.") or not isinstance(actions, list):
            raise UsageError(f'{path}: this is not {OVERLAY}. It lacks overlay: 1.0.0, or a list "actions".')
        self.path = path
        self.name = str(document.get("extends", "")).rpartition("/")[2]
        self._actions = actions

    def apply(self, document: dict[str, Json], notes: list[str]) -> dict[str, Json]:
        """The document with all changes. Notes name actions that match nothing. UsageError: an action cannot
        be followed."""
        for number, action in enumerate(self._actions, 1):
            place = f"{self.path}: action {number}"
            if not isinstance(action, dict) or not isinstance(action.get("target"), str):
                raise UsageError(f'{place} lacks a "target", a JSONPath such as $.paths.')
            try:
                count = _changed(document, action)
            except jsonpath.JSONPathError as problem:
                raise UsageError(f"{place}: target {action['target']}: {problem}.") from None
            if not count:
                notes.append(f"{place} changes nothing: {action['target']} matches no place.")
        return document


def _changed(document: dict[str, Json], action: Mapping[str, Json]) -> int:
    """Follows an action; how many places it matches."""
    matches = list(jsonpath.finditer(action["target"], document))
    addition = action.get("update")
    if "copy" in action:
        addition = next((match.value for match in jsonpath.finditer(str(action["copy"]), document)), None)
    for match in reversed(matches):
        parts = match.parts
        if action.get("remove") is True and parts:
            del _at(document, parts[:-1])[parts[-1]]
        elif addition is not None and parts:
            holder = _at(document, parts[:-1])
            holder[parts[-1]] = _merged(match.value, addition)
        elif isinstance(addition, dict):
            document.update(_merged(document, addition))
    return len(matches)


def _at(document: Json, parts: tuple[str | int, ...]) -> Json:
    for part in parts:
        document = document[part]
    return document


def _merged(value: Json, addition: Json) -> Json:
    """As an overlay merges: objects name by name, an array gets a further item, anything else is replaced."""
    if isinstance(value, dict) and isinstance(addition, dict):
        return {**value, **dict(_merged_names(value, addition))}
    if isinstance(value, list):
        return [*value, *(addition if isinstance(addition, list) else [addition])]
    return addition


def _merged_names(value: Mapping[str, Json], addition: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    for name, inner in addition.items():
        yield name, _merged(value[name], inner) if name in value else inner
