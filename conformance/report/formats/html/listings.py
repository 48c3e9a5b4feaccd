"""The lists below the findings: requirements, regressions, readings, observations, untested rules, time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from conformance.report.formats.finding_text import values
from conformance.report.formats.html.latency import has_latencies, latencies
from conformance.report.formats.html.replay import replayed
from conformance.report.formats.html.replay.differences import differing_places
from conformance.report.formats.html.traffic import tables
from conformance.report.formats.page import Cells, anchor, code, with_code
from conformance.report.model import again
from conformance.report.model.evidence import OTHER, RunEvidence
from conformance.report.model.failures import deviations_in_words, label_of
from conformance.report.model.regressions import KINDS
from conformance.report.model.run import (
    VERDICTS,
    FindingEntry,
    OperationTime,
    RequirementEntry,
    Run,
    VerdictName,
)
from conformance.report.model.visible import one_line
from conformance.report.model.words import (
    chapters,
    duration,
    left_untested,
    not_selected,
    plural,
    regressed_in_words,
    untested,
)

MOST_ROWS = 300

MOVED_CLOCK_SECONDS = 30
"""How much longer a run must be by the target's clock for the page to say that the clock was moved."""

REMEDIES = {
    "configuration": "The profile or an option can make it testable.",
    "credentials": "An account that can sign in makes it testable.",
    "environment": "The connection or the target's behaviour prevented it; run again.",
    "suite": "This is an error of the suite; please report it.",
}


def listings(run: Run, evidence: RunEvidence) -> dict[str, object]:
    keys = {reading.key for reading in run.readings}
    others = [observation for observation in run.observations if observation.topic not in keys]
    return {
        "replayed": replayed(run),
        "regressions": run.regressions[:MOST_ROWS],
        "kinds": KINDS,
        "differing_places": differing_places,
        "regressed": regressed_in_words(run),
        "more_regressions": _more(len(run.regressions)),
        "deviations": [_deviation(row) for row in run.deviations[:MOST_ROWS]],
        "deviation_words": deviations_in_words(run),
        "readings": run.readings,
        "varying": sum(len(reading.observed) > 1 for reading in run.readings),
        "observations": others[:MOST_ROWS],
        "observation_words": f"{plural(len(others), 'other')}. {_more(len(others))}".strip(),
        "untested": untested(run),
        "remedies": REMEDIES,
        "left_untested": left_untested(run),
        "not_selected": not_selected(run),
        "time": _time(run, evidence),
    }


def _deviation(row: FindingEntry) -> list[str]:
    numbers = ", ".join(f"#{number}" for number in row.exchanges)
    return [
        label_of(row),
        row.requirement,
        row.endpoint,
        f"{row.path}: {values(row)}",
        numbers,
        row.message,
        row.id,
    ]


def _time(run: Run, evidence: RunEvidence) -> Cells:
    waits = [span for span in run.timeline if span.kind == "wait"]
    timings = run.timings or evidence.timings
    begun = [evidence.earliest] * (evidence.earliest > 0)
    start = min([*begun, *(wait.start for wait in waits)], default=0.0)
    slow = [timing for timing in timings if timing.endpoint != OTHER]
    return Cells(
        words=_time_in_words(run, evidence, timings, sum(wait.seconds for wait in waits)),
        waits=[
            Cells(
                what=one_line(wait.label, 200),
                started=f"+{duration(wait.start - start)}",
                seconds=duration(wait.seconds),
            )
            for wait in waits[:MOST_ROWS]
        ],
        latencies=[] if run.command == "replay" else latencies(slow),
    )


def _time_in_words(run: Run, evidence: RunEvidence, timings: Sequence[OperationTime], waited: float) -> str:
    words = [f"The run took {duration(run.seconds)}"]
    by_target = evidence.latest - evidence.earliest
    if run.command == "run" and by_target > run.seconds + MOVED_CLOCK_SECONDS:
        words.append(f"the target's simulated clock advanced {duration(by_target)} meanwhile")
    if timings:
        answering = sum(timing.total_ms for timing in timings) / 1000
        requests = plural(sum(timing.requests for timing in timings), "request")
        words.append(f"the target took {duration(answering)} to answer {requests}")
    if waited:
        words.append(f"waits for the target's clock add up to {duration(waited)}, some of them overlapping")
    return "; ".join(words) + "."


def _more(total: int) -> str:
    return f"{total - MOST_ROWS:,} more in results.json." if total > MOST_ROWS else ""


