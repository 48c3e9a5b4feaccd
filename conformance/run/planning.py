"""The marks of a case, read; which cases can be tried, what each costs, and how long the run will take."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import cast

import pytest

from conformance.run.needs import lacking
from conformance.run.schedule import Planned
from conformance.spec import IMPACTS, Impact
from conformance.spec.tables import LIMITS
from conformance.target.portal import RESTORING_SECONDS
from conformance.target.profile.authenticator import STEP
from conformance.target.profile.model import Profile
from conformance.target.profile.tables import ACCOUNTS, FixedInbox

UNKNOWN_WINDOW = 60.0
"""Seconds that are assumed of the window of the sign-in rate where the profile does not say it."""

SHARING = ("admin", "spare", "limited")
"""The accounts whose session is begun by the first case that uses it, and shared by the others."""


def ids_of(item: pytest.Item) -> tuple[str, ...]:
    """The requirements that a case declares."""
    return tuple(str(one) for mark in item.iter_markers("requirement") for one in mark.args)


def needs_of(item: pytest.Item) -> tuple[str, ...]:
    """What of the profile a case cannot do without: by its mark, and the accounts that are its arguments."""
    marked = [str(part) for mark in item.iter_markers("needs") for part in mark.args]
    names = getattr(item, "fixturenames", ())
    return tuple(dict.fromkeys([*marked, *(f"accounts.{name}" for name in ACCOUNTS if name in names)]))


def impact_of(item: pytest.Item) -> Impact:
    """The most that a case does to the target."""
    mark = item.get_closest_marker("impact")
    return cast(Impact, mark.args[0]) if mark else "read-only"


def sign_ins_of(item: pytest.Item) -> int:
    """How many sign-ins a case begins of its own."""
    mark = item.get_closest_marker("sign_ins")
    return int(mark.args[0]) if mark else 0


def shares_of(item: pytest.Item) -> tuple[int, int]:
    """How many login sessions of others a case can go on with, and how many it leaves to others."""
    mark = item.get_closest_marker("sign_ins")
    return (mark.kwargs.get("reuses", 0), mark.kwargs.get("leaves", 0)) if mark else (0, 0)


def shared_by(item: pytest.Item) -> tuple[str, ...]:
    """The accounts whose sessions a case shares with others."""
    return tuple(name for name in SHARING if name in getattr(item, "fixturenames", ()))


def waits_of(item: pytest.Item) -> float:
    """How many seconds a case says that it waits; 0 where it does not say."""
    mark = item.get_closest_marker("waits")
    return float(mark.args[0]) if mark else 0.0


def pauses_of(item: pytest.Item) -> float:
    """How many seconds a case says that it waits in itself, while no other runs."""
    mark = item.get_closest_marker("pauses")
    return float(mark.args[0]) if mark else 0.0


def after_waits_of(item: pytest.Item) -> tuple[str, ...]:
    """The requirements that a case decides only after it has waited."""
    mark = item.get_closest_marker("waits")
    return tuple(mark.kwargs.get("then", ())) if mark else ()


def in_words(case: str) -> str:
    """What the id of a case says: ``a login session lives as long as stated``."""
    return case.rpartition("::")[2].removeprefix("test_").replace("_", " ")


def is_generator(item: pytest.Item) -> bool:
    """Whether a case waits while others run."""
    return inspect.isgeneratorfunction(getattr(item, "obj", None))


def why_not(item: pytest.Item, profile: Profile, impact: Impact) -> str | None:
    """Why a case cannot be tried; None where it can."""
    wanted = impact_of(item)
    if IMPACTS.index(wanted) > IMPACTS.index(impact):
        return f"needs --impact {wanted}; this run is allowed {impact}"
    return next((why for part in needs_of(item) if (why := lacking(profile, part))), None)


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
    for item in sorted(items, key=lambda item: (-first.get(item.nodeid, 0), -waits_of(item))):
        if why_not(item, profile, impact) is not None:
            cases.append(Planned(item))
            continue
        begun = unused.intersection(shared_by(item))
        unused -= begun
        cases.append(replace(_planned(item, len(begun)), priority=first.get(item.nodeid, 0)))
    return cases


def _planned(item: pytest.Item, shared: int) -> Planned[pytest.Item]:
    reuses, leaves = shares_of(item)
    begun = sign_ins_of(item) + shared
    return Planned(item, begun, reuses=reuses, leaves=leaves, waits=is_generator(item), first=shared > 0)


def by_authenticator(profile: Profile) -> list[str]:
    """The accounts that sign in by an authenticator."""
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
    """The accounts that sign in by an authenticator, and by a mailed code where one of the authenticator
    would have to be waited for."""
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
