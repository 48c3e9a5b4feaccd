"""``report.html``: the whole run on one page that needs nothing else, under three megabytes whatever the
target sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import Any

from markupsafe import Markup

from conformance.report.formats import chart
from conformance.report.formats.cards import Card, Cards, expectation, seen
from conformance.report.formats.page import anchor, part, render, spelled
from conformance.report.formats.traffic import set_aside, tables
from conformance.report.model import again
from conformance.report.model.evidence import OTHER, Evidence
from conformance.report.model.marked import literal
from conformance.report.model.regressions import Place, places
from conformance.report.model.run import (
    VERDICTS,
    FindingEntry,
    ObservationEntry,
    Reading,
    RequirementEntry,
    Run,
    VerdictName,
)
from conformance.report.model.visible import one_line
from conformance.report.model.words import (
    ALLOWED,
    Blocker,
    Untested,
    blocking,
    chapters,
    day_and_time,
    duration,
    headline,
    levels,
    listed,
    plural,
    untested,
)
from conformance.spec import OPERATIONS

ROOM = 2_850_000
"""Bytes of a page, with what links to the findings still to come."""

ROOM_FOR_EVIDENCE = 1_200_000
MOST_CARDS = 400
AT_ONCE = 3
MOST_ROWS = 300
MOST_BLOCKERS = 12

COMMANDS = {"run": "run", "replay": "replay of recorded traffic", "check": "check of recorded traffic"}

REMEDIES = {
    "configuration": "The profile or an option would make it testable.",
    "credentials": "An account that can sign in would make it testable.",
    "environment": "It depends on what lies between, or on how the target behaved; run again.",
    "suite": "An error of the suite itself; please report it.",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a list or table, as the template names its cells."""

    cells: Mapping[str, Any]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.cells[name]
        except KeyError:
            raise AttributeError(name) from None


def row(**cells: Any) -> Row:
    return Row(cells)


