"""What a replay reports of faults and of lawful variants: a browser's visit, replayed on each of them.

    .venv/bin/python benchmarks/replayed_faults.py [--all] [--scripted] [--seed N] [--workers N]

A real browser's visit is recorded by the proxy and as a HAR. Both are replayed on a portal with each fault of
a recorded operation, and with each variant; without ``--all`` on a hundred faults, drawn by ``--seed``.
``--scripted``: a visit of the scripted client, and each variant alone.

What a fault changes is found by asking the same portal the same with it and without it (in
``conformance/tests/replayed_faults.py``). Faults that only put other generated values in place of such, one
for one, are left out: another portal of the same build answers so. So are those with which the portal answers
all requests, octet by octet, as some lawful portal does. Differences that the same build shows do not count.
A tolerant client survives a variant where the scripted client of the tests, which reads only what it needs,
makes the whole visit there and succeeds wherever it succeeds on the reference portal.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from conformance.report.formats.write import FORMATS
from conformance.target.portal import wire
from conformance.tests.browser_client import by_the_browser, by_the_proxy
from conformance.tests.replayed_faults import Bench, Trial
from conformance.tests.replays import recorded_visit
from conformance.tests.scripted_client import walk
from reference_impl import serve as reference
from reference_impl.faults import FAULTS
from reference_impl.variants import VARIANTS

MEANINGS = ("contradiction", "breaking", "permitted", "drift")
MIN_IN_PLACE, MIN_HARMLESS = 0.95, 0.9
"""Shares of faults that are reported where they change an answer, and of differences that are permitted or
drift where a client survives a variant."""

Difference = dict[str, Any]
"""A row of a replay's report."""


class Row(NamedTuple):
    """A fault, and for each recording whether it is reported in place, None where it cannot show; or a
    variant, and what the replays report of it."""

    name: str
    in_place: Sequence[bool | None] = ()
    is_survived: bool = False
    differences: Sequence[Difference] = ()

    @property
    def unlawful(self) -> Iterator[str]:
        """Contradictions, and breaking changes without a sentence or gap."""
        for each in self.differences:
            if each["meaning"] == "contradiction" or (each["meaning"] == "breaking" and not each["basis"]):
                yield f"{self.name}: {each['meaning']} at {' '.join(place_of(each))} ({each['basis']})"


BENCHES: list[Bench] = []
"""The recordings of a worker process, each with its replay on the portal without a fault."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="every fault and every variant")
    parser.add_argument("--seed", type=int, default=1, help="draws other faults")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--scripted", action="store_true", help="the scripted client's visit, and no faults")
    asked = parser.parse_args()
    names = [*FAULTS, *VARIANTS] if asked.all else random.Random(asked.seed).sample(list(FAULTS), 100)
    with tempfile.TemporaryDirectory() as folder:
        if asked.scripted:
            return reported([recorded_visit(Path(folder))], [], list(VARIANTS), workers=asked.workers)
        files = {"by the proxy": Path(folder) / "proxy.jsonl", "as a HAR": Path(folder) / "browser.har"}
        recordings = [by_the_proxy(files["by the proxy"]), by_the_browser(files["as a HAR"])]
        return reported(recordings, list(files), names, workers=asked.workers)


def reported(
    recordings: Sequence[Path], origins: Sequence[str], names: Sequence[str], *, workers: int
) -> int:
    """Prints what the replays report. 0: enough faults in place, of variants only what is lawful, and mostly
    what is harmless where a client survives them."""
    with ProcessPoolExecutor(workers, initializer=prepare, initargs=(recordings,)) as pool:
        rows = []
        for row in pool.map(row_of, names):
            rows.append(row)
            print(f"\r{len(rows)} of {len(names)}", end="", file=sys.stderr)
    is_enough = True
    for at, recorded in enumerate(origins):
        shown = [row.in_place[at] for row in rows if row.in_place and row.in_place[at] is not None]
        print(f"recorded {recorded}: {sum(map(bool, shown))} of {len(shown)} faults that show are in place")
        is_enough &= sum(map(bool, shown)) >= MIN_IN_PLACE * len(shown)
    print(f"not in place: {', '.join(row.name for row in rows if False in row.in_place) or 'none'}")
    survived = counted([row for row in rows if row.is_survived])
    harmless = (survived["permitted"] + survived["drift"]) / (survived.total() or 1)
    counts, unlawful = counted(rows), [line for row in rows for line in row.unlawful]
    print(f"differences of variants: {', '.join(f'{counts[each]} {each}' for each in MEANINGS)}")
    print(f"harmless, of those that a client survives: {harmless:.1%}")
    print("\n".join(unlawful))
    return int(not is_enough or bool(unlawful) or (survived.total() > 0 and harmless < MIN_HARMLESS))


def counted(rows: Sequence[Row]) -> Counter[str]:
    return Counter(each["meaning"] for row in rows for each in row.differences)


def prepare(recordings: Sequence[Path]) -> None:
    """Makes the benches of a worker process."""
    FORMATS.clear()  # nobody reads the reports
    wire.LISTENING_SECONDS = wire.GREETING_SECONDS = 0.0  # nor speaks the portal unasked
    BENCHES.extend(map(Bench, recordings))


def row_of(name: str) -> Row:
    gc.collect()
    if name in FAULTS:
        return Row(name, [is_in_place(bench, name) for bench in BENCHES])
    differences = [each for bench in BENCHES for each in unusual(bench, bench.under(name)[1])]
    return Row(name, (), successes(name) == successes(None), differences)


def is_in_place(bench: Bench, name: str) -> bool | None:
    """Whether a fault is reported where it changes an answer; None where this recording cannot show it."""
    verdict = bench.judged(FAULTS[name]) if bench.calls(FAULTS[name]) else None
    if verdict is None or not verdict.done or verdict.is_renaming or verdict.is_lawful:
        return None
    return bool(verdict.reported)


def unusual(bench: Bench, trial: Trial) -> Iterator[Difference]:
    """Differences of a replay that the same build does not show."""
    usual = {place_of(group) for group in bench.sound.replayed.groups}
    return (group for group in trial.replayed.groups if place_of(group) not in usual)


def place_of(group: Difference) -> tuple[str, str, str]:
    return group["endpoint"], group["path"], group["kind"]


def successes(variant: str | None) -> Sequence[bool] | None:
    """Which requests of a whole visit succeed; None where the client cannot make it."""
    with reference.start(variants=[variant] if variant else []) as portal:
        try:
            walker = walk(portal.url, portal.profile())
        except Exception:  # whatever a client stumbles over
            return None
    return [200 <= status < 300 for status in walker.statuses]


if __name__ == "__main__":
    sys.exit(main())
