"""Profile settings that a case requires, and the text for a missing setting."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.spec import BY_KEY, IMPACTS, Impact
from conformance.target.profile.model import Profile
from conformance.target.profile.tables import AccountSettings
from conformance.verdicts.findings import SIMULATED

BESIDE_ADMIN = ("limited", "spare")
"""The accounts of which a case takes either where one account is not enough."""


def _is_mailed(account: AccountSettings | None) -> bool:
    return account is not None and account.inbox is not None and account.otp_secret is None


PARTS: Mapping[str, tuple[Callable[[Profile], bool], str]] = {
    "clock": (
        lambda profile: profile.clock.advance is not None,
        f"[clock] with advance, {SIMULATED}",
    ),
    "api_key": (
        lambda profile: profile.portal.api_key is not None,
        "api_key under [portal]",
    ),
    "bot_challenge": (
        lambda profile: profile.bot_challenge.token is not None,
        "[bot_challenge] with a token",
    ),
    "inboxes": (
        lambda profile: any(account.inbox for account in profile.accounts.values()),
        "[inboxes] table that an account names",
    ),
    "another_account": (
        lambda profile: not profile.accounts.keys().isdisjoint(BESIDE_ADMIN),
        "[accounts.limited] or [accounts.spare]",
    ),
    "otp": (
        lambda profile: any(account.otp_secret for account in profile.accounts.values()),
        "account with otp_secret",
    ),
    "mailed_spare": (
        lambda profile: _is_mailed(profile.accounts.get("spare")),
        "[accounts.spare] with an inbox and without otp_secret: an authenticator in use cannot be restored",
    ),
    "descriptions": (
        lambda profile: bool(profile.extend.descriptions),
        "[extend] with descriptions",
    ),
    "limits.login_window": (
        lambda profile: profile.limits.login_window is not None,
        "[limits] with login_window, in seconds",
    ),
}


def not_allowed(needed: Impact, allowed: Impact) -> str | None:
    """Why an impact that a run is allowed is not enough; None where it is."""
    if IMPACTS.index(needed) <= IMPACTS.index(allowed):
        return None
    return f"needs --impact {needed}; this run is allowed {allowed}"


def lacking(profile: Profile, part: str) -> str | None:
    """Says which setting a need misses in the profile; None if the profile meets the need.

    A part is ``accounts.NAME``, ``records.NAME``, the key of an operation (for its body), or one of PARTS.
    Raises ValueError where it is none of these: a mistake of the case's author.
    """
    if part in PARTS:
        met, what = PARTS[part]
        return None if met(profile) else f"the profile has no {what}"
    table, _, name = part.partition(".")
    if table == "accounts":
        return None if name in profile.accounts else f"the profile has no [accounts.{name}]"
    if table == "records":
        return None if getattr(profile.records, name) else f"the profile names no {name} under [records]"
    if part in BY_KEY:
        operation = profile.operations.get(part)
        return (
            None
            if operation is not None and operation.body is not None
            else f'the profile has no body under [operations."{part}"]'
        )
    raise ValueError(f"@mark.needs({part!r}): there is no such part of a profile")
