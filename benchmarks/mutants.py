"""Whether the tests notice a wrong check: cosmic-ray's mutants of all that judges, against the tests of it.

    make mutants                                         # all of them
    .venv/bin/python benchmarks/mutants.py --sample 120  # so many, drawn by a seed
    .venv/bin/python benchmarks/mutants.py conformance/checks/orders.py

Writes ``mutants/report.txt`` (each mutant, and what came of it) and prints how many survive. It mutates a
copy of the package. What survives are mostly short cuts that only cost time, and texts for people.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import peers

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / "mutants" / "report.txt"
SEED = 4
TIMEOUT_SECONDS = 300.0
JUDGING = ("verdicts/findings.py", "verdicts/comparisons.py", "judging/judge.py", "judging/cache.py")
TESTS = ("test_checks*.py", "test_judg*.py", "test_findings.py", "test_comparisons.py", "test_verify.py")


def configuration(copy: Path, modules: list[str]) -> Path:
    """Writes what cosmic-ray is to mutate, and which tests decide."""
    tests = sorted(path for pattern in TESTS for path in copy.glob(f"conformance/tests/{pattern}"))
    names = " ".join(str(path.relative_to(copy)) for path in tests)
    settings = {
        "module-path": modules or ["conformance/checks", *(f"conformance/{name}" for name in JUDGING)],
        "timeout": TIMEOUT_SECONDS,
        "excluded-modules": [],
        "test-command": f"{sys.executable} -m pytest -x -q -p no:cacheprovider {names}",
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    file = copy / "mutants.toml"
    file.write_text("\n".join(["[cosmic-ray]", *lines, "[cosmic-ray.distributor]", 'name = "local"', ""]))
    return file


def keep_sample(session: Path, number: int) -> None:
    """Takes all mutants but so many, drawn by a seed, out of a session of cosmic-ray."""
    with closing(sqlite3.connect(session)) as database, database:
        # The ids are random, the order in which they were written is not.
        ids = [id for (id,) in database.execute("SELECT job_id FROM mutation_specs ORDER BY rowid")]
        dropped = random.Random(SEED).sample(ids, max(0, len(ids) - number))
        for table in ("mutation_specs", "work_items"):
            database.executemany(f"DELETE FROM {table} WHERE job_id = ?", [(id,) for id in dropped])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--sample", type=int, metavar="N", help="N mutants drawn by a seed, not all")
    options = parser.parse_args()
    tool = str(peers.python_of("cosmic-ray").with_name("cosmic-ray"))
    REPORT.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        for name in ("conformance", "reference_impl", "cases"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "conftest.py"):
            shutil.copy(ROOT / name, copy)
        session = str(copy / "session.sqlite")
        file = str(configuration(copy, options.modules))
        subprocess.run([tool, "init", file, session], check=True, cwd=copy)
        if options.sample is not None:
            keep_sample(Path(session), options.sample)
        subprocess.run(["nice", tool, "exec", file, session], check=True, cwd=copy)
        report = subprocess.run(
            [f"{tool.removesuffix('cosmic-ray')}cr-report", session, "--show-diff"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    REPORT.write_text(report, encoding="utf-8")
    print("\n".join(report.splitlines()[-3:]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
