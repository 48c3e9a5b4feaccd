"""A run without its secrets. The registry's own texts are never changed, whatever a secret looks like."""

from __future__ import annotations

from functools import cache
from typing import Any

from conformance.report.model.run import Run
from conformance.spec import BY_KEY, REQUIREMENTS
from conformance.traffic.exchange import Json
from conformance.traffic.redaction.context import names_a_value
from conformance.traffic.redaction.redact import Secrets

REGISTRY_TEXTS = frozenset(
    {text for row in REQUIREMENTS.values() for text in (row.id, row.section, row.statement, row.reading)}
    | BY_KEY.keys()
)
"""What every report says of a requirement, whatever the target answered."""

VALUES = frozenset({"expected", "actual", "recorded", "replayed", "observed", "pinned"})
"""The fields of a run that hold JSON from the target's answers."""

ENUMERATED = frozenset(
    {"verdict", "level", "fault_class", "impact", "command", "kind", "version", "severity"}
)
"""The fields of a run that hold words of the suite's own."""


def redacted(run: Run, secrets: Secrets) -> Run:
    """The run with every secret in its texts, names and values replaced."""
    whole = run.dump()
    clean = _Cleaner(secrets, run).clean(whole)
    return run if clean == whole else Run.model_validate(clean)


class _Cleaner:
    """Replaces secrets in the parts of a run; most texts stand in several places, and are read once."""

    def __init__(self, secrets: Secrets, run: Run) -> None:
        self._secrets = secrets
        self._kept = REGISTRY_TEXTS | {case for row in run.requirements for case in row.cases}
        self._text = cache(self._redacted_text)
        self._name = cache(secrets.redact_name)

    def clean(self, value: Json, name: str = "", place: str = "") -> Json:
        """The value of a field; ``place`` is where in an answer a finding or regression is."""
        if name in ENUMERATED:
            return value
        if name in VALUES:
            return self._secrets.redact_json(value, is_named=names_a_value(place))
        if isinstance(value, str):
            return self._message(value, place) if name == "message" else self._text(value)
        if isinstance(value, dict):
            return self._object(value)
        if isinstance(value, list):
            return [self.clean(item, name, place) for item in value]
        return value

    def _object(self, value: dict[str, Any]) -> Json:
        path = value.get("path")
        place = path.rpartition(".")[2].partition("[")[0] if isinstance(path, str) else ""
        return {
            self._name(key): item if item is None or item is False else self.clean(item, key, place)
            for key, item in value.items()
        }

    def _message(self, text: str, place: str) -> str:
        return str(self._secrets.redact_json(text, is_named=names_a_value(place)))

    def _redacted_text(self, text: str) -> str:
        return text if text in self._kept else self._secrets.redact(text)
