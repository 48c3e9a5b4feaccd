"""The end of a run, a check or a replay: its exit code, baseline, reports and history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Unpack

from conformance.checks import CHECKS
from conformance.checks.registry import Selection
from conformance.errors import ExitCode, FaultClass, UsageError
from conformance.report.across import history
from conformance.report.across.baseline import Baseline, outcome_of
from conformance.report.formats.write import write_all
from conformance.report.model.edition import edition_outcome
from conformance.report.model.evidence import RunEvidence
from conformance.report.model.failures import failures_of
from conformance.report.model.run import Ending, Run, RunFacts, finding_entry
from conformance.report.model.words import NOTHING_TESTED, listed, plural
from conformance.spec import BY_KEY
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.deviations import DescribedTraffic
from conformance.verdicts.findings import NOT_REACHED, NOT_SELECTED, Ledger, Result, Verdict
from conformance.verdicts.verdicts import OWN_RULE

MOST_NOTES = 50
GONE = "the target could not be reached any more"
RESTARTED = "the target restarted before this was tested"


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where the reports of a run go, and what it is compared with. ``exchanges`` is its ``exchanges.jsonl``;
    ``secrets`` are replaced in every report; ``counted`` is what is known of the exchanges already."""

    out: Path
    exchanges: Path
    secrets: Secrets | None = None
    baseline: Baseline | None = None
    history: Path | None = None
    counted: RunEvidence | None = None


def finish_run(
    ledger: Ledger, outputs: Outputs, *, details: Mapping[str, Any] | None = None, **facts: Unpack[RunFacts]
) -> Run:
    """The run that a ledger amounts to, with its final exit code and every report written.

    ``details`` are further keys of ``results.json``, of one command alone. UsageError, OSError: the reports
    cannot be written.
    """
    ending = facts.get("ending", Ending()).model_copy(update=_errors(ledger))
    facts["ending"] = ending
    facts["notes"] = [*facts.get("notes", ()), *_on_descriptions(ledger.described)]
    facts["deviations"] = list(map(finding_entry, ledger.deviations.values()))
    run = Run.of(_results(ledger, ending), ledger.findings, ledger.observations, **facts)
    run = _concluded(run.model_copy(update=dict(details or {})))
    if outputs.baseline is not None:
        outcome = outcome_of(run, outputs.baseline, datetime.now(UTC).date())
        run = _concluded(run.model_copy(update={"baseline": outcome}))
    run = run.model_copy(update={"edition": edition_outcome(run)})
    if outputs.history is not None:
        run = run.model_copy(update={"since": history.since(run, outputs.history)})
    run = write_all(
        run, outputs.out, exchanges=outputs.exchanges, secrets=outputs.secrets, counted=outputs.counted
    )
    return run if outputs.history is None else _kept(run, outputs.history, outputs.out)


def _errors(ledger: Ledger) -> Mapping[str, Mapping[str, str]]:
    """The errors of the suite, and those of the user's own rules: what such a rule left undecided does not
    pass by what held elsewhere."""
    errors = {name: text for name, text in ledger.errors.items() if not name.startswith(OWN_RULE)}
    of_rules = {name.removeprefix(OWN_RULE): ledger.errors[name] for name in ledger.errors.keys() - errors}
    broken = {rule: of_rules[rule] for rule in sorted(of_rules) if not ledger.excludes(rule)}
    for rule, text in broken.items():
        ledger.doubt(rule, f"the rule raised an error: {text}", "configuration")
    return {"errors": errors, "broken_rules": broken}


def exit_codes(run: Run) -> list[ExitCode]:
    """The contract's exit codes of all reasons that a run has for one, the gravest first. What failed is not
    lost behind a graver reason."""
    ending, failures = run.ending, failures_of(run)
    failing = (
        failures.blockers,
        failures.deviating,
        failures.regressed,
        failures.too_slow,
        failures.outdated,
    )
    is_failed = any(map(bool, failing))
    reasons = (
        (bool(ending.unreachable), ExitCode.UNREACHABLE),
        (ending.interrupted, ExitCode.INTERRUPTED),
        (bool(ending.errors), ExitCode.INTERNAL_ERROR),
        (bool(ending.unusable), ExitCode.USAGE),
        (bool(ending.left_behind), ExitCode.LEFT_BEHIND),
        (is_failed, ExitCode.FAILED),
        (bool(ending.broken_rules), ExitCode.USAGE),
        (bool(ending.inconclusive), ExitCode.INCONCLUSIVE),
    )
    return list(dict.fromkeys(code for applies, code in reasons if applies))


