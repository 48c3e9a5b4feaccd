"""What a replay reports of faults and of lawful variants: a browser's visit, replayed on each of them.

    .venv/bin/python benchmarks/replayed_faults.py [--all] [--seed N] [--workers N] [--rows FILE]

A real browser's visit is recorded by the proxy and as a HAR. Both are replayed on a portal with each fault of
a recorded operation, and with each variant; without ``--all`` on 60 faults that show, drawn by ``--seed``,
and on no variant. ``--rows`` writes a line of JSON for each.

What a fault changes is found by asking the same portal the same with it and without it (in
``conformance/tests/replayed_faults.py``). Faults that only put other generated values in place of such, one
for one, are left out: another portal of the same build answers so. So are those with which the portal answers
all requests, octet by octet, as some lawful portal does. A tolerant client survives a variant as in
``meanings.py``.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import msgspec
from meanings import MEANINGS, MIN_HARMLESS, successes

from conformance.report.formats.write import FORMATS
from conformance.target.portal import wire
from conformance.tests.browser_client import by_the_browser, by_the_proxy
from conformance.tests.replayed_faults import Bench, Trial
from reference_impl.faults import FAULTS
from reference_impl.variants import VARIANTS

RECORDED = ("by the proxy", "as a HAR")
DRAWN_FAULTS = 60
MIN_IN_PLACE = 0.95
"""Share of faults that must be reported where they change an answer."""


class Difference(msgspec.Struct, frozen=True):
    """A row of a replay's report."""

    meaning: str
    endpoint: str
    path: str
    kind: str
    basis: str

    @property
    def place(self) -> tuple[str, str, str]:
        return self.endpoint, self.path, self.kind

    @property
    def is_unlawful(self) -> bool:
        """Whether no variant may have it: a contradiction, or a breaking change without a basis."""
        return self.meaning == "contradiction" or (self.meaning == "breaking" and not self.basis)


class FaultRow(msgspec.Struct, tag="fault"):
    """A fault, and for each recording whether it is reported in place; None where it cannot show."""

    name: str
    in_place: list[bool | None]

    @property
    def shows(self) -> bool:
        return any(each is not None for each in self.in_place)


class VariantRow(msgspec.Struct, tag="variant"):
    """A variant, whether a client survives it, and what a replay of each recording reports."""

    name: str
    is_survived: bool
    differences: list[list[Difference]]


Row = FaultRow | VariantRow
BENCHES: list[Bench] = []
"""The recordings of a worker process, each with its replay on the portal without a fault."""


