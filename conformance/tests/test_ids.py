"""An id stands in its row: an inserted endpoint renames no requirement, and a renamed one keeps its old id.

Both are tried on a copy of the project, whose rows are edited as a contributor would edit them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.report.across.baseline_rows import write
from conformance.report.across.history import record
from conformance.spec import REQUIREMENTS, present_id, present_signature
from conformance.tests.sample_run import row_of, sample

ROOT = Path(__file__).parents[2]
PACKAGES = ("conformance", "cases", "reference_impl")

INSERTED = "GET /web/v1/system/security/inserted"
BEFORE = "GET /web/v1/system/security/mfa"
RENAMED, NEW_ID = "PAGE-026", "PAGE-926"

Edit = Callable[[Path], None]


def copy_of(folder: Path) -> Path:
    """The packages without their tests."""
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, folder / package, ignore=shutil.ignore_patterns("tests", "__pycache__")
        )
    return folder


def replaced(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def output(folder: Path, *arguments: str) -> Any:
    """The JSON that Python prints, with the packages of a folder. AssertionError: it failed."""
    finished = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


ROWS = """
import json
from conformance.spec import REQUIREMENTS
from reference_impl.faults import FAULTS
print(json.dumps({
    "requirements": {
        row.id: [row.statement, row.level, row.section, sorted(row.operations)]
        for row in REQUIREMENTS.values()
    },
    "faults": {fault.name: [fault.breaks, fault.operations] for fault in FAULTS.values()},
}))
"""


def insert_an_endpoint(folder: Path) -> None:
    """In the middle of the tables of the suite and of the reference portal."""
    spec, reference = folder / "conformance/spec", folder / "reference_impl"
    replaced(spec / "endpoints.py", f'\nMFA = "{BEFORE}"\n', f'\nINSERTED = "{INSERTED}"\nMFA = "{BEFORE}"\n')
    row = 'Operation("OP-017", op.MFA,'
    replaced(spec / "operations.py", row, f'Operation("OP-089", op.INSERTED, "jwt", "MfaSetting[]"), {row}')
    route = 'get(f"{_SECURITY}/mfa", JWT, security.mfa),'
    replaced(
        reference / "routes.py", route, f'get(f"{{_SECURITY}}/inserted", JWT, security.mfa),\n    {route}'
    )
    replaced(
        reference / "faults/endpoints.py",
        "INSERTED: dict[str, str] = {}",
        f'INSERTED = {{"{INSERTED}": "OP-089"}}',
    )


def test_an_endpoint_in_the_middle_moves_no_requirement_and_no_fault(tmp_path: Path) -> None:
    before = output(ROOT, "-c", ROWS)
    changed = copy_of(tmp_path)
    insert_an_endpoint(changed)

    after = output(changed, "-c", ROWS)

    requirements, faults = after["requirements"], after["faults"]
    assert requirements.keys() - before["requirements"].keys() == {"OP-089"}
    for row in requirements.values():
        row[-1] = [key for key in row[-1] if key != INSERTED]
    assert {id: requirements[id] for id in before["requirements"]} == before["requirements"]
    assert faults.keys() - before["faults"].keys() == {
        "get-security-inserted-is-not-offered",
        "get-security-inserted-answers-nothing",
    }
    assert {name: faults[name] for name in before["faults"]} == before["faults"]


def rename_a_requirement(folder: Path) -> None:
    for package in PACKAGES:
        for file in (folder / package).rglob("*"):
            if file.suffix in (".py", ".toml") and RENAMED in (text := file.read_text(encoding="utf-8")):
                file.write_text(text.replace(RENAMED, NEW_ID), encoding="utf-8")
    file = next(
        file
        for file in (folder / "conformance/spec/requirements.d").iterdir()
        if f'id = "{NEW_ID}"' in file.read_text(encoding="utf-8")
    )
    replaced(file, f'id = "{NEW_ID}"\n', f'id = "{NEW_ID}"\naliases = ["{RENAMED}"]\n')


READ = """
import json, sys
from pathlib import Path
from conformance.report.across import baseline_rows, history
from conformance.report.model.run import Run
from conformance.run.hooks.selection import rerun_requirements

here = Path(sys.argv[1])
(row,) = baseline_rows.load(here / "known.toml")
run = Run.read(here / "results.json")
(trend,) = history.trend(here / "history.sqlite")
later = run.model_copy(update={"started": "2026-12-24T00:00:00+00:00"})
since = history.since(later, here / "history.sqlite")
print(json.dumps({
    "baseline": [row.rule, row.signature],
    "run": [row.id for row in run.requirements if row.verdict == "fail"],
    "findings": [row.signature for row in run.findings],
    "history": [row.requirement for row in trend.failing],
    "newly failing": since.newly_failing,
    "rerun": [sorted(rerun_requirements(id)) for id in sys.argv[2:]],
}))
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A baseline, a run and a history, from before the requirement was renamed."""
    folder = tmp_path / "files"
    folder.mkdir()
    run = sample().run()
    (finding,) = [finding for finding in run.findings if finding.requirement == RENAMED]
    write([row_of(finding)], folder / "known.toml")
    run.write(folder / "results.json")
    record(run, folder / "history.sqlite")
    return folder


def test_a_renamed_requirement_is_found_by_its_old_id(tmp_path: Path, files: Path) -> None:
    changed = copy_of(tmp_path / "copy")
    rename_a_requirement(changed)

    read = output(changed, "-c", READ, str(files), RENAMED, NEW_ID)

    assert read["baseline"][0] == NEW_ID
    assert read["baseline"][1].startswith(f"{NEW_ID} ")
    assert NEW_ID in read["run"]
    assert read["baseline"][1] in read["findings"]
    assert NEW_ID in read["history"]
    assert read["newly failing"] == []
    assert read["rerun"] == [[NEW_ID], [NEW_ID]]
    assert RENAMED not in str(read)


def test_an_id_that_no_requirement_had_stays_as_it_is() -> None:
    assert present_id("OTHER-001") == "OTHER-001"
    assert present_signature("OTHER-001 GET /a data") == "OTHER-001 GET /a data"


def test_no_alias_is_the_id_of_a_requirement() -> None:
    aliases = [alias for row in REQUIREMENTS.values() for alias in row.aliases]

    assert len(aliases) == len(set(aliases))
    assert REQUIREMENTS.keys().isdisjoint(aliases)
