"""What two replays of one recording must have in common, though ids, tokens and times differ."""

from __future__ import annotations

import json
import re
from pathlib import Path

from conformance.replay import ReplayResult
from conformance.traffic.exchange import Json

OPAQUE = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-7][0-9A-HJKMNP-TV-Z]{25}"
    r"|eyJ[\w-]+\.[\w-]+\.[\w-]*|\b[0-9a-f]{16,}(?:-\d+)?\b|Made-[0-9a-f]{16}|-[0-9a-f]{6}\b"
)
COLON = "(?::|%3A)"
TIME = re.compile(rf"\d{{4}}-\d\d-\d\d[T ]\d\d{COLON}\d\d(?:{COLON}\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
DATE = re.compile(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT")
PORT = re.compile(r"(?<=127\.0\.0\.1:)\d+")
SEALED = re.compile(r'"p": ?"[^"]+"')
STAMP = re.compile(r"\b1\d{12}\b|\b1\d{9}\b")
OWN = frozenset({"started", "elapsed_ms"})
"""The suite's own times."""
RANDOM = frozenset({"publicKey", "secret", "otpauthUri", "backupCodes", "p", "encReqKey", "encRespKey"})


class Normalizer:
    """Replaces ids and tokens by numbers, by first occurrence, and times by words."""

    def __init__(self) -> None:
        self._numbers: dict[str, str] = {}

    def value(self, value: Json, name: str = "") -> Json:
        if isinstance(value, dict):
            return {key: self.value(inner, key) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.value(inner, name) for inner in value]
        if isinstance(value, str):
            return "random" if name in RANDOM else self._text(value)
        return "stamp" if isinstance(value, int) and STAMP.fullmatch(str(value)) else value

    def _text(self, value: str) -> str:
        text = SEALED.sub("sealed", PORT.sub("port", DATE.sub("date", TIME.sub("time", value))))
        return OPAQUE.sub(self._number, STAMP.sub("stamp", text))

    def _number(self, match: re.Match[str]) -> str:
        return self._numbers.setdefault(match[0], f"<{len(self._numbers)}>")


def log_of(out: Path) -> list[Json]:
    """The lines of a replay's log, normalized."""
    normalizer = Normalizer()
    lines = []
    for text in (out / "exchanges.jsonl").read_text().splitlines():
        line = {name: value for name, value in json.loads(text).items() if name not in OWN}
        headers = line.get("response", {}).get("headers", [])
        if any(name == "content-encoding" for name, _ in headers):  # its length varies with the times in it
            line["response"]["headers"] = [pair for pair in headers if pair[0] != "content-length"]
        lines.append(normalizer.value(line))
    return lines


def conclusions(result: ReplayResult) -> dict[str, object]:
    """Ledger, regressions, outcomes and notes of a replay."""
    run = result.run
    return {
        "states": dict(result.tally.counts),
        "regressions": [(each.exchange, each.endpoint, each.path, each.kind) for each in run.regressions],
        "verdicts": {each.id: (each.verdict, tuple(each.cases)) for each in run.requirements},
        "findings": [
            (each.requirement, each.verdict, each.endpoint, tuple(each.exchanges)) for each in run.findings
        ],
        "readings": [(each.key, each.observed) for each in run.readings],
        "endpoints": result.tally.endpoints,
        "outcomes": [(each.number, each.state, each.endpoint, each.line) for each in result.tally.kept],
        "ambiguous": sorted(result.correlation.ambiguous),
    }
