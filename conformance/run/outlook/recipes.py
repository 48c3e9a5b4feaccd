"""Explanations of rules: what decides each, and the recipe that shows both of its verdicts."""

from __future__ import annotations

import shlex
from collections.abc import Container, Iterable, Mapping, Sequence

from conformance.run.catalogue import CaseRow, collect, deciders
from conformance.run.outlook.explanation import Decider, Explanation
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


def explanations(rules: Container[str]) -> list[Explanation]:
    """These rules explained, in the specification's order."""
    names, cases = deciders(), {row.id: row for row in collect()}
    declared = frozenset(rule for case in cases.values() for rule in case.requirements)
    rows = (row for row in REQUIREMENTS.values() if row.id in rules)
    return [_explanation(row, names[row.id], cases, declared) for row in rows]


def _explanation(
    row: Requirement, names: Sequence[str], cases: Mapping[str, CaseRow], declared: frozenset[str]
) -> Explanation:
    fault = next((each for each in FAULTS.values() if row.id in each.breaks), None)
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
        decided_by=[Decider(name, _needs(cases.get(name))) for name in _of_its_endpoints(names, row)],
        reading=row.reading,
        untestable=row.untestable,
        serve_failing=f"{serve} --fault {shlex.quote(fault.name)}" if fault else None,
        serve_passing=serve,
        judge=f"portal-conformance run --profile {LOCAL} {options}",
    )


def _of_its_endpoints(names: Sequence[str], row: Requirement) -> Sequence[str]:
    """The deciders without the cases of another endpoint, which a check looks at only beside its own."""
    return [name for name in names if endpoint_in(name) in ("", *row.operations)] or names


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
    return f"--only {shlex.quote(selection)} --impact {_greatest_impact(meant)}"


SEEN_BY_A_WHOLE_RUN = frozenset(
    {
        "CHANNELTYPE-036", "ENUM-009", "ENV-018", "ENV-020", "MODEL-004", "MODEL-009", "MODEL-017",
        "PAGE-011", "SESSION-035",
    }
)  # fmt: skip
"""Rules whose fault shows to checks of what the cases of other rules send."""


def _greatest_impact(cases: Iterable[CaseRow]) -> str:
    """The greatest impact of the cases: it permits each case, and any case may meet the fault."""
    return max((case.impact for case in cases), key=IMPACTS.index, default="read-only")


def _needs(case: CaseRow | None) -> str:
    if case is None:
        return "an answer of one of the endpoints"
    needs = (part for part in case.needs if part != USUAL_ACCOUNT)
    parts = [*([] if case.impact == "read-only" else [f"--impact {case.impact}"]), *needs]
    return ", ".join(parts) or NOTHING
