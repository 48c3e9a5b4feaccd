"""The checks of ``conformance.checks.access.sign_in``."""

from __future__ import annotations

from datetime import timedelta

import pytest

from conformance.checks.access.sign_in import is_jwt
from conformance.spec import endpoints as op
from conformance.tests.proof import Proof, Reading
from conformance.tests.traffic import METHODS, NOW, TOKEN, account, answer, completed, initiated, jwt, refusal
from conformance.traffic.exchange import ABSENT, Exchange, Json

COOLDOWN = "AUTH.MFA_SEND_COOLDOWN"


def begun(session: str = "login-1", **other: Json) -> Exchange:
    return answer(op.LOGIN_INITIATE, initiated(sessionId=session, **other))


def begun_by(email: str, session: str = "login-1") -> Exchange:
    asked = {"email": email, "password": "correct horse"}
    return answer(op.LOGIN_INITIATE, initiated(sessionId=session), sent=asked)


def sent(session: str = "login-1", *, after: float = 0, method: int = 10011001, **other: Json) -> Exchange:
    data = {"sent": True, "cooldownSeconds": 60, "codeExpiresIn": 300, **other}
    asked = {"sessionId": session, "method": method}
    return answer(op.LOGIN_MFA_SEND, data, sent=asked, started=NOW + timedelta(seconds=after))


def held_back(after: float) -> Exchange:
    asked = {"sessionId": "login-1", "method": 10011001}
    return refusal(op.LOGIN_MFA_SEND, COOLDOWN, 429, sent=asked, started=NOW + timedelta(seconds=after))


def ended(session: str = "login-1", **other: Json) -> Exchange:
    return answer(
        op.LOGIN_COMPLETE, completed(**other), sent={"sessionId": session, "method": 1, "code": "123456"}
    )


def refused_completion() -> Exchange:
    asked = {"sessionId": "login-1", "method": 1, "code": "123456"}
    return refusal(op.LOGIN_COMPLETE, "AUTH.SESSION_NOT_FOUND", 404, sent=asked)


def left(ends: Json = 1, said: Json = True, n: int = 1) -> Exchange:
    return answer(op.LOGOUT, {"success": said, "terminatedSessions": ends}, n=n)


def read_after(seconds: float) -> Exchange:
    return answer(op.PROFILE, account(), n=2, started=NOW + timedelta(seconds=seconds))


def forgot(message: str, language: str = "en", **other: Json) -> Exchange:
    data = {"success": True, "message": message, **other}
    return answer(op.PASSWORD_FORGOT, data, headers={"Accept-Language": language})


def told_for(email: str, language: str) -> Exchange:
    """An answer that repeats the address that was sent."""
    data = {"success": True, "message": f"A mail to {email.lower()} is on its way"}
    return answer(op.PASSWORD_FORGOT, data, sent={"email": email}, headers={"Accept-Language": language})


ONE, OTHER = "one@example.test", "other@example.test"
FORGOTTEN_ALOUD = [forgot("Look into your mail"), forgot("Nobody has this address")]
TO_THE_SECOND = int(NOW.timestamp())

