"""Which defects the suite finds at the first try: patches to the reference portal, made without sight of it.

    .venv/bin/python benchmarks/blind_defects.py PATCHES [--at-once 2] [--only NN]... [--out FILE]

PATCHES is a folder of ``NN-name.patch`` files, each a change of ``reference_impl/`` by itself. For each one a
copy of the project is patched, and the whole suite runs against its bundled portal. A defect is found where a
rule fails or warns that holds without it. ``--out`` writes the table as Markdown. Exit code 1: a patch does
not apply, or the portal with it does not start.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PARTS = ("conformance", "cases", "reference_impl", "pyproject.toml", "conftest.py")
LONGEST = 600.0
"""Seconds that one run may take."""

Verdicts = Mapping[str, str]
"""By requirement: fail or warn."""


@dataclass(frozen=True)
class Outcome:
    """What became of one defect. ``verdicts`` None: it could not be tried, and ``error`` says why."""

    name: str
    verdicts: Verdicts | None
    error: str = ""

    @property
    def is_found(self) -> bool:
        return bool(self.verdicts)


def tried(patch: Path | None) -> Outcome:
    """The outcome of the whole suite with this patch; without one, of the portal as it is."""
    name = "none" if patch is None else patch.stem
    with tempfile.TemporaryDirectory(prefix="blind-") as folder:
        copy = Path(folder) / "project"
        copy.mkdir()
        for part in PARTS:
            source = ROOT / part
            copied = shutil.copytree if source.is_dir() else shutil.copy2
            copied(source, copy / part)
        if patch is not None:
            applied = subprocess.run(
                ["git", "apply", str(patch.resolve())], cwd=copy, capture_output=True, text=True, check=False
            )
            if applied.returncode:
                return Outcome(name, None, f"does not apply: {applied.stderr.strip()}")
        return Outcome(name, *_run(copy))


def _run(copy: Path) -> tuple[Verdicts | None, str]:
    out = copy / "out"
    words = [sys.executable, "-m", "conformance.cli", "run", "--quiet", "--out", str(out)]
    try:
        done = subprocess.run(
            words,
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy)},
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None, f"takes more than {LONGEST:.0f} s"
    if not (out / "results.json").exists():
        return None, (done.stdout + done.stderr).strip().rpartition("\n")[2]
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    found = {
        row["id"]: row["verdict"] for row in results["requirements"] if row["verdict"] in ("fail", "warn")
    }
    return found, ""


def page(outcomes: Sequence[Outcome]) -> str:
    """The table as Markdown."""
    found = sum(outcome.is_found for outcome in outcomes)
    lines = [
        "# Blind defects",
        "",
        f"{found} of {len(outcomes)} found at the first try ({found / max(1, len(outcomes)):.0%}).",
        "",
        "| defect | found by |",
        "| --- | --- |",
    ]
    for outcome in outcomes:
        seen = ", ".join(f"{id} {verdict.upper()}" for id, verdict in (outcome.verdicts or {}).items())
        lines.append(f"| {outcome.name} | {outcome.error or seen or 'not found'} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("patches", type=Path)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    patches = [
        patch
        for patch in sorted(asked.patches.glob("*.patch"))
        if not asked.only or patch.stem.partition("-")[0] in asked.only
    ]
    clean = tried(None)
    if clean.verdicts is None or clean.is_found:
        raise SystemExit(f"without a defect: {clean.error or clean.verdicts}")
    outcomes = []
    with ThreadPoolExecutor(asked.at_once) as pool:
        for outcome in pool.map(tried, patches):
            print(outcome.name, outcome.error or dict(outcome.verdicts or {}) or "NOT FOUND", flush=True)
            outcomes.append(outcome)
    print(page(outcomes).splitlines()[2])
    if asked.out:
        asked.out.write_text(page(outcomes), encoding="utf-8")
    return int(any(outcome.verdicts is None for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
