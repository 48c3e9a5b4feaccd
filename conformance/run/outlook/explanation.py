"""A rule explained: its place, why it has its level, what decides it, and how to see both verdicts."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from conformance.rules.registry import NO_OWN_RULES, OwnRules
from conformance.rules.rule import OwnRule
from conformance.run.catalogue import CaseRow, collect, deciders
from conformance.run.outlook.plan import deciding_cases
from conformance.spec import BY_KEY, IMPACTS, REQUIREMENTS, Requirement
from conformance.spec.places import place_of
from conformance.target.bundled import FAULTS
from conformance.verdicts.selection import endpoint_in, selected

LEVEL_REASONS = {
    "must": "the specification states it; a portal that differs gets a FAIL",
    "should": "the specification shows it in a sample or implies it; a portal that differs gets a WARN",
    "open": "the specification is silent or ambiguous; what a portal does is recorded as a reading",
}
NOTHING = "signing in and reading"
USUAL_ACCOUNT = "accounts.admin"
"""What nearly every case needs, so that it is not named."""

LOCAL = "local.toml"

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
    names, cases = deciders(), {row.id: row for row in collect()}
    declared = frozenset(rule for case in cases.values() for rule in case.requirements)
    rows = (row for row in REQUIREMENTS.values() if row.id in wanted)
    return [*(_explanation(row, names[row.id], cases, declared) for row in rows), *of_user]


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


def _explanation(
    row: Requirement, names: Sequence[str], cases: Mapping[str, CaseRow], declared: frozenset[str]
) -> Explanation:
    fault = next((each for each in FAULTS.values() if row.id in each.breaks), None)
    # Without the cases of another endpoint, which a check looks at only beside its own.
    own = [name for name in names if endpoint_in(name) in ("", *row.operations)]
    options = _options(row, list(cases.values()), declared, shown_at=fault.operations if fault else ())
    serve = f"portal-conformance serve --port 8000 --profile-out {LOCAL}"
    return Explanation(
        id=row.id,
        level=row.level,
        level_reason=LEVEL_REASONS[row.level],
        section=row.section,
        place=place_of(row),
        statement=row.statement,
        endpoints=row.operations,
        decided_by=[Decider(name, _needs(cases.get(name))) for name in own or names],
        reading=row.reading,
        untestable=row.untestable,
        serve_failing=f"{serve} --fault {shlex.quote(fault.name)}" if fault else None,
        serve_passing=serve,
        judge=f"portal-conformance run --profile {LOCAL} {options}",
    )


def _options(
    row: Requirement, cases: Sequence[CaseRow], declared: frozenset[str], *, shown_at: Sequence[str]
) -> str:
    """The options of a run that decides a rule: ``--only`` with the rule. If only checks decide the rule,
    or it says that its endpoint is offered, ``--only`` names an endpoint where a fault is ``shown_at``."""
    if row.id in SEEN_BY_A_WHOLE_RUN:
        return "--impact disruptive"
    has_cases = row.id in declared
    is_offer = any(BY_KEY[key].requirement == row.id for key in row.operations)
    keys = [] if has_cases and not is_offer else [key for key in shown_at if key in row.operations]
    selection = keys[0] if keys else row.id
    meant = deciding_cases(cases, selected([selection]), declared)
    # It permits each case, and any case may meet the fault.
    impact = max((case.impact for case in meant), key=IMPACTS.index, default="read-only")
    return f"--only {shlex.quote(selection)} --impact {impact}"


SEEN_BY_A_WHOLE_RUN = frozenset(
    {
        "CHANNELTYPE-036", "ENUM-009", "ENV-018", "ENV-020", "MODEL-004", "MODEL-009", "MODEL-017",
        "PAGE-011", "SESSION-035",
    }
)  # fmt: skip
"""Rules whose fault shows to checks of what the cases of other rules send."""


def _needs(case: CaseRow | None) -> str:
    if case is None:
        return "an answer of one of the endpoints"
    needs = (part for part in case.needs if part != USUAL_ACCOUNT)
    parts = [*([] if case.impact == "read-only" else [f"--impact {case.impact}"]), *needs]
    return ", ".join(parts) or NOTHING


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
