"""Decides which cases can be tried, their order, also where the time budget is short, and the waits of
sign-ins."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil

import pytest

from conformance.run.catalogue import SHARING, CaseRow, row_of
from conformance.run.needs import lacking, not_allowed
from conformance.run.schedule import Planned
from conformance.run.testable import KEYS_OF
from conformance.spec import IMPACTS, REQUIREMENTS, Impact
from conformance.spec.tables import LIMITS
from conformance.target.portal import RESTORING_SECONDS
from conformance.target.profile.authenticator import STEP
from conformance.target.profile.model import Profile
from conformance.target.profile.tables import FixedInbox

UNKNOWN_WINDOW = 60.0
"""Seconds that are assumed of the window of the sign-in rate where the profile does not say it."""


def in_words(case: str) -> str:
    """What the id of a case says: ``a login session lives as long as stated``."""
    return case.rpartition("::")[2].removeprefix("test_").replace("_", " ")


def is_generator(item: pytest.Item) -> bool:
    """Whether a case waits while others run."""
    return inspect.isgeneratorfunction(getattr(item, "obj", None))


def why_not(row: CaseRow, profile: Profile, impact: Impact) -> str | None:
    """Why a case cannot be tried; None where it can."""
    why_not_allowed = not_allowed(row.impact, impact)
    return why_not_allowed or next((why for part in row.needs if (why := lacking(profile, part))), None)


def declared_by(rows: Iterable[CaseRow], profile: Profile, impact: Impact) -> set[str]:
    possible = (row for row in rows if why_not(row, profile, impact) is None)
    return {requirement for row in possible for requirement in row.requirements}


def planned(
    items: Iterable[pytest.Item],
    profile: Profile,
    impact: Impact,
    *,
    priorities: Mapping[str, int] | None = None,
) -> list[Planned[pytest.Item]]:
    """The cases with what each costs; what cannot be tried costs nothing. Longer waits come first, unless
    there are ``priorities``."""
    unused = set(SHARING)
    first = priorities or {}
    cases: list[Planned[pytest.Item]] = []
    rows = [(item, row_of(item)) for item in items]
    for item, row in sorted(rows, key=lambda each: (-first.get(each[1].id, 0), -each[1].waits)):
        if why_not(row, profile, impact) is not None:
            cases.append(Planned(item))
            continue
        begun = unused.intersection(row.shares)
        unused -= begun
        cases.append(
            Planned(
                item,
                row.sign_ins + len(begun),
                reuses=row.reuses,
                leaves=row.leaves,
                waits=is_generator(item),
                first=bool(begun),
                priority=first.get(row.id, 0),
            )
        )
    return cases


def by_authenticator(profile: Profile) -> list[str]:
    return [
        name
        for name, account in profile.accounts.items()
        if account.otp_secret and (account.mfa == "OTP" or account.inbox is None)
    ]


def by_mail(profile: Profile) -> dict[str, float]:
    """The accounts whose codes are mailed, with the seconds that a mail is waited for at most. A fixed code
    is there at once."""
    others = by_authenticator(profile)
    return {
        name: inbox.timeout
        for name, account in profile.accounts.items()
        if name not in others and (inbox := profile.inboxes.get(account.inbox or "")) is not None
        if not isinstance(inbox, FixedInbox)
    }


def restoring_seconds(profile: Profile, impact: Impact) -> float:
    """How much of a time budget a change of an account keeps, so that it can be restored; 0 where nothing is
    changed."""
    if impact == "read-only":
        return 0.0
    if "spare" not in profile.accounts:
        return RESTORING_SECONDS
    window = profile.limits.login_window or UNKNOWN_WINDOW
    if "spare" in by_authenticator(profile):
        return RESTORING_SECONDS + window + STEP
    return RESTORING_SECONDS + window + LIMITS.mfa_cooldown + by_mail(profile).get("spare", 0.0)


def factor_waits(profile: Profile) -> Iterator[str]:
    """What each sign-in may take beside, by the second factor: a code of an authenticator serves once, and a
    mail takes its time."""
    if accounts := by_authenticator(profile):
        until = f"waits up to {STEP} s more for a code of the authenticator that was not used yet"
        mailed = [name for name in accounts if profile.accounts[name].inbox is not None]
        instead = f"; a code is mailed to {_named(mailed)} instead of a longer wait" if mailed else ""
        yield f"{_named(accounts)} {until}{instead}"
    if timeouts := by_mail(profile):
        cooldown = f"{LIMITS.mfa_cooldown} s more where the target counts its cooldown by account"
        until = f"waits up to {max(timeouts.values()):g} s for its mailed code"
        yield f"{_named(timeouts)} {until}, and {cooldown}"


def _named(accounts: Iterable[str]) -> str:
    return ", ".join(f"[accounts.{name}]" for name in accounts)


CASE_SECONDS = 0.1
"""Seconds that are assumed of the requests of a case."""


def priorities(rows: Sequence[CaseRow], *, budget: float, window: float) -> dict[str, int]:
    """By case, a number that is the higher the sooner the case is to begin; none where the budget has time
    for all but the longest waits. ``window``: the seconds of the sign-in rate; 0 where time can be moved.

    Cases that only read come first; of them those whose wait has to begin early, and then those that decide
    the most rules for the seconds that they hold others up.
    """
    pauses = sum(row.pauses for row in rows) if window else 0.0
    if queue_seconds(rows, window) + pauses + CASE_SECONDS * len(rows) <= budget:
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
