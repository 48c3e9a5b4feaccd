"""The order of cases where time is short: those come first that decide the most rules in the least time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import heapify, heappop, heappush
from math import ceil, inf

from conformance.run.catalogue import CaseRow
from conformance.run.costs import CODES_OF_SIGN_INS, CaseCost
from conformance.run.outlook.pace import ASSUMED, MAIL_SECONDS, Pace
from conformance.run.planning import UNKNOWN_WINDOW, by_mail, restoring_seconds
from conformance.run.search import growth
from conformance.run.testable import KEYS_OF
from conformance.spec import REQUIREMENTS
from conformance.spec.tables import LIMITS
from conformance.target.portal import RESTORING_SECONDS
from conformance.target.profile.model import Profile

PROPERTIES = "cases/properties/"
"""Where the cases stand that draw examples: ``--effort`` says how many."""

LEAST = 0.01
"""Seconds of a case that sends nothing, or is not measured."""


@dataclass(frozen=True, slots=True)
class Durations:
    """In seconds: the ``budget``, the ``window`` of the sign-in rate (0 where the clock can be moved), how
    long the ``requests`` of a case take with its mailed codes, and how much it keeps of the budget so that
    what it changes can be restored (``restoring``)."""

    budget: float
    window: float
    requests: Callable[[CaseRow], float]
    restoring: Callable[[CaseRow], float]


def durations(
    profile: Profile, costs: Mapping[str, CaseCost], *, budget: float, effort: str, pace: Pace = ASSUMED
) -> Durations:
    """How long cases take with a profile, by what each was measured to cost."""
    is_simulated = profile.clock.advance is not None
    window = profile.limits.login_window or UNKNOWN_WINDOW

    mailed = {} if is_simulated or pace.source else by_mail(profile)

    def requests(row: CaseRow) -> float:
        cost = costs.get(row.id, CaseCost())
        of_mailed = [counts for name, counts in cost.accounts.items() if name in mailed]
        codes = sum(counts.get(code, 0) for counts in of_mailed for code in CODES_OF_SIGN_INS)
        return (cost.requests * pace.seconds + codes * MAIL_SECONDS) * times_of(row, effort)

    def restoring(row: CaseRow) -> float:
        if not costs.get(row.id, CaseCost()).changes or row.impact == "read-only":
            return 0.0
        signs_in = not is_simulated and "accounts.spare" in row.needs
        return restoring_seconds(profile, row.impact) if signs_in else RESTORING_SECONDS

    return Durations(budget, 0.0 if is_simulated else window, requests, restoring)


def times_of(row: CaseRow, effort: str) -> float:
    """How much more a case sends at an effort than it was measured to send."""
    return growth(row.id, effort) if row.id.startswith(PROPERTIES) else 1.0


def priorities(rows: Sequence[CaseRow], lasting: Durations) -> dict[str, int]:
    """By case, a number that is the higher the sooner the case is to begin; none where the budget has time
    for all but the longest waits.

    First comes what decides the most rules in a second. Of those that sign in, that comes first which decides
    the most with a place in the window of sign-ins."""
    if _needed(rows, lasting) <= lasting.budget:
        return {}
    rules = {row.id: _decided(row, lasting.budget) for row in rows}
    signing = [row for row in rows if row.sign_ins]
    others = frozenset(rule for row in rows if not row.sign_ins for rule in rules[row.id])
    place = lasting.window / LIMITS.login_initiations
    of_places = {row.id: _seconds(row, lasting) + row.sign_ins * place for row in signing}
    by_place = iter(_greedy(signing, rules, of_places, others))
    by_second = _greedy(rows, rules, {row.id: _seconds(row, lasting) for row in rows}, frozenset())
    ordered = [next(by_place) if row.sign_ins else row for row in by_second]
    return {row.id: len(rows) - number for number, row in enumerate(ordered)}


def _needed(rows: Sequence[CaseRow], lasting: Durations) -> float:
    """The seconds that the cases take but for their waits: sign-ins queue for their window."""
    begun = sum(row.sign_ins for row in rows) + len({name for row in rows for name in row.shares})
    begun -= min(sum(row.leaves for row in rows), sum(row.reuses for row in rows))
    queued = max(0, ceil(begun / LIMITS.login_initiations) - 1) * lasting.window
    return queued + sum(lasting.requests(row) + row.pauses for row in rows)


def _greedy(
    rows: Sequence[CaseRow],
    rules: Mapping[str, frozenset[str]],
    price: Mapping[str, float],
    decided: frozenset[str],
) -> Iterator[CaseRow]:
    """Each time the case that decides the most rules for its price that none before it decides."""
    done = set(decided)

    def rank(row: CaseRow) -> float:
        return -len(rules[row.id] - done) / price[row.id]

    waiting = [(rank(row), number, row) for number, row in enumerate(rows)]
    heapify(waiting)
    while waiting:
        before, number, row = heappop(waiting)
        if rank(row) > before:  # others before it decide some of its rules
            heappush(waiting, (rank(row), number, row))
            continue
        done |= rules[row.id]
        yield row


def _seconds(row: CaseRow, lasting: Durations) -> float:
    """How long a case takes, where one counts less that must begin early, as it waits or restores what it
    changes. One that cannot restore it in time counts as endless."""
    waits = row.waits if row.waits < lasting.budget else 0.0
    early = 1.0 - (lasting.restoring(row) + waits) / lasting.budget
    return max(LEAST, lasting.requests(row) + row.pauses) * early if early > 0 else inf


def _decided(row: CaseRow, budget: float) -> frozenset[str]:
    """The rules that a case decides within a budget, and those that checks decide by what it asks."""
    own = set(row.requirements).difference(row.after_waits if row.waits >= budget else ())
    about = (REQUIREMENTS[rule].operations for rule in own if rule in REQUIREMENTS)
    asked = [operations[0] for operations in about if len(operations) == 1]
    return frozenset(own.union(*(_decided_by_checks().get(key, ()) for key in asked)))


@cache
def _decided_by_checks() -> Mapping[str, frozenset[str]]:
    """By endpoint, the rules that its answers decide."""
    rules_of: dict[str, set[str]] = {}
    for rule, keys in KEYS_OF.items():
        for key in keys:
            rules_of.setdefault(key, set()).add(rule)
    return {key: frozenset(rules) for key, rules in rules_of.items()}
