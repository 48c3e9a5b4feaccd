"""The checks of ``conformance.checks.model``: what several answers say of the same thing."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from conformance.checks.model.agreement import LISTED, PLACES_KEPT, VIEWERS_KEPT, are_different
from conformance.checks.registry import CHECKS, Memory
from conformance.spec import endpoints as op
from conformance.tests.proof import Bound, Proof
from conformance.tests.traffic import (
    NOW,
    account,
    account_page,
    answer,
    at,
    channel,
    coded,
    contradicted_by,
    envelope,
    invitation,
    judged,
    page,
    role,
    workspace,
)
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.verdicts.findings import OtherPlace, endpoint_of

Shown = tuple[str, Json]


def read(n: int, key: str, data: Json, *, seconds: float | None = None, **other: Json) -> Exchange:
    """The numbered exchange of a trace, a second after the one before."""
    later = timedelta(seconds=n if seconds is None else seconds)
    return answer(key, data, n=n, started=NOW + later, **other)


def amid(around: Shown, shown: Shown, **asked: Json) -> list[Exchange]:
    """An answer between two equal ones; each is an endpoint with its data."""
    sent: Json = {} if "sent" in asked else ABSENT
    return [read(1, *around, sent=sent), read(2, *shown, **asked), read(3, *around, sent=sent)]


def profile(n: int, **other: Json) -> Exchange:
    return read(n, op.PROFILE, account(**other))


def detail(n: int, **other: Json) -> Exchange:
    return read(n, op.ACCOUNT, account(**other), userBizId="account-1")


def listed(n: int, *records: Json, **sent: Json) -> Exchange:
    return read(n, op.CHANNELS_QUERY, page(*records), sent=sent)


def days_ago(days: int) -> int:
    """A time in epoch milliseconds."""
    return int((NOW - timedelta(days=days)).timestamp() * 1000)


def of_version(version: Json) -> Exchange:
    return answer(op.PUBLIC_KEY, body=envelope(data={"key": "x"}, version=version))


def accounts(n: int, *records: Json, sent: Json = None, **counts: Json) -> Exchange:
    return read(n, op.ACCOUNTS_QUERY, account_page(*records, **counts), sent={} if sent is None else sent)


def accounts_on(n: int, number: int, length: int) -> Exchange:
    """A page of the account query that counts 21 accounts, 20 on a page."""
    records = [account(bizId=f"account-{index}") for index in range(length)]
    return accounts(n, *records, sent={"page": number}, totalElements=21, totalPages=2, currentPage=number)


def stamped(n: int, ahead: float, key: str = op.ACCOUNTS_QUERY) -> Exchange:
    """An answer whose timestamp is so many seconds ahead of the sender's clock."""
    moment = int((NOW + timedelta(seconds=n + ahead)).timestamp() * 1000)
    return read(n, key, None, body=envelope(data=account_page(), timestamp=moment), sent={})


def frozen(n: int, ahead: float) -> Exchange:
    return stamped(n, ahead, key=op.CHANNELS_QUERY)


def of_no_time(exchange: Exchange) -> Exchange:
    """Without a timestamp, so that only the sender's clock tells when it was."""
    return answer(op.PROFILE, body=envelope(data=exchange.data, timestamp=ABSENT))


def invited(n: int, **other: Json) -> Exchange:
    return read(n, op.OWN_INVITATIONS, [invitation(**other)])


def state(code: str, value: int, **other: Json) -> dict[str, Json]:
    return {"accountStatus": coded(code, value, **other)}


def config(**fields: Json) -> Shown:
    return op.CHANNELS_QUERY, page(channel(emailConfig=fields))


ROLE_LISTED: Shown = (op.ROLES, [role()])
CHANNEL: Shown = (op.CHANNELS_QUERY, page(channel()))
PLACES = read(1, op.WORKSPACES_MINE, [workspace(), workspace(bizId="workspace-9", workspaceName="Elsewhere")])
KIM, LEE = account(bizId="account-3", accountName="Kim"), account(bizId="account-4", accountName="Lee")
INVITER = read(3, op.INVITATIONS, [invitation(inviterBizId="account-4", inviterName="Kim")])
STATES = read(1, op.USER_ACCOUNT_STATUSES, [coded("ACTIVE", 10010202), coded("LOCKED", 10010205)])
PENDING = read(1, op.USER_INVITATION_STATUSES, [coded("PENDING", 10050301)])
OPEN = coded("OPEN", 10050301)


def renamed(times: int) -> list[Exchange]:
    """An invitation by Lee under the name of Kim, once Lee had so many names."""
    names = (accounts(2, {**LEE, "accountName": f"Lee {number}"}) for number in range(times))
    return [accounts(1, KIM), *names, INVITER]


