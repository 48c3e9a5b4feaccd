"""Which rules can be tested with a profile and an impact: by the cases that may run, and the checks and
readings that see what those send."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from conformance.checks import CHECKS, READINGS
from conformance.checks.registry import LEFT_TO_CASES
from conformance.judging.fields import requirements_of
from conformance.report.model.words import MUSTS
from conformance.run.needs import lacking, not_allowed
from conformance.spec import BY_KEY, IMPACTS, OPERATIONS, REQUIREMENTS, Impact, Operation
from conformance.spec import endpoints as op
from conformance.spec.resources import RESOURCES
from conformance.target.profile.model import Profile
from conformance.target.profile.tables import WAYS_IN

TESTABLE = frozenset(row.id for row in REQUIREMENTS.values() if row.can_hold)
"""The requirements of any level that can be seen from outside."""

FOLLOWS = {
    "CHANNEL-031": (op.CHANNEL_COMMAND_DEACTIVATE,),
    "IPWHITELIST-006": (op.IP_WHITELIST_SET,),
    "LOGOUT-003": (op.LOGOUT,),
    "MODEL-014": (op.PROFILE_UPDATE, op.LOGIN_MFA_SEND),
    "SESSION-031": (op.LOGOUT,),
    "TOKEN-011": (op.LOGOUT,),
    "TOKEN-012": (op.LOGOUT,),
}
"""Rules of what is seen elsewhere after a request to one of some endpoints; else nothing decides them."""

SUCCEEDS = {op.LOGIN_MFA_SEND: "LOGIN-022", op.LOGOUT: "LOGOUT-003", op.TOKEN_REFRESH: "TOKEN-010"}
"""A rule whose cases have an endpoint succeed, of those that the case of its offer only has refused."""

NEEDS = {
    "CONSTANT-065": "accounts.limited",
    "CONSTANT-072": "accounts.limited",
    "ERROR-005": "accounts.limited",
    "FILE-022": "api_key",
    "LOGIN-025": "inboxes",
    "LOGIN-028": "inboxes",
    "LOGIN-073": "inboxes",
    "OP-002": "inboxes",
    "OP-083": op.CHANNEL_CREATE,
    "SECURE-021": "clock",
    "SECURE-033": "clock",
}
"""What of the profile a rule cannot do without, where the case that decides it can. How long a secure channel
lasts is the target's choice, and usually longer than a run waits for its end."""

BY_REFUSAL = frozenset({"ORDER-028"})
"""Rules that a refusal decides, so that they need nothing that the endpoint needs to succeed."""


def reachable_musts(profile: Profile, impact: Impact, tried: Iterable[str]) -> frozenset[str]:
    """The musts that a run can test. ``tried``: the requirements of the cases that can be tried."""
    return reachable(profile, impact, tried).intersection(MUSTS)


def reachable(
    profile: Profile, impact: Impact, tried: Iterable[str], *, unreached: frozenset[str] = frozenset()
) -> frozenset[str]:
    """The requirements, of any level, that a run can test; ``tried`` as above, ``unreached`` are endpoints
    that it has no time for."""
    keys, declared = reachable_endpoints(profile, impact) - unreached, TESTABLE.intersection(tried)
    if "admin" not in profile.accounts:  # cases that name no account sign in with it
        operations = (REQUIREMENTS[rule].operations for rule in declared)
        keys &= {those[0] for those in operations if len(those) == 1}
    by_check = {rule for rule in TESTABLE if not KEYS_OF.get(rule, frozenset()).isdisjoint(keys)}
    shut = shut_endpoints(profile)
    possible = {rule for rule in declared | by_check if profile.accounts or _needs_no_token(rule)}
    missing = {rule for rule, any_of in FOLLOWS.items() if keys.isdisjoint(any_of)}
    missing |= {rule for rule, part in NEEDS.items() if lacking(profile, part) is not None}
    return frozenset(
        rule for rule in possible - missing if rule in BY_REFUSAL or not concerns_only(rule, shut)
    )


def _needs_no_token(rule: str) -> bool:
    """Whether a rule is about no endpoint in particular, or about one that asks for no token."""
    operations = REQUIREMENTS[rule].operations
    return not operations or any(BY_KEY[key].auth == "none" for key in operations)


def reachable_endpoints(profile: Profile, impact: Impact) -> frozenset[str]:
    if not any(name in profile.accounts for name in WAYS_IN):
        return frozenset()
    return frozenset(row.key for row in OPERATIONS if _is_reachable(row, profile, impact))


