"""Finished checks, or replays, of parts of some traffic as one run (``merge RUN… --out DIR``).

What each folder holds is put in the order of its first exchange, whatever the order of the folders, so that
the evidence has the same numbers each time. A merged folder remembers its parts, and can be merged again.

Nothing is judged here. A rule that compares several exchanges has compared those of a part alone: the
placeholders of parts that were redacted apart may be alike and mean different values.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec

from conformance.errors import UsageError
from conformance.report.finish import Outputs, finish_run
from conformance.report.model.run import (
    BaselineEntry,
    BaselineOutcome,
    ChangesMade,
    Ending,
    FindingEntry,
    Run,
    Scope,
)
from conformance.report.model.words import NOTHING_TESTED
from conformance.spec import IMPACTS, REQUIREMENTS, Requirement
from conformance.traffic.capture.placeholders import LATER, blocks_in, moved, moved_json
from conformance.traffic.exchange import ABSENT, Json, split_url
from conformance.traffic.replacing import written_whole
from conformance.verdicts.coverage import Coverage, coverage_from
from conformance.verdicts.findings import NOT_SELECTED, Finding, Ledger, Observation, OtherPlace, Verdict
from conformance.verdicts.selection import RuleSelection
from conformance.verdicts.verdicts import OWN_RULE
from conformance.work.merged_replays import exceeded_limits, notes_of_replays, replay_details, too_little
from conformance.work.totals import NO_EXCHANGE, NO_REQUEST, TrafficTotals

RESULTS, EXCHANGES = "results.json", "exchanges.jsonl"
BUFFER = 1 << 17
"""Bytes that are copied at once: few enough to stay in a processor's cache."""

MERGED = ("check", "replay")
REGENERATED = (
    " of the specification's endpoints was judged.",
    " of the specification's endpoints were judged.",
    " not judged: record with --open-channel",
    " operations were answered.",
    " fields that their answers may have were seen.",
    " error codes were seen.",
    "Not judged, because the source lacks the bodies: ",
    "Not judged, because the bodies cannot be decoded: ",
    " requests got no answer, and were not judged.",
    " of a firewall or proxy, not judged.",
    " set aside: ",
    "Several hosts were judged as one portal: ",
    NO_EXCHANGE,
    NO_REQUEST,
)
"""What marks the notes of a check that are made anew from the sums."""


class _Head(msgspec.Struct):
    url: str


class _Glance(msgspec.Struct):
    """The part of an exchange that a merge reads."""

    request: _Head
    started: str = ""


_decode = msgspec.json.Decoder(_Glance).decode


class Stretch(NamedTuple):
    """The exchanges of one part: when the first began, a digest of all, how many, where their lines begin
    and end in the file, and the blocks that the numbers of their placeholders are of."""

    begins: str
    digest: str
    size: int
    offset: int
    end: int
    blocks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Folder:
    """The folder of a finished run."""

    path: Path
    run: Run
    stretches: list[Stretch] = field(default_factory=list)
    hosts: Counter[str] = field(default_factory=Counter)

    @property
    def exchanges(self) -> Path:
        return self.path / EXCHANGES

    def details(self, name: str) -> Any:
        """A key of ``results.json`` that one command alone writes; empty where there is none."""
        return (self.run.model_extra or {}).get(name) or {}


class Move(NamedTuple):
    """Where a stretch goes: the number of its first exchange here, how far it moves, and which blocks of
    placeholders become which."""

    first: int
    by: int
    blocks: Mapping[int, int]

    def block(self, block: int) -> int:
        return self.blocks.get(block, block)


@dataclass(frozen=True)
class Numbers:
    """The numbers of the exchanges of one folder in the whole."""

    moves: Sequence[Move]

    def __call__(self, number: int) -> int:
        return number + self.move_of(number).by

    def placeholders(self, value: Json, number: int) -> Json:
        """Renumbers the placeholders in a value of an exchange for the merged report."""
        move = self.move_of(number)
        return moved_json(value, move.block) if move.blocks else value

    def move_of(self, number: int) -> Move:
        last = Move(0, 0, {})
        for move in self.moves:
            if number >= move.first:
                last = move
        return last