@dataclass
class Report:
    """What the template shows of a run."""

    run: Run
    evidence: Evidence
    numbers: dict[str, int] = field(default_factory=lambda: {one.key: one.number for one in OPERATIONS})
    anchors: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    shortened: str = ""

    def html(self) -> str:
        if not self.run.findings:
            return render("report.html.j2", page=self.view([]))
        rest = len(render("report.html.j2", page=self.view([])).encode())
        cards = self.cards(ROOM - rest)  # before the page: the requirements link to them
        return render("report.html.j2", page=self.view(cards))

    def view(self, cards: Sequence[tuple[str, Markup]]) -> Row:
        run = self.run
        parts = self.chapters()
        blockers = blocking(run)
        keys = {reading.key for reading in run.readings}
        others = [one for one in run.observations if one.topic not in keys]
        shown = [*map(_regressed, places(run)), *map(_blocker, blockers)]
        cleanup = [f"To restore it: {run.cleanup}"] if run.cleanup else []
        return row(
            run=run,
            head=headline(run),
            target=run.target.url,
            command=COMMANDS.get(run.command, run.command),
            levels=levels(run),
            facts=self.facts(),
            contents=self.contents(parts, len(cards)),
            blockers=[*shown[:MOST_BLOCKERS], *self.other_blockers()],
            more_blockers=f"and {len(shown) - MOST_BLOCKERS} more below"
            if len(shown) > MOST_BLOCKERS
            else "",
            nothing_blocks="Nothing." if run.exit_code == 0 else "No requirement; see above.",
            changes_title=self.changes_title(),
            changes=list(self.changes()),
            no_changes="There is no earlier run or baseline to compare with."
            if not (run.since or run.baseline)
            else "Nothing.",
            notes=[one_line(note, 600) for note in (*run.remarks, *cleanup)],
            counts=[(verdict, len(run.by_verdict(verdict))) for verdict in VERDICTS],
            chapters=parts,
            endpoints=[(one.number, one.key) for one in OPERATIONS],
            findings=cards,
            groups=_grouped(cards),
            findings_hint=self.findings_hint(),
            regressions=self.regressions(),
            traffic=tables(run),
            more_regressions=_left_out(len(run.regressions), MOST_ROWS),
            readings=[_reading(reading) for reading in run.readings],
            varying=sum(len(reading.observed) > 1 for reading in run.readings),
            observations=[_observation(one) for one in others[:MOST_ROWS]],
            observation_words=f"{plural(len(others), 'other')}. {_left_out(len(others), MOST_ROWS)}".strip(),
            untested=[_untested(group) for group in untested(run)],
            time=self.time(),
            shortened=self.shortened,
        )

    def facts(self) -> list[tuple[str, str]]:
        run = self.run
        took = duration(run.seconds)
        facts = [
            ("Target", one_line(run.target.url, 200)),
            ("Profile", one_line(run.target.profile or "none", 200)),
            ("When", f"{day_and_time(run.started)}, took {took}"),
            ("Allowed", ALLOWED.get(run.impact, run.impact)),
        ]
        if run.strict:
            facts.append(("Strict", "a warning counts as a failure"))
        if self.evidence.total:
            facts.append(("Exchanges", f"{self.evidence.total:,}"))
        if set_aside(run):
            facts.append(("Set aside", set_aside(run)))
        return facts

    def cards(self, room: int) -> list[tuple[str, Markup]]:
        """The findings as far as there is room, in bytes: with evidence, then without, then only counted."""
        maker = Cards(self.run, self.evidence, self.numbers)
        shown: list[tuple[str, Markup]] = []
        used = bare = 0
        ordered = self.ordered()
        for at, finding in enumerate(ordered):
            card = maker.card(finding)
            if used > ROOM_FOR_EVIDENCE:
                bare += bool(card.exchanges)
                card = card.without_exchanges()
            text = part("finding.html.j2", finding=card)
            size = len(text.encode())
            if used + size > room or at >= MOST_CARDS:
                self.shortened = f"{len(ordered) - at:,} further findings are in results.json only."
                break
            used += size
            shown.append((finding.requirement, text))
            self._link(card)
        if bare and not self.shortened:
            told = f"The exchanges of {plural(bare, 'finding')} were left out for room"
            self.shortened = f"{told}; exchanges.jsonl has them."
        return shown

    def ordered(self) -> list[FindingEntry]:
        """New failures first, then the others by verdict; the specification's order within."""
        known = {entry.signature for entry in self.run.baseline.known} if self.run.baseline else set()
        place = {entry.id: at for at, entry in enumerate(self.run.requirements)}
        weighed = [one for one in self.run.findings if one.verdict in ("fail", "warn")]
        return sorted(
            weighed,
            key=lambda one: (
                one.signature in known,
                one.verdict != "fail",
                place.get(one.requirement, 0),
                one.endpoint,
            ),
        )

    def findings_hint(self) -> str:
        if not self.ordered():
            return "Nothing that was seen contradicts what the specification states or shows."
        return (
            "Each stands for itself: what the rule says, what was seen and expected, how it came to it, "
            "and how to see it again."
        )

    def other_blockers(self) -> list[Row]:
        base = self.run.baseline
        if base is None:
            return []
        stale = [(entry, "is in the baseline and was not seen: take the entry out") for entry in base.stale]
        expired = [
            (entry, f"is in the baseline until {entry.expires}, which has passed") for entry in base.expired
        ]
        return [
            row(
                verdict="warn",
                href=entry.requirement,
                id=entry.requirement,
                statement=[(told, False)],
                under=entry.reason,
            )
            for entry, told in [*stale, *expired][:MOST_BLOCKERS]
        ]

    def changes_title(self) -> str:
        if self.run.baseline is not None:
            return f"Against the baseline {self.run.baseline.file}"
        if self.run.since is not None:
            return f"Since the run of {day_and_time(self.run.since.started)}"
        return "What changed"

    def changes(self) -> Iterator[Row]:
        base, since = self.run.baseline, self.run.since
        if base is not None:
            yield from _change(
                "new", "new", [entry.requirement for entry in base.new], "failing and not listed"
            )
            yield from _change("known", "known", [entry.requirement for entry in base.known], "listed")
            yield from _change(
                "warn", "stale", [entry.requirement for entry in base.stale], "listed, and no longer failing"
            )
            yield from _change(
                "warn", "expired", [entry.requirement for entry in base.expired], "listed, and past its day"
            )
        if since is not None:
            yield from _change("new", "new", since.newly_failing, "newly failing")
            yield from _change("pass", "fixed", since.fixed, "no longer failing")
            yield from _change("open", "reads", since.changed_readings, "now read otherwise")

    def chapters(self) -> list[Row]:
        return [
            row(
                name=chapter.name,
                sections=[self.section(one.name, one.requirements) for one in chapter.sections],
            )
            for chapter in chapters(self.run)
        ]

    def section(self, name: str, entries: Sequence[RequirementEntry]) -> Row:
        count = {verdict: sum(entry.verdict == verdict for entry in entries) for verdict in VERDICTS}
        told = [
            f"{count['pass']} passed",
            *(f"{count[one]} {one}" for one in ("open", "untested") if count[one]),
        ]
        return row(
            name=name,
            anchor=anchor("section", name),
            open=bool(count["fail"] or count["warn"]) and len(entries) < 80,
            fail=count["fail"],
            warn=count["warn"],
            words=" · ".join(told),
            meter=_meter(count, len(entries)),
            rows=[self.requirement(entry) for entry in entries],
            worst=next((verdict for verdict in ("fail", "warn") if count[verdict]), ""),
        )

    def requirement(self, entry: RequirementEntry) -> Row:
        numbers = [self.numbers[key] for key in entry.operations if key in self.numbers] or list(
            self.numbers.values()
        )
        return row(
            id=entry.id,
            verdict=entry.verdict,
            level=entry.level,
            statement=spelled(entry.statement),
            reason=one_line(entry.reason, 600) if entry.reason else "",
            findings=self.anchors.get(entry.id, []),
            cases=entry.cases[:8],
            operations=entry.operations[:6]
            if len(entry.operations) < len(self.numbers)
            else ["every endpoint"],
            more_operations=max(0, len(entry.operations) - 6)
            if len(entry.operations) < len(self.numbers)
            else 0,
            reading=entry.reading,
            rerun=again.rerun(self.run, entry.id),
            endpoints="" if len(numbers) == len(self.numbers) else " ".join(map(str, numbers)),
        )

    def contents(self, parts: Sequence[Row], cards: int) -> list[Row]:
        run = self.run
        items = [row(name="Overview", href="overview", note="", bad=False)]
        if run.regressions:
            items.append(
                row(name="Regressions", href="regressions", note=str(len(run.regressions)), bad=True)
            )
        items.append(
            row(
                name="Findings",
                href="findings",
                note=str(cards),
                bad=any(one.verdict == "fail" for one in run.findings),
            )
        )
        if tables(run):
            items.append(row(name="Traffic", href="traffic", note="", bad=False))
        items.append(row(name="Readings", href="readings", note=str(len(run.readings)), bad=False))
        items.append(row(name="Not tested", href="untested", note=str(run.summary.untested), bad=False))
        items.append(row(name="Time", href="time", note=duration(run.seconds), bad=False))
        for chapter in parts:
            items.append(row(name=chapter.name, href="", note="", bad=False))
            items += [
                row(
                    name=one.name,
                    href=one.anchor,
                    note=f"{one.fail} fail" if one.fail else str(len(one.rows)),
                    bad=bool(one.fail),
                )
                for one in chapter.sections
            ]
        return items

    def regressions(self) -> list[Row]:
        return [
            row(
                number=one.exchange,
                endpoint=one_line(one.endpoint, 200),
                path=one_line(one.path, 200),
                kind=one.kind,
                recorded=literal(one.recorded, 200),
                replayed=literal(one.replayed, 200),
            )
            for one in self.run.regressions[:MOST_ROWS]
        ]

    def time(self) -> Row:
        run = self.run
        waits = chart.aligned(run.timeline, self.evidence.pulse)
        timings = run.timings or self.evidence.timings
        drawn = chart.timeline(self.evidence.pulse, waits)
        answering = sum(one.total_ms for one in timings) / 1000
        waited = sum(wait.seconds for wait in waits)
        said = [f"The run took {duration(run.seconds)}"]
        if timings:
            requests = plural(sum(one.requests for one in timings), "request")
            said.append(f"the target answered for {duration(answering)} in {requests}")
        if waited:
            said.append(f"waits for the target's clock came to {duration(waited)}, some of them at once")
        slow = sorted((one for one in timings if one.endpoint != OTHER), key=lambda one: -one.median_ms)
        start = min(chain(self.evidence.pulse.started, (wait.start for wait in waits)), default=0.0)
        return row(
            words="; ".join(said) + ".",
            bars=chart.bars(_by_group(timings)),
            line=drawn.drawing if drawn else None,
            squeezed=drawn.squeezed if drawn else False,
            moved=self.moved(),
            waits=[
                row(
                    what=one_line(wait.label, 200),
                    started=f"+{duration(wait.start - start)}",
                    seconds=duration(wait.seconds),
                )
                for wait in waits[:MOST_ROWS]
            ],
            slowest=slow[:15],
        )

    def moved(self) -> tuple[str, str] | None:
        """How long the run took, and on the target's clock, where that was moved; else None."""
        times = self.evidence.pulse.started
        there = max(times, default=0.0) - min((time for time in times if time > 0), default=0.0)
        return (duration(self.run.seconds), duration(there)) if there > self.run.seconds + 30 else None

    def _link(self, card: Card) -> None:
        links = self.anchors.setdefault(card.entry.requirement, [])
        if len(links) < 12:
            links.append((card.anchor, f"{card.endpoint[1]} {card.place}".strip()))


