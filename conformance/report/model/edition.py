"""Whether a run conforms to a level of an edition, by the edition's own lists."""

from __future__ import annotations

from conformance.editions import edition_of
from conformance.report.model.run import EditionOutcome, Ending, Run
from conformance.spec.requirements import present_id

DECIDED = ("pass", "fail", "warn")


def edition_outcome(run: Run) -> EditionOutcome | None:
    """The outcome for the edition and level of the run's scope; None where it names none. A baseline hides
    nothing, and a selection, or a run that did not end well, never conforms."""
    if not run.scope.edition:
        return None
    edition, level = edition_of(run.scope.edition), run.scope.edition_level
    rules = list(map(present_id, edition.rules(level)))
    verdicts = {row.id: row.verdict for row in run.requirements if not row.is_own}
    found = {each.requirement for each in run.findings}
    found |= {rule for rule, verdict in verdicts.items() if verdict in ("fail", "warn")}
    untested = [rule for rule in rules if verdicts.get(rule, "untested") == "untested" and rule not in found]
    contradicted = [rule for rule in rules if rule in found]
    known = set(map(present_id, edition.rules()))
    return EditionOutcome(
        name=edition.name,
        level=level,
        conforms=not (contradicted or untested or run.scope.selection) and _ended_well(run.ending),
        contradicted=contradicted,
        untested=untested,
        not_scored=[id for id, verdict in verdicts.items() if verdict in DECIDED and id not in known],
    )


def _ended_well(ending: Ending) -> bool:
    """Whether nothing kept the run from judging all that it was to judge."""
    problems = (ending.interrupted, ending.unreachable, ending.restarted, ending.errors, ending.unusable)
    return not any((*problems, ending.inconclusive))