def main() -> int:
    """0: at least 95 % of the faults are reported at their place, and no variant is but by a breaking change
    with its sentence or gap, one of ten differences of those that a client survives."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="every fault and every variant")
    parser.add_argument("--seed", type=int, default=1, help="draws other faults")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--rows", type=Path, metavar="FILE", default=os.devnull)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, asked.rows.open("wb") as file:
        recordings = [
            by_the_proxy(Path(folder) / "proxy.jsonl"),
            by_the_browser(Path(folder) / "browser.har"),
        ]
        rows = []
        for row in measured(recordings, subjects(asked.seed, is_all=asked.all), workers=asked.workers):
            file.write(msgspec.json.encode(row) + b"\n")
            file.flush()
            rows.append(row)
            print(f"\r{len(rows)}", end="", file=sys.stderr)
            if (
                not asked.all
                and sum(isinstance(each, FaultRow) and each.shows for each in rows) == DRAWN_FAULTS
            ):
                break
    print("\n".join(summary(rows)))
    return 0 if is_enough(rows) else 1


def subjects(seed: int, *, is_all: bool) -> list[str]:
    """Names of faults in an order that the seed gives, then those of variants."""
    faults = list(FAULTS)
    random.Random(seed).shuffle(faults)
    return [*faults, *VARIANTS] if is_all else faults


def measured(recordings: Sequence[Path], names: Sequence[str], *, workers: int) -> Iterator[Row]:
    with ProcessPoolExecutor(workers, initializer=prepare, initargs=(recordings,)) as pool:
        for first in range(0, len(names), 10 * workers):  # whoever has enough stops between
            yield from pool.map(row_of, names[first : first + 10 * workers])


def prepare(recordings: Sequence[Path]) -> None:
    """Makes the benches of a worker process."""
    FORMATS.clear()  # nobody reads the reports
    wire.LISTENING_SECONDS = wire.GREETING_SECONDS = 0.0  # nor speaks the portal unasked
    BENCHES.extend(map(Bench, recordings))


def row_of(name: str) -> Row:
    gc.collect()
    if name in FAULTS:
        return FaultRow(name, [is_in_place(bench, name) for bench in BENCHES])
    differences = [
        [each for each in differences_of(bench.under(name)[1]) if each.place not in usual_places(bench)]
        for bench in BENCHES
    ]
    return VariantRow(name, successes(name) == successes(None), differences)


def is_in_place(bench: Bench, name: str) -> bool | None:
    """Whether a fault is reported where it changes an answer; None where this recording cannot show it."""
    if not bench.calls(FAULTS[name]):
        return None
    verdict = bench.judged(FAULTS[name])
    if not verdict.is_touched or verdict.is_renaming or verdict.is_lawful:
        return None
    return verdict.is_reported


def usual_places(bench: Bench) -> set[tuple[str, str, str]]:
    return {each.place for each in differences_of(bench.sound)}


def differences_of(trial: Trial) -> list[Difference]:
    names = Difference.__struct_fields__
    return [Difference(**{name: group[name] for name in names}) for group in trial.replayed.groups]


def is_enough(rows: Sequence[Row]) -> bool:
    shares = [in_place(rows, at) for at in range(len(RECORDED))]
    is_each_reported = all(reported >= MIN_IN_PLACE * showing for reported, showing in shares)
    return is_each_reported and not list(unlawful(rows)) and harmless(rows) >= MIN_HARMLESS


def in_place(rows: Iterable[Row], at: int) -> tuple[int, int]:
    """How many faults are reported in place, and how many show, in a recording."""
    shown = [row.in_place[at] for row in rows if isinstance(row, FaultRow) and row.in_place[at] is not None]
    return sum(map(bool, shown)), len(shown)


def differences(rows: Iterable[Row], *, survived: bool = False) -> Iterator[tuple[str, Difference]]:
    for row in rows:
        if isinstance(row, VariantRow) and (row.is_survived or not survived):
            yield from ((row.name, each) for each in itertools.chain(*row.differences))


def unlawful(rows: Iterable[Row]) -> Iterator[tuple[str, Difference]]:
    return ((name, each) for name, each in differences(rows) if each.is_unlawful)


def harmless(rows: Iterable[Row]) -> float:
    """Share of permitted changes and drift in the differences of variants that a client survives."""
    counts = Counter(each.meaning for _, each in differences(rows, survived=True))
    return (counts["permitted"] + counts["drift"]) / counts.total() if counts else 1.0


def summary(rows: Sequence[Row]) -> Iterator[str]:
    for at, recorded in enumerate(RECORDED):
        reported, showing = in_place(rows, at)
        yield f"recorded {recorded}: {reported} of {showing} faults that show are reported in place"
    missed = [row.name for row in rows if isinstance(row, FaultRow) and False in row.in_place]
    yield f"not reported in place: {', '.join(sorted(missed)) or 'none'}"
    counts = Counter(each.meaning for _, each in differences(rows))
    yield f"differences of variants: {', '.join(f'{counts[each]} {each}' for each in MEANINGS)}"
    yield f"harmless, of those that a client survives: {harmless(rows):.1%}"
    for name, each in unlawful(rows):
        yield f"{name}: {each.meaning} at {' '.join(each.place)} ({each.basis})"


if __name__ == "__main__":
    sys.exit(main())
