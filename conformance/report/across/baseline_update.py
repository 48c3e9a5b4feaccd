"""A baseline from the results of a finished run, so that no second run is needed to write one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from conformance.report.across.accepted import updated
from conformance.report.across.baseline import Baseline, load, prune, update, write
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
