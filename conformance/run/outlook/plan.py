"""What a run would do, without doing it: from the marks of the cases and what each was measured to cost."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from math import ceil, inf

from conformance.errors import UsageError
from conformance.run.catalogue import CaseRow, collect
from conformance.run.needs import lacking
from conformance.run.planning import UNKNOWN_WINDOW
from conformance.run.rerun import rerun_requirements
from conformance.run.testable import MUSTS, deciding, reachable_musts
from conformance.spec import IMPACTS, Impact
from conformance.spec.tables import LIMITS
from conformance.target.profile.model import Profile
from conformance.verdicts.selection import RuleSelection


@dataclass(frozen=True)
class Cost:
    """What one case sent when it was last measured against the bundled portal."""

    requests: int = 0
    sign_ins: int = 0
    mails: int = 0
    changes: int = 0


@dataclass
class RunPlan:
    """``minutes`` is how long the waits make a run last at the least, where time cannot be moved;
    ``testable`` is how many of the ``musts`` it can test; ``left_out`` are the waits that are longer than
    ``--time-budget``."""

    impact: Impact
    cases: int = 0
    requests: int = 0
    sign_ins: int = 0
    mails: int = 0
    changes: int = 0
    longest_wait: float = 0.0
    minutes: float = 0.0
    musts: int = 0
    testable: int = 0
    waits: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    untested: dict[str, str] = field(default_factory=dict)
    unmeasured: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PlanChoice:
    """Which cases are selected, as ``run`` selects them by ``--only``, ``--skip``, ``--failed`` and
    ``--rerun``. ``budget``: the seconds of ``--time-budget``."""

    rules: RuleSelection | None = None
    rerun: str | None = None
    budget: float = inf

    @property
    def musts(self) -> frozenset[str]:
        """The musts that are selected."""
        return frozenset(MUSTS) if self.rules is None else self.rules.rules.intersection(MUSTS)

    def chosen(self, rows: list[CaseRow]) -> list[CaseRow]:
        """The selected cases. UsageError: there is none."""
        if self.rules is not None:
            wanted = deciding(self.rules.rules, (rule for row in rows for rule in row.requirements))
            rows = [row for row in rows if not wanted.isdisjoint(row.requirements)]
        if self.rerun:
            named = rerun_requirements(self.rerun)
            rows = [row for row in rows if self.rerun in row.id or not named.isdisjoint(row.requirements)]
        if not rows:
            raise UsageError("No case is selected. `portal-conformance requirements` lists the cases.")
        return rows


def costs() -> dict[str, Cost]:
    """The measured cost of each case, by node id; ``run --record-costs`` writes them."""
    path = files("conformance.run") / "costs.json"
    return {case: Cost(**row) for case, row in json.loads(path.read_text(encoding="utf-8")).items()}


def plan(profile: Profile, impact: Impact, choice: PlanChoice | None = None) -> RunPlan:
    """Adds up what the cases that can be tried would do. ``choice``: which of them are selected."""
    measured, planned = costs(), RunPlan(impact)
    tried: list[CaseRow] = []
    choice = choice or PlanChoice()
    for row in choice.chosen(collect()):
        reason = why_not(row, profile, impact)
        if reason is not None:
            planned.untested[row.id] = reason
            continue
        _add(planned, row, measured.get(row.id), budget=choice.budget)
        tried.append(row)
    planned.mails = min(planned.mails, profile.limits.max_mails)
    if not profile.clock.advance:
        planned.sign_ins -= min(sum(row.leaves for row in tried), sum(row.reuses for row in tried))
    windows = max(0, ceil(planned.sign_ins / LIMITS.login_initiations) - 1)
    queued = windows * (profile.limits.login_window or UNKNOWN_WINDOW)
    waits = 0.0 if profile.clock.advance else min(max(planned.longest_wait, queued), choice.budget)
    planned.minutes = round(waits / 60, 1)
    declared = {requirement for row in tried for requirement in row.requirements}
    musts = choice.musts
    planned.musts = len(musts)
    planned.testable = len(musts & reachable_musts(profile, impact, declared))
    return planned


def why_not(row: CaseRow, profile: Profile, impact: Impact) -> str | None:
    """Why a case cannot be tried; None where it can."""
    if IMPACTS.index(row.impact) > IMPACTS.index(impact):
        return f"needs --impact {row.impact}"
    return next((why for part in row.needs if (why := lacking(profile, part))), None)


def _add(planned: RunPlan, row: CaseRow, cost: Cost | None, *, budget: float) -> None:
    planned.cases += 1
    if cost is None:
        planned.unmeasured.append(row.id)
    cost = cost or Cost(sign_ins=row.sign_ins)
    planned.requests += cost.requests
    planned.sign_ins += max(cost.sign_ins, row.sign_ins)
    planned.mails += cost.mails
    planned.changes += cost.changes
    if row.waits > budget:
        planned.left_out.append(f"{row.waits:g} s: {row.id}")
    elif row.waits:
        planned.waits.append(f"{row.waits:g} s: {row.id}")
        planned.longest_wait = max(planned.longest_wait, row.waits)


def as_json(planned: RunPlan) -> str:
    return json.dumps(asdict(planned), indent=2, ensure_ascii=False)


def as_text(planned: RunPlan) -> str:
    """The plan as a person reads it: what would not be tried is counted by reason."""
    restored = ", which it restores" if planned.changes else ""
    lines = [
        f"With --impact {planned.impact} a run would try {planned.cases} cases: {planned.requests} requests,",
        f"  {planned.sign_ins} sign-ins, {planned.mails} mails, {planned.changes} changes{restored}.",
        f"  Waits overlap; they make the run last {planned.minutes:g} minutes at least.",
        f"  It can test {planned.testable} of {planned.musts} musts; below half of these it is inconclusive.",
        *(f"  waits {wait}" for wait in planned.waits),
        *(f"  leaves out a wait of {wait}, longer than --time-budget" for wait in planned.left_out),
    ]
    if planned.untested:
        lines.append(f"{len(planned.untested)} cases would not be tried (--format json names each):")
        reasons = Counter(planned.untested.values()).most_common()
        lines += [f"  {count:>4}  {why}" for why, count in reasons]
    if planned.unmeasured:
        lines.append(f"{len(planned.unmeasured)} cases were never measured; their requests are not counted.")
    return "\n".join(lines)