@dataclass(frozen=True)
class Beside:
    """What is known of the whole beside the results of its parts.

    ``lost`` says what parts never ended. ``least_share`` of what was to be compared in all replays must have
    been. ``left_behind`` and ``cleanup`` are of lost parts; ``details`` go into ``results.json``.
    """

    lost: str = ""
    least_share: float = 0.0
    left_behind: Sequence[str] = ()
    cleanup: str = ""
    interrupted: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)


NOTHING_BESIDE = Beside()


def merge(paths: Sequence[Path], out: Path, *, beside: Beside = NOTHING_BESIDE) -> Run:
    """Writes the reports of the whole into ``out``. UsageError: a folder is none of a check or replay, holds
    what another one holds too, or was judged otherwise."""
    folders = sorted(map(_folder, paths), key=_order)
    _must_belong_together(folders)
    if any(folder.path.resolve() == out.resolve() for folder in folders):
        raise UsageError(f"--out {out}: this is the folder of a part. Name another one.")
    out.mkdir(parents=True, exist_ok=True)
    numbers = _numbers(folders)
    with written_whole(out / EXCHANGES) as path:
        _join(folders, numbers, path)
    first = folders[0].run
    ledger = _ledger([(folder.run, each) for folder, each in zip(folders, numbers, strict=True)])
    regressions = (
        row.model_copy(update={"exchange": renumbered(row.exchange)})
        for folder, renumbered in zip(folders, numbers, strict=True)
        for row in folder.run.regressions
    )
    coverage = reduce(Coverage.merged, (coverage_from(folder.details("coverage")) for folder in folders))
    traffic = _traffic(folders)
    details = {**_details(folders, numbers, coverage, traffic), **beside.details}
    details |= _baseline([folder.run for folder in folders])
    return finish_run(
        ledger,
        Outputs(out, out / EXCHANGES, None),
        details=details,
        target_url=traffic.portal if first.command == "check" else first.target.url,
        target_profile=first.target.profile,
        started=min(folder.run.started for folder in folders),
        finished=max(folder.run.finished for folder in folders),
        impact=max((folder.run.impact for folder in folders), key=IMPACTS.index),
        fail_on=first.fails_on,
        command=first.command,
        ending=_ending(folders, details, beside),
        changes=_changes(folders),
        scope=_scope([folder.run.scope for folder in folders]),
        regressions=sorted(regressions, key=lambda row: row.exchange),
        notes=list(_notes(folders, coverage, traffic, details)),
    )


def _scope(scopes: Sequence[Scope]) -> Scope:
    """The first scope with what any part called and decided."""
    places: dict[str, set[str]] = {}
    for scope in scopes:
        for place, rules in scope.decided.items():
            places.setdefault(place, set()).update(rules)
    called = set().union(*(scope.called for scope in scopes))
    decided = {place: sorted(rules) for place, rules in sorted(places.items())}
    return scopes[0].model_copy(update={"called": sorted(called), "decided": decided})


def _folder(path: Path) -> Folder:
    if path.is_dir():
        names = {each.name for each in path.iterdir()}
        if EXCHANGES in names and RESULTS not in names:
            raise UsageError(
                f"{path}: there is no {RESULTS} beside {EXCHANGES}: the run did not end. "
                "Run this part once more, or leave it out."
            )
    run = Run.read(path)
    if run.command not in MERGED:
        raise UsageError(f"{path}: this is a {run.command}. Only checks and replays of parts can be merged.")
    folder = Folder(path if path.is_dir() else path.parent, run)
    if not folder.exchanges.is_file():
        raise UsageError(f"{folder.exchanges}: there is no such file. A merge needs it beside results.json.")
    folder.stretches.extend(_stretches(folder))
    return folder


