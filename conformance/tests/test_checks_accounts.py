"""The checks of ``conformance.checks.accounts``."""

from __future__ import annotations

import pytest

from conformance.checks.registry import CHECKS, Memory
from conformance.spec.endpoints import ACCOUNTS_QUERY, PROFILE, PROFILE_UPDATE, WORKSPACES_MINE
from conformance.tests.proof import Bound, Proof, Reading
from conformance.tests.traffic import account, account_page, answer, at, coded, judged, profile
from conformance.traffic.exchange import Exchange, Json


def accounts(*listed: Json, **filters: Json) -> Exchange:
    return answer(ACCOUNTS_QUERY, account_page(*listed), sent=filters)


BENEATH = account(bizId="account-3", institutionBizId="institution-2")
TENANT = account(bizId="account-2", accountPortal=coded("TENANT", 10010102))

BEFORE = {"updatedAt": at(days=1)}
NEW: dict[str, Json] = {"accountName": "Two", "accountPhone": "+1 555 0199"}


def read(**other: Json) -> Exchange:
    return profile(**{"updatedAt": at(), **other})


def updated(**other: Json) -> Exchange:
    return answer(PROFILE_UPDATE, account(**{"updatedAt": at(), **NEW, **other}), sent=NEW)


ZONE: dict[str, Json] = {"defaultTimezone": "Asia/Tokyo", "updatedAt": at()}
MOVED = answer(PROFILE_UPDATE, account(**ZONE), sent=ZONE)
ELSEWHERE, MASKED = {"X-Workspace-Id": "workspace-2"}, {"Authorization": "Bearer ********"}
ANOTHER = {"bizId": "account-2", "accountEmail": "another@example.test"}
STORED_IN_PART = [read(**BEFORE), updated(), read(accountName="Two")]

READ_BACK = [
    Proof("PROFILE-004", [read(**BEFORE), updated(), read(**NEW)], [read(**BEFORE), updated(), read()]),
    *(
        Proof("PROFILE-005", traced, STORED_IN_PART, silent=True)
        for traced in (
            [updated(), read()],
            [read(**BEFORE), updated(), read(**BEFORE)],
            [read(**BEFORE), updated(updatedAt=at(days=1)), read(**BEFORE)],
            [read(**BEFORE), updated(accountPhone="+1 555 01**"), read()],
            [read(accountPhone="+1 5** **00", **BEFORE), updated(), read(accountPhone="+1 5** **00")],
            [read(**BEFORE), updated(), read(accountPhone="+1 555 0177")],
            [read(**BEFORE), updated(), answer(PROFILE, account(updatedAt=at()), headers=ELSEWHERE)],
        )
    ),
]

PROOFS = [
    *READ_BACK,
    Proof("PROFILE-005", [read(**BEFORE), MOVED, read(**ZONE)], [read(**BEFORE), MOVED, read()]),
    Proof("PROFILE-002", profile(), profile(accountPortal=coded("TENANT", 10010102))),
    Proof("ACCOUNT-029", accounts(account(), BENEATH), accounts(account(), account())),
    Proof(
        "PROFILE-001",
        [
            profile(),
            profile(),
            answer(PROFILE, account(bizId="account-2"), headers={"Authorization": "Bearer another"}),
            answer(PROFILE, account(bizId="account-3"), headers={"x-workspace-id": "another"}),
            profile(bizId="account-1 written otherwise"),
            answer(PROFILE, account(), headers=MASKED),
            answer(PROFILE, account(**ANOTHER), headers=MASKED),
        ],
        [profile(), profile(**ANOTHER)],
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
        [],
    ),
    Proof(
        "ACCOUNT-022",
        [
            accounts(account(), institutionBizId="INSTITUTION-1"),
            accounts(account(), BENEATH),
            accounts(account(), BENEATH, institutionBizId="institution-1"),
            accounts(BENEATH, institutionBizId="institution-2"),
        ],
        [],
    ),
    Proof(
        "ACCOUNT-022",
        [accounts(account()), accounts(account(), institutionBizId="institution-1")],  # all are its own
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
            accounts(account(), email="@"),
            accounts(account(accountEmail="t***@example.test"), email="two"),
        ],
        accounts(account(), email="two"),
    ),
    Proof("ACCOUNT-044", [accounts(account(), email="ONE@"), accounts(account(), email=" two ")], []),
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


TIMES = ("ACCOUNT-014", "ACCOUNT-043", "ACCOUNT-015")


def written(time: str) -> list[Exchange]:
    """Accounts with a time written so, once as each of the two."""
    usual = {"createdAt": "2031-05-01T00:00:00.5Z", "updatedAt": "2031-05-01T00:00:00.5Z"}
    return [profile(**{**usual, name: f"2031-05-01T{time}"}) for name in usual]


MISWRITTEN = {"09:00:00.5+09:00": "ACCOUNT-014", "00:00:00.5": "ACCOUNT-043", "00:00:00Z": "ACCOUNT-015"}
BOUNDS = [
    *(
        Bound(
            "each time of an account is in UTC with its zone and fractions",
            rule,
            wrong=[one for time, broken in MISWRITTEN.items() if broken == rule for one in written(time)],
            lawful=[one for time, broken in MISWRITTEN.items() if broken != rule for one in written(time)]
            + [one for zone in ("Z", "z", "+0000", "+00", "-00:00") for one in written(f"00:00:00.5{zone}")]
            + [*written("00:00:00,5Z"), profile(createdAt="yesterday")],  # which is the shape's matter alone
        )
        for rule in TIMES
    )
]
READ = [
    Reading("workspaces-mine", answer(WORKSPACES_MINE, []), ["array of 0"]),
    Reading("workspaces-mine", answer(WORKSPACES_MINE, {"items": [], "total": 0}), [["items", "total"]]),
    Reading("workspaces-mine", answer(WORKSPACES_MINE, None), [None]),
]


def test_a_filter_names_both_sides_by_code_and_number() -> None:
    trace = [accounts(account(), accountStatus="REGISTERED"), accounts(account(), accountStatus=10010201)]
    finding = judged(*trace).findings[0]
    assert finding.message.endswith('expected REGISTERED (10010201), seen "ACTIVE (10010202)"')