def _concluded(run: Run) -> Run:
    """The run with its exit code, inconclusive where it decided nothing."""
    summaries = (run.summary, run.own_rules or run.summary)
    is_decided = any(each.pass_ or each.fail or each.warn for each in summaries)
    if not is_decided and not run.ending.inconclusive:
        run = run.model_copy(
            update={"ending": run.ending.model_copy(update={"inconclusive": NOTHING_TESTED})}
        )
    codes = [int(code) for code in exit_codes(run)]
    return run.model_copy(update={"exit_code": codes[0] if codes else 0, "exit_codes": codes})


def _results(ledger: Ledger, ending: Ending) -> list[Result]:
    """The results; a requirement that was not tried because the target went away or restarted, or because the
    user interrupted the run, says so."""
    results = results_of(ledger)
    if not (ending.unreachable or ending.restarted or ending.interrupted):
        return results
    reason = GONE if ending.unreachable else RESTARTED if ending.restarted else NOT_REACHED
    fault_class: FaultClass | None = None if reason == NOT_REACHED else "environment"
    return [
        replace(result, reason=reason, fault_class=fault_class) if _is_unexplained(result) else result
        for result in results
    ]


def _is_unexplained(result: Result) -> bool:
    return (
        result.verdict is Verdict.UNTESTED
        and not result.requirement.untestable
        and result.fault_class is None
        and not (result.reason or "").startswith(NOT_SELECTED)
    )


def _kept(run: Run, path: Path, out: Path) -> Run:
    """The run, added to its history. Where that fails, the reports stand all the same."""
    try:
        history.record(run, path, reports=out)
    except UsageError as wrong:
        errors = {**run.ending.errors, "the history": str(wrong)}
        return run.model_copy(update={"ending": run.ending.model_copy(update={"errors": errors})})
    return run


NEEDED: Mapping[str, str] = {
    "ENV-009": "version",
    "ENV-010": "timestamp",
    "ENV-011": "timestamp",
    "MODEL-001": "version",
    "MODEL-006": "timestamp",
    "SESSION-043": "timestamp",
    "TOKEN-029": "timestamp",
    "VERSION-001": "version",
    "VERSION-002": "version",
}
"""The field of the envelope without which a rule cannot be decided, whatever is sent."""

TOPICS: Mapping[str, str] = {"version": "envelope-version", "timestamp": "envelope-timestamp"}
"""The reading that notes whether answers have a field."""


def results_of(ledger: Ledger) -> list[Result]:
    """The results of a ledger. What is untested because each answer that could decide it leaves the field out
    says so: no other reason matters then, such as a wait that no run begins."""
    shown = {
        (row.topic, row.endpoint, str(row.observed))
        for row in ledger.all_observations
        if row.topic in TOPICS.values()
    }
    answered = {rule for rule, tally in ledger.tallies.items() if tally.satisfied}
    selections = {check.requirement: check.on for check in CHECKS if check.requirement in NEEDED}
    return [
        replace(result, reason=f"no answer that could decide it has a {field}", fault_class="target")
        if result.verdict is Verdict.UNTESTED
        and not (result.reason or "").startswith(NOT_SELECTED)
        and (field := NEEDED.get(result.requirement.id))
        and _is_omitted(field, selections[result.requirement.id], shown, answered)
        else result
        for result in ledger.results()
    ]


def _on_descriptions(traffic: DescribedTraffic) -> Iterator[str]:
    """Sentences on described endpoints, and the notes on parts of descriptions that are left out."""
    silent = [endpoint for endpoint, is_compared in traffic.endpoints.items() if not is_compared]
    if traffic.endpoints:
        count = f"{len(traffic.endpoints) - len(silent):,} of {len(traffic.endpoints):,}"
        names = f", and not {listed(silent, 3)}" if silent else ""
        yield f"{count} described endpoints answered{names}."
    if traffic.unknown:
        names = ", ".join(traffic.unknown)
        yield f"In no description and answered: {names}."
    yield from traffic.notes[:MOST_NOTES]
    if len(traffic.notes) > MOST_NOTES:
        yield f"{plural(len(traffic.notes) - MOST_NOTES, 'more note')} on descriptions: left out."


def _is_omitted(
    field: str, selection: Selection, shown: set[tuple[str, str, str]], answered: set[str]
) -> bool:
    """Whether there were answers of a selection, and each leaves a field out. ``answered``: rules of which
    something held. Where successes alone are judged, there was one if the endpoint's own rule held."""
    keys = {
        key
        for key in selection.keys & BY_KEY.keys()
        if "error" in selection.kinds or BY_KEY[key].requirement in answered
    }
    topic = TOPICS[field]
    return any((topic, key, "absent") in shown for key in keys) and not any(
        (topic, key, "present") in shown for key in keys
    )
