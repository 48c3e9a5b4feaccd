"""Plans a run without requests, from the marks of its cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, inf

from conformance.errors import UsageError
from conformance.report.model.words import MUSTS
from conformance.run.catalogue import CaseRow, collect
from conformance.run.floor import SHARE
from conformance.run.planning import (
    UNKNOWN_WINDOW,
    factor_waits,
    late_cases,
    most_sign_ins,
    queue_seconds,
    restoring_seconds,
    why_not,
)
from conformance.run.rerun import rerun_requirements, rerun_selection
from conformance.run.testable import (
    TESTABLE,
    beyond,
    deciding,
    reachable,
    reachable_musts,
    shut_endpoints,
    why_left,
)
from conformance.spec import OPERATIONS, REQUIREMENTS, Impact
from conformance.target.profile.model import Profile
from conformance.verdicts.findings import UNDECIDED, mildest_first
from conformance.verdicts.selection import RuleSelection, endpoint_in

LAST_MOMENTS = 10.0
"""Seconds before the end of what a case waits for, in which it looks at it once more."""

NO_TIME = "--time-budget has no time for its cases"
NO_ACCOUNT = "the profile has no account that could sign in"
NO_CASE = (
    "no case decides this requirement, and no case has this name. "
    "`portal-conformance requirements` lists both."
)
NO_CASE_ALONE = "no case decides these rules alone. Select their endpoint instead."
TOO_LONG = "a wait of up to {:g} s is longer than --time-budget"


@dataclass
class RunPlan:
    """What a run would do.

    ``rules`` are those that it would decide, ``endpoints`` those of which it would judge an answer.
    ``testable`` is how many of the ``musts`` are among the rules, ``selected`` how many rules of each level
    could be. A run that tests fewer musts than the ``floor`` is inconclusive; a selection has none.
    ``sign_ins`` and ``mails`` are the most that there can be. ``minutes`` is how long the waits make the run
    last at the least, where the clock is not ``is_simulated``; ``code_waits`` is what each sign-in may wait
    for by its second factor, ``restoring`` how many seconds of a time budget a change keeps, which is not
    made where the budget ``is_too_short_to_restore``; ``is_unbounded`` where there is none. ``left_out`` are
    the waits that are longer than ``--time-budget``, and ``late`` the cases that it has no time for.
    ``untested`` are the cases that would not be tried, and ``undecided`` the rules that would not be decided,
    each with the reason; of those ``beyond_time`` it is the budget.
    ``target`` and ``profile`` name what would be tested, as far as it is known. ``changing`` are the cases
    that change something.
    """

    impact: Impact
    target: str = ""
    profile: str = ""
    cases: int = 0
    sign_ins: int = 0
    mails: int = 0
    changing: list[str] = field(default_factory=list)
    minutes: float = 0.0
    code_waits: list[str] = field(default_factory=list)
    musts: int = 0
    testable: int = 0
    selected: dict[str, int] = field(default_factory=dict)
    rules: list[str] = field(default_factory=list)
    endpoints: list[str] = field(default_factory=list)
    window: float = UNKNOWN_WINDOW
    is_window_assumed: bool = False
    restoring: float = 0.0
    is_too_short_to_restore: bool = False
    is_unbounded: bool = True
    floor: int | None = None
    is_simulated: bool = False
    waits: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    untested: dict[str, str] = field(default_factory=dict)
    undecided: dict[str, str] = field(default_factory=dict)
    late: list[str] = field(default_factory=list)
    beyond_time: list[str] = field(default_factory=list)

    def decided(self, level: str) -> int:
        """How many rules of a level it would decide."""
        return sum(REQUIREMENTS[rule].level == level for rule in self.rules)


@dataclass(frozen=True, slots=True)
class PlanChoice:
    """Which cases are selected, as ``run`` selects them by ``--only``, ``--skip``, ``--failed`` and
    ``--rerun``. ``budget``: the seconds of ``--time-budget``."""

    rules: RuleSelection | None = None
    rerun: str | None = None
    budget: float = inf

    @property
    def testable(self) -> frozenset[str]:
        """The rules that are selected, and can be seen from outside."""
        rules = rerun_selection(self.rerun, self.rules) if self.rerun else self.rules
        return TESTABLE if rules is None else rules.rules & TESTABLE

    def chosen(self, rows: Sequence[CaseRow]) -> Sequence[CaseRow]:
        """The selected cases: those that decide a selected rule, or ask what a check decides it by.
        UsageError: there is none."""
        declared = [rule for row in rows for rule in row.requirements]
        if self.rerun:
            wanted = deciding(rerun_requirements(self.rerun), declared)
            case = self.rerun[self.rerun.find(" cases/") + 1 :]  # behind a rule, or alone
            rows = [row for row in rows if case in row.id or not wanted.isdisjoint(row.requirements)]
            if not rows:
                raise UsageError(f"--rerun {self.rerun}: {NO_CASE}")
        if self.rules is not None:
            rows = deciding_cases(rows, self.rules, declared)
            if not rows:
                raise UsageError(f"{self.rules.text}: {NO_CASE_ALONE}")
        return rows


def deciding_cases(rows: Sequence[CaseRow], rules: RuleSelection, declared: Iterable[str]) -> list[CaseRow]:
    """The cases that decide some rules; where these are selected by an endpoint, without the cases of others.
    ``declared``: the rules that any case decides."""
    wanted = deciding(rules.rules - rules.limited.keys(), declared)

    def is_meant(row: CaseRow) -> bool:
        decided, endpoint = wanted.intersection(row.requirements), endpoint_in(row.id)
        if rules.limited and endpoint:
            decided = frozenset(rule for rule in decided if endpoint in REQUIREMENTS[rule].operations)
        return bool(decided) or rules.is_of(row.id, row.requirements)

    return [row for row in rows if is_meant(row)]


def plan(profile: Profile, impact: Impact, choice: PlanChoice | None = None) -> RunPlan:
    """Adds up what the marks of the cases that can be tried say. ``choice``: which of them are selected."""
    choice = choice or PlanChoice()
    chosen = choice.chosen(collect())
    untested = {row.id: why for row in chosen if (why := why_left_out(row, profile, impact)) is not None}
    possible = [row for row in chosen if row.id not in untested]
    window = 0.0 if profile.clock.advance else profile.limits.login_window or UNKNOWN_WINDOW
    late = late_cases(possible, budget=choice.budget, window=window)
    tried = [row for row in possible if row.id not in late]
    planned = ahead(tried, profile, impact, budget=choice.budget)
    planned.untested, planned.late = untested, [row.id for row in possible if row.id in late]
    decided_late = _decided_late(possible, planned, choice.budget)
    _add_rules(planned, profile, choice, chosen, decided_late)
    if not choice.rerun:  # a run of one rule or case leaves the others out
        _add_undecided(planned, profile, choice, chosen, decided_late)
    return planned


def ahead(rows: Sequence[CaseRow], profile: Profile, impact: Impact, *, budget: float) -> RunPlan:
    """The waits, changes, sign-ins and mails of cases that are tried."""
    planned = RunPlan(
        impact,
        cases=len(rows),
        changing=[row.id for row in rows if row.impact != "read-only"],
        is_simulated=profile.clock.advance is not None,
    )
    planned.sign_ins = most_sign_ins(rows)
    # Where nothing may be changed, only sign-ins send mails.
    is_mailed = any(account.inbox for account in profile.accounts.values()) and planned.sign_ins
    planned.mails = profile.limits.max_mails if is_mailed or planned.changing else 0
    if not planned.is_simulated:
        _add_time(planned, rows, profile, budget)
    return planned


def why_left_out(row: CaseRow, profile: Profile, impact: Impact) -> str | None:
    """Why a plan leaves a case out; None where it does not."""
    if row.waits and row.sign_ins and not profile.accounts:
        return NO_ACCOUNT
    why = why_not(row, profile, impact)
    return None if why is None else _briefly(why)


def _briefly(why: str) -> str:
    return why.partition("; this run is allowed")[0]


def _add_time(planned: RunPlan, rows: Sequence[CaseRow], profile: Profile, budget: float) -> None:
    """Waits overlap with each other and with the requests of other cases; sign-ins queue for their window."""
    for row in rows:
        if row.waits:
            kept = planned.waits if row.waits < budget else planned.left_out
            kept.append(f"{row.waits:g} s: {row.id}")
    planned.window = profile.limits.login_window or UNKNOWN_WINDOW
    planned.is_window_assumed = not profile.limits.login_window
    planned.is_unbounded = budget == inf
    planned.restoring = 0.0 if budget == inf else restoring_seconds(profile, planned.impact)
    planned.is_too_short_to_restore = planned.restoring > budget
    planned.code_waits = list(factor_waits(profile)) if planned.sign_ins else []
    longest = max((row.waits for row in rows if row.waits < budget + LAST_MOMENTS), default=0.0)
    planned.minutes = round(min(max(longest, queue_seconds(rows, planned.window)), budget) / 60, 1)


def _decided_late(rows: Sequence[CaseRow], planned: RunPlan, budget: float) -> dict[tuple[str, str], str]:
    """By case and rule, why the time budget leaves it undecided."""
    late = set(planned.late)
    reasons = {}
    for row in rows:
        is_too_long = not planned.is_simulated and row.waits >= budget
        for rule in row.requirements:
            if row.id in late:
                reasons[row.id, rule] = NO_TIME
            elif is_too_long and rule in row.after_waits:
                reasons[row.id, rule] = TOO_LONG.format(row.waits)
    return reasons


def _add_rules(
    planned: RunPlan,
    profile: Profile,
    choice: PlanChoice,
    chosen: Sequence[CaseRow],
    late: Mapping[tuple[str, str], str],
) -> None:
    """Adds rules and endpoints that cases and checks of their requests decide, and the run's floor."""
    whole = {rule for row in chosen for rule in row.requirements}
    possible = [row for row in chosen if row.id not in planned.untested]
    tried = {rule for row in possible for rule in row.requirements}
    declared = {rule for row in possible for rule in row.requirements if (row.id, rule) not in late}
    unreached = frozenset(row.key for row in OPERATIONS if row.requirement in whole - declared)
    rules = choice.testable & reachable(profile, planned.impact, declared, unreached=unreached)
    planned.rules = [rule for rule in REQUIREMENTS if rule in rules]
    planned.selected = dict(Counter(REQUIREMENTS[rule].level for rule in choice.testable))
    planned.endpoints = [row.key for row in OPERATIONS if row.requirement in rules]
    planned.musts = len(choice.testable.intersection(MUSTS))
    planned.testable = len(rules.intersection(MUSTS))
    if choice.rules is None and not choice.rerun:
        least = ceil(len(reachable_musts(profile, planned.impact, tried)) * SHARE)
        planned.floor = least if profile.expect.musts is None else profile.expect.musts


