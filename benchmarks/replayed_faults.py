"""What a replay reports of faults and of lawful variants: a browser's visit, replayed on each of them.

    .venv/bin/python benchmarks/replayed_faults.py --all >benchmarks/replayed_faults.md
    .venv/bin/python benchmarks/replayed_faults.py --all --part 1/4 --rows part-1.jsonl   # and so on
    .venv/bin/python benchmarks/replayed_faults.py --of part-*.jsonl >benchmarks/replayed_faults.md

A real browser's visit is recorded by the proxy and as a HAR. Both are replayed on a portal with each fault of
a recorded operation, and with each variant; without ``--all`` on 60 faults that show, drawn by ``--seed``,
and on no variant. ``--rows`` adds a row for each to a file, and goes on where an earlier run stopped;
``--of`` makes the page of such files.

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
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
from meanings import MEANINGS, successes

from conformance.report.formats.write import FORMATS
from conformance.report.model.run import Regression
from conformance.target.portal import wire
from conformance.tests.browser_client import by_the_browser, by_the_proxy
from conformance.tests.replayed_faults import Bench, Trial
from reference_impl.faults import FAULTS, Fault
from reference_impl.variants import VARIANTS

LEFT: dict[str, str] = {}
"""Why a fault is not reported where it changes an answer; without a word here it is open."""

RECORDED = ("by the proxy, its channel opened", "by the browser, as a HAR")
DRAWN = 60
LEAST_HARMLESS = 0.9
COLLECTED = 50
"""Replays after which what they left in memory is collected."""


class Judged(msgspec.Struct):
    """A fault in one recording: the first place that it changes (none: no endpoint), and what is reported."""

    endpoint: str = ""
    place: str = ""
    is_renaming: bool = False
    is_lawful: bool = False
    kind: str = ""
    path: str = ""
    meaning: str = ""
    there: int = 0
    elsewhere: int = 0
    exit_code: int = 0

    @property
    def shows(self) -> bool:
        return bool(self.endpoint) and not self.is_renaming and not self.is_lawful

    @property
    def is_in_place(self) -> bool:
        return bool(self.there)


class ReportedPlace(msgspec.Struct, frozen=True):
    """A row of a replay's report."""

    meaning: str
    endpoint: str
    path: str
    kind: str
    basis: str

    @property
    def place(self) -> tuple[str, str, str]:
        return self.endpoint, self.path, self.kind


class FaultRow(msgspec.Struct, tag="fault"):
    name: str
    recordings: list[Judged | None]
    """None: the recording has none of its operations."""
    seconds: float = 0.0


class VariantRow(msgspec.Struct, tag="variant"):
    name: str
    is_survived: bool
    kept: list[bool]
    """By recording, whether it answers all as the reference portal does."""
    recordings: list[list[ReportedPlace]]
    seconds: float = 0.0


Row = FaultRow | VariantRow


