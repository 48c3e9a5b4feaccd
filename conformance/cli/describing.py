"""The work of describe: learns an OpenAPI description from recorded traffic, or compares one with it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from conformance.check.traffic import CheckOptions, PortalTraffic
from conformance.cli.command import Options
from conformance.cli.layout import print_line
from conformance.descriptions import Descriptions, described_by
from conformance.errors import UsageError
from conformance.judging.described import judge_described
from conformance.learning.document import compared, document_of
from conformance.learning.learner import Learner
from conformance.report.formats.finding_text import expectation
from conformance.report.model.visible import one_line
from conformance.spec import REQUIREMENTS
from conformance.traffic.capture.places import matching, place_of
from conformance.traffic.replacing import replace_file
from conformance.verdicts.findings import Finding, Ledger

MOST_LINES = 200


def describe(options: Options) -> None:
    """Writes the description that traffic shows, and compares traffic with others."""
    if options.out is None and not options.against:
        raise UsageError("describe needs --out FILE, to write a description, or --against FILE, to compare.")
    if options.out is not None and options.out.exists() and not options.force:
        raise UsageError(
            f"--out {options.out}: there is such a file, and a person may have changed it. Name another one, "
            "or replace it with --force."
        )
    descriptions = described_by(options.against)
    places = [place_of(path) for text in options.files for path in matching(str(text))]
    asked = CheckOptions(target=options.target, salvage=options.salvage)
    learner, ledger = Learner(), Ledger(REQUIREMENTS)
    for exchange in PortalTraffic(places, asked):
        learner.add(exchange)
        judge_described(descriptions, exchange, ledger)
    learner.conclude()
    if options.out is not None:
        _write(learner, options.out)
    if options.against:
        _compare(learner, descriptions, ledger.deviations)


def _write(learner: Learner, out: Path) -> None:
    if not learner.operations:
        raise UsageError(
            "describe: the traffic has no answer of an endpoint that the specification does not describe."
        )
    try:
        replace_file(out, json.dumps(document_of(learner), indent=2, ensure_ascii=False) + "\n")
    except OSError as refused:
        raise UsageError(f"--out {out}: cannot be written ({refused.strerror}). Choose another.") from None
    count = len(learner.operations)
    print_line(f"{out}: {'1 endpoint' if count == 1 else f'{count:,} endpoints'}, learned from traffic.")
    if learner.left_out:
        print_line(f"{learner.left_out:,} exchanges of further endpoints are left out: there are too many.")
    _print("Look at these:", learner.unsure)
    print_line("Compare traffic with it: portal-conformance check FILE --description " + str(out))


def _compare(learner: Learner, descriptions: Descriptions, deviations: dict[str, Finding]) -> None:
    differing = (
        f"{row.endpoint}: {row.path}: expected {expectation(row.expected)}"
        for row in deviations.values()
        if row.path != "status"
    )
    lacking, unseen = compared(learner, descriptions)
    _print("Traffic shows, and the description lacks:", lacking)
    _print("Traffic differs from the description:", differing)
    _print("The description has, and no traffic shows:", unseen)
    _print("Not used of the description:", descriptions.notes)


def _print(title: str, lines: Iterable[str]) -> None:
    """A title and its lines; of many the first."""
    shown = list(lines)
    if not shown:
        return
    print_line(f"\n{title}")
    for line in shown[:MOST_LINES]:
        print_line(f"  {one_line(line, 400)}")
    if len(shown) > MOST_LINES:
        print_line(f"  and {len(shown) - MOST_LINES:,} more")