def report(run: Run, evidence: Evidence) -> str:
    """The page of a run with the evidence of its findings."""
    return Report(run, evidence).html()


def _grouped(cards: Sequence[tuple[str, Markup]]) -> list[Row]:
    """The cards by requirement, the first few of each to be seen at once and the others folded."""
    groups = [(name, [card for _, card in same]) for name, same in groupby(cards, key=lambda card: card[0])]
    return [row(requirement=name, first=same[:AT_ONCE], others=same[AT_ONCE:]) for name, same in groups]


def _blocker(blocker: Blocker) -> Row:
    endpoints = list(dict.fromkeys(finding.endpoint for finding in blocker.findings))
    entry = blocker.requirement
    return row(
        verdict=entry.verdict,
        id=entry.id,
        href=anchor("finding", entry.id) if blocker.findings else entry.id,
        statement=spelled(entry.statement),
        under=_seen(blocker.findings[0]) + " · " + listed(endpoints, 1) if endpoints else entry.reason or "",
    )


def _regressed(place: Place) -> Row:
    first = place.first
    values = f"recorded {literal(first.recorded, 60)}, now {literal(first.replayed, 60)}"
    times = f" · {plural(len(place.exchanges), 'answer')}"
    return row(
        verdict="fail",
        id=place.kind,
        href="regressions",
        statement=[(one_line(place.endpoint, 200), True)],
        under=one_line(f"{place.path or 'the answer'}: {values}", 200) + times,
    )


