"""The rules that a run repeats: those of ``--rerun``, and those of ``--failed``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from conformance.errors import UsageError
from conformance.report.model.failures import failing_rules
from conformance.report.model.run import Run
from conformance.report.model.words import listed
from conformance.run.readings import pinned_by
from conformance.spec import BY_KEY, REQUIREMENTS, near_ids, present_id
from conformance.verdicts.findings import Ledger, Verdict
from conformance.verdicts.selection import RuleSelection

RULE = re.compile(r"[A-Z]+-\d+")
"""What looks like the id of a rule, and names no case."""

FINDING = re.compile(r"[0-9a-f]{7}")


def rerun_requirements(rerun: str) -> frozenset[str]:
    """The requirements that a ``--rerun`` names: by id, by a finding's signature, or by a pinned reading.

    UsageError: it names an endpoint, of which a run cannot be repeated alone, or a rule that there is not.
    """
    if rerun in BY_KEY:
        raise UsageError(
            f"--rerun {rerun}: an endpoint is not a requirement, case or finding. Give the id of one, "
            f"or -k with a part of a case's name."
        )
    if FINDING.fullmatch(rerun):
        raise UsageError(
            f"--rerun {rerun}: no finding of the report in --out has this id. Name the folder of its report."
        )
    first = present_id(rerun.split()[0])
    named = frozenset(({first} & REQUIREMENTS.keys()) | pinned_by(first))
    if not named and RULE.fullmatch(first):
        near = near_ids(first)
        hint = f" The nearest are {', '.join(near)}." if near else ""
        raise UsageError(f"--rerun {rerun}: there is no rule {first}.{hint}")
    return named


def signature_of(rerun: str, out: Path) -> str:
    """The signature of the finding with this id in the report of a folder, or its rule and the case that came
    across it; else what a ``--rerun`` names."""
    last = last_in(out) if FINDING.fullmatch(rerun) else None
    findings = () if last is None else last.findings
    named = next((finding for finding in findings if finding.id == rerun), None)
    if named is None:
        return rerun
    return named.rule_and_case or named.signature


def rerun_selection(rerun: str, rules: RuleSelection | None) -> RuleSelection | None:
    """The rules that count in a ``--rerun``: those that it names, of ``rules`` where other options select
    some; of a case every rule that it decides. UsageError: no rule is left."""
    named = rerun_requirements(rerun)
    text = f"--rerun {rerun}" if rules is None else f"--rerun {rerun}, {rules.text}"
    if not named:
        return None if rules is None else replace(rules, text=text)
    left = named if rules is None else named & rules.rules
    if not left:
        raise UsageError(f"{text}: no rule is left. Change or leave out one of these options.")
    return RuleSelection(left, text, {} if rules is None else rules.limited)


def also_contradicted(ledger: Ledger) -> Iterator[str]:
    """Says which other rules the cases of a ``--rerun`` contradicted, where there are any."""
    others = {
        row.requirement
        for row in ledger.all_findings
        if row.verdict is Verdict.FAIL and not ledger.counts(row)
    }
    if others:
        rules = listed(sorted(others), 8)
        yield f"The same cases also showed contradictions of {rules}, which this rerun does not count."


AGAIN = "again"
"""The folder, within that of a whole run's reports, for the reports of a run of some of it."""


def repeat_folder(out: Path) -> Path:
    """Where the reports of a run of some cases go, beside those of the whole run."""
    return out if out.name == AGAIN else out / AGAIN


UNREACHED = "unreached"
"""The folder, within that of a whole run's reports, for the reports of a run that reaches no portal."""


def stays(out: Path, folder: Path, what: str) -> str:
    """Says that the reports of a command go to another folder than those of the whole run."""
    return f"{out} has the report of a whole run, which stays: this {what} writes to {folder}."


def holds_whole_report(out: Path) -> bool:
    """Whether a folder has the report of a run of all cases, a check or a replay, which a selection is not to
    replace."""
    return _whole_in(out) is not None


def holds_whole_run(out: Path) -> bool:
    """Whether a folder has the report of a run of all cases, which a check or a replay is not to replace."""
    last = _whole_in(out)
    return last is not None and last.command == "run"


def holds_verdicts(out: Path) -> bool:
    """Whether a folder has the report of a run of all cases that decided anything, which a run that reaches
    no portal is not to replace."""
    last = _whole_in(out)
    decided = None if last is None or last.command != "run" else last.summary
    return decided is not None and bool(decided.pass_ or decided.fail or decided.warn)


def _whole_in(out: Path) -> Run | None:
    """The run whose report a folder has; None where it is of a selection."""
    last = last_in(out)
    return None if last is None or last.scope.selection else last


def last_in(out: Path) -> Run | None:
    """The run whose report a folder has; None where it has none that can be read."""
    path = out / "results.json"
    if not path.is_file():
        return None
    try:
        return Run.read(path)
    except UsageError:
        return None


def failed_rules(out: Path) -> frozenset[str]:
    """The rules that failed the whole run, by its report. ``out`` is the folder of that report, or the one
    within it for the reports of a repeated run.

    UsageError: there is no report, or nothing failed.
    """
    path = _results(out)
    if not path.is_file():
        raise UsageError(f"--failed: there is no {path}. Run all cases first, or name another --out.")
    last = Run.read(path)
    rules = failing_rules(last)
    if not rules:
        raise UsageError(f"--failed: nothing failed in the run of {path}. Run without --failed.")
    return rules


def what_failed_is_of(out: Path) -> str:
    """Of what less than a whole run the report is that ``--failed`` reads; empty where it is of a whole run,
    or there is none."""
    path = _results(out)
    last = Run.read(path) if path.is_file() else None
    if last is None or (last.command == "run" and not last.scope.selection):
        return ""
    what = f"a selection ({last.scope.selection})" if last.scope.selection else f"a {last.command}"
    return f"--failed: {path} is of {what} and of no whole run: only what failed in it runs again."


def _results(out: Path) -> Path:
    """The results that ``--failed`` reads."""
    return (out.parent if out.name == AGAIN else out) / "results.json"
