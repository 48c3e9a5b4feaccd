"""Why rules of the envelope's version and timestamp are untested at a target that leaves these fields out, as
it may."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from conformance.checks import CHECKS
from conformance.checks.registry import Selection
from conformance.spec import BY_KEY
from conformance.verdicts.findings import NOT_SELECTED, Ledger, Result, Verdict

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
        for row in ledger.all_observations.values()
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


def _is_omitted(
    field: str, selection: Selection, shown: set[tuple[str, str, str]], answered: set[str]
) -> bool:
    """Whether there were answers of a selection, and each leaves a field out. ``answered``: rules of which
    something held. Where successes alone are judged, there was one if the endpoint's own rule held."""
    keys = {
        key for key in selection.keys if "error" in selection.kinds or BY_KEY[key].requirement in answered
    }
    topic = TOPICS[field]
    return any((topic, key, "absent") in shown for key in keys) and not any(
        (topic, key, "present") in shown for key in keys
    )
