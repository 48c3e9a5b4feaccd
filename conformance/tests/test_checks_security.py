"""The checks of ``conformance.checks.access.security``."""

from __future__ import annotations

import pytest

from conformance.spec.endpoints import (
    BACKUP_CODES,
    IP_WHITELIST,
    MFA,
    SESSIONS,
    SESSIONS_CONFIG,
    SESSIONS_HISTORY,
    SESSIONS_TERMINATE_ALL,
)
from conformance.tests.proof import Proof
from conformance.tests.traffic import (
    answer,
    at,
    history_item,
    judged,
    mfa_setting,
    observed,
    page,
    refusal,
    session,
    session_config,
)
from conformance.traffic.exchange import Json

EMAIL, OTP = mfa_setting(), mfa_setting("OTP", 10011002, isPrimary=True)
CURRENT = session(sessionId="session-2", isCurrent=True)


def codes(remaining: int, made: int) -> dict[str, int]:
    return {"remainingCount": remaining, "totalGenerated": made}


PROOFS = [
    Proof(
        "MFA-005",
        answer(MFA, [EMAIL, mfa_setting("OTP", 10011002)]),
        answer(MFA, [mfa_setting(isPrimary=True), OTP]),
    ),
    Proof("MFA-007", answer(MFA, [EMAIL, OTP]), answer(MFA, [EMAIL, EMAIL])),
    Proof(
        "MFA-008",
        answer(MFA, [EMAIL, mfa_setting("OTP", 10011002, verifiedAt="2031-05-01T00:00:00.123456789+09:00")]),
        answer(MFA, [mfa_setting(verifiedAt="yesterday")]),
    ),
    Proof("BACKUP-003", answer(BACKUP_CODES, codes(0, 0)), answer(BACKUP_CODES, codes(11, 10))),
    Proof("SESSION-020", answer(SESSIONS, [CURRENT, session()]), answer(SESSIONS, [session()])),
    Proof(
        "SESSION-045",
        answer(SESSIONS_TERMINATE_ALL, None),
        refusal(SESSIONS_TERMINATE_ALL, "VALIDATION.INVALID_PARAMETER", 400),
    ),
    Proof(
        "SESSION-045",
        [
            refusal(SESSIONS_TERMINATE_ALL, "4000", 400),
            refusal(SESSIONS_TERMINATE_ALL, "VALIDATION.INVALID_PARAMETER", 400, sent={"all": True}),
        ],
        refusal(SESSIONS_TERMINATE_ALL, "VALIDATION.INVALID_PARAMETER", 400),
        silent=True,
    ),
    Proof(
        "SESSION-023",
        answer(SESSIONS, [session(loginTime=at(hours=1), lastActivityTime=at(hours=1))]),
        answer(SESSIONS, [session(loginTime=at(hours=1), lastActivityTime=at(hours=2))]),
    ),
    Proof(
        "SESSION-043",
        answer(
            SESSIONS, [{**CURRENT, "lastActivityTime": at(minutes=20)}, session(lastActivityTime=at(days=1))]
        ),
        answer(SESSIONS, [{**CURRENT, "lastActivityTime": at(hours=1)}]),
    ),
    Proof("SESSION-024", answer(SESSIONS, [CURRENT, session()]), answer(SESSIONS, [CURRENT, CURRENT])),
    Proof(
        "SESSION-035",
        [answer(SESSIONS, [CURRENT, session()], n=n) for n in (1, 2)],
        [
            answer(SESSIONS, [CURRENT, session()]),
            answer(
                SESSIONS, [{**CURRENT, "isCurrent": False}, session(sessionId="another", isCurrent=True)], n=2
            ),
        ],
    ),
    Proof(
        "SESSION-033",
        answer(SESSIONS_CONFIG, session_config(lastLoginAt="2031-05-06T07:08:09Z", passwordChangedAt=None)),
        answer(SESSIONS_CONFIG, session_config(passwordChangedAt="06.05.2031")),
    ),
    Proof(
        "HISTORY-012",
        [
            answer(SESSIONS_HISTORY, page()),
            answer(SESSIONS_HISTORY, page(pageSize=5), query={"pageSize": "5"}),
        ],
        answer(SESSIONS_HISTORY, page(pageSize=10)),
    ),
    Proof(
        "HISTORY-014",
        answer(SESSIONS_HISTORY, page(history_item(), history_item(bizId="history-2"))),
        answer(SESSIONS_HISTORY, page(history_item(), history_item())),
    ),
]


@pytest.mark.parametrize(
    "entries, form", [(["203.0.113.7"], "str"), ([{"ip": "203.0.113.7", "addedAt": at()}], ["addedAt", "ip"])]
)
def test_the_form_of_a_whitelist_entry_is_read(entries: list[object], form: object) -> None:
    assert observed("ip-whitelist-entry", answer(IP_WHITELIST, {"enabled": True, "entries": entries})) == [
        form
    ]


def test_an_empty_whitelist_shows_no_form_of_an_entry() -> None:
    assert observed("ip-whitelist-entry", answer(IP_WHITELIST, {"enabled": True, "entries": []})) == []


@pytest.mark.parametrize(
    "sessions, shown",
    [([session(), session()], "0 of 2 sessions"), ([CURRENT, CURRENT], "2 of 2 sessions: data[0], data[1]")],
)
def test_how_many_sessions_are_current_is_named(sessions: list[Json], shown: str) -> None:
    finding = next(
        row for row in judged(answer(SESSIONS, sessions)).findings if row.requirement == "SESSION-020"
    )
    assert finding.actual == shown