PROOFS = [
    Proof("MODEL-003", [PENDING, invited(2)], [PENDING, invited(2, invitationStatus=OPEN)]),
    Proof(
        "AGREE-001",
        [profile(1), detail(2, accountPhone="555-0100", accountRemark="x", accountName="ONE"), profile(3)],
        [profile(1), read(2, op.ROLES, []), detail(3, accountPhone="+1 555 0199"), profile(4)],
    ),
    Proof(
        "AGREE-001",
        [profile(1), detail(2, createdAt=days_ago(9)), profile(3)],
        [profile(1), detail(2, createdAt=days_ago(99)), profile(3)],
    ),
    *(
        Proof("AGREE-001", [profile(1), detail(2), profile(3), *trace], [], silent=True)
        for trace in (
            [accounts(4, account(createdAt=days_ago(9))), profile(5)],
            [profile(4, createdAt=days_ago(9)), detail(5), profile(6, createdAt=days_ago(9))],
            [profile(4, accountPhone=5550199), detail(5), profile(6, accountPhone=5550199)],
        )
    ),
    Proof(
        "AGREE-002",
        amid((op.ROLES, [role(permissionCodes=["b", "a"])]), (op.ROLE, role(permissionCodes=["A", "b"]))),
        amid(ROLE_LISTED, (op.ROLE, role(roleName="Other"))),
    ),
    Proof("AGREE-002", amid(ROLE_LISTED, (op.ROLE, role(permissionCodes=None))), []),
    Proof("AGREE-005", amid(CHANNEL, CHANNEL, sent={"activeOnly": True}), []),
    Proof("AGREE-005", amid(CHANNEL, config(password="…"), sent={"activeOnly": True}), []),
    Proof(
        "AGREE-010",
        [PLACES, invited(2, workspaceName="MAIN"), invited(3, workspaceName="As it was called once")],
        [PLACES, invited(2, workspaceName="Elsewhere")],
    ),
    Proof(
        "AGREE-010",
        [accounts(1, KIM), accounts(2, {**LEE, "accountName": "Kim"}), INVITER],
        [accounts(1, KIM), accounts(2, LEE), INVITER],
    ),
    Proof(
        "MODEL-017",
        [profile(1, updatedAt=at(minutes=-9)), profile(2, createdAt=at(days=1), updatedAt="tomorrow")],
        profile(1, updatedAt=at(minutes=-20)),
    ),
    Proof(
        "MODEL-017",
        [of_no_time(profile(1, updatedAt=at(minutes=-50))), profile(2, updatedAt="2031-05-07T00:00:00.000")],
        of_no_time(profile(1, updatedAt=at(minutes=-90))),
    ),
    Proof(
        "MODEL-001",
        [answer(op.PUBLIC_KEY, {"key": "x"}), of_version("1.3.0"), of_version(None), of_version(ABSENT)],
        of_version("2.1.0"),
    ),
    Proof(
        "MODEL-002",
        [profile(1), profile(2, **state("Active", 10010202, label="Aktiv"))],
        [profile(1, **state("LOCKED", 10010209)), profile(2, **state("FROZEN", 10010209))],
    ),
    Proof(
        "MODEL-003",
        [STATES, profile(2), profile(3, **state("FROZEN", 10010209))],
        [profile(1, **state("LOCKED", 10010204)), replace(STATES, n=2)],
    ),
    Proof(
        "MODEL-004",
        [
            listed(1, channel()),
            read(2, op.CHANNELS_QUERY, page(totalRecords=1, currentPage=2), sent={"page": 2}),
            accounts(3, account(), totalElements=21, totalPages=2),
            accounts_on(4, 1, 1),
        ],
        read(1, op.CHANNELS_QUERY, page(channel(), totalRecords=2), sent={}),
    ),
    Proof(
        "MODEL-005",
        [
            read(seconds, op.PROFILE, account(updatedAt=at(days=days)))
            for seconds, days in ((1, 3), (30, 4), (200, 2), (400, 2))
        ],
        [profile(1, updatedAt=at(days=3)), profile(200, updatedAt=at(days=4))],
    ),
    Proof(
        "MODEL-009",
        [profile(1, createdAt=at(days=9)), profile(2, createdAt=at(days=9, seconds=0.9))],
        [profile(1, createdAt=at(days=9)), profile(2, createdAt=at(days=9, seconds=1))],
    ),
    Proof(
        "MODEL-006", [stamped(1, -900), stamped(2, -880), stamped(3, -910), stamped(4, 0), stamped(5, 0)], []
    ),
]

OTHER, LATELY = "+1 555 0199", at(seconds=20)
UPDATE = read(9, op.PROFILE_UPDATE, account(), sent={"accountName": "One"})
SIGN_IN = read(9, op.LOGIN_COMPLETE, {"accessToken": "x", "refreshToken": "y", "expiresIn": 3600}, sent={})

