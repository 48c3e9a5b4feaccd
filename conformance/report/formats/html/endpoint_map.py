"""The map at the head of the page: each of the 88 endpoints as failing, warned, tested or untested."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Literal

from conformance.report.formats.html.cells import Cells, cells
from conformance.report.model.run import FindingEntry, RequirementEntry, Run
from conformance.report.model.visible import one_line
from conformance.report.model.words import plural
from conformance.spec import OPERATIONS
from conformance.spec.operations import Operation

State = Literal["fail", "warn", "pass", "untested"]

WORDS: dict[State, str] = {"fail": "failing", "warn": "warned", "pass": "tested", "untested": "untested"}
SUMMARY = {**WORDS, "pass": "tested, nothing found"}
SIGNS: dict[State, str] = {"fail": "×", "warn": "!", "pass": "✓", "untested": "–"}
MOST_RULES = 6
NO_REASON = "No answer of it was judged."


def endpoint_map(run: Run, anchors: Mapping[tuple[str, str], str]) -> Cells:
    """The groups of endpoints, the counts, and lists of those that fail, warn or are untested. ``anchors``
    are the findings on the page, by requirement and endpoint."""
    contradictions: dict[str, list[FindingEntry]] = {}
    for finding in run.findings:
        if finding.verdict in ("fail", "warn"):
            contradictions.setdefault(finding.endpoint, []).append(finding)
    rows = {row.id: row for row in run.requirements}
    answered = _answered(run)
    regressed = {regression.endpoint for regression in run.regressions}
    tiles = [
        _tile(
            operation,
            contradictions.get(operation.key, ()),
            rows,
            anchors,
            is_answered=operation.key in answered,
            is_regressed=operation.key in regressed,
        )
        for operation in OPERATIONS
    ]
    counts = {state: sum(tile.state == state for tile in tiles) for state in WORDS}
    return cells(
        words=" · ".join(f"{counts[state]} {word}" for state, word in SUMMARY.items() if counts[state]),
        total=len(tiles),
        groups=[
            cells(name=name, tiles=list(same)) for name, same in groupby(tiles, key=lambda tile: tile.group)
        ],
        bad=[tile for tile in tiles if tile.state in ("fail", "warn")],
        untested=_by_reason(tile for tile in tiles if tile.state == "untested"),
    )


def _tile(
    operation: Operation,
    findings: Sequence[FindingEntry],
    rows: Mapping[str, RequirementEntry],
    anchors: Mapping[tuple[str, str], str],
    *,
    is_answered: bool,
    is_regressed: bool,
) -> Cells:
    state = "fail" if is_regressed else _state(operation, findings, rows, is_answered=is_answered)
    rules = list(dict.fromkeys(finding.requirement for finding in findings))
    links = [(rule, anchors.get((rule, operation.key)) or rule) for rule in rules]
    links += [("regressed", "regressions")] if is_regressed else []
    row = rows.get(operation.requirement)
    return cells(
        key=operation.key,
        group=operation.group,
        number=operation.number,
        state=state,
        sign=SIGNS[state],
        label=f"{operation.key}: {WORDS[state]}" + (f", {plural(len(rules), 'rule')}" if rules else ""),
        href=links[0][1] if links else operation.requirement if row is not None else "untested",
        rules=links[:MOST_RULES],
        more=max(0, len(links) - MOST_RULES),
        reason=(row.reason if row is not None else None) or NO_REASON,
    )


def _state(
    operation: Operation,
    findings: Sequence[FindingEntry],
    rows: Mapping[str, RequirementEntry],
    *,
    is_answered: bool,
) -> State:
    verdicts = {finding.verdict for finding in findings}
    if verdicts:
        return "fail" if "fail" in verdicts else "warn"
    row = rows.get(operation.requirement)
    if row is not None and row.verdict in ("pass", "fail", "warn"):
        return "pass"
    return "pass" if row is None and is_answered else "untested"


def _answered(run: Run) -> frozenset[str]:
    return frozenset(timing.endpoint for timing in run.timings)


def _by_reason(tiles: Iterable[Cells]) -> list[Cells]:
    reasons: dict[str, list[Cells]] = {}
    for tile in tiles:
        reasons.setdefault(tile.reason, []).append(tile)
    ordered = sorted(reasons.items(), key=lambda row: -len(row[1]))
    return [cells(reason=one_line(reason, 300), tiles=same) for reason, same in ordered]
