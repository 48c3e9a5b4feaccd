"""Checks each part of a profile against its target, and names the cause of what does not work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from conformance.errors import ProfileError, TargetUnreachable, Untestable
from conformance.target.clock import Clock
from conformance.target.doctor.address import ACCESS_CODE, URL, check_access_code, check_address
from conformance.target.doctor.diagnosis import Check, Diagnosis
from conformance.target.doctor.parts import (
    check_accounts,
    check_bot_challenge,
    check_changes,
    check_inboxes,
    check_limits,
    check_operations,
    check_records,
    check_secure_channel,
    check_spent,
)
from conformance.target.portal import Portal, clock_of
from conformance.target.profile.model import Profile
from conformance.traffic.exchange import Exchange
from conformance.traffic.http_library import httpx
from conformance.traffic.redaction.redact import Secrets

__all__ = ["Diagnosis", "examine"]

CHECKS: Mapping[str, Check] = {
    "changes of earlier runs": check_changes,
    "the access code": check_access_code,
    "inboxes": check_inboxes,
    "accounts": check_accounts,
    "the secure channel": check_secure_channel,
    "the bot challenge": check_bot_challenge,
    "records": check_records,
    "bodies of operations": check_operations,
    "limits": check_limits,
    "what was spent": check_spent,
}
"""What follows the check of the address, by what is tried."""

GATES = (URL, ACCESS_CODE)
"""Where these are wrong, nothing behind them can be tried."""


def examine(
    profile: Profile,
    *,
    on_exchange: Callable[[Exchange], None] = lambda exchange: None,
    on_check: Callable[[str], None] = lambda part: None,
    handler: httpx.BaseTransport | None = None,
) -> list[Diagnosis]:
    """Tries each part of a profile once: at most one sign-in per account, and nothing that changes anything.

    Where the target does not answer as a portal, lets nothing in, or has no clock where the profile names
    one, the rest is not tried. ``on_check`` gets what is tried before it is. ``handler`` takes the place of
    the network.
    """
    diagnoses: list[Diagnosis] = []
    clock, secrets = _clock(profile, diagnoses), Secrets()

    def connect(other: Profile) -> Portal:
        return Portal.connect(
            other,
            impact="read-only",
            clock=clock or Clock(),
            secrets=secrets,
            on_exchange=on_exchange,
            handler=handler,
        )

    checks: Mapping[str, Check] = {"the address": partial(check_address, connect=connect)}
    if clock is not None:
        checks = {**checks, **CHECKS}
    try:
        with connect(profile) as portal:
            for part, check in checks.items():
                on_check(part)
                diagnoses.extend(_safely(check, portal, part))
                if any(row.part in GATES and row.state == "wrong" for row in diagnoses):
                    break
    except TargetUnreachable as gone:
        diagnoses.append(Diagnosis(URL, "wrong", str(gone), "environment"))
    return diagnoses


def _clock(profile: Profile, diagnoses: list[Diagnosis]) -> Clock | None:
    """The profile's clock; None where the one it names cannot be moved."""
    try:
        clock = clock_of(profile)
        if profile.clock.advance is not None:
            clock.now()
            diagnoses.append(Diagnosis("clock", "works", "the target's time can be advanced: no run waits"))
    except ProfileError as problem:
        diagnoses.append(Diagnosis("clock", "wrong", str(problem), "configuration"))
    except TargetUnreachable as problem:
        diagnoses.append(Diagnosis("clock", "wrong", str(problem), "environment"))
    else:
        return clock
    return None


def _safely(check: Check, portal: Portal, part: str) -> Iterator[Diagnosis]:
    """A check's findings; what keeps it from ending is one of them. The part stands before its message, which
    need not name it once more."""
    try:
        for row in check(portal):
            yield replace(row, message=row.message.removeprefix(f"[{row.part}]: "))
    except Untestable as reason:
        name = part.removeprefix("the ").replace(" ", "_")
        yield Diagnosis(name, "wrong", reason.reason, reason.fault_class)
