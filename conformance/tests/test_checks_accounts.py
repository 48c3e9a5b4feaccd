"""The checks of ``conformance.checks.accounts``."""

from __future__ import annotations

import pytest

from conformance.checks.registry import CHECKS, Memory
from conformance.spec.endpoints import ACCOUNTS_QUERY, PROFILE, PROFILE_UPDATE, WORKSPACES_MINE
from conformance.tests.proof import Proof
from conformance.tests.traffic import (
    account,
    account_page,
    answer,
    at,
    coded,
    contradicted_by,
    judged,
    observed,
)
from conformance.traffic.exchange import Exchange, Json


def accounts(*listed: Json, **filters: Json) -> Exchange:
    return answer(ACCOUNTS_QUERY, account_page(*listed), sent=filters)


BENEATH = account(bizId="account-3", institutionBizId="institution-2")
TENANT = account(bizId="account-2", accountPortal=coded("TENANT", 10010102))

BEFORE = {"updatedAt": at(days=1)}
NEW: dict[str, Json] = {"accountName": "Two", "accountPhone": "+1 555 0199"}


def read(**other: Json) -> Exchange:
    return answer(PROFILE, account(**{"updatedAt": at(), **other}))


def updated(**other: Json) -> Exchange:
    return answer(PROFILE_UPDATE, account(**{"updatedAt": at(), **NEW, **other}), sent=NEW)


STORED_IN_PART = [read(**BEFORE), updated(), read(accountName="Two")]

READ_BACK = [
    Proof("PROFILE-004", [read(**BEFORE), updated(), read(**NEW)], [read(**BEFORE), updated(), read()]),
    Proof("PROFILE-005", [read(**BEFORE), updated(), read(**NEW)], STORED_IN_PART),
    *(
        Proof("PROFILE-005", traced, STORED_IN_PART, silent=True)
        for traced in (
            [updated(), read()],
            [read(**BEFORE), updated(), read(**BEFORE)],
            [read(**BEFORE), updated(updatedAt=at(days=1)), read(**BEFORE)],
            [read(**BEFORE), updated(accountPhone="+1 555 01**"), read()],
            [read(accountPhone="+1 5** **00", **BEFORE), updated(), read(accountPhone="+1 5** **00")],
            [read(**BEFORE), updated(), read(accountPhone="+1 555 0177")],
            [
                read(**BEFORE),
                updated(),
                answer(PROFILE, account(updatedAt=at()), headers={"X-Workspace-Id": "workspace-2"}),
            ],
        )
    ),
]

PROOFS = [
    *READ_BACK,
    Proof(
        "ACCOUNT-014",
        [
            answer(PROFILE, account(createdAt="2031-05-01T00:00:00.000+00:00")),
            answer(PROFILE, account(createdAt="2031-05-01T00:00:00.000")),
        ],
        answer(PROFILE, account(createdAt="2031-05-01T09:00:00.000+09:00")),
    ),
    Proof(
        "ACCOUNT-043",
        answer(PROFILE, account(createdAt="2031-05-01T09:00:00.000+09:00")),
        answer(PROFILE, account(createdAt="2031-05-01T00:00:00.000")),
    ),
    Proof(
        "ACCOUNT-015",
        answer(PROFILE, account(createdAt="2031-05-01T00:00:00.1Z")),
        answer(PROFILE, account(createdAt="2031-05-01T00:00:00Z")),
    ),
    Proof(
        "ACCOUNT-016",
        answer(PROFILE, account(createdAt=at(days=1), updatedAt=at(days=1))),
        accounts(account(), account(createdAt=at(days=1), updatedAt=at(days=2))),
    ),
    Proof(
        "PROFILE-001",
        [
            answer(PROFILE, account()),
            answer(PROFILE, account()),
            answer(PROFILE, account(bizId="account-2"), headers={"Authorization": "Bearer another"}),
            answer(PROFILE, account(bizId="account-3"), headers={"x-workspace-id": "another"}),
            answer(PROFILE, account(bizId="account-1 written otherwise")),
            answer(PROFILE, account(), headers={"Authorization": "Bearer ********"}),
            answer(
                PROFILE,
                account(bizId="account-2", accountEmail="another@example.test"),
                headers={"Authorization": "Bearer ********"},
            ),
        ],
        [
            answer(PROFILE, account()),
            answer(PROFILE, account(bizId="account-2", accountEmail="another@example.test")),
        ],
    ),
    Proof(
        "ACCOUNT-020",
        [
            accounts(account(), accountStatus="10010202"),
            accounts(account(), accountStatus=""),
            accounts(account(), accountStatus="REGISTERED"),
            accounts(accountStatus="10010201"),
        ],
        [accounts(account(), accountStatus="REGISTERED"), accounts(account(), accountStatus=10010201)],
    ),
    Proof(
        "ACCOUNT-020",
        [accounts(account()), accounts(account(), accountStatus=10010202)],  # all are of that state anyway
        [accounts(account(), accountStatus="REGISTERED"), accounts(account(), accountStatus=10010201)],
        silent=True,
    ),
    Proof(
        "ACCOUNT-021",
        [
            accounts(account(), accountPortal=10010101),
            accounts(TENANT, accountPortal=10010102),
            accounts(account(), TENANT),
            accounts(account(), TENANT, accountPortal="SYSTEM"),
            accounts(account(), TENANT),
        ],
        [
            accounts(account(), TENANT, TENANT),
            accounts(account(), TENANT, accountPortal="SYSTEM"),
            accounts(account(), TENANT, TENANT),
        ],
    ),
    Proof(
        "ACCOUNT-022",
        [
            accounts(account(), institutionBizId="INSTITUTION-1"),
            accounts(account(), BENEATH),
            accounts(account(), BENEATH, institutionBizId="institution-1"),
            accounts(BENEATH, institutionBizId="institution-2"),
        ],
        [
            accounts(account(), BENEATH),
            accounts(account(), BENEATH, institutionBizId="institution-1"),
            accounts(account(), BENEATH, institutionBizId="institution-2"),
        ],
    ),
    Proof(
        "ACCOUNT-022",
        [
            accounts(account()),
            accounts(account(), institutionBizId="institution-1"),
        ],  # all are its own anyway
        [
            accounts(account()),
            accounts(account(), institutionBizId="unknown-1"),
            accounts(account(), institutionBizId="unknown-2"),
        ],
        silent=True,
    ),
    Proof(
        "ACCOUNT-023",
        [
            accounts(account(), email="ONE@"),
            accounts(account(), email="two@example.test"),
            accounts(account(accountEmail="t***@example.test"), email="two"),
        ],
        accounts(account(), email="two"),
    ),
    Proof(
        "ACCOUNT-044",
        [accounts(account(), email="ONE@"), accounts(account(), email=" two ")],
        accounts(account(), email="two@example.test"),
    ),
    Proof(
        "ACCOUNT-024",
        [
            accounts(account(), name="on"),
            accounts(account(accountName="José One"), name="jose two"),
            accounts(account(accountName="Jose One"), name="JOSÉ"),
        ],
        accounts(account(), name="two"),
    ),
    Proof(
        "PROFILE-002",
        answer(PROFILE, account()),
        answer(PROFILE, account(accountPortal=coded("TENANT", 10010102))),
    ),
    Proof(
        "PROFILE-003",
        [
            answer(PROFILE_UPDATE, account(accountName="Two"), sent={"accountName": "Two"}),
            answer(PROFILE_UPDATE, account(accountName="Two"), sent={"accountName": "  Two "}),
            answer(PROFILE_UPDATE, account(accountName="José Two"), sent={"accountName": "jose\u0301  two"}),
        ],
        answer(PROFILE_UPDATE, account(accountName="One"), sent={"accountName": "Two"}),
    ),
]