def main() -> int:
    """0: at least 95 % of the faults are reported at their place, and no variant is but by a breaking change
    with its sentence or gap, one of ten differences of those that a client survives."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="every fault and every variant")
    parser.add_argument("--seed", type=int, default=1, help="draws other faults")
    parser.add_argument(
        "--part", default="1/1", metavar="K/N", help="every Nth fault and variant, from the Kth"
    )
    parser.add_argument(
        "--rows", type=Path, metavar="FILE", help="adds the rows to a file, and prints no page"
    )
    parser.add_argument("--of", type=Path, nargs="+", metavar="FILE", help="the page of such files")
    asked = parser.parse_args()
    if asked.rows:
        write_rows(asked)
        return 0
    rows = [row for file in asked.of for row in kept_rows(file)] if asked.of else list(measured(asked))
    print("\n".join(page(rows)))
    return 0 if is_enough(rows) else 1


def kept_rows(file: Path) -> list[Row]:
    return [msgspec.json.decode(line, type=Row) for line in file.read_bytes().splitlines()]


def write_rows(asked: argparse.Namespace) -> None:
    done = {(type(row), row.name) for row in kept_rows(asked.rows)} if asked.rows.exists() else set()
    with asked.rows.open("ab") as file:
        for row in measured(asked, done):
            file.write(msgspec.json.encode(row) + b"\n")
            file.flush()


def measured(asked: argparse.Namespace, done: Iterable[tuple[type, str]] = frozenset()) -> Iterator[Row]:
    """The rows of this part, without those that are done."""
    FORMATS.clear()  # nobody reads the reports
    wire.LISTENING_SECONDS = wire.GREETING_SECONDS = 0.0  # nor speaks the portal unasked
    with tempfile.TemporaryDirectory() as folder:
        benches = [
            Bench(by_the_proxy(Path(folder) / "proxy.jsonl")),
            Bench(by_the_browser(Path(folder) / "browser.har")),
        ]
        subjects = list(drawn(asked.seed, is_all=asked.all))
        first, step = map(int, asked.part.split("/"))
        rows = (timed(benches, each) for each in subjects[first - 1 :: step] if key(each) not in done)
        if not asked.all:
            rows = itertools.islice(filter(shows, rows), DRAWN)
        for number, row in enumerate(rows, 1):
            print(f"\r{number} of {len(subjects[first - 1 :: step])}", end="", file=sys.stderr)
            if number % COLLECTED == 0:
                gc.collect()
            yield row


def drawn(seed: int, *, is_all: bool) -> Iterator[Fault | str]:
    """Faults in an order that the seed gives, then variants by name."""
    faults = list(FAULTS.values())
    random.Random(seed).shuffle(faults)
    yield from faults
    if is_all:
        yield from VARIANTS


def key(subject: Fault | str) -> tuple[type, str]:
    return (VariantRow, subject) if isinstance(subject, str) else (FaultRow, subject.name)


def shows(row: Row) -> bool:
    return isinstance(row, FaultRow) and any(each is not None and each.shows for each in row.recordings)


def timed(benches: Sequence[Bench], subject: Fault | str) -> Row:
    began = time.perf_counter()
    row = row_of(benches, subject)
    row.seconds = round(time.perf_counter() - began, 2)
    return row


def row_of(benches: Sequence[Bench], subject: Fault | str) -> Row:
    if isinstance(subject, Fault):
        return FaultRow(subject.name, [judged(bench, subject) for bench in benches])
    tried = [bench.under(subject) for bench in benches]
    reported = [
        [
            each
            for each in reported_places(lawful)
            if each.place not in {usual.place for usual in reported_places(bench.sound)}
        ]
        for bench, (_, lawful) in zip(benches, tried, strict=True)
    ]
    is_survived = successes(subject) == successes(None)
    return VariantRow(subject, is_survived, [is_kept for is_kept, _ in tried], reported)


def judged(bench: Bench, fault: Fault) -> Judged | None:
    if not bench.calls(fault):
        return None
    verdict = bench.judged(fault)
    if not verdict.is_touched:
        return Judged(elsewhere=len(verdict.elsewhere), exit_code=verdict.exit_code)
    number, place = verdict.done[0]
    row = Judged(bench.endpoint(number), place, verdict.is_renaming, verdict.is_lawful)
    row.elsewhere, row.exit_code = len(verdict.elsewhere), verdict.exit_code
    if verdict.reported:
        first = verdict.reported[0]
        row.kind, row.path, row.meaning = first.kind, named_path(first, number), first.meaning
        row.there = len(verdict.reported)
    return row


def named_path(regression: Regression, number: int) -> str:
    """The path that is reported of an exchange: its own, or that of the other answer."""
    other = regression.model_dump().get("other")
    is_of_other = other is not None and other["recorded_exchange"] == number
    return other["path"] if is_of_other else regression.path


def reported_places(trial: Trial) -> list[ReportedPlace]:
    names = ReportedPlace.__struct_fields__
    return [ReportedPlace(**{name: group[name] for name in names}) for group in trial.replayed.groups]


def is_enough(rows: Sequence[Row]) -> bool:
    is_each_explained = all(name in LEFT for name, _ in missed(rows))
    return is_each_explained and not list(unlawful(rows)) and harmless(rows) >= LEAST_HARMLESS


def missed(rows: Sequence[Row]) -> list[tuple[str, list[str]]]:
    """The faults that are not reported at their place, each with the recordings in which they are not."""
    names: dict[str, list[str]] = {}
    for at, recorded in enumerate(RECORDED):
        for name, each in showing(rows, at):
            if not each.is_in_place:
                names.setdefault(name, []).append(recorded)
    return sorted(names.items())


def showing(rows: Iterable[Row], at: int) -> list[tuple[str, Judged]]:
    """The faults that change an answer of a recording so that it can show it."""
    faults = ((row.name, row.recordings[at]) for row in rows if isinstance(row, FaultRow))
    return [(name, each) for name, each in faults if each is not None and each.shows]


def variants(rows: Iterable[Row]) -> list[VariantRow]:
    return [row for row in rows if isinstance(row, VariantRow)]


def unlawful(rows: Iterable[Row]) -> Iterator[tuple[str, ReportedPlace]]:
    """What is reported of variants and is not to be: contradictions, and breaking changes without a basis."""
    for row in variants(rows):
        for each in itertools.chain(*row.recordings):
            if each.meaning == "contradiction" or (each.meaning == "breaking" and not each.basis):
                yield row.name, each


def counted(rows: Iterable[VariantRow]) -> Counter[str]:
    return Counter(each.meaning for row in rows for each in itertools.chain(*row.recordings))


def harmless(rows: Iterable[Row]) -> float:
    """The share of permitted changes and drift in the differences of variants that a client survives."""
    counts = counted(row for row in variants(rows) if row.is_survived)
    return (counts["permitted"] + counts["drift"]) / (counts.total() or 1) if counts else 1.0


def page(rows: Sequence[Row]) -> Iterator[str]:
    yield "# What a replay reports of faults and variants\n"
    yield "Made by `benchmarks/replayed_faults.py`. Places are those of the first difference."
    faults = sum(isinstance(row, FaultRow) for row in rows)
    yield f"Of {faults} faults those of the operations that were recorded are tried.\n"
    yield "| recorded | faults tried | they change an answer | reported | at its endpoint and place |"
    yield "|---|---|---|---|---|"
    for at, name in enumerate(RECORDED):
        tried = [row for row in rows if isinstance(row, FaultRow) and row.recordings[at] is not None]
        faults = [each for _, each in showing(rows, at)]
        reported = sum(bool(each.there or each.elsewhere) for each in faults)
        in_place = sum(each.is_in_place for each in faults)
        share = f"{in_place / (len(faults) or 1):.1%}"
        yield f"| {name} | {len(tried)} | {len(faults)} | {reported} | {in_place} ({share}) |"
    if variants(rows):
        yield from of_variants(rows)
    yield "\n## Faults that are not reported at their place\n"
    yield "| fault | recorded | why |\n|---|---|---|"
    for name, recordings in missed(rows):
        recorded = "both" if len(recordings) == len(RECORDED) else recordings[0]
        yield f"| {name} | {recorded} | {LEFT.get(name, '**open**')} |"
    yield from of_lawful(rows)
    yield from of_faults(rows)


def of_lawful(rows: Sequence[Row]) -> Iterator[str]:
    """The faults that change an answer, and with which all answers are those of some lawful portal."""
    yield "\n## Faults that these recordings cannot show\n"
    yield "With them the portal answers all requests as some lawful portal does, octet by octet.\n"
    yield "| fault | recorded | it changes |\n|---|---|---|"
    for row in rows:
        if isinstance(row, FaultRow):
            found = [(at, each) for at, each in enumerate(row.recordings) if each and each.is_lawful]
            if found:
                recorded = "both" if len(found) == len(RECORDED) else RECORDED[found[0][0]]
                yield f"| {row.name} | {recorded} | {found[0][1].endpoint} `{found[0][1].place}` |"


def of_variants(rows: Sequence[Row]) -> Iterator[str]:
    every = variants(rows)
    survived = [row for row in every if row.is_survived]
    yield f"\nOf {len(every)} variants a tolerant client survives {len(survived)}. Of their differences"
    yield f"{harmless(rows):.1%} are permitted changes or drift. A difference is one place of a recording.\n"
    yield "| variants | contradiction | breaking | permitted | drift |\n|---|---|---|---|---|"
    for name, group in (("the client survives", survived), ("all", every)):
        counts = counted(group)
        yield f"| {name}: {len(group)} | " + " | ".join(str(counts[each]) for each in MEANINGS) + " |"
    yield ""
    for at, name in enumerate(RECORDED):
        kept = [row for row in every if row.kept[at]]
        held = sum(any(each.meaning in MEANINGS[:2] for each in row.recordings[at]) for row in kept)
        yield f"Recorded {name}: {len(kept)} variants change nothing, and {held} of them are reported.\n"
    without = sum(each.meaning == "breaking" for _, each in unlawful(rows))
    yield f"Breaking changes without a sentence or gap: {without}."
    for variant, each in unlawful(rows):
        yield f"\n- {variant}: {each.meaning} at {each.endpoint} `{each.path}` {each.kind} ({each.basis})"


def of_faults(rows: Sequence[Row]) -> Iterator[str]:
    """A row for each fault that shows, those that are not reported in place first."""
    yield "\n## By fault\n"
    yield "| fault | it changes | by the proxy: reported as | as a HAR: reported as | elsewhere |"
    yield "|---|---|---|---|---|"
    shown = (row for row in rows if isinstance(row, FaultRow) and shows(row))
    lines = []
    for row in shown:
        both = [each if each is not None and each.shows else None for each in row.recordings]
        first = next(each for each in both if each is not None)
        elsewhere = max(each.elsewhere for each in both if each is not None)
        cells = " | ".join(map(cell, both))
        line = f"| {row.name} | {first.endpoint} `{first.place or 'body'}` | {cells} | {elsewhere or ''} |"
        lines.append((all(each is None or each.is_in_place for each in both), row.name, line))
    yield from (line for _, _, line in sorted(lines))


def cell(fault: Judged | None) -> str:
    if fault is None:
        return "does not show"
    return f"{fault.meaning}: {fault.kind} `{fault.path}`" if fault.there else "**not reported there**"


if __name__ == "__main__":
    sys.exit(main())
