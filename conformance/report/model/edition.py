"""Whether a run conforms to a level of an edition, by the edition's own lists."""

from __future__ import annotations

from conformance.editions import rules_of
from conformance.report.model.run import EditionOutcome, Run
from conformance.spec.requirements import present_id

DECIDED = ("pass", "fail", "warn")


def edition_outcome(run: Run) -> EditionOutcome | None:
    """The outcome for the edition and level of the run's scope; None where it names none. A baseline hides
    nothing, and a selection, or a run that did not end well, never conforms."""
    if not run.scope.edition:
        return None
    name, level, ending = run.scope.edition, run.scope.edition_level, run.ending
    rules, known = (list(map(present_id, rules_of(name, each))) for each in (level, "strict"))
    verdicts = {row.id: row.verdict for row in run.requirements if not row.is_own}
    found = {each.requirement for each in run.findings}
    found |= {rule for rule, verdict in verdicts.items() if verdict in ("fail", "warn")}
    contradicted = [rule for rule in rules if rule in found]
    untested = [rule for rule in rules if verdicts.get(rule, "untested") == "untested" and rule not in found]
    cut_short = ending.interrupted or ending.unreachable or ending.restarted or ending.errors
    unsure = cut_short or ending.unusable or ending.inconclusive or run.scope.selection
    return EditionOutcome(
        name=name,
        level=level,
        conforms=not (contradicted or untested or unsure),
        contradicted=contradicted,
        untested=untested,
        not_scored=[id for id, verdict in verdicts.items() if verdict in DECIDED and id not in known],
    )
