"""What the differences of lawful variants mean: a visit of the reference portal, replayed on each variant.

    .venv/bin/python benchmarks/meanings.py [--only NAME]… [--workers N] >benchmarks/meanings.md

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
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from conformance.tests.replays import recorded_visit, replayed
from conformance.tests.scripted_client import walk
from reference_impl import serve as reference
from reference_impl.variants import VARIANTS

MEANINGS = ("contradiction", "breaking", "permitted", "drift")
LEAST = 0.9
"""The share of differences of variants that a client survives which is to be harmless."""

Place = tuple[str, str, str]


@dataclass(frozen=True)
class Difference:
    """One row of a replay's report: its meaning, what permits or states it, and at how many answers it is."""

    meaning: str
    endpoint: str
    path: str
    kind: str
    basis: str
    times: int

    @property
    def place(self) -> Place:
        return self.endpoint, self.path, self.kind


@dataclass(frozen=True)
class Replayed:
    """A variant, whether the client survives it, and what a replay reports."""

    variant: str
    is_survived: bool
    differences: tuple[Difference, ...]

    def count(self, meaning: str) -> int:
        return sum(each.meaning == meaning for each in self.differences)

    @property
    def grave(self) -> list[Difference]:
        return [each for each in self.differences if each.meaning in MEANINGS[:2]]


def main() -> int:
    """0: no contradiction, each breaking change names its sentence or gap, and nine of ten differences of
    variants that a client survives are permitted changes or drift."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="a variant")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = list(replays(Path(folder), asked.only or list(VARIANTS), workers=asked.workers))
    print("\n".join(page(results)))
    is_named = all(each.basis for result in results for each in result.grave)
    is_contradicted = any(result.count("contradiction") for result in results)
    return 0 if is_named and not is_contradicted and share(survived(results)) >= LEAST else 1


def replays(folder: Path, variants: Sequence[str], *, workers: int) -> Iterator[Replayed]:
    recording = recorded_visit(folder)
    same = replayed(recording, folder / "same")
    usual = frozenset((group["endpoint"], group["path"], group["kind"]) for group in same.groups)
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
    names = ("meaning", "endpoint", "path", "kind", "basis", "times")
    differences = (Difference(**{name: group[name] for name in names}) for group in groups)
    found = tuple(each for each in differences if each.place not in usual)
    return Replayed(variant, successes(variant) == expected, found)


def successes(variant: str | None) -> Sequence[bool] | None:
    """Which requests of a whole visit succeed; None where the client cannot make it."""
    with reference.start(variants=[variant] if variant else []) as portal:
        try:
            walker = walk(portal.url, portal.profile())
        except Exception:  # whatever a client stumbles over
            return None
    return [200 <= status < 300 for status in walker.statuses]


def survived(results: Iterable[Replayed]) -> list[Replayed]:
    return [result for result in results if result.is_survived]


def share(results: Sequence[Replayed]) -> float:
    """The share of differences that are permitted changes or drift."""
    counts = counted(results)
    return (counts["permitted"] + counts["drift"]) / (counts.total() or 1)


def counted(results: Iterable[Replayed]) -> Counter[str]:
    return Counter(each.meaning for result in results for each in result.differences)


def page(results: Sequence[Replayed]) -> Iterator[str]:
    client, others = survived(results), [result for result in results if not result.is_survived]
    yield "# What the differences of lawful variants mean\n"
    yield "Made by `benchmarks/meanings.py`. A difference is one place, at any number of answers."
    yield ""
    yield (
        f"Of the {len(results)} variants a tolerant client survives {len(client)}. Of their "
        f"{counted(client).total()} differences {share(client):.1%} are permitted changes or drift."
    )
    yield "\n| variants | contradiction | breaking | permitted | drift |\n|---|---|---|---|---|"
    for name, group in (("the client survives", client), ("others", others), ("all", results)):
        counts = counted(group)
        yield f"| {name}: {len(group)} | " + " | ".join(str(counts[each]) for each in MEANINGS) + " |"
    yield from _each_variant(results)
    yield from _grave(results)


def _each_variant(results: Sequence[Replayed]) -> Iterator[str]:
    shown = [result for result in results if result.differences]
    yield f"\n## By variant\n\n{len(results) - len(shown)} variants show no difference in this recording.\n"
    yield "| variant | client | contradiction | breaking | permitted | drift |\n|---|---|---|---|---|---|"
    for result in shown:
        counts = " | ".join(str(result.count(each) or "") for each in MEANINGS)
        yield f"| {result.variant} | {'survives' if result.is_survived else 'stops'} | {counts} |"


def _grave(results: Sequence[Replayed]) -> Iterator[str]:
    yield "\n## Contradictions and breaking changes\n"
    yield "| variant | meaning | place | requirement, sentence or gap |\n|---|---|---|---|"
    for result in results:
        for each in result.grave:
            place = f"{each.endpoint} `{each.path or 'body'}` {each.kind}"
            yield f"| {result.variant} | {each.meaning} | {place} | {each.basis or '**none**'} |"


if __name__ == "__main__":
    sys.exit(main())
