"""Rows of the older files of what is known (baselines, accepted differences, noise) in their present form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DIFFERENCES = ("regression", "accept")
NOISE = "noise"
KEPT = {"reason": "reason", "ticket": "ticket", "expires": "until", "was": "was", "now": "now"}
"""Keys that mean the same, with their names of today."""


def in_present_form(table: str, row: Mapping[str, Any]) -> dict[str, Any] | None:
    """The keys of today for a row of an older table; None where it is none."""
    kept = {name: row[old] for old, name in KEPT.items() if old in row}
    if "signature" in row:
        rule, method, path, *place = [*f"{row['signature']}".split(" ", 3), "", "", ""][:4]
        return {**kept, "rule": rule, "endpoint": f"{method} {path}", "path": _pattern(*place)}
    if table in DIFFERENCES:
        return {**kept, **{name: f"{row.get(name, '')}" for name in ("endpoint", "path", "kind")}}
    if table == NOISE:
        path, kind = _pattern(row.get("path")), f"{row.get('kind')}"
        return {"endpoint": f"{row.get('operation')}", "path": path, "kind": kind, "flaky": True}
    return None


def _pattern(path: object) -> str:
    return f"{path}".replace("[]", "[*]")
