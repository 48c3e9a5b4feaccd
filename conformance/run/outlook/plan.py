"""What a run would do, without doing it: from the marks of the cases and what each was measured to cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, inf

from conformance.errors import UsageError
from conformance.run.catalogue import CaseRow, collect
from conformance.run.costs import NOBODY, CaseCost, measured_costs
from conformance.run.floor import SHARE
from conformance.run.needs import lacking
from conformance.run.outlook.pace import ASSUMED, MAIL_SECONDS, LastRun, Pace
from conformance.run.outlook.precedence import durations, times_of
from conformance.run.outlook.within_budget import Late, late_cases
from conformance.run.planning import (
    UNKNOWN_WINDOW,
    by_authenticator,
    by_either,
    by_mail,
    factor_waits,
)
from conformance.run.rerun import rerun_requirements, rerun_selection
from conformance.run.testable import (
    MUSTS,
    TESTABLE,
    concerns_only,
    deciding,
    reachable,
    reachable_musts,
    shut_endpoints,
    why_left,
)
from conformance.spec import BY_KEY, IMPACTS, OPERATIONS, REQUIREMENTS, Impact
from conformance.spec.tables import LIMITS
from conformance.target.profile.model import Profile
from conformance.verdicts.findings import UNDECIDED, mildest_first
from conformance.verdicts.selection import RuleSelection

NO_TIME = "--time-budget has no time for its cases"
NO_ACCOUNT = "the profile has no account that could sign in"
TOO_LONG = "a wait of up to {:g} s is longer than --time-budget"


@dataclass
class RunPlan:
    """What a run would do.

    ``rules`` are those that it would decide, ``endpoints`` those of which it would judge an answer.
    ``testable`` is how many of the ``musts`` are among the rules, ``selected`` how many rules of each level
    could be. A run that tests fewer musts than the ``floor`` is inconclusive; a selection has none.
    ``minutes`` is how long the waits make the run last at the least, where the clock is not
    ``is_simulated``, and ``seconds`` how long it lasts with its requests at a ``pace``; ``beyond_budget`` is
    how many seconds more it would need than ``--time-budget`` allows, ``by_authenticator`` the accounts whose
    sign-ins wait for codes besides, and ``code_waits`` what each sign-in may wait for by its second factor.
    ``mailed_codes`` are those of the mails that a sign-in waits for, ``mailed_at_need`` the addresses that
    are sent one instead of a longer wait for an authenticator's code. ``left_out`` are the waits that are
    longer than ``--time-budget``, and ``late`` the cases that it has no time for. ``untested`` are the cases
    that would not be tried, and ``undecided`` the rules that would not be decided, each with the reason; of
    those ``beyond_time`` it is the budget. ``target`` and ``profile`` name what would be tested, as far as it
    is known. ``accounts``: by address, or ``nobody``, the mails, wrong passwords and wrong codes.
    ``changing`` are the cases that change something, each with how much.
    """

    impact: Impact
    target: str = ""
    profile: str = ""
    cases: int = 0
    requests: int = 0
    sign_ins: int = 0
    mails: int = 0
    changes: int = 0
    changing: dict[str, int] = field(default_factory=dict)
    longest_wait: float = 0.0
    minutes: float = 0.0
    seconds: float = 0.0
    beyond_budget: float = 0.0
    by_authenticator: list[str] = field(default_factory=list)
    code_waits: list[str] = field(default_factory=list)
    mailed_codes: int = 0
    mailed_at_need: list[str] = field(default_factory=list)
    pace: Pace = ASSUMED
    musts: int = 0
    testable: int = 0
    selected: dict[str, int] = field(default_factory=dict)
    rules: list[str] = field(default_factory=list)
    endpoints: list[str] = field(default_factory=list)
    accounts: dict[str, dict[str, int]] = field(default_factory=dict)
    window: float = UNKNOWN_WINDOW
    floor: int | None = None
    is_simulated: bool = False
    waits: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    untested: dict[str, str] = field(default_factory=dict)
    undecided: dict[str, str] = field(default_factory=dict)
    unmeasured: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    beyond_time: list[str] = field(default_factory=list)

    def decided(self, level: str) -> int:
        """How many rules of a level it would decide."""
        return sum(REQUIREMENTS[rule].level == level for rule in self.rules)


@dataclass(frozen=True, slots=True)
class PlanChoice:
    """Which cases are selected, as ``run`` selects them by ``--only``, ``--skip``, ``--failed`` and
    ``--rerun``. ``budget``: the seconds of ``--time-budget``; ``effort``: how many examples are drawn;
    ``time_budget``: the same as it was given; ``pace``: how long a request takes; ``last``: the last run on
    the target."""

    rules: RuleSelection | None = None
    rerun: str | None = None
    budget: float = inf
    effort: str = "quick"
    pace: Pace = ASSUMED
    time_budget: str = ""
    last: LastRun | None = None

    @property
    def testable(self) -> frozenset[str]:
        """The rules that are selected, and can be seen from outside."""
        rules = rerun_selection(self.rerun, self.rules) if self.rerun else self.rules
        return TESTABLE if rules is None else rules.rules & TESTABLE

    def chosen(self, rows: list[CaseRow]) -> list[CaseRow]:
        """The selected cases. UsageError: there is none."""
        declared = [rule for row in rows for rule in row.requirements]
        if self.rules is not None:
            wanted = deciding(self.rules.rules, declared)
            rows = [row for row in rows if not wanted.isdisjoint(row.requirements)]
        if self.rerun:
            wanted = deciding(rerun_requirements(self.rerun), declared)
            rows = [row for row in rows if self.rerun in row.id or not wanted.isdisjoint(row.requirements)]
        if not rows:
            raise UsageError("No case is selected. `portal-conformance requirements` lists the cases.")
        return rows


def plan(
    profile: Profile,
    impact: Impact,
    choice: PlanChoice | None = None,
    *,
    measured: Mapping[str, CaseCost] | None = None,
) -> RunPlan:
    """Adds up what the cases that can be tried would do. ``choice``: which of them are selected;
    ``measured``: what each costs, in place of what was measured."""
    choice = choice or PlanChoice()
    costs = measured_costs() if measured is None else measured
    rows = collect()
    chosen = choice.chosen(rows)
    untested = {row.id: why for row in chosen if (why := why_not(row, profile, impact)) is not None}
    possible = [row for row in chosen if row.id not in untested]
    late = _late(possible, costs, profile, choice)
    tried = [row for row in possible if row.id not in late.unbegun]
    planned = _planned(tried, costs, profile, choice, impact)
    planned.untested = untested
    planned.late = [row.id for row in possible if row.id in late.unbegun]
    _add_time(planned, _planned(possible, costs, profile, choice, impact), profile, choice.budget)
    silent = _silent(rows, profile, impact, choice)
    outlook = Prospect(profile, choice, chosen, late, silent)
    _add_rules(planned, outlook)
    _add_undecided(planned, outlook)
    return planned


def _planned(
    rows: Sequence[CaseRow],
    costs: Mapping[str, CaseCost],
    profile: Profile,
    choice: PlanChoice,
    impact: Impact,
) -> RunPlan:
    """What cases that are tried would send."""
    planned, shut = RunPlan(impact, pace=choice.pace), shut_endpoints(profile)
    for row in rows:
        cost = costs.get(row.id)
        if not profile.clock.advance and _is_left_out(row, choice.budget):
            cost = _before_its_wait(row, cost)
        cost = _up_to_a_refusal(row, cost, shut)
        _add_cost(planned, row, cost, profile=profile, effort=choice.effort)
        _add_wait(planned, row, budget=choice.budget)
    planned.mails = min(planned.mails, profile.limits.max_mails)
    if not profile.clock.advance:
        planned.sign_ins -= min(sum(row.leaves for row in rows), sum(row.reuses for row in rows))
    return planned


def _late(
    rows: Sequence[CaseRow], costs: Mapping[str, CaseCost], profile: Profile, choice: PlanChoice
) -> Late:
    """The cases that the time budget has no time for."""
    rows = [replace(row, waits=0.0) for row in rows] if profile.clock.advance is not None else rows
    lasting = durations(profile, costs, budget=choice.budget, effort=choice.effort, pace=choice.pace)
    return late_cases(rows, lasting)


def why_not(row: CaseRow, profile: Profile, impact: Impact) -> str | None:
    """Why a case cannot be tried; None where it can."""
    if IMPACTS.index(row.impact) > IMPACTS.index(impact):
        return f"needs --impact {row.impact}"
    if row.waits and row.sign_ins and not profile.accounts:
        return NO_ACCOUNT
    return next((why for part in row.needs if (why := lacking(profile, part))), None)


def _before_its_wait(row: CaseRow, cost: CaseCost | None) -> CaseCost | None:
    """The cost of a case whose wait is left out: only its sign-ins, where all that it decides follows."""
    return CaseCost(sign_ins=row.sign_ins) if set(row.requirements) <= set(row.after_waits) else cost


def _up_to_a_refusal(row: CaseRow, cost: CaseCost | None, shut: frozenset[str]) -> CaseCost | None:
    """The cost of a case of an endpoint that refuses each request for what the profile lacks: the first one
    ends it. Without an id for the path there is none."""
    named = next((key for key in shut if key in row.id), None)
    if cost is None or not (named or all(concerns_only(rule, shut) for rule in row.requirements)):
        return cost
    of_rules = (REQUIREMENTS[rule].operations for rule in row.requirements)
    keys = {named} if named else {key for operations in of_rules for key in operations}
    most = 0 if any(BY_KEY[key].parameters == ("fileBizId",) for key in keys) else 1
    return replace(cost, requests=min(cost.requests, most))


def _add_cost(
    planned: RunPlan, row: CaseRow, cost: CaseCost | None, *, profile: Profile, effort: str
) -> None:
    planned.cases += 1
    if cost is None:
        planned.unmeasured.append(row.id)
    cost = cost or CaseCost(sign_ins=row.sign_ins)
    times = times_of(row, effort)
    planned.requests += round(cost.requests * times)
    planned.sign_ins += max(round(cost.sign_ins * times), row.sign_ins)
    planned.mails += round(cost.mails * times)
    if planned.impact != "read-only":
        changes = round(cost.changes * times)
        planned.changes += changes
        planned.changing.update({row.id: changes} if changes else {})
    for name, counts in cost.accounts.items():
        _add_account(planned, profile, name, {what: round(count * times) for what, count in counts.items()})


def _add_account(planned: RunPlan, profile: Profile, name: str, counts: Mapping[str, int]) -> None:
    """Adds what a case does with an account; where the profile has no such one, another takes its place. No
    code is mailed to an account without an inbox, and one for each sign-in of an account that has no
    authenticator."""
    stand_ins = (name, *(other for other in ("spare", "admin") if name != NOBODY))
    present = next((each for each in stand_ins if each in profile.accounts), None)
    account = profile.accounts[present] if present is not None else None
    mailed, instead = counts.get("mailed_codes", 0), 0
    if present in by_mail(profile):
        instead = counts.get("authenticator_codes", 0)
        planned.mailed_codes += mailed + instead
    unsent = mailed if account is not None and account.inbox is None else 0
    planned.mails += instead - unsent
    totals = planned.accounts.setdefault(NOBODY if account is None else account.email, {})
    sent = {**counts, "mails": counts.get("mails", 0) + instead - unsent}
    for what in ("mails", "wrong_passwords", "wrong_codes"):
        if sent.get(what):
            totals[what] = totals.get(what, 0) + sent[what]


def _add_wait(planned: RunPlan, row: CaseRow, *, budget: float) -> None:
    if _is_left_out(row, budget):
        planned.left_out.append(f"{row.waits:g} s: {row.id}")
    elif row.waits:
        planned.waits.append(f"{row.waits:g} s: {row.id}")
        planned.longest_wait = max(planned.longest_wait, row.waits)


def _is_left_out(row: CaseRow, budget: float) -> bool:
    """Whether a wait is too long for a budget: nothing is done before the budget begins to run."""
    return row.waits >= budget


def _add_time(planned: RunPlan, whole: RunPlan, profile: Profile, budget: float) -> None:
    """Waits overlap with each other and with the requests of other cases; sign-ins queue for their window.
    ``whole`` is what would be sent without a budget: what it would take longer is beyond."""
    planned.window = profile.limits.login_window or UNKNOWN_WINDOW
    planned.is_simulated = profile.clock.advance is not None
    busy = whole.requests * whole.pace.seconds
    if planned.is_simulated:
        _bound(planned, busy, budget)
        return
    if planned.sign_ins:
        planned.by_authenticator, planned.code_waits = by_authenticator(profile), list(factor_waits(profile))
        planned.mailed_at_need = [profile.accounts[name].email for name in by_either(profile)]
    if not whole.pace.source:
        busy += whole.mailed_codes * MAIL_SECONDS
    queued = max(0, ceil(whole.sign_ins / LIMITS.login_initiations) - 1) * planned.window
    planned.minutes = round(min(max(planned.longest_wait, queued), budget) / 60, 1)
    _bound(planned, max(planned.longest_wait, queued + busy), budget)


def _bound(planned: RunPlan, seconds: float, budget: float) -> None:
    planned.seconds = min(seconds, budget)
    planned.beyond_budget = seconds - planned.seconds


@dataclass(frozen=True, slots=True)
class Prospect:
    """What decides which rules a run would decide: of the ``chosen`` cases those that are ``late``, and the
    ``silent`` rules, each with the reason, of which the last run learned nothing."""

    profile: Profile
    choice: PlanChoice
    chosen: Sequence[CaseRow]
    late: Late
    silent: Mapping[str, str]


def _add_rules(planned: RunPlan, outlook: Prospect) -> None:
    """The rules and endpoints that the cases, and the checks of what they send, would decide. The floor is
    that of the run, which does not know the ``silent`` ones."""
    profile, choice, chosen = outlook.profile, outlook.choice, outlook.chosen
    whole = {rule for row in chosen for rule in row.requirements}
    possible = [row for row in chosen if row.id not in planned.untested]
    declared = {rule for row in possible for rule in row.requirements if outlook.late.decides(row, rule)}
    unreached = frozenset(row.key for row in OPERATIONS if row.requirement in whole - declared)
    rules = choice.testable & reachable(profile, planned.impact, declared, unreached=unreached)
    rules = rules.difference(outlook.silent)
    planned.rules = [rule for rule in REQUIREMENTS if rule in rules]
    planned.selected = dict(Counter(REQUIREMENTS[rule].level for rule in choice.testable))
    planned.endpoints = [row.key for row in OPERATIONS if row.requirement in rules]
    planned.musts = len(choice.testable.intersection(MUSTS))
    planned.testable = len(rules.intersection(MUSTS))
    if choice.rules is None and not choice.rerun:
        tried = {rule for row in possible for rule in row.requirements}
        least = ceil(len(reachable_musts(profile, planned.impact, tried)) * SHARE)
        planned.floor = least if profile.expect.musts is None else profile.expect.musts


def _silent(
    rows: Sequence[CaseRow], profile: Profile, impact: Impact, choice: PlanChoice
) -> Mapping[str, str]:
    """The rules that the target's answers did not decide in the last run, where that one sent as much."""
    if choice.last is None:
        return {}
    declared = {rule for row in rows if why_not(row, profile, impact) is None for rule in row.requirements}
    testable = len(reachable_musts(profile, impact, declared))
    return choice.last.undecided if choice.last.foretells(impact, testable, choice.time_budget) else {}