@pytest.mark.parametrize("requirement", ["PROFILE-004", "PROFILE-005"])
def test_what_is_remembered_of_a_profile_are_the_compared_fields_and_no_exchange(requirement: str) -> None:
    check = next(each for each in CHECKS if each.requirement == requirement)
    memory = Memory()
    for exchange in (read(accountRemark="A long remark"), updated(accountRemark="A long remark")):
        list(check(exchange, memory))

    assert len(memory) == 1
    assert "A long remark" not in repr(memory)


@pytest.mark.parametrize("name", ["createdAt", "updatedAt"])
@pytest.mark.parametrize(
    ("time", "contradicts"),
    [
        ("2031-05-01T00:00:00.5Z", set()),
        ("2031-05-01T00:00:00.5z", set()),
        ("2031-05-01T00:00:00.5+0000", set()),
        ("2031-05-01T00:00:00.5+00", set()),
        ("2031-05-01T00:00:00.5-00:00", set()),
        ("2031-05-01T00:00:00,5Z", set()),
        ("2031-05-01T09:00:00.5+09:00", {"ACCOUNT-014"}),
        ("2031-05-01T00:00:00.5", {"ACCOUNT-043"}),
        ("2031-05-01T00:00:00Z", {"ACCOUNT-015"}),
    ],
)
def test_each_time_of_an_account_is_in_utc_with_its_zone_and_fractions(
    name: str, time: str, contradicts: set[str]
) -> None:
    both = {"createdAt": "2031-05-01T00:00:00.5Z", "updatedAt": "2031-05-01T00:00:00.5Z", name: time}

    found = contradicted_by(answer(PROFILE, account(**both)))

    assert found & {"ACCOUNT-014", "ACCOUNT-015", "ACCOUNT-043"} == contradicts


def test_a_time_that_is_none_is_the_shape_checks_matter_alone() -> None:
    assert contradicted_by(answer(PROFILE, account(createdAt="yesterday"))) == {"ACCOUNT-009"}


@pytest.mark.parametrize(
    "data, form", [([], "array of 0"), ({"items": [], "total": 0}, ["items", "total"]), (None, None)]
)
def test_the_form_of_the_callers_workspaces_is_read(data: Json, form: Json) -> None:
    assert observed("workspaces-mine", answer(WORKSPACES_MINE, data)) == [form]


def test_a_filter_names_both_sides_by_code_and_number() -> None:
    trace = [accounts(account(), accountStatus="REGISTERED"), accounts(account(), accountStatus=10010201)]
    finding = judged(*trace).findings[0]
    assert finding.message.endswith('expected REGISTERED (10010201), seen "ACTIVE (10010202)"')
