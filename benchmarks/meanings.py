"""What the differences of lawful variants mean: a visit of the reference portal, replayed on each variant.

    .venv/bin/python benchmarks/meanings.py [--only NAME]… [--workers N]

A visit is recorded on the reference portal, and replayed on the same build and on each variant. Differences
that the same build shows as well are left out. A tolerant client survives a variant where the scripted client
of the tests, which reads only what it needs, makes the whole visit there and succeeds wherever it succeeds on
the reference portal.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from conformance.tests.replays import recorded_visit, replayed
from conformance.tests.scripted_client import walk
from reference_impl import serve as reference
from reference_impl.variants import VARIANTS

MEANINGS = ("contradiction", "breaking", "permitted", "drift")
MIN_HARMLESS = 0.9
"""Share of differences that must be permitted changes or drift, of variants that a client survives."""

Place = tuple[str, str, str]


@dataclass(frozen=True)
class Replayed:
    """A variant, whether the client survives it, and the rows of a replay's report."""

    variant: str
    is_survived: bool
    differences: Sequence[dict[str, Any]]

    @property
    def unlawful(self) -> Iterator[str]:
        """Contradictions, and breaking changes without a sentence or gap."""
        for each in self.differences:
            if each["meaning"] == "contradiction" or (each["meaning"] == "breaking" and not each["basis"]):
                yield f"{self.variant}: {each['meaning']} at {' '.join(place_of(each))} ({each['basis']})"


def place_of(group: dict[str, Any]) -> Place:
    return group["endpoint"], group["path"], group["kind"]


def main() -> int:
    """0: no contradiction, each breaking change names its sentence or gap, and nine of ten differences of
    variants that a client survives are permitted changes or drift."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="a variant")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = list(replays(Path(folder), asked.only or list(VARIANTS), workers=asked.workers))
    survived = [result for result in results if result.is_survived]
    for name, group in (("all variants", results), ("those that a client survives", survived)):
        counts = counted(group)
        print(f"{name}: {len(group)}; {', '.join(f'{counts[each]} {each}' for each in MEANINGS)}")
    print(f"harmless of the second: {harmless(survived):.1%}")
    unlawful = [line for result in results for line in result.unlawful]
    print("\n".join(unlawful))
    return int(bool(unlawful) or harmless(survived) < MIN_HARMLESS)


def replays(folder: Path, variants: Sequence[str], *, workers: int) -> Iterator[Replayed]:
    recording = recorded_visit(folder)
    usual = frozenset(map(place_of, replayed(recording, folder / "same").groups))
    judged = partial(replay_of, recording=recording, folder=folder, usual=usual, expected=successes(None))
    with ProcessPoolExecutor(workers) as pool:
        for number, result in enumerate(pool.map(judged, variants), 1):
            print(f"\r{number} of {len(variants)} variants", end="", file=sys.stderr)
            yield result
    print(file=sys.stderr)


def replay_of(
    variant: str, *, recording: Path, folder: Path, usual: frozenset[Place], expected: Sequence[bool] | None
) -> Replayed:
    groups = replayed(recording, folder / variant, variants=(variant,)).groups
    found = [group for group in groups if place_of(group) not in usual]
    return Replayed(variant, successes(variant) == expected, found)


def successes(variant: str | None) -> Sequence[bool] | None:
    """Which requests of a whole visit succeed; None where the client cannot make it."""
    with reference.start(variants=[variant] if variant else []) as portal:
        try:
            walker = walk(portal.url, portal.profile())
        except Exception:  # whatever a client stumbles over
            return None
    return [200 <= status < 300 for status in walker.statuses]


def counted(results: Sequence[Replayed]) -> Counter[str]:
    return Counter(each["meaning"] for result in results for each in result.differences)


def harmless(results: Sequence[Replayed]) -> float:
    """Share of differences that are permitted changes or drift; 1 where there are none."""
    counts = counted(results)
    return (counts["permitted"] + counts["drift"]) / counts.total() if counts else 1.0


if __name__ == "__main__":
    sys.exit(main())
