"""Whether ``selftest`` notices that a check, or the body of a case, is gone: ten of them, by a seeded draw.

    .venv/bin/python benchmarks/deleted_checks.py [--seed 4] [--number 10]

Each is deleted from a copy of the tree, in which ``selftest`` then runs its trials, restricted to faults of
the requirements that the deleted one proves; before that, the same trials run in the copy as it was. What
``selftest`` says is what it compares on any whole run: the checks and cases that turned a requirement, with
``conformance/selftest/proofs.json``. Writes ``benchmarks/deleted_checks.md``.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WRITTEN = Path(__file__).with_suffix(".md")
PROOFS = ROOT / "conformance" / "selftest" / "proofs.json"
PACKAGES = ("conformance", "cases", "reference_impl")
MOST = 6
"""Of the faults that a requirement has; one that is told of is enough to fail."""

ALL_SHAPES = "check shape"
"""Made of all the models; no function of its own that could be deleted."""

TRIED = """
import json, sys
from conformance.bundled import FAULTS
from conformance.planning import ids_of
from conformance.selftest import FaultRuns, matrix_of
from conformance.selftest.verdicts import judge

class Restricted(FaultRuns):
    def pytest_collection_finish(self, session):
        super().pytest_collection_finish(session)
        self.deciders = {sys.argv[2]}
        items = [item for item in session.items if ids_of(item)]
        self.matrix.alone = self._tried_alone(session, items, self.matrix.clean, self.matrix)

matrix = matrix_of(Restricted(tuple(json.loads(sys.argv[1])), False, 2))
judge(matrix, deciders=(), known={}, whole=False)
print(json.dumps({"proofs": matrix.proofs, "problems": matrix.problems}))
"""


@dataclass(frozen=True)
class Told:
    """Of a run: which checks and cases contradict which requirement, and what else is wrong."""

    proofs: Mapping[str, list[str]]
    problems: list[str]


@dataclass(frozen=True)
class Row:
    deleted: str
    requirements: list[str]
    faults: list[str]
    before: int
    lines: list[str]


def drawn(known: Mapping[str, list[str]], seed: int, number: int) -> list[str]:
    """As many checks as cases."""
    sources = sorted({source for sources in known.values() for source in sources} - {ALL_SHAPES})
    checks = [source for source in sources if source.startswith("check ")]
    cases = [source for source in sources if not source.startswith("check ")]
    dice = random.Random(seed)
    chosen = [*dice.sample(checks, number // 2), *dice.sample(cases, number - number // 2)]
    dice.shuffle(chosen)
    return chosen


def concerned(
    deleted: str, known: Mapping[str, list[str]], dice: random.Random
) -> tuple[list[str], list[str]]:
    """Requirements that it proves, and faults of them. Of a case first those that few others prove."""
    from conformance.target.bundled import FAULTS

    proven = sorted((one for one in known if deleted in known[one]), key=lambda one: len(known[one]))[:MOST]
    faults = [name for name, fault in FAULTS.items() if set(fault.breaks) & set(proven)]
    return proven, sorted(dice.sample(faults, min(MOST, len(faults))))


def without(deleted: str, tree: Path) -> None:
    """Takes a check away, or leaves of a case only what it declares. Raises ValueError: it is not there."""
    if deleted.startswith("check "):
        chapter, _, name = deleted.removeprefix("check ").partition(".")
        path = tree / "conformance" / "checks" / f"{chapter}.py"
    else:
        place, _, name = deleted.partition("::")
        path = tree / place
    lines = path.read_text(encoding="utf-8").splitlines()
    function = _function(path, name)
    first = min((one.lineno for one in function.decorator_list), default=function.lineno)
    if deleted.startswith("check "):
        del lines[first - 1 : function.end_lineno]
    else:
        body = function.body[0]
        lines[body.lineno - 1 : function.end_lineno] = [" " * body.col_offset + "pass"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _function(path: Path, name: str) -> ast.FunctionDef:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise ValueError(f"{path} has no {name}")


def tried(tree: Path, faults: list[str], decider: str) -> Told:
    """Raises RuntimeError where the trials cannot be run."""
    done = subprocess.run(
        [sys.executable, "-c", TRIED, json.dumps(faults), decider],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return Told(**json.loads(done.stdout.splitlines()[-1]))


def row(deleted: str, known: Mapping[str, list[str]], dice: random.Random) -> Row:
    requirements, faults = concerned(deleted, known, dice)
    with tempfile.TemporaryDirectory(prefix="deleted-") as folder:
        tree = Path(folder)
        for package in PACKAGES:
            shutil.copytree(ROOT / package, tree / package, ignore=shutil.ignore_patterns("tests"))
        before = tried(tree, faults, deleted)
        without(deleted, tree)
        after = tried(tree, faults, deleted)
    missing = [
        f"no longer proven: that {source} contradicts {requirement}"
        for requirement in known
        for source in known[requirement]
        if source in before.proofs.get(requirement, ()) and source not in after.proofs.get(requirement, ())
    ]
    missing.sort(key=lambda line: deleted not in line)
    return Row(deleted, requirements, faults, len(before.problems), [*missing, *after.problems])


def page(rows: list[Row], seed: int) -> Iterator[str]:
    yield "# What is no longer proven when a check or a case is gone\n"
    yield (
        f"Made by `benchmarks/deleted_checks.py --seed {seed} --number {len(rows)}`: in a copy of the tree a "
        "check is deleted, or the body of a case, and `selftest` runs faults of what it proves. Before the "
        "deletion the same trials have the problems in the third column. Each line after it is one by which "
        "`selftest` fails.\n"
    )
    yield "| deleted | faults tried | problems before | lines after | the first that names it |"
    yield "|---|---|---|---|---|"
    for one in rows:
        named = next((line for line in one.lines if one.deleted in line), "**not noticed**")
        yield f"| {one.deleted} | {len(one.faults)} | {one.before} | {len(one.lines)} | {named} |"
    noticed = sum(any(one.deleted in line for line in one.lines) for one in rows)
    yield f"\n{noticed} of {len(rows)} noticed."


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--seed", type=int, default=4)
    options.add_argument("--number", type=int, default=10)
    asked = options.parse_args()
    known = json.loads(PROOFS.read_text(encoding="utf-8"))
    dice = random.Random(asked.seed)
    rows = []
    for deleted in drawn(known, asked.seed, asked.number):
        rows.append(row(deleted, known, dice))
        print(f"{deleted}: {len(rows[-1].lines)} lines", flush=True)
    WRITTEN.write_text("\n".join(page(rows, asked.seed)) + "\n", encoding="utf-8")
    print(WRITTEN.read_text(encoding="utf-8"))
    return 0 if all(any(one.deleted in line for line in one.lines) for one in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