REDACTED = {"Authorization": "Bearer [REDACTED]"}
BY_ANOTHER = {"Authorization": "Bearer of-another"}
ACQUITTED = {
    "two reads alone": [profile(1), detail(2, accountPhone=OTHER)],
    "a change by somebody": [profile(1), detail(2, accountPhone=OTHER), profile(3, accountPhone=OTHER)],
    "a write before": [profile(1), UPDATE, detail(10, accountPhone=OTHER), profile(11)],
    "a write after": [profile(1), detail(8, accountPhone=OTHER), UPDATE, profile(10)],
    "a sign-in": [profile(1), detail(8, accountPhone=OTHER), SIGN_IN, profile(10)],
    "a write shortly before": [UPDATE, profile(10), detail(11, accountPhone=OTHER), profile(12)],
    "an observed change": [profile(1), profile(2, accountName="B"), detail(3), profile(4, accountName="B")],
    "changed lately there": [profile(1), detail(2, accountPhone=OTHER, updatedAt=LATELY), profile(3)],
    "changed lately here": [
        profile(1, updatedAt=LATELY),
        detail(2, accountPhone=OTHER),
        profile(3, updatedAt=LATELY),
    ],
    "another viewer": [
        profile(1),
        read(2, op.ACCOUNT, account(accountPhone=OTHER), headers=BY_ANOTHER),
        profile(3),
    ],
    "another language": [
        profile(1),
        read(2, op.ACCOUNT, account(accountName="Eins"), headers={"Accept-Language": "ja"}),
        profile(3),
    ],
    "a token put out of sight": [
        read(n, key, account(accountPhone=phone), headers=REDACTED)
        for n, key, phone in ((1, op.PROFILE, "+1"), (2, op.ACCOUNT, "+2"), (3, op.PROFILE, "+1"))
    ],
    "answers that overlap": [
        profile(1),
        read(2, op.ACCOUNT, account(accountPhone=OTHER), seconds=1.001),
        profile(3),
    ],
    "a late end": [profile(1), detail(2, accountPhone=OTHER), read(3, op.PROFILE, account(), seconds=2.001)],
    "another record": [profile(1), accounts(2, account(bizId="account-2")), profile(3)],
}


def test_another_workspace_of_the_caller_is_another_place() -> None:
    """What is chosen by its id beside the one that is taken by itself does not look like a change."""

    def chosen(n: int, **other: Json) -> Exchange:
        headers = {"X-Workspace-Id": "workspace-2"}
        return read(n, op.WORKSPACES_CURRENT, workspace(bizId="workspace-2", **other), headers=headers)

    def trace(**other: Json) -> list[Exchange]:
        mine = [workspace(), workspace(bizId="workspace-2")]
        own = read(2, op.WORKSPACES_CURRENT, workspace())
        return [read(1, op.WORKSPACES_MINE, mine), own, chosen(3, **other), read(4, op.WORKSPACES_MINE, mine)]

    assert "AGREE-003" not in contradicted_by(*trace())
    assert "AGREE-003" in contradicted_by(*trace(institutionBizId="institution-2"))


def test_a_finding_names_both_places_and_both_values() -> None:
    trace = [profile(4), detail(5, accountPhone=OTHER), profile(6)]
    (finding,) = [finding for finding in judged(*trace).findings if finding.requirement == "AGREE-001"]

    assert (finding.endpoint, finding.path) == (op.PROFILE, "data.accountPhone")
    assert (finding.expected, finding.actual) == (OTHER, account()["accountPhone"])
    assert finding.exchanges == (4, 5, 6)
    assert op.ACCOUNT in finding.message
    assert finding.other == OtherPlace(5, op.ACCOUNT, "account-1", "accountPhone")


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("A", "B", True),
        ("A", None, False),
        ("A", "", False),
        ("a@example.test", "a***@example.test", False),
        ("Émile", "emile", False),
        ("A long text", "A long te", False),
        ("A long text", "A lo...", False),
        ("+81 90 1234 5678", "090-1234-5678", False),
        ("+81 90 1234 5678", "+81 90 1234 5679", True),
        ("2031-05-06T07:08:09Z", "2031-05-06T16:08:09.123+09:00", False),
        ("2031-05-06T07:08:09Z", "2031-05-06T07:08:11Z", True),
        ("2031-05-06T07:08:09Z", "2031-05-06T09:08:09", False),
        ("2031-05-06", "2031-05-06T09:08:09Z", False),
        ("06/05/2031", "2031-05-06T09:08:09Z", False),
        ("2031-05-06T07:08:09Z", days_ago(0), False),
        ("2031-05-06T07:08:09Z", days_ago(1), True),
        ("2031-05-06T07:08:09", days_ago(1), False),
        ("2031-05-06T07:08:09Z", days_ago(1) // 1000, False),
        ("1936000000000", days_ago(1), False),
        (coded("ACTIVE", 1), coded("ACTIVE", 2), True),
        (coded("ACTIVE", 1), coded("Active", 1, label="x"), False),
        (coded("ACTIVE", 1), coded("LOCKED", 1), True),
        (coded("ACTIVE", 1), "ACTIVE", False),
        (1, 1.0, False),
        (1, 2, True),
        (2, True, False),
        (True, False, True),
        (["a"], ["b"], True),
        (["a", "b"], ["B", "a"], False),
        ([{"a": 1}], [], False),
        ({"port": 25, "password": "x"}, {"port": 25, "password": "y"}, False),
        ({"password": "******"}, {"password": "hunter-2"}, True),
        ({"password": "******"}, {"password": "…"}, False),
        ({"password": "******"}, {"password": ""}, False),
        ({"port": 25}, {"port": 587}, True),
    ],
)
def test_two_values_differ_where_they_surely_mean_different_things(
    one: Json, other: Json, differ: bool
) -> None:
    assert are_different(one, other) is are_different(other, one) is differ