def _add_undecided(
    planned: RunPlan,
    profile: Profile,
    choice: PlanChoice,
    chosen: Sequence[CaseRow],
    late: Mapping[tuple[str, str], str],
) -> None:
    """Adds the rules that would stay undecided, each with the run's reason."""
    lacks: dict[str, dict[str, str]] = {rule: {} for rule in REQUIREMENTS if rule in choice.testable}
    for row in chosen:
        why = planned.untested.get(row.id)
        for rule in lacks.keys() & row.requirements if why is not None else ():
            lacks[rule].setdefault(why or "", row.id)
    for rule, reasons in lacks.items():
        if (why := beyond(rule, planned.impact)) is not None:
            reasons.setdefault(_briefly(why), "")
    too_late = {rule: why for (_, rule), why in late.items()}
    decided = frozenset(planned.rules)
    without, shut = UNDECIDED if profile.accounts else NO_ACCOUNT, shut_endpoints(profile)
    for rule in lacks.keys() - decided:
        reason = next(iter(mildest_first(lacks[rule])), why_left(rule, profile, shut) or without)
        planned.undecided[rule] = too_late.get(rule, reason)
    planned.undecided = {rule: planned.undecided[rule] for rule in lacks if rule in planned.undecided}
    planned.beyond_time = [rule for rule in planned.undecided if rule in too_late]