def _stretches(folder: Folder) -> Iterator[Stretch]:
    """Reads the parts of a folder from its exchanges; an unmerged folder is one part."""
    names_hosts = folder.run.command == "check"
    with folder.exchanges.open("rb", BUFFER) as lines:
        sizes = [row["exchanges"] for row in (folder.run.model_extra or {}).get("parts", [])]
        for size in sizes or [None]:
            offset, digest, begins, count = lines.tell(), hashlib.sha256(), "", 0
            blocks: set[int] = set()
            for line in islice(lines, size):
                rest = line.partition(b",")[2]
                # As it was before a merge moved its placeholders.
                digest.update(rest if LATER.search(rest) is None else moved(rest, lambda block: 0))
                blocks.update(blocks_in(line) if names_hosts else ())
                if names_hosts or not begins:
                    started = _seen(line, folder.hosts)
                    begins = begins or started
                count += 1
            yield Stretch(begins, digest.hexdigest(), count, offset, lines.tell(), tuple(sorted(blocks)))


def _seen(line: bytes, hosts: Counter[str]) -> str:
    """When an exchange began; empty where a line holds none. Its host is counted."""
    try:
        exchange = _decode(line)
    except (msgspec.DecodeError, ValueError):
        return ""
    hosts[split_url(exchange.request.url).netloc] += 1
    return exchange.started


def _order(folder: Folder) -> tuple[Any, ...]:
    return (*(stretch[:2] for stretch in folder.stretches), folder.run.started)


def _must_belong_together(folders: Sequence[Folder]) -> None:
    first = folders[0]
    for folder in folders[1:]:
        for what, value, other in (
            ("command", first.run.command, folder.run.command),
            ("suite", first.run.suite.version, folder.run.suite.version),
            ("--fail-on", first.run.fails_on, folder.run.fails_on),
            ("selection", first.run.scope.selection, folder.run.scope.selection),
        ):
            if value != other:
                message = f"{what} {value!r} and {other!r}. Judge all parts in the same way."
                raise UsageError(f"{first.path} and {folder.path} do not belong together: {message}")
    places: dict[tuple[str, str], Path] = {}
    for folder in folders:
        for stretch in folder.stretches:
            if stretch.size and stretch[:2] in places:
                raise UsageError(
                    f"{places[stretch[:2]]} and {folder.path} hold the same exchanges. Name each part once."
                )
            places[stretch[:2]] = folder.path


def _in_order(folders: Sequence[Folder]) -> list[tuple[Stretch, int, int]]:
    """All stretches in merged order, each with its folder's index and its first number in that folder."""
    rows = []
    for index, folder in enumerate(folders):
        first = 1
        for stretch in folder.stretches:
            rows.append((stretch, index, first))
            first += stretch.size
    return sorted(rows, key=lambda row: (row[0][:2], row[1], row[2]))


def _numbers(folders: Sequence[Folder]) -> list[Numbers]:
    moves: list[list[Move]] = [[] for _ in folders]
    place, block = 1, 0
    for stretch, index, first in _in_order(folders):
        places = range(block, block + len(stretch.blocks))
        blocks = {} if stretch.blocks == tuple(places) else dict(zip(stretch.blocks, places, strict=True))
        moves[index].append(Move(first, place - first, blocks))
        place += stretch.size
        block += max(1, len(stretch.blocks))
    return [Numbers(sorted(rows)) for rows in moves]


def _join(folders: Sequence[Folder], numbers: Sequence[Numbers], path: Path) -> None:
    with path.open("wb", BUFFER) as out:
        for stretch, index, first in _in_order(folders):
            with folders[index].exchanges.open("rb", BUFFER) as lines:
                lines.seek(stretch.offset)
                move = numbers[index].move_of(first)
                if not move.by and not move.blocks:
                    copy_bytes(lines, out, stretch.end - stretch.offset)
                else:
                    out.writelines(_as_moved(line, move) for line in islice(lines, stretch.size))


def copy_bytes(source: BinaryIO, out: BinaryIO, size: int) -> None:
    while size > 0 and (chunk := source.read(min(size, BUFFER))):
        out.write(chunk)
        size -= len(chunk)


def _as_moved(line: bytes, move: Move) -> bytes:
    """A line of exchanges begins with its number, ``{"n":``; an empty one stands for a lost exchange."""
    if move.blocks:
        line = moved(line, move.block)
    number, comma, rest = line.removeprefix(b'{"n":').partition(b",")
    if not comma or not number.isdigit():
        return line
    return b'{"n":%d,%b' % (int(number) + move.by, rest)


