"""The checks of ``conformance.checks.access.wrong_codes``."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

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
LOCKED = refusal(LOGIN_INITIATE, "LOCKED", 403, data=initiated(), sent={"email": "a@example.test"})
NEVER_BEGUN = [LOCKED, mistyped(), refused(60)]
WITHIN_ANOTHERS = [begun(), begun("login-2", email="b@example.test"), mistyped(), refused(60)]


def in_turn(*exchanges: Exchange, skipping: int = 0) -> list[Exchange]:
    """Numbered as they were sent; ``skipping``: how many others were sent before the last."""
    return [
        replace(exchange, n=n + (skipping if n == len(exchanges) else 0))
        for n, exchange in enumerate(exchanges, start=1)
    ]


def unknown(after: float = 1, **other: Json) -> Exchange:
    at = NOW + timedelta(seconds=after)
    return refusal(LOGIN_COMPLETE, "AUTH.SESSION_NOT_FOUND", 404, sent=CODE, started=at, **other)


GATEWAY = answer(LOGIN_COMPLETE, sent=CODE, status=502, body={"length": 11}, form="not-json")
ONE, TWO = [begun(), mistyped()], [begun(), mistyped(), mistyped()]


def lawful_after(wrong: list[Exchange]) -> list[list[Exchange]]:
    """Why a login session may be unknown all the same."""
    return [
        in_turn(*wrong, unknown(296)),
        in_turn(*wrong, unknown(headers={"X-Client-Hash": "another"})),
        in_turn(*wrong, unknown(), skipping=1),
        in_turn(*wrong, GATEWAY, unknown()),
        in_turn(*wrong, begun("login-2"), unknown()),
        in_turn(*wrong, answer(PASSWORD_CHANGE, None), unknown()),
        in_turn(*wrong, refusal(LOGIN_COMPLETE, "RATE_LIMITED", 429, sent=CODE)),
    ]


PROOFS = [
    *(Proof("LOGIN-030", traced, in_turn(*ONE, unknown()), silent=True) for traced in lawful_after(ONE)),
    *(Proof("LOGIN-080", traced, in_turn(*TWO, unknown()), silent=True) for traced in lawful_after(TWO)),
    Proof("LOGIN-090", [begun(), mistyped(), begun("login-2"), sent(60)], WITHIN_ANOTHERS),
    *(
        Proof("LOGIN-090", lawful, WITHIN_ANOTHERS, silent=True)
        for lawful in (UNTRIED, NEVER_BEGUN, OVER, REPLACED, ENDED_BY_A_PASSWORD, USED_UP)
    ),
]