MOST_CASES = 8
MOST_OPERATIONS = 6
LARGE_SECTION = 80
"""Requirements of a section that stays closed although it has failures."""

METER_WIDTH = 190.0


@dataclass(frozen=True, slots=True)
class RequirementList:
    """``numbers`` are the endpoints' numbers that the page filters by, ``anchors`` the findings on the page
    by requirement, each with its name."""

    run: Run
    numbers: Mapping[str, int]
    anchors: Mapping[str, Sequence[tuple[str, str]]]

    def chapters(self) -> list[Cells]:
        return [
            Cells(
                name=chapter.name,
                sections=[self._section(section.name, section.requirements) for section in chapter.sections],
            )
            for chapter in chapters(self.run)
        ]

    def _section(self, name: str, entries: Sequence[RequirementEntry]) -> Cells:
        count = {verdict: sum(entry.verdict == verdict for entry in entries) for verdict in VERDICTS}
        others = [f"{count[verdict]} {verdict}" for verdict in ("open", "untested") if count[verdict]]
        return Cells(
            name=name,
            anchor=anchor("section", name),
            open=bool(count["fail"] or count["warn"]) and len(entries) < LARGE_SECTION,
            fail=count["fail"],
            warn=count["warn"],
            words=" · ".join([f"{count['pass']} passed", *others]),
            meter=_meter(count, len(entries)),
            rows=[self._requirement(entry) for entry in entries],
            worst=next((verdict for verdict in ("fail", "warn") if count[verdict]), ""),
        )

    def _requirement(self, entry: RequirementEntry) -> Cells:
        numbers = [self.numbers[key] for key in entry.operations if key in self.numbers]
        is_everywhere = not numbers or len(numbers) == len(self.numbers)
        return Cells(
            id=entry.id,
            verdict=entry.verdict,
            level=entry.level,
            statement=with_code(entry.statement),
            reason=one_line(entry.reason, 600) if entry.reason else "",
            findings=self.anchors.get(entry.id, []),
            cases=entry.cases[:MOST_CASES],
            operations=Markup(", ".join(map(code, entry.operations[:MOST_OPERATIONS]))),
            more_operations=max(0, len(entry.operations) - MOST_OPERATIONS),
            reading=entry.reading,
            rerun=again.rerun_rule(self.run, entry.id),
            endpoints="" if is_everywhere else " ".join(map(str, numbers)),
        )


def contents(run: Run, chapter_list: Sequence[Cells], findings: int) -> list[Cells]:
    """The table of contents: the parts of the page, then the sections by chapter."""
    items = [_item("Overview", "overview"), _item("Endpoints", "map")]
    if run.command == "replay":
        items[1:1] = [
            _item("What was replayed", "plan"),
            _item("Regressions", "regressions", str(len(run.regressions)), is_bad=True)
            if run.regressions
            else _item("Differences", "regressions"),
            *([_item("Latency", "latency")] if has_latencies(run) else []),
        ]
    has_failures = any(finding.verdict == "fail" for finding in run.findings)
    items += [
        _item("Findings", "findings", str(findings), is_bad=has_failures),
        *([_item("Traffic", "traffic")] if tables(run) else []),
        *([_item("Descriptions", "described", str(len(run.deviations)))] if run.deviations else []),
        _item("Readings", "readings", str(len(run.readings))),
        _item("Not tested", "untested", str(left_untested(run))),
        _item("Time", "time", duration(run.seconds)),
    ]
    for chapter in chapter_list:
        items.append(_item(chapter.name, ""))
        items += [
            _item(
                section.name,
                section.anchor,
                f"{section.fail} fail" if section.fail else str(len(section.rows)),
                is_bad=bool(section.fail),
            )
            for section in chapter.sections
        ]
    return items


def _item(name: str, href: str, note: str = "", *, is_bad: bool = False) -> Cells:
    return Cells(name=name, href=href, note=note, bad=is_bad)


def _meter(count: Mapping[VerdictName, int], total: int) -> list[Cells]:
    """The verdicts of a section as the pieces of a bar."""
    pieces, left = [], 0.0
    for verdict in reversed(VERDICTS):
        width = METER_WIDTH * count[verdict] / (total or 1)
        if width:
            pieces.append(Cells(verdict=verdict, x=f"{left:.1f}", width=f"{width:.1f}"))
        left += width
    return pieces