ONCE = frozenset({"extra-fields", "null-fields"})
"""Topics of which a judge tells each value once, however often it comes."""


def _ledger(parts: Sequence[tuple[Run, Numbers]]) -> Ledger:
    """The ledger that led to these results: of a requirement that held, that it did. Of what is alike, that
    is kept which came first in the traffic."""
    runs = [run for run, _ in parts]
    ledger = Ledger(_requirements(runs), selection=_selection(runs[0]))
    findings: list[tuple[int, int, Finding]] = []
    observations: list[tuple[int, int, Observation]] = []
    for run, renumbered in parts:
        _refuse_unknown_rules(run)
        reasons = {row.id: row.reason for row in run.requirements}
        _take_results(ledger, run)
        for at, entry in enumerate(run.findings):
            finding = _finding(entry, renumbered)
            is_first = reasons[entry.requirement] == entry.message
            findings.append(((finding.exchanges or (0,))[-1], -1 if is_first else at, finding))
        for at, each in enumerate(run.observations):
            numbers = tuple(map(renumbered, each.exchanges))
            row = Observation(each.topic, each.endpoint, each.observed, numbers, each.times)
            observations.append(((numbers or (0,))[0], at, row))
        for deviation in run.deviations:
            ledger.deviate(_finding(deviation, renumbered))
    for _, _, finding in sorted(findings, key=itemgetter(0, 1)):
        ledger.add(finding)
    for _, _, row in sorted(observations, key=itemgetter(0, 1)):
        # Fields beside those of the envelope are counted as other readings.
        is_of_the_envelope = row.topic == "extra-fields" and not str(row.observed).startswith("data")
        ledger.take_observation(row, is_counted=row.topic not in ONCE or is_of_the_envelope)
    return ledger


def _refuse_unknown_rules(run: Run) -> None:
    named = {row.id for row in run.requirements} | {row.requirement for row in run.findings}
    unknown = sorted(named - REQUIREMENTS.keys() - run.own_ids)
    if unknown:
        raise UsageError(
            f"{', '.join(unknown[:3])}: this version of the suite does not have these rules. "
            "Merge with the version that made the parts."
        )


def _take_results(ledger: Ledger, run: Run) -> None:
    for row in run.requirements:
        ledger.satisfy(row.id, int(row.verdict in ("pass", "open")))
        for case in row.cases:
            ledger.touch(row.id, case)
        if row.verdict == "untested" and row.reason and row.fault_class is not None and not row.untestable:
            ledger.leave_untested(row.id, row.reason, row.fault_class)
    ledger.errors.update(run.ending.errors)
    ledger.errors.update({f"{OWN_RULE}{rule}": text for rule, text in run.ending.broken_rules.items()})


def _requirements(runs: Iterable[Run]) -> Mapping[str, Requirement]:
    """The specification's requirements, and the user's own rules that the runs have."""
    own = {
        row.id: Requirement(row.id, row.section, row.level, row.statement, tuple(row.operations))
        for run in runs
        for row in run.requirements
        if row.is_own
    }
    return {**REQUIREMENTS, **own}


def _finding(entry: FindingEntry, renumbered: Numbers) -> Finding:
    other = entry.other
    seen_at = (entry.exchanges or (0,))[-1]
    return Finding(
        requirement=entry.requirement,
        verdict=Verdict(entry.verdict),
        endpoint=entry.endpoint,
        message=renumbered.placeholders(entry.message, seen_at),
        expected=renumbered.placeholders(entry.expected, seen_at),
        actual=ABSENT if entry.missing else renumbered.placeholders(entry.actual, seen_at),
        path=entry.path,
        case=entry.case,
        exchanges=tuple(map(renumbered, entry.exchanges)),
        times=entry.times,
        fault_class=entry.fault_class,
        other=None
        if other is None
        else OtherPlace(renumbered(other.exchange), other.endpoint, other.record, other.field),
        is_aside=entry.is_aside,
        varies=entry.varies,
    )


