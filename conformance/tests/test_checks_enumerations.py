"""The checks of ``conformance.checks.enumerations``, for every state and constants list."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.checks.enumerations import STATE_FIELDS
from conformance.spec import CONSTANT_LISTS, REQUIREMENTS
from conformance.spec import endpoints as op
from conformance.spec.tables import CONSTANTS, STATES
from conformance.tests.proof import Bound, Proof, Reading
from conformance.tests.traffic import (
    account,
    answer,
    channel_type,
    coded,
    institution,
    invitation,
    ledger_of,
    mfa_setting,
    page,
    role,
    roles,
    workspace,
)
from conformance.traffic.exchange import Exchange, Json

COUNTRIES, WALLETS, CHANNELS = "countries", "wallet-statuses", "notification-channel-statuses"

EXTRA: Mapping[str, Mapping[str, Json]] = {
    "countries": {"alpha2Code": "CN", "alpha3Code": "CHN", "numericCode": 156, "phoneCode": "+86"},
    "timezones": {"zoneIdCode": "UTC", "utcOffset": "+00:00"},
    "us-states": {"isoCode": "AL"},
}


def items(suffix: str) -> list[dict[str, Json]]:
    return [coded(code, value, **EXTRA.get(suffix, {})) for code, value in CONSTANTS[suffix].items()]


def constants(suffix: str, listed: list[dict[str, Json]]) -> Exchange:
    return answer(f"GET /web/v1/system/constants/{suffix}", listed)


def all_of(suffix: str) -> Exchange:
    return constants(suffix, items(suffix))


def with_status(field: str, entry: dict[str, Json]) -> Exchange:
    return {
        "accountStatus": answer(op.PROFILE, account(accountStatus=entry)),
        "institutionStatus": answer(op.INSTITUTION, institution(institutionStatus=entry)),
        "workspaceStatus": answer(op.WORKSPACES_CURRENT, workspace(workspaceStatus=entry)),
        "invitationStatus": answer(op.OWN_INVITATIONS, [invitation(invitationStatus=entry, canAccept=False)]),
        "typeStatus": answer(op.CHANNEL_TYPES_QUERY, page(channel_type(typeStatus=entry))),
    }[field]


STATE_PROOFS = [
    Proof(
        requirement, with_status(field, coded(code, float(value))), with_status(field, coded(code, value + 7))
    )
    for field, (requirement, family) in STATE_FIELDS.items()
    for code, value in STATES[family].items()
]

OTHER_STATES = [
    Proof(
        requirement,
        with_status(field, coded("SUSPENDED", 4711)),
        with_status(field, coded("SUSPENDED", next(iter(STATES[family].values())))),
        silent=True,
    )
    for field, (requirement, family) in STATE_FIELDS.items()
]

LIST_PROOFS = [
    proof
    for suffix in CONSTANTS
    for proof in (
        Proof(
            CONSTANT_LISTS[suffix].values,
            constants(suffix, [*items(suffix), coded("NEW", 1, **EXTRA.get(suffix, {}))]),
            [],
        ),
        Proof(CONSTANT_LISTS[suffix].presence, constants(suffix, list(reversed(items(suffix)))), []),
    )
]


def of_portal(code: str, value: int) -> Exchange:
    return answer(op.PROFILE, account(accountPortal=coded(code, value)))


def of_role(code: str, value: int, **other: Json) -> Exchange:
    return roles(role(roleType=coded(code, value, **other)))


OWN: list[dict[str, Json]] = [
    {"alpha2Code": "CN", "alpha3Code": "CHN", "numericCode": 156},
    {"alpha2Code": "JP", "alpha3Code": "JPN", "numericCode": 392},
]
"""What tells one country from another."""

PROOFS = [
    Proof("ENUM-005", [of_portal("SYSTEM", 10010101), of_portal("TENANT", 5)], of_portal("SYSTEM", 10010102)),
    Proof("ENUM-006", [of_portal("SYSTEM", 10010101), of_portal("OTHER", 5)], of_portal("ROOT", 10010101)),
    Proof("ENUM-010", [roles(role()), of_role("GUEST", 5)], of_role("OWNER", 10010902)),
    Proof("ENUM-011", roles(role(), role(roleType=coded("GUEST", 5))), of_role("BOSS", 10010901)),
    Proof(
        "ENUM-009",
        [of_role("GUEST", 5), answer(op.PROFILE, account()), of_role("OWNER", 10010901), of_role("OWNER", 6)],
        [of_role("GUEST", 5), of_role("GUEST", 6)],
    ),
    *STATE_PROOFS,
    *OTHER_STATES,
    *LIST_PROOFS,
    Proof(
        "CONSTANT-069",
        constants(COUNTRIES, [item | extras for item, extras in zip(items(COUNTRIES), OWN, strict=False)]),
        constants(COUNTRIES, [item | OWN[0] for item in items(COUNTRIES)[:2]]),
    ),
    Proof("STATE-005", all_of(CHANNELS), constants(CHANNELS, [coded("ACTIVE", 7)])),
    Proof("CONSTANT-062", all_of(WALLETS), constants(WALLETS, [coded("", 1), coded("", 2)])),
    Proof("CONSTANT-064", [all_of(WALLETS), constants(WALLETS, items(WALLETS)[::-1])], []),
]

BOUNDS = [
    Bound(
        "a list whose items lack their codes is the shape checks' matter alone",
        " ".join(rule for rule in REQUIREMENTS if rule >= "CONSTANT-020"),
        lawful=[constants(suffix, [{"label": "?"}]) for suffix in CONSTANT_LISTS],
    ),
    Bound(
        "an enumeration of another field is none of the known",
        "",
        lawful=[answer(op.MFA, [mfa_setting(origin=coded("EMAIL", 5))])],
    ),
]
READ = [
    *(
        Reading(
            "further-states",
            with_status(field, coded("SUSPENDED", 4711)),
            [{"field": field, "code": "SUSPENDED", "value": 4711}],
        )
        for field in STATE_FIELDS
    )
]


def test_of_two_values_of_a_code_both_places_are_named_and_neither_is_accused() -> None:
    first = answer(op.ROLE, role(bizId="ROLE-1", roleType=coded("GUEST", 5)))

    (odd,) = [row for row in ledger_of(first, of_role("GUEST", 6)).findings if row.requirement == "ENUM-009"]

    assert odd.other is not None
    assert (odd.endpoint, odd.path, odd.actual) == (op.ROLES, "data[0].roleType.value", 6)
    assert (odd.other.endpoint, odd.other.record, odd.expected) == (op.ROLE, "ROLE-1", 5)
    assert odd.message == f"GUEST has the value 6 here, and 5 at {op.ROLE} (exchange {first.n})"