def test_what_is_remembered_is_bounded() -> None:
    (check,) = [check for check in CHECKS if check.requirement == "AGREE-001"]
    memory = Memory()
    records = account_page(*(account(bizId=f"account-{index}") for index in range(LISTED + 9)))
    for viewer in range(VIEWERS_KEPT + 3):
        sent_by = {"Authorization": f"Bearer token-{viewer}"}
        for place in range(PLACES_KEPT + 3):
            shown = read(place + 1, op.ACCOUNTS_QUERY, records, sent={"page": place}, headers=sent_by)
            list(check(shown, memory))

    views = [one for name, one in memory.items() if name != "writes"]
    assert len(memory) == VIEWERS_KEPT
    assert {len(view.places) for view in views} == {PLACES_KEPT}
    assert {len(place.shown) for view in views for place in view.places.values()} == {LISTED}


OF_OTHER_CLOCKS = {
    "nothing after it": [stamped(1, 0), frozen(2, -900)],
    "a clock that was set": [stamped(1, 0), frozen(2, -900), stamped(3, -900)],
    "servers that differ": [stamped(1, 0), frozen(2, -200), stamped(3, 0)],
    "what a cache may answer": [stamped(1, 0), stamped(2, -900, key=op.PROFILE), stamped(3, 0)],
    "a clock that was set and set back": [
        stamped(1, 0),
        frozen(2, -900),
        stamped(3, -900, key=op.LOGIN_INITIATE),
        stamped(4, 0),
    ],
    "answers of one endpoint only": [stamped(1, 0), stamped(2, -900), stamped(3, 0)],
}

BOUNDS = [
    *(Bound(why, "AGREE-001", lawful=[trace]) for why, trace in ACQUITTED.items()),
    *(Bound(why, "MODEL-006", lawful=[trace]) for why, trace in OF_OTHER_CLOCKS.items()),
    Bound(
        "a write is forgotten after a minute",
        "AGREE-001",
        wrong=[[UPDATE, profile(80), detail(81, accountPhone=OTHER), profile(82)]],
    ),
    Bound("more than eight names say nothing", "AGREE-010", wrong=[renamed(8)], lawful=[renamed(9)]),
    Bound(
        "the last page of accounts holds what is left",
        "MODEL-004",
        wrong=[accounts_on(1, 1, length) for length in (0, 2)],
        lawful=[accounts_on(1, *page) for page in ((0, 20), (1, 1), (2, 0))],
    ),
]


def test_a_finding_names_the_answer_with_the_wrong_timestamp() -> None:
    trace = [stamped(1, 0), frozen(2, -900), stamped(3, 0)]
    (finding,) = [finding for finding in judged(*trace).findings if finding.requirement == "MODEL-006"]

    assert (finding.endpoint, finding.exchanges, finding.path) == (op.CHANNELS_QUERY, (2,), "timestamp")


OF_TWO_ANSWERS = ("MODEL-002", "MODEL-003", "MODEL-005", "MODEL-009")
"""Rules of this module about one thing that two answers show."""


@pytest.mark.parametrize("proof", [proof for proof in PROOFS if proof.requirement in OF_TWO_ANSWERS], ids=str)
def test_a_finding_of_two_answers_names_the_other_one_with_its_value(proof: Proof) -> None:
    trace = [proof.wrong] if isinstance(proof.wrong, Exchange) else list(proof.wrong)
    findings = [row for row in judged(*trace).findings if row.requirement == proof.requirement]

    assert findings
    for finding in findings:
        place = finding.other
        assert place is not None
        there = next(exchange for exchange in trace if exchange.n == place.exchange)
        assert endpoint_of(there) == place.endpoint
        assert place.record in str(there.data)
        assert place.field in str(there.data)
