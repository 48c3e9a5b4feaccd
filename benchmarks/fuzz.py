"""Mutates every kind of input and gives it to every command that reads it, for as long as is asked.

    make fuzz                                         # 30 minutes, shared evenly among the kinds
    .venv/bin/python benchmarks/fuzz.py --minutes 2 profile har

Each fault is printed once, with the seed's content saved below ``conformance/tests/corpus/``, where the tests
try it from then on.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from conformance.tests.fuzzing import SUBJECTS, Fault, Inputs, fuzz, prepared

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "conformance" / "tests" / "corpus"
KINDS = (*SUBJECTS, "options")


def signature(fault: Fault) -> str:
    """What stays the same where the same fault is met by another input."""
    return f"{fault.kind} {fault.command[0]} {re.sub(r'[0-9]+|0x[0-9a-f]+', '#', fault.problem)[:120]}"


def finished_run(folder: Path) -> Path:
    """The reports of one run against the bundled portal."""
    command = [sys.executable, "-m", "conformance.cli", "run", "--out", ".", "--history", "history.db"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args()
    unknown = set(options.kinds) - set(KINDS)
    if unknown:
        parser.error(f"no such kind: {sorted(unknown)}; the kinds are {list(KINDS)}")
    kinds = tuple(options.kinds or KINDS)
    seconds = options.minutes * 60 / len(kinds)
    faults: dict[str, Fault] = {}
    trials: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        run.mkdir()
        files = prepared(Path(folder) / "inputs", run=finished_run(run))
        for kind in kinds:
            _fuzz_for(kind, files, seconds, options.first_seed, trials, faults)
    for kind in kinds:
        print(f"{kind}: {trials[kind]} inputs")
    print(f"{trials.total()} inputs, {len(faults)} faults")
    return int(bool(faults))


def _fuzz_for(
    kind: str, files: Inputs, seconds: float, first: int, trials: Counter[str], faults: dict[str, Fault]
) -> None:
    end = time.monotonic() + seconds
    for seed in itertools.count(first):
        if time.monotonic() > end:
            return
        trials[kind] += 1
        for fault in fuzz(kind, files, [seed]):
            name = signature(fault)
            if name not in faults:
                faults[name] = fault
                print(f"seed {seed}: {fault}", flush=True)
                _save(fault)
        shutil.rmtree(files.of("out"), ignore_errors=True)


def _save(fault: Fault) -> None:
    if fault.kind in SUBJECTS:
        digest = hashlib.sha256(fault.content).hexdigest()[:12]
        CORPUS.joinpath(fault.kind).mkdir(parents=True, exist_ok=True)
        CORPUS.joinpath(fault.kind, digest).write_bytes(fault.content)


if __name__ == "__main__":
    sys.exit(main())
