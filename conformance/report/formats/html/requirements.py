"""The requirements on the page, by chapter and section, and the table of contents that leads there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from conformance.report.formats.html.cells import Cells, cells
from conformance.report.formats.html.latency import has_latencies
from conformance.report.formats.html.traffic import tables
from conformance.report.formats.page import anchor, code, with_code
from conformance.report.model import again
from conformance.report.model.run import VERDICTS, RequirementEntry, Run, VerdictName
from conformance.report.model.visible import one_line
from conformance.report.model.words import chapters, duration, left_untested

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
        """Every chapter with its sections and their requirements."""
        return [
            cells(
                name=chapter.name,
                sections=[self._section(section.name, section.requirements) for section in chapter.sections],
            )
            for chapter in chapters(self.run)
        ]

    def _section(self, name: str, entries: Sequence[RequirementEntry]) -> Cells:
        count = {verdict: sum(entry.verdict == verdict for entry in entries) for verdict in VERDICTS}
        others = [f"{count[verdict]} {verdict}" for verdict in ("open", "untested") if count[verdict]]
        return cells(
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
        return cells(
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
            rerun=again.rerun(self.run, entry.id),
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
    items.append(_item("Findings", "findings", str(findings), is_bad=has_failures))
    if tables(run):
        items.append(_item("Traffic", "traffic"))
    items.append(_item("Readings", "readings", str(len(run.readings))))
    items.append(_item("Not tested", "untested", str(left_untested(run))))
    items.append(_item("Time", "time", duration(run.seconds)))
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
    return cells(name=name, href=href, note=note, bad=is_bad)


def _meter(count: Mapping[VerdictName, int], total: int) -> list[Cells]:
    """The verdicts of a section as the pieces of a bar."""
    pieces, left = [], 0.0
    for verdict in reversed(VERDICTS):
        width = METER_WIDTH * count[verdict] / (total or 1)
        if width:
            pieces.append(cells(verdict=verdict, x=f"{left:.1f}", width=f"{width:.1f}"))
        left += width
    return pieces
