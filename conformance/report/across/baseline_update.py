"""Updates and prunes a baseline, from a run that ends or from the results of a finished one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

from conformance.report.across.accepted import updated
from conformance.report.across.baseline import Baseline, KnownFailure, compare, known_of, load, write
from conformance.report.across.toml_rows import NO_REASON
from conformance.report.model.run import Run
from conformance.report.model.words import plural


def update_from(run: Run, path: Path, *, is_pruned: bool = False) -> list[str]:
    """Writes what failed in a run into a baseline file, as ``--baseline-update`` does, and gives sentences on
    what changed in it. ``is_pruned``: as ``--baseline-prune``. UsageError: the file cannot be read or
    written."""
    before = load(path) if path.exists() else Baseline(str(path))
    after = update(run, before)
    after = replace(after, regressions=updated(before.regressions, run.regressions))
    after, notes = prune(run, after) if is_pruned else (after, [])
    write(after, path)
    added = len(after.signatures - before.signatures) + len(after.regressions) - len(before.regressions)
    set_aside = len({row.signature for row in after.gone} - {row.signature for row in before.gone})
    rows = len(after.entries) + len(after.regressions)
    sentences = [f"{path}: {plural(rows, 'row')}, {added} of them new.", *notes]
    if set_aside:
        sentences.append(f"Set aside under [[gone]]: {plural(set_aside, 'row')} that no longer failed.")
    reasons = [*(row.reason for row in after.entries), *(row.reason for row in after.regressions)]
    if unexplained := reasons.count(NO_REASON):
        sentences.append(f"{plural(unexplained, 'row')} without a reason: write why it is accepted.")
    return sentences


def against_baseline(run: Run, baseline: Baseline, *, is_updated: bool, is_pruned: bool = False) -> Run:
    """The run, compared with its known failures. ``is_updated``: its failures are written into the baseline
    first; ``is_pruned``: entries that list nothing any more are removed from it, and named in the notes."""
    notes: list[str] = []
    if is_updated:
        baseline = update(run, baseline)
    if is_pruned:
        baseline, notes = prune(run, baseline)
    if is_updated or is_pruned:
        write(baseline, Path(baseline.file))
    outcome = compare(run, baseline, datetime.now(UTC).date())
    return run.model_copy(update={"baseline": outcome.record(), "notes": [*run.notes, *notes]})


def prune(run: Run, baseline: Baseline) -> tuple[Baseline, list[str]]:
    """The baseline without the entries whose failure is gone, and a sentence that names each of them.

    An entry whose requirement this run did not decide at its endpoint stays, also where it was set aside by
    an update.
    """
    stale = set(compare(run, baseline, date.min).stale_failures)
    stale |= set(compare(run, replace(baseline, entries=baseline.gone), date.min).stale_failures)
    notes = [
        f"Removed from {baseline.file}: {entry.signature} ({entry.reason})." for entry in _ordered(stale)
    ]
    kept = tuple(entry for entry in baseline.entries if entry not in stale)
    gone = tuple(entry for entry in baseline.gone if entry not in stale)
    return replace(baseline, entries=kept, gone=gone), notes


def update(run: Run, baseline: Baseline, *, reason: str = NO_REASON) -> Baseline:
    """The baseline that fits a run: new failures added, stale entries set aside, every reason kept as it was.

    Expired entries whose failure is still seen stay as they are: only a person may give them more time.
    """
    result = compare(run, baseline, date.min)
    back = {entry.signature: entry for entry in baseline.gone}
    stale = result.stale_failures
    kept = [entry for entry in baseline.entries if entry not in stale]
    added = _once(back.get(finding.signature) or known_of(finding, reason) for finding in result.new)
    listed = {entry.signature for entry in (*kept, *added)}
    gone = [entry for entry in _once([*baseline.gone, *stale]) if entry.signature not in listed]
    return replace(baseline, entries=_ordered([*kept, *added]), gone=_ordered(gone))


def _ordered(entries: Iterable[KnownFailure]) -> tuple[KnownFailure, ...]:
    return tuple(sorted(entries, key=lambda entry: entry.signature))


def _once(entries: Iterable[KnownFailure]) -> list[KnownFailure]:
    return list({entry.signature: entry for entry in entries}.values())
