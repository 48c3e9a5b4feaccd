"""``report.html``: the whole run on one page, under three megabytes whatever the target sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Literal

from markupsafe import Markup

from conformance.report.formats.html.card.cards import Card, Cards
from conformance.report.formats.html.listings import RequirementList, contents, listings
from conformance.report.formats.html.overview import overview
from conformance.report.formats.html.traffic import tables
from conformance.report.formats.page import Cells, endpoint, render, with_code
from conformance.report.model.evidence import RunEvidence, undescribed
from conformance.report.model.failures import failures_of
from conformance.report.model.groups import gravest_first, grouped
from conformance.report.model.run import VERDICTS, FindingEntry, RequirementEntry, Run
from conformance.report.model.visible import one_line
from conformance.report.model.words import plural
from conformance.spec import OPERATIONS
from conformance.traffic.replacing import replace_file

PAGE_BYTES = 2_850_000
"""Bytes of the page, apart from the links to the findings."""

EVIDENCE_BYTES = 1_200_000
"""Bytes of findings that are shown with their exchanges."""

MOST_CARDS = 400
OPEN_CARDS = 3
"""Findings of a requirement that are open; the others are folded."""

MOST_LINKS = 12


PLACE = "<!--cases-->"
"""Where the footer links to pytest-html's page, which exists only after the reports were written."""


def link_cases(folder: Path, name: str) -> None:
    """Links the page of a folder to pytest-html's, which stands beside it. OSError."""
    page = folder / "report.html"
    text = page.read_text(encoding="utf-8")
    link = f' <a href="{name}">The cases one by one, by pytest-html</a>.'
    replace_file(page, text.replace(PLACE, link, 1))


def report(run: Run, evidence: RunEvidence) -> str:
    return HtmlReport(run, evidence).html()


@dataclass
class HtmlReport:
    """The page of a run. ``anchors`` are the findings on the page by requirement, each with its name;
    ``places`` are the first of each requirement and endpoint."""

    run: Run
    evidence: RunEvidence
    numbers: dict[str, int] = field(default_factory=lambda: {row.key: row.number for row in OPERATIONS})
    anchors: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    places: dict[tuple[str, str], str] = field(default_factory=dict)
    shortened: str = ""

    def html(self) -> str:
        if not self.run.findings:
            return self._page([])
        page = self._page(self._cards(PAGE_BYTES))  # the cards first: the requirements link to them
        if len(page.encode()) <= PAGE_BYTES:
            return page
        bare, fitting = HtmlReport(self.run, self.evidence), HtmlReport(self.run, self.evidence)
        return fitting._page(fitting._cards(PAGE_BYTES - len(bare._page([]).encode())))

    def _page(self, cards: Sequence[tuple[str, Markup]]) -> str:
        run = self.run
        chapters = RequirementList(run, self.numbers, self.anchors).chapters()
        page = Cells(
            run=run,
            contents=contents(run, chapters, len(self._ordered())),
            counts=[(verdict, len(run.by_verdict(verdict))) for verdict in VERDICTS],
            chapters=chapters,
            endpoints=[(number, key) for key, number in self.numbers.items()],
            findings=self._ordered(),
            groups=_grouped(cards),
            findings_hint=self._findings_hint(len(cards)),
            traffic=tables(run),
            with_code=with_code,
            map=endpoint_map(run, self.places),
            shortened=self.shortened,
            **overview(run, self.evidence.total),
            **listings(run, self.evidence),
        )
        return render("report.html.j2", page=page)

    def _cards(self, room: int) -> list[tuple[str, Markup]]:
        """The findings as far as there is room, in bytes: with evidence, then without, then only counted."""
        maker = Cards(self.run, self.evidence, self.numbers)
        shown: list[tuple[str, Markup]] = []
        used = without_evidence = 0
        findings = self._ordered()
        groups = grouped(findings, maker.accepted)
        for at, group in enumerate(groups):
            card = maker.card(group)
            if used > EVIDENCE_BYTES:
                without_evidence += bool(card.exchanges)
                card = card.without_exchanges()
            text = maker.text(card)
            size = len(text.encode())
            if used + size > room or at >= MOST_CARDS:
                left_out = sum(len(each.findings) for each in groups[at:])
                self.shortened = f"{left_out:,} further findings are in results.json only."
                break
            used += size
            shown.append((group.lead.requirement, text))
            self._link(card)
        if without_evidence and not self.shortened:
            count = plural(without_evidence, "finding")
            self.shortened = f"The page leaves out the exchanges of {count}; exchanges.jsonl has them."
        return shown

    def _ordered(self) -> list[FindingEntry]:
        """New failures first, then the others by verdict and severity; the specification's order within."""
        signatures = failures_of(self.run).accepted
        weighed = [finding for finding in self.run.findings if finding.verdict in ("fail", "warn")]
        ordered = gravest_first(self.run, weighed)
        return sorted(ordered, key=lambda finding: finding.signature in signatures)

    def _findings_hint(self, cards: int) -> str:
        if not self._ordered():
            return "No answer contradicts what the specification states or shows."
        return (
            f"{plural(cards, 'card')}, one for each cause as far as answers tell: failures before warnings, "
            "and the gravest first. "
            "Each finding shows the requirement, what was seen and expected, the exchanges that led to it, "
            "and how to reproduce it."
        )

    def _link(self, card: Card) -> None:
        """Names the findings of a card for the links of their requirements."""
        for row in card.rows:
            entry, (_, path) = row.entry, endpoint(row.entry.endpoint)
            self.places.setdefault((entry.requirement, entry.endpoint), row.anchor)
            links = self.anchors.setdefault(entry.requirement, [])
            if len(links) < MOST_LINKS:
                links.append((row.anchor, f"{path} {entry.path}".strip()))


