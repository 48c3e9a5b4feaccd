"""The checks of ``conformance.checks.enumerations``, for every state and constants list."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.checks.enumerations import STATE_FIELDS
from conformance.spec import CONSTANT_LISTS
from conformance.spec.endpoints import (
    CHANNEL_TYPES_QUERY,
    INSTITUTION,
    MFA,
    OWN_INVITATIONS,
    PROFILE,
    ROLES,
    WORKSPACES_CURRENT,
)
from conformance.spec.tables import CONSTANTS, STATES
from conformance.tests.proof import Proof
from conformance.tests.traffic import (
    account,
    answer,
    channel_type,
    coded,
    contradicted_by,
    institution,
    invitation,
    mfa_setting,
    observed,
    page,
    role,
    verdict_on,
    workspace,
)
from conformance.traffic.exchange import Exchange, Json
from conformance.verdicts.findings import Verdict

COUNTRIES = "countries"

EXTRA: Mapping[str, Mapping[str, Json]] = {
    "countries": {"alpha2Code": "CN", "alpha3Code": "CHN", "numericCode": 156, "phoneCode": "+86"},
    "timezones": {"zoneIdCode": "UTC", "utcOffset": "+00:00"},
    "us-states": {"isoCode": "AL"},
}


def items(suffix: str) -> list[dict[str, Json]]:
    return [coded(code, value, **EXTRA.get(suffix, {})) for code, value in CONSTANTS[suffix].items()]


def constants(suffix: str, listed: list[dict[str, Json]]) -> Exchange:
    return answer(f"GET /web/v1/system/constants/{suffix}", listed)


def with_status(field: str, entry: dict[str, Json]) -> Exchange:
    return {
        "accountStatus": answer(PROFILE, account(accountStatus=entry)),
        "institutionStatus": answer(INSTITUTION, institution(institutionStatus=entry)),
        "workspaceStatus": answer(WORKSPACES_CURRENT, workspace(workspaceStatus=entry)),
        "invitationStatus": answer(OWN_INVITATIONS, [invitation(invitationStatus=entry, canAccept=False)]),
        "typeStatus": answer(CHANNEL_TYPES_QUERY, page(channel_type(typeStatus=entry))),
    }[field]


STATE_PROOFS = [
    Proof(
        requirement, with_status(field, coded(code, float(value))), with_status(field, coded(code, value + 7))
    )
    for field, (requirement, family) in STATE_FIELDS.items()
    for code, value in STATES[family].items()
]

LIST_PROOFS = [
    proof
    for suffix, family in CONSTANTS.items()
    for proof in (
        Proof(
            CONSTANT_LISTS[suffix].values,
            constants(suffix, [*items(suffix), coded("NEW", 1, **EXTRA.get(suffix, {}))]),
            constants(
                suffix, [{**items(suffix)[0], "value": next(iter(family.values())) + 1}, *items(suffix)[1:]]
            ),
        ),
        Proof(
            CONSTANT_LISTS[suffix].presence,
            constants(suffix, list(reversed(items(suffix)))),
            constants(suffix, items(suffix)[1:]),
        ),
    )
]


def of_portal(code: str, value: int) -> Exchange:
    return answer(PROFILE, account(accountPortal=coded(code, value)))


OWN: list[dict[str, Json]] = [
    {"alpha2Code": "CN", "alpha3Code": "CHN", "numericCode": 156},
    {"alpha2Code": "JP", "alpha3Code": "JPN", "numericCode": 392},
]
"""What tells one country from another."""

PROOFS = [
    Proof("ENUM-005", [of_portal("SYSTEM", 10010101), of_portal("TENANT", 5)], of_portal("SYSTEM", 10010102)),
    Proof("ENUM-006", [of_portal("SYSTEM", 10010101), of_portal("OTHER", 5)], of_portal("ROOT", 10010101)),
    Proof(
        "ENUM-010",
        [answer(ROLES, [role()]), answer(ROLES, [role(roleType=coded("GUEST", 5))])],
        answer(ROLES, [role(roleType=coded("OWNER", 10010902))]),
    ),
    Proof(
        "ENUM-011",
        answer(ROLES, [role(), role(roleType=coded("GUEST", 5))]),
        answer(ROLES, [role(roleType=coded("BOSS", 10010901))]),
    ),
    Proof(
        "ENUM-009",
        [answer(ROLES, [role(roleType=coded("GUEST", 5))]), answer(PROFILE, account())],
        [
            answer(ROLES, [role(roleType=coded("GUEST", 5))]),
            answer(ROLES, [role(roleType=coded("GUEST", 6))]),
        ],
    ),
    *STATE_PROOFS,
    Proof(
        "STATE-005",
        constants("notification-channel-statuses", items("notification-channel-statuses")),
        constants("notification-channel-statuses", [coded("ACTIVE", 80010202), coded("INACTIVE", 80010201)]),
    ),
    Proof(
        "STATE-008",
        constants("user-permission-statuses", items("user-permission-statuses")),
        constants("user-permission-statuses", [coded("ACTIVE", 13010299)]),
    ),
    *LIST_PROOFS,
    Proof(
        "CONSTANT-062",
        constants("wallet-statuses", items("wallet-statuses")),
        constants("wallet-statuses", [*items("wallet-statuses"), coded("ACTIVE", 35010101)]),
    ),
    Proof(
        "CONSTANT-069",
        constants(COUNTRIES, [item | extras for item, extras in zip(items(COUNTRIES), OWN, strict=False)]),
        constants(COUNTRIES, [item | OWN[0] for item in items(COUNTRIES)[:2]]),
    ),
    Proof(
        "CONSTANT-063",
        constants(COUNTRIES, items(COUNTRIES)),
        constants(COUNTRIES, [{**items(COUNTRIES)[0], "alpha3Code": "CN"}, *items(COUNTRIES)[1:]]),
    ),
    Proof(
        "CONSTANT-064",
        [
            constants("wallet-statuses", items("wallet-statuses")),
            constants("wallet-statuses", items("wallet-statuses")[::-1]),
        ],
        [constants("wallet-statuses", items("wallet-statuses")), constants("wallet-statuses", [])],
    ),
]


@pytest.mark.parametrize("field, rule", STATE_FIELDS.items())
def test_a_state_beyond_those_listed_is_read_and_not_held_against_anybody(
    field: str, rule: tuple[str, str]
) -> None:
    seen = with_status(field, coded("SUSPENDED", 4711))
    assert verdict_on(rule[0], [seen]) is Verdict.UNTESTED
    assert observed("further-states", seen) == [{"field": field, "code": "SUSPENDED", "value": 4711}]


@pytest.mark.parametrize("field, rule", STATE_FIELDS.items())
def test_a_value_that_belongs_to_another_state_is_found(field: str, rule: tuple[str, str]) -> None:
    value = next(iter(STATES[rule[1]].values()))
    assert verdict_on(rule[0], [with_status(field, coded("SUSPENDED", value))]) is Verdict.FAIL


@pytest.mark.parametrize("suffix", CONSTANT_LISTS)
def test_a_list_whose_items_lack_their_codes_is_the_shape_checks_matter_alone(suffix: str) -> None:
    listed = constants(suffix, [{"label": "?"}])
    assert not {id for id in contradicted_by(listed) if id >= "CONSTANT-020"}


@pytest.mark.parametrize("label, form", [("Owner", "display text"), ("role.type.owner", "translation key")])
def test_the_form_of_labels_is_read(label: str, form: str) -> None:
    assert observed("label-form", answer(ROLES, [role(roleType=coded("OWNER", 10010901, label=label))])) == [
        form
    ]


def test_an_enumeration_of_another_field_is_none_of_the_known() -> None:
    stranger = mfa_setting(origin=coded("EMAIL", 5))
    assert not contradicted_by(answer(MFA, [stranger]))
