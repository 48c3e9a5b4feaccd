"""Whether the tests notice a wrong check: mutants of all that judges, against those that judge made traffic.

    make mutants                                        # all of them
    .venv/bin/python benchmarks/mutants.py --sample 700  # so many, drawn by a seed
    .venv/bin/python benchmarks/mutants.py conformance/checks/orders.py

Writes ``mutants/results.jsonl`` (one mutant a line) and prints a table and the survivors. No file of the
package is touched. A mutant meets only the tests that come to its function.

mutmut leaves out functions with a decorator, which all checks are; cosmic-ray starts a process, and so
imports everything, for each of thousands of mutants.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from mutant_trials import ROOT, reached, tried_anew, tried_quickly
from mutators import Mutant, mutants

RESULTS = ROOT / "mutants" / "results.jsonl"
NICENESS = 15
SEED = 4

JUDGING = ("conformance/verdicts/findings.py", "conformance/verdicts/comparisons.py")
TESTS = ("test_checks*.py", "test_judg*.py", "test_findings.py", "test_comparisons.py", "test_verify.py")
WHOLE = "conformance/tests/test_judging_cache.py"
"""Compares long traces judged in two ways: slow, and meant for how checks are found and remember."""
REMEMBERING = (
    "conformance/checks/registry.py",
    "conformance/judging/judge.py",
    "conformance/judging/cache.py",
)
OUTCOMES = ("killed", "endless", "survived")


@dataclass(frozen=True)
class Result:
    mutant: Mutant
    outcome: str


def targets() -> list[str]:
    """Modules to mutate: chapters of checks first, shared modules, which most tests reach, last."""
    modules = {str(path.relative_to(ROOT)) for path in ROOT.glob("conformance/checks/*.py")}
    return [*sorted(modules - {*REMEMBERING}), *JUDGING, *REMEMBERING]


def tests() -> list[str]:
    files = (path for pattern in TESTS for path in (ROOT / "conformance" / "tests").glob(pattern))
    return sorted({str(path.relative_to(ROOT)) for path in files} - {WHOLE})


def tried(chosen: Sequence[Mutant], out: Path, *, jobs: int) -> list[Result]:
    """The quick way what is in functions, the slow way the rest. What came of each is written at once."""
    results: list[Result] = []
    with out.open("w", encoding="utf-8") as file:

        def note(mutant: Mutant, outcome: str) -> None:
            results.append(Result(mutant, outcome))
            print(
                json.dumps(asdict(mutant) | {"outcome": outcome}, ensure_ascii=False), file=file, flush=True
            )

        def note_unless_more_follows(mutant: Mutant, outcome: str) -> None:
            if outcome == "killed" or mutant.module not in REMEMBERING:
                note(mutant, outcome)

        reaching = reached(targets(), tests())
        tried_quickly(chosen, reaching, tests(), note_unless_more_follows, jobs=jobs)
        noted = {result.mutant for result in results}
        print(f"{len(noted)} of {len(chosen)} tried the quick way", file=sys.stderr, flush=True)
        left = [mutant for mutant in chosen if mutant not in noted]
        tried_anew(left, reaching, dict.fromkeys(REMEMBERING, WHOLE), note, jobs=jobs)
    return results


def all_of(modules: Sequence[str]) -> list[Mutant]:
    sources = ((module, (ROOT / module).read_text(encoding="utf-8")) for module in modules)
    return [mutant for module, source in sources for mutant in mutants(module, source)]


def sampled(possible: Sequence[Mutant], number: int | None) -> list[Mutant]:
    """So many of them, drawn by a seed; in their order."""
    if number is None or number >= len(possible):
        return list(possible)
    drawn = {*random.Random(SEED).sample(range(len(possible)), number)}
    return [mutant for at, mutant in enumerate(possible) if at in drawn]


def table(results: Sequence[Result]) -> Iterator[str]:
    counted = Counter((result.mutant.module, result.outcome) for result in results)
    yield "| module | mutants | killed | endless | survived |"
    yield "|---|---|---|---|---|"
    for name in sorted({result.mutant.module for result in results}):
        numbers = [counted[name, outcome] for outcome in OUTCOMES]
        yield f"| `{name}` | {sum(numbers)} | {' | '.join(map(str, numbers))} |"
    totals = [sum(number for (_, of), number in counted.items() if of == outcome) for outcome in OUTCOMES]
    yield f"| all | {sum(totals)} | {' | '.join(map(str, totals))} |"


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("modules", nargs="*")
    options.add_argument("--sample", type=int, metavar="N", help="N mutants drawn by a seed, not all")
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = options.parse_args()
    os.chdir(ROOT)
    os.nice(NICENESS)
    began = time.monotonic()
    chosen = sampled(all_of(asked.modules or targets()), asked.sample)
    RESULTS.parent.mkdir(exist_ok=True)
    results = tried(chosen, RESULTS, jobs=asked.jobs)
    results.sort(key=lambda result: (result.mutant.module, result.mutant.number))
    print("\n".join(table(results)))
    print(f"\n{time.monotonic() - began:.0f} s with {asked.jobs} processes\n")
    for result in results:
        mutant = result.mutant
        if result.outcome != "killed":
            place = f"{Path(mutant.module)}:{mutant.line} #{mutant.number}"
            print(f"{place} {result.outcome}: {mutant.kind}: {mutant.change}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
