"""Verifies a report without its portal: its files, its results, and its verdicts by its exchanges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance import __version__
from conformance.attest.folder import Statement, manifest_in
from conformance.attest.recomputing import BAD, Cases, Recomputed, no_cases, recomputed
from conformance.attest.signature import signature_problem
from conformance.report.finish import exit_codes
from conformance.report.formats.manifest import EXCHANGES, STATEMENT, TEST_RESULT, configuration, statement_of
from conformance.report.formats.write import ATTESTED, FORMATS, written_otherwise
from conformance.report.model.edition import edition_outcome
from conformance.report.model.run import Run, counted
from conformance.report.model.visible import one_line
from conformance.report.model.words import edition_in_words, headline, listed, plural
from conformance.spec import REQUIREMENTS
from conformance.verdicts.findings import CONTRADICTED

LONGEST, MOST_OTHER = 400, 60
"""Characters of a line, and how many lines name what is other."""


@dataclass(frozen=True)
class Verification:
    """What was verified: the results, the verdicts by the exchanges, and what is other than it should be."""

    run: Run
    recomputed: Recomputed
    other: list[str]
    is_of_this_suite: bool
    is_signed: bool

    def lines(self) -> list[str]:
        more = len(self.other) - MOST_OTHER
        of, same = self.recomputed.decided, self.recomputed.same
        levels = ", ".join(f"{same[level]} of {of[level]} {level}s" for level in of)
        reasons = self.recomputed.not_recomputable.items()
        head, edition = headline(self.run), edition_in_words(self.run)
        not_all = "; what is other is not" if self.other else ""
        another = "another build of the suite wrote this: verdicts may differ for that alone"
        rows = [
            *(("other", sentence) for sentence in self.other[:MOST_OTHER]),
            ("other", f"and {more:,} more" if more > 0 else ""),
            ("note", "" if self.is_of_this_suite else another),
            ("same", f"{plural(same.total(), 'verdict')} recomputed: {levels or 'none decided'}"),
            *(("not shown", f"{plural(count, 'verdict')} not recomputable: {why}") for why, count in reasons),
            ("result", f"{head.title}: {head.sentence}"),
            ("edition", edition),
            ("signed", f"the manifest, by the key that was given{not_all}" if self.is_signed else ""),
        ]
        return [one_line(f"{label:<10} {words}", LONGEST) for label, words in rows if words]


def verify(folder: Path, *, cases: Cases, key: Path | None, is_zip: bool) -> Verification:
    """Verifies an opened folder, and by a public key its signature. UsageError: a file cannot be read."""
    manifest, run = manifest_in(folder), Run.read(folder)
    unsigned = signature_problem(folder, key) if key else ""
    is_of_this = run.suite.version == __version__
    is_of_this &= manifest.predicate.get("configuration") == configuration(run)
    verdicts = recomputed(run, folder / EXCHANGES, cases if is_of_this else no_cases)
    files = _against_manifest(run, folder, manifest, is_zip=is_zip)
    pages = written_otherwise(run, folder) if is_of_this else ()
    other = [*filter(None, [unsigned]), *files, *pages, *_within_results(run), *verdicts.other]
    return Verification(run, verdicts, other, is_of_this, is_signed=bool(key) and not unsigned)


def _against_manifest(run: Run, folder: Path, manifest: Statement, *, is_zip: bool) -> Iterator[str]:
    """Where files differ from their digests, or the predicate from the results. A zip leaves out files."""
    if (manifest.type, manifest.predicate_type) != (STATEMENT, TEST_RESULT):
        yield "manifest.json: it is no Statement on a test result."
    made = statement_of(run, folder, ATTESTED)
    present = {each["name"]: each["digest"] for each in made["subject"]}
    stated = {each.name: each.digest for each in manifest.subject}
    for name in dict.fromkeys([*FORMATS, *stated, *present]):
        if name not in stated:
            yield f"{name}: manifest.json does not list it."
        elif name in present and stated[name] != present[name]:
            yield f"{name}: its digest is not that of manifest.json."
        elif name not in present and (not is_zip or name in ("report.html", EXCHANGES)):
            yield f"{name}: manifest.json lists it, and it is not there."
    for key in dict.fromkeys([*made["predicate"], *manifest.predicate]):
        if key != "configuration" and made["predicate"].get(key) != manifest.predicate.get(key):
            yield f"manifest.json: its {key} is not that of the files."


def _within_results(run: Run) -> Iterator[str]:
    """Where the results contradict themselves, or the rules of their version."""
    stated, own = ([row for row in run.requirements if row.is_own is is_own] for is_own in (False, True))
    if run.summary != counted(stated) or run.own_rules != (counted(own) if own else None):
        yield "results.json: its summary does not count its verdicts."
    codes = list(map(int, exit_codes(run)))
    if (run.exit_code, run.exit_codes) != (codes[0] if codes else 0, codes):
        yield f"results.json: its exit code is {run.exit_code}, and its verdicts make {codes or 0}."
    if run.edition != edition_outcome(run):
        yield "results.json: what it says of an edition is not what its verdicts make."
    rows = {row.id: (row.level, row.statement) for row in stated}
    if run.suite.version == __version__:
        if missing := [rule for rule in REQUIREMENTS if rule not in rows]:
            yield f"results.json: it leaves out {listed(missing, 3)}."
        for rule, (level, statement) in rows.items():
            row = REQUIREMENTS.get(rule)
            if row is not None and (level, statement) != (row.level, row.statement):
                yield f"{rule}: its level is {row.level}, and it says: {row.statement}"
    yield from _verdicts(run)


def _verdicts(run: Run) -> Iterator[str]:
    """Rules whose verdict is not that of their level and findings."""
    verdicts = {row.id: row.verdict for row in run.requirements}
    for finding in run.findings:
        if finding.verdict != verdicts.get(finding.requirement):
            yield f"{finding.requirement}: a finding is {finding.verdict}, and its rule is not."
    found = {each.requirement for each in run.findings}
    for row in run.requirements:
        made = CONTRADICTED[row.level].value if row.id in found else None
        if row.level != "open" and (row.verdict if row.verdict in (*BAD, "open") else None) != made:
            yield f"{row.id}: its verdict is {row.verdict}, and its level and findings make another."
