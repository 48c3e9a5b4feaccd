"""Report folders for the tests of ``verify``: honest ones, and what a forger may do to one."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from conformance.cli import main
from conformance.report.formats.manifest import EXCHANGES, MANIFEST, statement_of
from conformance.report.formats.write import ATTESTED
from conformance.report.model.run import Run
from conformance.tests.deployment import deployed

FAULT, BROKEN = "countries-value-off-by-one", "CONSTANT-020"
"""A fault, and the rule that a check finds it by."""

Forgery = Callable[[Path], object]


def faulty_run(folder: Path) -> None:
    """A read-only run that one check fails."""
    with deployed(folder, faults=[FAULT]) as portal:
        ended = portal.run("--impact", "read-only", "--edition", "2026.1", "--level", "core")
    assert ended.code == 1, ended.said


def verified(*words: str | Path) -> tuple[int, str]:
    """The exit code of ``verify``, and what it prints."""
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        code = main(["verify", *map(str, words)])
    return code, printed.getvalue()


def assert_verified(code: int, words: str, *arguments: str | Path) -> None:
    """``verify`` ends with this exit code, and says these words."""
    ended, said = verified(*arguments)
    assert (ended, words in " ".join(said.split())) == (code, True), said


def edit(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Changes ``results.json``."""
    path = folder / "results.json"
    results = json.loads(path.read_text(encoding="utf-8"))
    change(results)
    path.write_text(json.dumps(results), encoding="utf-8")


def rewrite_manifest(folder: Path) -> None:
    """What a forger who knows of the manifest does last."""
    statement = statement_of(Run.read(folder), folder, ATTESTED)
    (folder / MANIFEST).write_text(json.dumps(statement), encoding="utf-8")


def row_of(results: dict[str, Any], rule: str = BROKEN) -> dict[str, Any]:
    return next(row for row in results["requirements"] if row["id"] == rule)


def without_findings(results: dict[str, Any]) -> None:
    """Takes out the finding, and all that follows from it."""
    results["findings"] = [each for each in results["findings"] if each["requirement"] != BROKEN]
    row_of(results).update(verdict="pass", reason=None)
    row_of(results).pop("fault_class", None)
    recount(results)
    results.update(exit_code=0, exit_codes=[])
    results["edition"].update(contradicted=[], conforms=not results["edition"]["untested"])


def recount(results: dict[str, Any]) -> None:
    verdicts = [row["verdict"] for row in results["requirements"]]
    results["summary"] = {name: verdicts.count(name) for name in results["summary"]}


def forged_results(change: Callable[[dict[str, Any]], object]) -> Forgery:
    return lambda folder: edit(folder, change)


def forged_exchanges(change: Callable[[list[dict[str, Any]]], object]) -> Forgery:
    def forge(folder: Path) -> None:
        path = folder / EXCHANGES
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        change(lines)
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        path.write_text(text, encoding="utf-8")

    return forge


def mended(lines: list[dict[str, Any]]) -> None:
    """Every answer of the endpoint with the fault as it should be."""
    for line in lines:
        for item in (line.get("response") or {}).get("body", {}).get("data") or ():
            if "constants/countries" in line["request"]["url"] and item["code"] == "CN":
                item["value"] = 95010301


def renumbered(lines: list[dict[str, Any]]) -> None:
    del lines[7]
    for number, line in enumerate(lines, 1):
        line["n"] = number
