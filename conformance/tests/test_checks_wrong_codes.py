"""The checks of ``conformance.checks.access.wrong_codes``."""

from __future__ import annotations

from datetime import timedelta

from conformance.spec.endpoints import LOGIN_COMPLETE, LOGIN_INITIATE, LOGIN_MFA_SEND, PASSWORD_CHANGE
from conformance.tests.proof import Proof
from conformance.tests.traffic import NOW, answer, completed, initiated, refusal
from conformance.traffic.exchange import Exchange, Json

EMAIL = 10011001
CODE: dict[str, Json] = {"sessionId": "login-1", "method": EMAIL, "code": "123456"}


def begun(session: str = "login-1", email: str = "a@example.test") -> Exchange:
    return answer(LOGIN_INITIATE, initiated(sessionId=session), sent={"email": email, "password": "12345678"})


def mistyped() -> Exchange:
    return refusal(LOGIN_COMPLETE, "AUTH.MFA_CODE_INVALID", 400, sent=CODE)


def sent(after: float) -> Exchange:
    asked = {"sessionId": "login-1", "method": EMAIL}
    data = {"sent": True, "cooldownSeconds": 60, "codeExpiresIn": 300}
    return answer(LOGIN_MFA_SEND, data, sent=asked, started=NOW + timedelta(seconds=after))


def refused(after: float, code: str = "AUTH.SESSION_NOT_FOUND", status: int = 404) -> Exchange:
    asked = {"sessionId": "login-1", "method": EMAIL}
    return refusal(LOGIN_MFA_SEND, code, status, sent=asked, started=NOW + timedelta(seconds=after))


UNTRIED = [begun(), refused(1)]
OVER = [begun(), mistyped(), refused(300)]
REPLACED = [begun(), mistyped(), begun("login-2"), refused(60)]
ENDED_BY_A_PASSWORD = [begun(), mistyped(), answer(PASSWORD_CHANGE, None), refused(60)]
USED_UP = [begun(), mistyped(), answer(LOGIN_COMPLETE, completed(), sent=CODE), refused(60)]
WITHIN_ANOTHERS = [begun(), begun("login-2", email="b@example.test"), mistyped(), refused(60)]

PROOFS = [
    Proof(
        "LOGIN-090",
        [begun(), mistyped(), refused(30, "AUTH.MFA_SEND_COOLDOWN", 429), sent(60)],
        [begun(), mistyped(), refused(60)],
    ),
    *(
        Proof("LOGIN-090", lawful, WITHIN_ANOTHERS, silent=True)
        for lawful in (UNTRIED, OVER, REPLACED, ENDED_BY_A_PASSWORD, USED_UP)
    ),
]