def _grouped(cards: Sequence[tuple[str, Markup]]) -> list[Cells]:
    """The cards by requirement, the first few of each open and the others folded."""
    groups = [(name, [card for _, card in same]) for name, same in groupby(cards, key=lambda card: card[0])]
    return [
        Cells(requirement=name, first=same[:OPEN_CARDS], others=same[OPEN_CARDS:]) for name, same in groups
    ]


State = Literal["fail", "warn", "pass", "refused", "untested"]

WORDS: dict[State, str] = {
    "fail": "failing",
    "warn": "warned",
    "pass": "tested",
    "refused": "only refused",
    "untested": "untested",
}
SUMMARY = {**WORDS, "pass": "tested, nothing found"}
SIGNS: dict[State, str] = {"fail": "×", "warn": "!", "pass": "✓", "refused": "○", "untested": "–"}
MOST_RULES = 6
NO_REASON = "No answer of it was judged."
REFUSED = "All requests were refused: nothing of its successes was seen."


def endpoint_map(run: Run, anchors: Mapping[tuple[str, str], str]) -> Cells:
    """The groups of endpoints, the counts, and lists of those that fail, warn or are untested. ``anchors``
    are the findings on the page, by requirement and endpoint. A finding marks the endpoint where it was seen,
    and the endpoint that its rule is about."""
    rows = {row.id: row for row in run.requirements}
    contradictions: dict[str, list[FindingEntry]] = {}
    for finding in run.findings:
        if finding.verdict in ("fail", "warn"):
            about = rows[finding.requirement].operations if finding.requirement in rows else []
            other = () if finding.other is None else (finding.other.endpoint,)
            for key in {finding.endpoint, *other, *(about if len(about) == 1 else ())}:
                contradictions.setdefault(key, []).append(finding)
    answered = {timing.endpoint: timing.statuses for timing in run.timings}
    regressed = {regression.endpoint for regression in run.regressions}

    def tile(key: str, group: str, row: RequirementEntry | None, fallback: str) -> Cells:
        findings, is_regressed = contradictions.get(key, ()), key in regressed
        rules = dict.fromkeys(finding.requirement for finding in findings)
        links = [(rule, anchors.get((rule, key)) or rule) for rule in rules]
        links += [("regressed", "regressions")] if is_regressed else []
        state = "fail" if is_regressed else _state(findings, row, answered.get(key))
        reason = REFUSED if state == "refused" else row.reason if row else None
        return _tile(key, group, state, links, fallback=fallback, reason=reason)

    tiles = []
    for operation in OPERATIONS:
        row = rows.get(operation.requirement)
        tiles.append(tile(operation.key, operation.group, row, row.id if row else "untested"))
    counts = {state: sum(tile.state == state for tile in tiles) for state in WORDS}
    further = [tile(timing.endpoint, timing.group, None, "time") for timing in undescribed(run)]
    return Cells(
        words=" · ".join(f"{counts[state]} {word}" for state, word in SUMMARY.items() if counts[state]),
        total=len(tiles),
        groups=[
            Cells(name=name, tiles=list(same))
            for name, same in groupby([*tiles, *further], key=lambda tile: tile.group)
        ],
        bad=[tile for tile in (*tiles, *further) if tile.state in ("fail", "warn")],
        untested=_by_reason(tile for tile in tiles if tile.state in ("refused", "untested")),
    )


def _tile(
    key: str, group: str, state: State, links: Sequence[tuple[str, str]], *, fallback: str, reason: str | None
) -> Cells:
    rules = f", {plural(len(links), 'rule')}" if links else ""
    return Cells(
        key=key,
        group=group,
        state=state,
        sign=SIGNS[state],
        label=f"{key}: {WORDS[state]}{rules}",
        href=links[0][1] if links else fallback,
        rules=links[:MOST_RULES],
        more=max(0, len(links) - MOST_RULES),
        reason=reason or NO_REASON,
    )


def _state(
    findings: Sequence[FindingEntry], row: RequirementEntry | None, statuses: Mapping[str, int] | None
) -> State:
    """``statuses``: how often the endpoint answered with each; None where it did not answer."""
    verdicts = {finding.verdict for finding in findings}
    if verdicts:
        return "fail" if "fail" in verdicts else "warn"
    if statuses is None if row is None else row.verdict not in ("pass", "fail", "warn"):
        return "untested"
    return "refused" if statuses and not any(each.startswith("2") for each in statuses) else "pass"


def _by_reason(tiles: Iterable[Cells]) -> list[Cells]:
    reasons: dict[str, list[Cells]] = {}
    for tile in tiles:
        reasons.setdefault(tile.reason, []).append(tile)
    ordered = sorted(reasons.items(), key=lambda row: -len(row[1]))
    return [Cells(reason=one_line(reason, 300), tiles=same) for reason, same in ordered]
