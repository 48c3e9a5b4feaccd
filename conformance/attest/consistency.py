"""A report folder compared with its manifest, and its ``results.json`` with itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from conformance import __version__
from conformance.attest.folder import Statement
from conformance.report.finish import exit_codes
from conformance.report.formats.manifest import EXCHANGES, STATEMENT, TEST_RESULT, statement_of
from conformance.report.formats.write import ATTESTED, FORMATS
from conformance.report.model.edition import edition_outcome
from conformance.report.model.run import RequirementEntry, Run, counted
from conformance.report.model.words import listed
from conformance.spec import REQUIREMENTS
from conformance.verdicts.findings import CONTRADICTED

SUITE = "configuration"
"""The key of the predicate with the digest of the suite: another build may verify a report."""


def against_manifest(run: Run, folder: Path, manifest: Statement, *, is_zip: bool) -> Iterator[str]:
    """Where files differ from their digests, or the predicate from the results. A zip leaves out files."""
    if (manifest.type, manifest.predicate_type) != (STATEMENT, TEST_RESULT):
        yield "manifest.json: it is no Statement on a test result."
    made = statement_of(run, folder, ATTESTED)
    present = {each["name"]: each["digest"] for each in made["subject"]}
    stated = {each.name: each.digest for each in manifest.subject}
    for name in dict.fromkeys([*stated, *present]):
        if name in stated and name not in present:
            if not is_zip or name in ("results.json", "report.html", EXCHANGES):
                yield f"{name}: manifest.json lists it, and it is not there."
        elif stated.get(name) != present[name]:
            yield f"{name}: its digest is not that of manifest.json."
    yield from (
        f"{name}: every run writes it, and manifest.json lists none."
        for name in FORMATS
        if name not in stated
    )
    for key in made["predicate"].keys() | manifest.predicate.keys():
        if key != SUITE and made["predicate"].get(key) != manifest.predicate.get(key):
            yield f"manifest.json: its {key} is not that of the files."


def within_results(run: Run) -> Iterator[str]:
    """Where the results contradict themselves."""
    stated = [row for row in run.requirements if not row.is_own]
    own = [row for row in run.requirements if row.is_own]
    if run.summary != counted(stated) or run.own_rules != (counted(own) if own else None):
        yield "results.json: its summary does not count its verdicts."
    codes = list(map(int, exit_codes(run)))
    if (run.exit_code, run.exit_codes) != (codes[0] if codes else 0, codes):
        yield f"results.json: its exit code is {run.exit_code}, and its verdicts make {codes or 0}."
    if run.edition != edition_outcome(run):
        yield "results.json: what it says of an edition is not what its verdicts make."
    if run.suite.version == __version__:
        yield from _against_registry(stated)
    yield from _verdicts(run)


def _against_registry(stated: list[RequirementEntry]) -> Iterator[str]:
    """Rules that a run of this version has, and has at one level."""
    levels = {row.id: row.level for row in stated}
    if missing := [rule for rule in REQUIREMENTS if rule not in levels]:
        yield f"results.json: it leaves out {listed(missing, 3)}."
    for rule, level in levels.items():
        if rule in REQUIREMENTS and REQUIREMENTS[rule].level != level:
            yield f"{rule}: its level is {level}, and that of the rule is {REQUIREMENTS[rule].level}."


def _verdicts(run: Run) -> Iterator[str]:
    """Rules whose verdict is not that of their level and findings."""
    levels = {row.id: row.level for row in run.requirements}
    found = {each.requirement for each in run.findings}
    for finding in run.findings:
        if finding.requirement not in levels:
            yield f"{finding.requirement}: it has a finding, and is none of the rules."
        elif finding.verdict != CONTRADICTED[levels[finding.requirement]]:
            yield f"{finding.requirement}: a finding is {finding.verdict}, which its level does not make."
    for row in run.requirements:
        contradicted = CONTRADICTED[row.level]
        if row.level == "open":
            continue
        if (row.verdict in ("fail", "warn")) != (row.id in found) or row.verdict == "open":
            yield f"{row.id}: its verdict is {row.verdict}, and its findings say otherwise."
        elif row.id in found and row.verdict != contradicted.value:
            yield f"{row.id}: its verdict is {row.verdict}, which its level does not make."