def shut_endpoints(profile: Profile) -> frozenset[str]:
    """The endpoints that read, and that the profile lacks what a request needs to succeed at."""
    return frozenset(row.key for row in OPERATIONS if row.impact == "read-only" and _is_shut(row, profile))


def concerns_only(rule: str, keys: frozenset[str]) -> bool:
    """Whether ``keys`` include every endpoint of a rule, and at least one."""
    operations = REQUIREMENTS[rule].operations
    return bool(operations) and keys.issuperset(operations)


def deciding(rules: Iterable[str], declared: Iterable[str]) -> frozenset[str]:
    """The rules whose cases decide some rules: themselves, and for those that checks alone decide, the rules
    of the endpoints whose answers the checks judge. ``declared``: the rules that cases decide.

    That an endpoint is offered no case need decide: then what else cases decide of it has it asked.
    """
    selected, with_cases = frozenset(rules), frozenset(declared)
    keys = {key for rule in selected - with_cases for key in KEYS_OF.get(rule, frozenset())}
    keys |= {key for rule in selected - with_cases for key in FOLLOWS.get(rule, ())}
    wanted = selected | {BY_KEY[key].requirement for key in keys}
    wanted |= {SUCCEEDS[key] for key in keys & SUCCEEDS.keys()}
    asked = {key for rule in wanted & with_cases for key in REQUIREMENTS[rule].operations}
    left = frozenset(keys - asked)
    return wanted | {rule for rule in with_cases if rule in REQUIREMENTS and concerns_only(rule, left)}


def _is_reachable(row: Operation, profile: Profile, impact: Impact) -> bool:
    if IMPACTS.index(row.impact) > IMPACTS.index(impact):
        return False
    is_unread = row.key == op.LOGIN_MFA_SEND and lacking(profile, "inboxes") is not None
    if is_unread or _is_shut(row, profile):
        return False
    body_unknown = bool({"N1", "N6"} & set(row.gaps))
    return not body_unknown or getattr(profile.operations.get(row.key), "body", None) is not None


def beyond(rule: str, impact: Impact) -> str | None:
    """Why an impact does not allow to test a rule: each of its endpoints needs more."""
    needed = [BY_KEY[key].impact for key in REQUIREMENTS[rule].operations if key in BY_KEY]
    return not_allowed(min(needed, key=IMPACTS.index, default=impact), impact)


def why_left(rule: str, profile: Profile, shut: frozenset[str]) -> str | None:
    """Why no runnable case decides a rule: its endpoints are ``shut``, or the profile lacks a setting."""
    if not concerns_only(rule, shut):
        return lacking(profile, NEEDS[rule]) if rule in NEEDS else None
    parts = (part for key in REQUIREMENTS[rule].operations for part in _opening(BY_KEY[key]))
    return next(why for part in parts if (why := lacking(profile, part)))


def _is_shut(row: Operation, profile: Profile) -> bool:
    """Whether the profile lacks what a request to the endpoint needs to succeed."""
    return any(lacking(profile, part) is not None for part in _opening(row))


def _opening(row: Operation) -> tuple[str, ...]:
    """What of the profile a request to an endpoint needs to succeed: a challenge, a file."""
    if row.bot_challenge or "/transfer/" in row.path:
        return ("bot_challenge",)
    return ("records.file",) if "fileBizId" in row.parameters else ()


def _keys() -> Mapping[str, frozenset[str]]:
    """By rule, the endpoints whose answers decide it."""
    keys_of: dict[str, set[str]] = {}
    topics = {row.reading: row for row in REQUIREMENTS.values() if row.reading}
    for reading in READINGS:
        row = topics[reading.key]
        keys_of.setdefault(row.id, set()).update(reading.on.keys.intersection(row.operations or BY_KEY))
    for check in CHECKS:
        if check.requirement in LEFT_TO_CASES:
            continue
        keys_of.setdefault(check.requirement, set()).update(check.on.keys & BY_KEY.keys())
    for operation in OPERATIONS:
        if operation.data is None:
            continue
        model = RESOURCES[operation.data.removesuffix("[]")]
        for requirement in (*requirements_of(model), f"OP-{operation.number:03}"):
            keys_of.setdefault(requirement, set()).add(operation.key)
    return {requirement: frozenset(keys) for requirement, keys in keys_of.items()}


KEYS_OF = _keys()
