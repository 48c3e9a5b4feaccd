"""Verifies a report without its portal: its files, its results, and its verdicts by its exchanges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.attest.consistency import SUITE, against_manifest, within_results
from conformance.attest.folder import manifest_in
from conformance.attest.recomputing import Recomputed, recomputed
from conformance.attest.signature import signature_problem
from conformance.report.formats.manifest import EXCHANGES, configuration
from conformance.report.model.run import Run
from conformance.report.model.visible import one_line
from conformance.report.model.words import edition_in_words, headline, plural

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

    def lines(self) -> Iterator[str]:
        yield from (one_line(f"other      {sentence}", LONGEST) for sentence in self.other[:MOST_OTHER])
        if len(self.other) > MOST_OTHER:
            yield f"other      and {len(self.other) - MOST_OTHER:,} more"
        if not self.is_of_this_suite:
            yield "note       another build of the suite wrote this: verdicts may differ for that alone"
        of, same = self.recomputed.decided, self.recomputed.same
        levels = ", ".join(f"{same[level]} of {of[level]} {level}s" for level in of)
        yield f"same       {plural(same.total(), 'verdict')} recomputed: {levels or 'none decided'}"
        for reason, count in self.recomputed.not_recomputable.items():
            yield f"not shown  {plural(count, 'verdict')} not recomputable: {reason}"
        head = headline(self.run)
        yield one_line(f"result     {head.title}: {head.sentence}", LONGEST)
        if self.run.edition is not None:
            yield one_line(f"edition    {edition_in_words(self.run)}", LONGEST)
        if self.is_signed:
            yield "signed     by the key that was given"


def verify(folder: Path, *, key: Path | None, is_zip: bool) -> Verification:
    """Verifies an opened folder, and by a public key its signature. UsageError: a file cannot be read."""
    manifest, run = manifest_in(folder), Run.read(folder)
    verdicts = recomputed(run, folder / EXCHANGES)
    unsigned = signature_problem(folder, key) if key else ""
    other = [
        *filter(None, [unsigned]),
        *against_manifest(run, folder, manifest, is_zip=is_zip),
        *within_results(run),
        *verdicts.other,
    ]
    is_of_this_suite = manifest.predicate.get(SUITE) == configuration(run)
    return Verification(run, verdicts, other, is_of_this_suite, is_signed=bool(key) and not unsigned)