def _add_undecided(planned: RunPlan, outlook: Prospect) -> None:
    """The rules that would not be decided, each with the reason that a run gives. A run of one rule or case
    leaves the others out."""
    profile, choice, late, silent = outlook.profile, outlook.choice, outlook.late, outlook.silent
    undecided = [] if choice.rerun else [row for row in REQUIREMENTS if row in choice.testable]
    lacking: dict[str, dict[str, str]] = {rule: {} for rule in undecided}
    too_late = {rule: f"as in the last run: {why}" for rule, why in silent.items()}
    for row in outlook.chosen:
        why = planned.untested.get(row.id)
        if why is None and row.id in late.unbegun:
            too_late |= dict.fromkeys(row.requirements, NO_TIME)
        elif why is None and row.id in late.begun:
            too_late |= dict.fromkeys(row.after_waits, TOO_LONG.format(row.waits))
        if why is not None:
            for rule in lacking.keys() & row.requirements:
                lacking[rule].setdefault(why, row.id)
    decided = frozenset(planned.rules)
    without, shut = UNDECIDED if profile.accounts else NO_ACCOUNT, shut_endpoints(profile)
    for rule in undecided:
        if rule not in decided:
            reason = next(iter(mildest_first(lacking[rule])), why_left(rule, profile, shut) or without)
            planned.undecided[rule] = too_late.get(rule, reason)
            planned.beyond_time += [rule] if rule in too_late and rule not in silent else []