PROOFS = [
    Proof("LIMIT-005", [begun(expiresIn=300.0), begun(expiresIn=299)], begun(expiresIn=600)),
    Proof("LIMIT-006", [sent(), sent(method=10011002, codeExpiresIn=0)], sent(codeExpiresIn=30)),
    Proof("LIMIT-007", [sent(), sent(method=10011002, cooldownSeconds=0)], sent(cooldownSeconds=61)),
    Proof("LIMIT-008", [ended(), ended(expiresIn=3599)], ended(expiresIn=3598)),
    Proof("LIMIT-016", [begun(), ended(expiresIn=3600.0), ended(expiresIn=7200)], ended(expiresIn=3599)),
    Proof("LOGIN-023", [sent(), sent(method=10011002, sent=False)], sent(sent=False)),
    Proof("LOGIN-031", [ended(), refused_completion()], [ended(), ended(accessToken="other")]),
    Proof("LOGIN-064", [begun_by(ONE), begun_by(ONE)], [begun_by(ONE), begun_by(OTHER)]),
    Proof(
        "LOGIN-064",
        [begun_by(ONE), ended(), begun_by(ONE, "login-2")],
        [begun_by(ONE), ended(), begun_by(ONE)],
    ),
    Proof("LOGIN-072", [ended(), held_back(30)], [ended(), sent()], silent=True),
    Proof("LOGIN-072", [sent("login-2"), ended(), held_back(30), sent(sent=False)], [ended(), sent()]),
    Proof("LOGIN-085", begun(), begun(mfaMethods=METHODS[:1] * 2)),
    Proof("LOGOUT-003", [left(ends=0), ended(accessToken=TOKEN), left(ends=7), left(ends=0)], []),
    Proof(
        "TOKEN-011", [left(n=1), read_after(1), left(ends=0, n=3), refusal(op.PROFILE, "4010", 401, n=4)], []
    ),
    Proof(
        "TOKEN-025",
        [ended(accessToken=text) for text in ("[access-token-1]", "REDACTED", "x" * 40, "*" * 40)],
        ended(accessToken="0123456789abcdef0123456789abcdef"),
        silent=True,
    ),
    Proof(
        "TOKEN-018",
        [
            ended(accessToken=jwt(iss="https://portal.example.test/@system", sid="a", name="")),
            ended(accessToken=jwt(iss="auth@portal.example.test", owner="10010101@SYSTEM")),
            ended(accessToken=jwt(sub="one@example.test", at_hash="1@node.example.test")),
            ended(accessToken=jwt(sub="account-1", name="account-1")),
        ],
        ended(accessToken=jwt(preferred={"mail": "one@example.test"})),
    ),
    Proof("TOKEN-024", [ended(accessToken=jwt(sub="account-1@realm")), ended(accessToken="opaque")], []),
    Proof("TOKEN-020", ended(accessToken=jwt(exp=ABSENT)), [], silent=True),
    Proof("TOKEN-020", [ended(accessToken=jwt(exp=TO_THE_SECOND + 3601)), ended(accessToken="opaque")], []),
    Proof(
        "TOKEN-029",
        [
            ended(accessToken=jwt(exp=TO_THE_SECOND + 3600 - 500)),
            ended(accessToken=jwt(exp=TO_THE_SECOND + 900), expiresIn=900),
            ended(accessToken="opaque"),
        ],
        ended(accessToken=jwt(exp=TO_THE_SECOND)),
    ),
    Proof(
        "PASSWORD-003",
        [
            forgot("Look into your mail"),
            forgot("Look into your mail"),
            forgot("看邮件", "zh"),
            forgot("Slow down", success=False),
            told_for("one@example.test", "ja"),
            told_for("TWO@example.test", "ja"),
        ],
        FORGOTTEN_ALOUD,
    ),
    Proof("PASSWORD-003", [answer(op.PASSWORD_FORGOT, {"success": True})] * 2, FORGOTTEN_ALOUD, silent=True),
]

READ = [
    Reading("access-token-form", ended(accessToken=jwt()), ["JWT HS256"]),
    Reading("access-token-form", ended(accessToken="opaque"), ["opaque"]),
    Reading("access-token-form", ended(accessToken="[access-token-1]"), []),  # nothing shows of its form
    Reading("permission-denied", refusal(op.ROLES, "ACCESS.DENIED", 403), ["ACCESS.DENIED"]),
]


@pytest.mark.parametrize(
    "token, expected",
    [
        (jwt(), True),
        (f"{jwt().split('.')[0]}.key.iv.text.tag", True),
        ("opaque", False),
        ("one.two.three", False),
    ],
)
def test_a_jwt_is_known_by_its_header(token: str, expected: bool) -> None:
    assert is_jwt(token) is expected