def _selection(run: Run) -> RuleSelection | None:
    """The selected rules: all but the rules that the results call not selected."""
    if not run.scope.selection:
        return None
    left_out = {row.id for row in run.requirements if (row.reason or "").startswith(NOT_SELECTED)}
    return RuleSelection((run.own_ids | REQUIREMENTS.keys()) - left_out, run.scope.selection)


def _traffic(folders: Sequence[Folder]) -> TrafficTotals:
    """Totals of all folders: judged exchanges, exchanges set aside, and hosts."""
    traffic = TrafficTotals()
    for folder in folders:
        traffic.ignored.update(folder.details("set_aside"))
        traffic.count += sum(stretch.size for stretch in folder.stretches)
        traffic.hosts.update(folder.hosts)
    for index in dict.fromkeys(index for _, index, _ in _in_order(folders)):
        for why, name in folders[index].details("first_set_aside").items():
            traffic.first_ignored.setdefault(why, name)
    return traffic


def _details(
    folders: Sequence[Folder], numbers: Sequence[Numbers], coverage: Coverage, traffic: TrafficTotals
) -> Mapping[str, Any]:
    parts = [
        {"begins": stretch.begins, "digest": stretch.digest, "exchanges": stretch.size}
        for stretch, _, _ in _in_order(folders)
    ]
    if folders[0].run.command == "check":
        return {"coverage": coverage.as_json(), **traffic.details(), "parts": parts}
    replays = [folder.details("replay") for folder in folders]
    return {"replay": replay_details(replays, numbers), "parts": parts}


def _ending(folders: Sequence[Folder], details: Mapping[str, Any], beside: Beside) -> Ending:
    endings = [folder.run.ending for folder in folders]
    reasons = [beside.lost, too_little(details, beside.least_share)]
    reasons += [row.inconclusive for row in endings if row.inconclusive != NOTHING_TESTED]
    why = dict.fromkeys(filter(None, reasons))
    return Ending(
        interrupted=beside.interrupted or any(row.interrupted for row in endings),
        unreachable="; ".join(dict.fromkeys(row.unreachable for row in endings if row.unreachable)),
        left_behind=[*(change for row in endings for change in row.left_behind), *beside.left_behind],
        cleanup=" && ".join(dict.fromkeys(filter(None, (*(row.cleanup for row in endings), beside.cleanup)))),
        inconclusive=" ".join(why),
        unusable="; ".join(dict.fromkeys(row.unusable for row in endings if row.unusable)),
        too_slow=exceeded_limits(details),
    )


def _changes(folders: Sequence[Folder]) -> ChangesMade | None:
    """What all parts changed; None where none of them could change anything."""
    parts = [folder.run.changes.model_dump() for folder in folders if folder.run.changes is not None]
    totals = {name: sum(part[name] for part in parts) for name in ChangesMade.model_fields}
    return ChangesMade(**totals) if parts else None


def _baseline(runs: Sequence[Run]) -> dict[str, BaselineOutcome]:
    """What the parts say of the rows of one baseline: a row of which no part shows what it lists is stale
    where one part decided it. Nothing where there was no baseline."""
    parts = [run.baseline for run in runs if run.baseline is not None]
    if not parts:
        return {}
    groups: dict[str, list[BaselineEntry]] = {}
    listed: set[str] = set()
    for name in ("known", "new", "stale", "expired", "undecided", "warned"):
        entries = {entry.signature: entry for part in parts for entry in getattr(part, name)}
        groups[name] = [entry for signature, entry in entries.items() if signature not in listed]
        listed |= entries.keys()
    return {"baseline": BaselineOutcome(file=parts[0].file, **groups)}


def _notes(
    folders: Sequence[Folder], coverage: Coverage, traffic: TrafficTotals, details: Mapping[str, Any]
) -> Iterator[str]:
    notes = [folder.run.notes for folder in folders]
    if folders[0].run.command == "replay":
        yield from notes_of_replays(notes, details["replay"])
        return
    for note in dict.fromkeys(note for each in notes for note in each):
        if not any(mark in note for mark in REGENERATED):
            yield note
    yield from coverage.sentences()
    yield from traffic.sentences()
