"""A rule explained: its place, why it has its level, what decides it, and how to see both verdicts."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files

from conformance.run.catalogue import CaseRow, collect, deciders
from conformance.run.testable import deciding
from conformance.spec import IMPACTS, REQUIREMENTS, Requirement
from conformance.target.bundled import FAULTS

LEVEL_REASONS = {
    "must": "the specification states it; a portal that differs gets a FAIL",
    "should": "the specification shows it in a sample or implies it; a portal that differs gets a WARN",
    "open": "the specification is silent or ambiguous; what a portal does is recorded as a reading",
}
NOTHING = "signing in and reading"
USUAL_ACCOUNT = "accounts.admin"
"""What nearly every case needs, so that it is not named."""

SHOWN = 8
"""How many endpoints, cases or checks are listed in the text."""

LOCAL = "local.toml"

RECIPES: Mapping[str, Mapping[str, str]] = json.loads(
    (files("conformance.run.outlook") / "recipes.json").read_text(encoding="utf-8")
)
"""The rules of which the first fault does not show to their own cases alone: the fault that does, and a case
that meets it where those of the rule do not."""


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
    statement: str
    endpoints: Sequence[str]
    decided_by: Sequence[Decider]
    reading: str | None
    untestable: str | None
    serve_failing: str | None
    serve_passing: str
    judge: str


def explain(rules: Iterable[str]) -> list[Explanation]:
    """Explains rules, in the specification's order."""
    wanted = frozenset(rules)
    names, cases = deciders(), {row.id: row for row in collect()}
    rows = [row for row in REQUIREMENTS.values() if row.id in wanted]
    return [_explanation(row, names[row.id], cases) for row in rows]


def _explanation(row: Requirement, names: Sequence[str], cases: Mapping[str, CaseRow]) -> Explanation:
    recipe = RECIPES.get(row.id, {})
    fault = recipe.get("fault") or next(
        (each.name for each in FAULTS.values() if row.id in each.breaks), None
    )
    serve = f"portal-conformance serve --port 8000 --profile-out {LOCAL}"
    case = recipe.get("case")
    return Explanation(
        id=row.id,
        level=row.level,
        level_reason=LEVEL_REASONS[row.level],
        section=row.section,
        statement=row.statement,
        endpoints=row.operations,
        decided_by=[Decider(name, _needs(cases.get(name))) for name in _of_its_endpoints(names, row)],
        reading=row.reading,
        untestable=row.untestable,
        serve_failing=f"{serve} --fault {shlex.quote(fault)}" if fault else None,
        serve_passing=serve,
        judge=f"portal-conformance run --profile {LOCAL} {_selecting(row.id, case, cases.values())}",
    )


def _of_its_endpoints(names: Sequence[str], row: Requirement) -> Sequence[str]:
    """The deciders without the cases of another endpoint, which a check looks at only beside its own."""
    asked = ((name, ENDPOINT.search(name)) for name in names)
    return [name for name, key in asked if key is None or key[1] in row.operations] or names


ENDPOINT = re.compile(r"\[([A-Z]+ /\S+)\]$")
"""The endpoint in the name of a case that is run once for each."""


def _selecting(rule: str, case: str | None, cases: Collection[CaseRow]) -> str:
    """The options that have a rule decided, by one case where the cases of the rule would not meet the
    fault."""
    if case is not None:
        meant = [row for row in cases if row.id.startswith(case)]
        return f"--rerun {case} --impact {_greatest_impact(meant)}"
    wanted = deciding({rule}, (each for row in cases for each in row.requirements))
    meant = [row for row in cases if not wanted.isdisjoint(row.requirements)]
    return f"--only {rule} --impact {_greatest_impact(meant)}"


def _greatest_impact(cases: Iterable[CaseRow]) -> str:
    """The impact that lets each of them run: any may be the one that meets the fault."""
    return max((case.impact for case in cases), key=IMPACTS.index, default="read-only")


def _needs(case: CaseRow | None) -> str:
    if case is None:
        return "an answer of one of the endpoints"
    needs = (part for part in case.needs if part != USUAL_ACCOUNT)
    parts = [*([] if case.impact == "read-only" else [f"--impact {case.impact}"]), *needs]
    return ", ".join(parts) or NOTHING


def as_json(explanations: Sequence[Explanation]) -> str:
    return json.dumps([asdict(each) for each in explanations], indent=2, ensure_ascii=False)


def as_lines(each: Explanation) -> Iterator[str]:
    """An explanation as a person reads it, a line each."""
    yield f"{each.id}  {each.statement}"
    yield f"level       {each.level}: {each.level_reason}"
    yield f'place       section "{each.section}" of the specification'
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
    """The first values below each other, and how many more there are."""
    for number, value in enumerate(values[:SHOWN]):
        yield f"{'' if number else label:<10}  {value}"
    if len(values) > SHOWN:
        yield f"{'':<10}  and {len(values) - SHOWN} more"
