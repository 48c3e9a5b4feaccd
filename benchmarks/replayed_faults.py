"""What a replay reports of faults and of lawful variants: a browser's visit, replayed on each of them.

    .venv/bin/python benchmarks/replayed_faults.py [--all] [--seed N] >benchmarks/replayed_faults.md

A real browser's visit is recorded by the proxy and as a HAR. Both are replayed on a portal with each of 60
faults, drawn from those that change an answer of the recorded traffic; ``--all`` takes every such fault. What
a fault changes is found by asking the same portal the same with it and without it (in
``conformance/tests/replayed_faults.py``). Faults that only put other generated values in place of such, one
for one, are left out: another portal of the same build answers so. A variant keeps the recorded choices where
that finds nothing.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from conformance.tests.browser_client import by_the_browser, by_the_proxy
from conformance.tests.replayed_faults import Bench, Verdict
from reference_impl.variants import VARIANTS

DRAWN = 60
LEAST = 0.95


def main() -> int:
    """0: at least 95 % of the faults were reported at their place, and no variant was."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="every fault that changes an answer")
    parser.add_argument("--seed", type=int, default=1, help="draws other faults")
    asked = parser.parse_args()
    print("# What a replay reports of faults and variants\n")
    print("Made by `benchmarks/replayed_faults.py`. Places are those of the first difference.")
    with tempfile.TemporaryDirectory() as folder:
        recordings = {
            "by the proxy, its channel opened": by_the_proxy(Path(folder) / "proxy.jsonl"),
            "by the browser, as a HAR": by_the_browser(Path(folder) / "browser.har"),
        }
        good = [
            is_reported(name, path, asked.seed, None if asked.all else DRAWN)
            for name, path in recordings.items()
        ]
    return 0 if all(good) else 1


def is_reported(name: str, recording: Path, seed: int, most: int | None) -> bool:
    """Prints what came of one recording; whether that is enough."""
    bench = Bench(recording)
    verdicts = list(itertools.islice(touched(bench, seed), most))
    reported = [verdict for verdict in verdicts if verdict.is_reported]
    print(f"\n## Recorded {name}\n")
    print(
        f"{len(reported)} of {len(verdicts)} faults are reported where they change an answer "
        f"({len(reported) / len(verdicts):.1%}).\n"
    )
    print("| fault | it changes | reported as | elsewhere |\n|---|---|---|---|")
    for verdict in sorted(verdicts, key=lambda verdict: (verdict.is_reported, verdict.fault.name)):
        print(row(bench, verdict))
    print()
    held = [bench.under(variant) for variant in VARIANTS]
    kept = [regressions for is_kept, regressions in held if is_kept]
    other = [regressions for is_kept, regressions in held if not is_kept]
    print(
        f"{len(kept)} variants keep the recorded choices, and {sum(map(bool, kept))} of them are reported. "
        f"{len(other)} others answer something else, and {sum(map(bool, other))} of them are."
    )
    return len(reported) >= LEAST * len(verdicts) and not any(kept)


def touched(bench: Bench, seed: int) -> Iterator[Verdict]:
    """Faults that change an answer so that a recording can show it, in an order that the seed gives."""
    candidates = bench.candidates()
    random.Random(seed).shuffle(candidates)
    for number, fault in enumerate(candidates, 1):
        verdict = bench.judged(fault)
        if verdict.is_touched and not verdict.is_renaming:
            yield verdict
        print(f"\r{number} faults tried", end="", file=sys.stderr)


def row(bench: Bench, verdict: Verdict) -> str:
    number, place = verdict.done[0]
    changed = f"{bench.endpoint(number)} `{place or 'body'}`"
    reported = "**not reported**"
    if verdict.reported:
        first = verdict.reported[0]
        reported = f"{first.kind} `{first.path}`"
    return f"| {verdict.fault.name} | {changed} | {reported} | {len(verdict.elsewhere) or ''} |"


if __name__ == "__main__":
    sys.exit(main())
