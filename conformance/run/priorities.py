"""The order of cases where the time budget is short, and what of them it leaves out, by their marks alone."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from conformance.run.catalogue import CaseRow
from conformance.run.testable import KEYS_OF
from conformance.spec import IMPACTS, REQUIREMENTS
from conformance.spec.tables import LIMITS

CASE_SECONDS = 0.1
"""Seconds that are assumed of the requests of a case."""


def priorities(rows: Sequence[CaseRow], *, budget: float, window: float) -> dict[str, int]:
    """By case, a number that is the higher the sooner the case is to begin; none where the budget has time
    for all but the longest waits. ``window``: the seconds of the sign-in rate; 0 where time can be moved.

    Cases that only read come first; of them those whose wait has to begin early, and then those that decide
    the most rules for the seconds that they hold others up.
    """
    if _stated_seconds(rows, window) <= budget:
        return {}
    rules = _rule_counts(rows, budget)

    def rank(row: CaseRow) -> tuple[int, bool, float]:
        waits = window > 0 and 0 < row.waits < budget
        return IMPACTS.index(row.impact), not waits, -rules[row.id] / _price(row, window)

    return {row.id: len(rows) - number for number, row in enumerate(sorted(rows, key=rank))}


def late_cases(rows: Sequence[CaseRow], *, budget: float, window: float) -> frozenset[str]:
    """The cases for whose sign-ins and pauses the budget has no room, where they run by priority."""
    first = priorities(rows, budget=budget, window=window)
    if not first or not window:
        return frozenset()
    sign_ins, seconds = (int(budget / window) + 1) * LIMITS.login_initiations, budget
    late = set()
    for row in sorted(rows, key=lambda row: -first[row.id]):
        if row.sign_ins > sign_ins or row.pauses > seconds:
            late.add(row.id)
        else:
            sign_ins, seconds = sign_ins - row.sign_ins, seconds - row.pauses
    return frozenset(late)


def _stated_seconds(rows: Sequence[CaseRow], window: float) -> float:
    """The seconds that the cases take but for their waits."""
    pauses = sum(row.pauses for row in rows) if window else 0.0
    return queue_seconds(rows, window) + pauses + CASE_SECONDS * len(rows)


def most_sign_ins(rows: Sequence[CaseRow]) -> int:
    """The most sign-ins that cases begin: their own, and one for each account whose session they share."""
    return sum(row.sign_ins for row in rows) + len({name for row in rows for name in row.shares})


def queue_seconds(rows: Sequence[CaseRow], window: float) -> float:
    """The seconds for which sign-ins queue for their window, where each case goes on with those that others
    leave."""
    left = min(sum(row.leaves for row in rows), sum(row.reuses for row in rows))
    return max(0, ceil((most_sign_ins(rows) - left) / LIMITS.login_initiations) - 1) * window


def _price(row: CaseRow, window: float) -> float:
    """The seconds for which a case holds others up: its requests, its pauses, its places in the window."""
    waits = row.pauses + row.sign_ins * window / LIMITS.login_initiations if window else 0.0
    return CASE_SECONDS + waits


def _rule_counts(rows: Sequence[CaseRow], budget: float) -> dict[str, int]:
    """By case, how many rules it decides within a budget; the first one of an endpoint with the rules that
    checks decide by its answers."""
    by_checks: dict[str, set[str]] = {}
    for rule, keys in KEYS_OF.items():
        for key in keys:
            by_checks.setdefault(key, set()).add(rule)
    counts = {}
    for row in rows:
        decided = set(row.requirements).difference(row.after_waits if row.waits >= budget else ())
        operations = (REQUIREMENTS[rule].operations for rule in row.requirements if rule in REQUIREMENTS)
        asked = {keys[0] for keys in operations if len(keys) == 1}
        counts[row.id] = len(decided.union(*(by_checks.pop(key, set()) for key in asked)))
    return counts
