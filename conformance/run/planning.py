"""Decides which cases can be tried, their order, and the waits of sign-ins."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping

import pytest

from conformance.run.catalogue import SHARING, CaseRow, row_of
from conformance.run.needs import lacking
from conformance.run.schedule import Planned
from conformance.spec import IMPACTS, Impact
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
    if IMPACTS.index(row.impact) > IMPACTS.index(impact):
        return f"needs --impact {row.impact}; this run is allowed {impact}"
    return next((why for part in row.needs if (why := lacking(profile, part))), None)


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


def by_either(profile: Profile) -> list[str]:
    """Accounts that sign in by an authenticator, or by mail rather than wait for a new authenticator code."""
    return [name for name in by_authenticator(profile) if profile.accounts[name].inbox is not None]


def code_seconds(profile: Profile, account: str) -> float:
    """The longest that a sign-in of an account waits for its code."""
    if account in by_authenticator(profile):
        return float(STEP)
    return LIMITS.mfa_cooldown + by_mail(profile).get(account, 0.0)


def restoring_seconds(profile: Profile, impact: Impact) -> float:
    """How much of a time budget a change of an account keeps, so that it can be restored; 0 where nothing is
    changed."""
    if impact == "read-only":
        return 0.0
    if "spare" not in profile.accounts:
        return RESTORING_SECONDS
    window = profile.limits.login_window or UNKNOWN_WINDOW
    return RESTORING_SECONDS + window + code_seconds(profile, "spare")


def factor_waits(profile: Profile) -> Iterator[str]:
    """What each sign-in may take beside, by the second factor: a code of an authenticator serves once, and a
    mail takes its time."""
    if accounts := by_authenticator(profile):
        until = f"waits up to {STEP} s more for a code of the authenticator that was not used yet"
        mailed = [name for name in by_either(profile) if name in accounts]
        instead = f"; a code is mailed to {_named(mailed)} instead of a longer wait" if mailed else ""
        yield f"{_named(accounts)} {until}{instead}"
    if timeouts := by_mail(profile):
        cooldown = f"{LIMITS.mfa_cooldown} s more where the target counts its cooldown by account"
        until = f"waits up to {max(timeouts.values()):g} s for its mailed code"
        yield f"{_named(timeouts)} {until}, and {cooldown}"


def _named(accounts: Iterable[str]) -> str:
    return ", ".join(f"[accounts.{name}]" for name in accounts)
