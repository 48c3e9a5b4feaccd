"""``manifest.json``: an in-toto Statement on the files of a report folder, and on their run."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from hashlib import file_digest, sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from conformance.editions import specification_of
from conformance.report.model.evidence import UNREADABLE
from conformance.report.model.run import Run
from conformance.traffic.exchange import Exchange

MANIFEST, ENVELOPE, EXCHANGES = "manifest.json", "manifest.dsse.json", "exchanges.jsonl"
STATEMENT = "https://in-toto.io/Statement/v1"
TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"

COPIED = ("suite", "target", "command", "started", "finished", "impact", "exit_code", "summary", "edition")
"""The keys of ``results.json`` that the manifest repeats."""

NOT_JUDGING = frozenset({"tests", "docs", "__pycache__"})
"""Folders of the packages whose files decide no verdict."""


def statement_of(run: Run, folder: Path, names: Iterable[str]) -> dict[str, Any]:
    """The Statement on those of the named files that the folder has. OSError: one cannot be read."""
    present = [name for name in names if (folder / name).is_file()]
    whole, held = run.dump(), "WARNED" if run.summary.warn + run.summary.fail else "PASSED"
    scope = run.scope.model_dump(mode="json", exclude={"called", "decided", "more"})
    return {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": digest_of(folder / name)}} for name in present],
        "predicateType": TEST_RESULT,
        "predicate": {
            "result": "FAILED" if run.exit_code else held,
            "configuration": configuration(run),
            **{name: whole[name] for name in COPIED if name in whole},
            "scope": {name: value for name, value in scope.items() if value not in (None, "", [])},
            "date": last_date(folder / EXCHANGES),
        },
    }


def configuration(run: Run) -> list[dict[str, Any]]:
    """What judged, and by which document: the installed suite, and that of the edition."""
    digests = {run.suite.name: suite_digest()}
    if run.scope.edition:
        digests["specification"] = specification_of(run.scope.edition)
    return [{"name": name, "digest": {"sha256": digest}} for name, digest in digests.items()]


def digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


@cache
def suite_digest() -> str:
    """The digest of the installed files that judge: code, tables and cases, whatever their version says."""
    whole = sha256()
    for package in ("conformance", "cases"):
        root = Path(str(files(package)))
        for path in sorted(each for each in root.rglob("*") if each.is_file()):
            name = path.relative_to(root)
            if NOT_JUDGING.isdisjoint(name.parts):
                whole.update(f"{package}/{name.as_posix()} {digest_of(path)}\n".encode())
    return whole.hexdigest()


def last_date(exchanges: Path) -> str:
    """``Date`` of the last answer that has one, in the last mebibyte: the portal's own clock. Else empty."""
    with suppress(OSError), exchanges.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - (1 << 20)))
        for line in reversed(file.read().splitlines()):
            with suppress(*UNREADABLE):
                response = msgspec.json.decode(line, type=Exchange).response
                if date := response and response.header("date"):
                    return date
    return ""
