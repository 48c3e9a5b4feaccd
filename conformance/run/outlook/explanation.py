"""A rule explained: its place, why it has its level, what decides it, and how to see both verdicts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from conformance.rules.registry import NO_OWN_RULES, OwnRules
from conformance.rules.rule import OwnRule
from conformance.spec.places import place_of

SHOWN = 8
"""How many endpoints, cases or checks are listed in the text."""


@dataclass(frozen=True, slots=True)
class Decider:
    """A case or check that decides a rule. ``needs``: what it cannot do without."""

    name: str
    needs: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """``serve_failing`` starts a portal that contradicts the rule; None where no fault does."""

    id: str
    level: str
    level_reason: str
    section: str
    place: str
    statement: str
    endpoints: Sequence[str]
    decided_by: Sequence[Decider]
    reading: str | None
    untestable: str | None
    serve_failing: str | None
    serve_passing: str
    judge: str


def explain(rules: Iterable[str], own: OwnRules = NO_OWN_RULES) -> list[Explanation]:
    """Explains rules, in the specification's order, and then the user's own."""
    wanted = frozenset(rules)
    of_user = [_of_own_rule(rule) for rule in own.rules if rule.id in wanted]
    if len(of_user) == len(wanted):
        return of_user
    from conformance.run.outlook.recipes import explanations  # collects the cases, with pytest

    return [*explanations(wanted), *of_user]


def _of_own_rule(rule: OwnRule) -> Explanation:
    row = rule.requirement
    verdict = "FAIL" if row.level == "must" else "WARN"
    return Explanation(
        id=rule.id,
        level=row.level,
        level_reason=f"a rule of your own; a portal that differs gets a {verdict}, in a score of its own",
        section=row.section,
        place=place_of(row),
        statement=row.statement,
        endpoints=rule.endpoints or ("all",),
        decided_by=[Decider(rule.where, "an answer of one of the endpoints")],
        reading=None,
        untestable=None,
        serve_failing=None,
        serve_passing="",
        judge=f"portal-conformance check RECORDING --only {rule.id}",
    )


def as_json(explanations: Sequence[Explanation]) -> str:
    return json.dumps([asdict(each) for each in explanations], indent=2, ensure_ascii=False)


def as_lines(each: Explanation) -> Iterator[str]:
    yield f"{each.id}  {each.statement}"
    yield f"level       {each.level}: {each.level_reason}"
    yield f"place       {each.place}"
    yield from _listed("endpoints", each.endpoints)
    if each.reading:
        yield f"reading     {each.reading}: [readings] in the profile pins it"
    if each.untestable:
        yield f"untested    {each.untestable}"
    deciders = dict.fromkeys(f"{row.name} (needs {row.needs})" for row in each.decided_by)
    yield from _listed("decided by", list(deciders))
    if each.serve_failing and each.level != "open":
        verdict = "FAIL" if each.level == "must" else "WARN"
        yield f"{verdict:<10}  {each.serve_failing}"
        yield f"PASS        {each.serve_passing}"
        yield f"then        {each.judge}"


def _listed(label: str, values: Sequence[str]) -> Iterator[str]:
    """Lists the first values line by line, then counts the omitted values."""
    for number, value in enumerate(values[:SHOWN]):
        yield f"{'' if number else label:<10}  {value}"
    if len(values) > SHOWN:
        yield f"{'':<10}  and {len(values) - SHOWN} more"