def _seen(finding: FindingEntry) -> str:
    values = f"{seen(finding, 60)}, expected {expectation(finding.expected)}"
    return one_line(f"{finding.path or 'the answer'}: seen {values}", 200)


def _change(tone: str, word: str, names: Sequence[str], told: str) -> Iterator[Row]:
    once = list(dict.fromkeys(names))
    if once:
        yield row(
            tone=tone,
            word=word,
            text=f"{plural(len(once), 'requirement')} {told}: {listed(once, 8)}"
            if tone != "open"
            else f"{told}: {listed(once, 8)}",
        )


def _reading(reading: Reading) -> Row:
    return row(
        key=reading.key,
        href=reading.requirement,
        observed=" and ".join(literal(value, 120) for value in reading.observed[:4]),
        differs=len(reading.observed) > 1,
        pinned=literal(reading.pinned, 120) if reading.pinned is not None else "",
        statement=spelled(reading.statement or ""),
    )


def _observation(one: ObservationEntry) -> Row:
    return row(
        topic=one_line(one.topic, 120),
        observed=literal(one.observed, 160),
        endpoint=one_line(one.endpoint, 160),
        times=f"{one.times:,}",
    )


def _untested(group: Untested) -> Row:
    ids = [entry.id for entry in group.requirements]
    remedy = (
        "It cannot be seen from outside." if group.untestable else REMEDIES.get(group.fault_class or "", "")
    )
    return row(
        reason=one_line(group.reason, 400),
        remedy=remedy,
        count=len(ids),
        ids=ids[:14],
        more=max(0, len(ids) - 14),
    )


def _meter(count: Mapping[VerdictName, int], total: int) -> list[Row]:
    pieces, left = [], 0.0
    for verdict in reversed(VERDICTS):
        width = 190.0 * count[verdict] / (total or 1)
        if width:
            pieces.append(row(verdict=verdict, x=f"{left:.1f}", width=f"{width:.1f}"))
        left += width
    return pieces


def _by_group(timings: Sequence[Any]) -> list[Any]:
    order = {group: at for at, group in enumerate(dict.fromkeys(row.group for row in OPERATIONS))}
    return sorted(timings, key=lambda one: order.get(one.group, 10_000))


def _left_out(total: int, most: int) -> str:
    return f"{total - most:,} more in results.json." if total > most else ""
