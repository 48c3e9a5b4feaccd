"""The checks of ``conformance.checks.access.whose_tokens``."""

from __future__ import annotations

from conformance.spec import endpoints as op
from conformance.tests.proof import Bound, Proof
from conformance.tests.test_checks_changed import ANOTHERS, asked
from conformance.tests.traffic import TOKEN, coded, completed, initiated, mfa_setting, refusal, token_pair
from conformance.traffic.exchange import Exchange, Json

EMAIL, OTP = coded("EMAIL", 10011001), coded("OTP", 10011002)
OFF, ON = (mfa_setting("OTP", 10011002, isEnabled=enabled) for enabled in (False, True))


def begun(
    *methods: Json, after: float = 0, email: str = "one@example.test", session: str = "login-1"
) -> Exchange:
    data = initiated(sessionId=session, mfaMethods=list(methods))
    sent = {"email": email, "password": "[password-1]"}
    return asked(op.LOGIN_INITIATE, data, after, sent=sent, headers={"Authorization": None})


REFRESH = {"refreshToken": "refresh-1"}
CODE = {"sessionId": "login-1", "method": 10011001, "code": "1"}
SIGNED_IN = [begun(EMAIL), asked(op.LOGIN_COMPLETE, completed(accessToken=TOKEN), sent=CODE)]
REFRESHED = [
    begun(EMAIL),
    asked(op.LOGIN_COMPLETE, completed(accessToken="first"), sent=CODE),
    asked(op.TOKEN_REFRESH, token_pair(accessToken=TOKEN), sent=REFRESH),
]


def factors(setting: Json, after: float = 1) -> Exchange:
    return asked(op.MFA, [mfa_setting(), setting], after)


SET_UP = asked(op.OTP_SETUP, {"secret": "[secret-1]"}, 2)
VERIFIED, REVOKED = asked(op.OTP_VERIFY, None, 3), asked(op.OTP_REVOKE, None, 2)
OFFERED = begun(EMAIL, OTP, after=4, session="login-2")
UNVERIFIED = [*SIGNED_IN, factors(OFF), SET_UP, OFFERED, factors(OFF, 5)]
OFFERINGS = [
    [*SIGNED_IN, factors(OFF), SET_UP, VERIFIED, OFFERED, factors(ON, 5)],
    [*SIGNED_IN, factors(OFF), SET_UP, OFFERED, factors(ON, 5)],
    [*SIGNED_IN, factors(OFF), SET_UP, OFFERED],
    [*SIGNED_IN, factors(ON), SET_UP, OFFERED, factors(OFF, 5)],
    [*SIGNED_IN, factors(OFF), OFFERED, factors(OFF, 5)],
    [*SIGNED_IN, REVOKED, factors(OFF, 2.5), SET_UP, OFFERED, factors(OFF, 5)],
    [*SIGNED_IN, factors(OFF), SET_UP, begun(EMAIL, OTP, after=4, email="two@example.test"), factors(OFF, 5)],
    [*SIGNED_IN, factors(OFF), SET_UP, refusal(op.OTP_VERIFY, "BUSY", 500), OFFERED, factors(OFF, 5)],
    [factors(OFF), SET_UP, OFFERED, factors(OFF, 5)],
]
OFFERED_AGAIN = [*SIGNED_IN, REVOKED, begun(EMAIL, OTP, after=8, session="login-2")]
REVOCATIONS = [
    [*SIGNED_IN, REVOKED, OFFERED],
    [*SIGNED_IN, REVOKED, SET_UP, VERIFIED, begun(EMAIL, OTP, after=8, session="login-2")],
    [*SIGNED_IN, REVOKED, begun(EMAIL, OTP, after=63, session="login-2")],
    [*SIGNED_IN, refusal(op.OTP_REVOKE, "4000", 400), begun(EMAIL, OTP, after=8, session="login-2")],
    [*SIGNED_IN, REVOKED, begun(EMAIL, OTP, after=8, email="two@example.test")],
]

LEFT = asked(op.LOGOUT, {"success": True, "terminatedSessions": 1})


def refreshed(after: float, **other: Json) -> Exchange:
    data = token_pair(accessToken="next", refreshToken="refresh-2")
    return asked(op.TOKEN_REFRESH, data, after, sent=REFRESH, **other)


PROOFS = [
    *(Proof("MFA-015", traced, UNVERIFIED, silent=True) for traced in OFFERINGS),
    *(Proof("MFA-012", traced, OFFERED_AGAIN, silent=True) for traced in REVOCATIONS),
    *(
        Proof("TOKEN-012", [*SIGNED_IN, LEFT, refusal(op.TOKEN_REFRESH, "OVER", status, sent=REFRESH)], [])
        for status in (400, 401, 404)
    ),
    *(
        Proof("TOKEN-012", traced, [*SIGNED_IN, LEFT, refreshed(6)], silent=True)
        for traced in (
            [*SIGNED_IN, LEFT, refreshed(4)],
            [*SIGNED_IN, refreshed(6)],
            [*SIGNED_IN, LEFT, *SIGNED_IN, refreshed(6)],
            [*REFRESHED, LEFT, asked(op.TOKEN_REFRESH, token_pair(), 6, sent={"refreshToken": "refresh-9"})],
            [*SIGNED_IN, asked(op.LOGOUT, {"success": True}, headers=ANOTHERS), refreshed(6)],
        )
    ),
]

BOUNDS = [
    Bound(
        "whose token it is is known also after a refresh",
        "MFA-015",
        wrong=[[*REFRESHED, factors(OFF), SET_UP, OFFERED, factors(OFF, 5)]],
    )
]
