"""HAR files to read: those kept of each dialect, and others made of valid entries."""

from __future__ import annotations

import json
from pathlib import Path

from conformance.traffic import capture
from conformance.traffic.exchange import Exchange

DIALECTS = Path(__file__).parent / "dialects"


def read(name: str, *, salvage: bool = False) -> tuple[list[Exchange], capture.Reader]:
    reader = capture.read(DIALECTS / name, salvage=salvage)
    return list(reader), reader


def one_entry(folder: Path, **changes: object) -> Path:
    """A HAR file with one valid entry; ``request``, ``response`` and other members changed as told."""
    request = {"method": "GET", "url": "https://portal.example.test/web/v1/system/roles", "headers": []}
    response = {"status": 200, "headers": [], "content": {"size": 2, "mimeType": "", "text": "[]"}}
    entry: dict[str, object] = {"startedDateTime": "2026-01-01T00:00:00Z", "time": 1}
    for name, message in (("request", request), ("response", response)):
        entry[name] = {**message, **changes.pop(name, {})}  # type: ignore[dict-item]
    path = folder / "one.har"
    path.write_text(json.dumps({"log": {"entries": [{**entry, **changes}]}}))
    return path


def many_entries(folder: Path, count: int, **changes: object) -> Path:
    """A HAR file with so many entries, a second apart; the one in the middle has a member changed as told."""
    path = one_entry(folder)
    (entry,) = json.loads(path.read_text())["log"]["entries"]
    entries = [{**entry, "startedDateTime": f"2026-01-01T00:00:{at:02}Z"} for at in range(count)]
    entries[count // 2] |= changes
    path.write_text(json.dumps({"log": {"entries": entries}}, indent=2))
    return path
