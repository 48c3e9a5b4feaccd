"""The checks of ``conformance.checks.access.security``."""

from __future__ import annotations

import pytest

from conformance.spec import endpoints as op
from conformance.tests.proof import Proof, Reading
from conformance.tests.traffic import TOKEN, answer, at, completed, judged, mfa_setting, refusal, session
from conformance.traffic.exchange import Exchange, Json


def sessions(*listed: Json, **other: Json) -> Exchange:
    return answer(op.SESSIONS, list(listed), **other)


CURRENT = session(sessionId="session-2", isCurrent=True)
LISTED, OTHERWISE = [CURRENT, session()], [CURRENT | {"isCurrent": False}, session(isCurrent=True)]
ANOTHER_CURRENT = [sessions(*LISTED), sessions(*OTHERWISE)]
ISSUED = answer(op.LOGIN_COMPLETE, completed(accessToken=TOKEN))
UNTOLD = [sessions(*listed, headers={"Authorization": "Bearer ***"}) for listed in (LISTED, OTHERWISE)]
PRIMARY = [mfa_setting(isPrimary=True), mfa_setting("OTP", 10011002, isPrimary=True)]

PROOFS = [
    Proof(
        "SESSION-045",
        [
            refusal(op.SESSIONS_TERMINATE_ALL, "4000", 400),
            refusal(op.SESSIONS_TERMINATE_ALL, "VALIDATION.INVALID_PARAMETER", 400, sent={"all": True}),
        ],
        refusal(op.SESSIONS_TERMINATE_ALL, "VALIDATION.INVALID_PARAMETER", 400),
        silent=True,
    ),
    Proof(
        "SESSION-043",
        sessions({**CURRENT, "lastActivityTime": at(minutes=20)}, session(lastActivityTime=at(days=1))),
        sessions({**CURRENT, "lastActivityTime": at(hours=1)}),
    ),
    Proof("SESSION-035", [sessions(*LISTED), ISSUED, sessions(*OTHERWISE)], ANOTHER_CURRENT),
    Proof("SESSION-035", UNTOLD, ANOTHER_CURRENT, silent=True),
    Proof("MFA-005", answer(op.MFA, PRIMARY[:1] * 2), answer(op.MFA, PRIMARY)),
]


def whitelist(*entries: Json) -> Exchange:
    return answer(op.IP_WHITELIST, {"enabled": True, "entries": list(entries)})


READ = [
    Reading("ip-whitelist-entry", whitelist("203.0.113.7"), ["str"]),
    Reading("ip-whitelist-entry", whitelist({"ip": "203.0.113.7", "addedAt": at()}), [["addedAt", "ip"]]),
    Reading("ip-whitelist-entry", whitelist(), []),
]


@pytest.mark.parametrize(
    "listed, shown",
    [([session(), session()], "0 of 2 sessions"), ([CURRENT, CURRENT], "2 of 2 sessions: data[0], data[1]")],
)
def test_how_many_sessions_are_current_is_named(listed: list[Json], shown: str) -> None:
    finding = next(row for row in judged(sessions(*listed)).findings if row.requirement == "SESSION-020")
    assert finding.actual == shown
