"""The checks of ``conformance.checks.envelope``."""

from __future__ import annotations

from msgspec import structs

from conformance.checks.envelope import is_mask
from conformance.spec import endpoints as op
from conformance.tests.proof import Bound, Proof, Reading
from conformance.tests.traffic import ABSENT_STAMP, answer, completed, envelope, refusal, role, roles
from conformance.traffic.exchange import ABSENT, Exchange, Json, Response


def success(**fields: Json) -> Exchange:
    return answer(op.ROLES, body=envelope(data=[], **fields))


def error(code: str = "RESOURCE.NOT_FOUND", status: int = 404, **fields: Json) -> Exchange:
    return answer(op.ROLES, body=envelope(code, **fields), status=status)


def page_of_a_proxy(status: int, label: str = "text/html") -> Exchange:
    return answer(
        op.ROLES, body={"length": 6}, status=status, form="not-json", answered={"Content-Type": label}
    )


OVERLOADED = refusal(op.LOGIN_INITIATE, "E-17", 503, answered={"Retry-After": "30"})
RATE_OF_A_GATEWAY = answer(op.ROLES, body={"error": "too many requests"}, status=429)

PROOFS = [
    Proof(
        "ENV-001",
        [success(), *map(page_of_a_proxy, (502, 429, 520, 403))],
        page_of_a_proxy(403, "text/plain"),
    ),
    Proof("ENV-002", [success(), RATE_OF_A_GATEWAY], success(success="true")),
    Proof("ENV-003", [success(), error("NEW.CODE", 418, success=False)], error(success=True, status=200)),
    Proof("ENV-007", success(message="SUCCESS"), success(message="OK")),
    Proof("ENV-009", [success(), success(version=None)], success(version=2)),
    Proof("ENV-011", success(timestamp=1_000_000_000_000), success(timestamp=1_900_000_000)),
    Proof(
        "ENV-018",
        [error(), page_of_a_proxy(503), refusal(op.LOGIN_INITIATE, "RATE.SLOW_DOWN", 503), OVERLOADED],
        error("INTERNAL", 500),
    ),
    Proof(
        "ENV-019",
        [
            answer(op.LOGIN_COMPLETE, completed(), sent={"sessionId": "a", "code": "123456"}),
            answer(op.CHANNEL_UPDATE, {"password": "******"}, sent={"emailConfig": {"password": "******"}}),
        ],
        refusal(op.LOGIN_COMPLETE, "AUTH.MFA_CODE_INVALID", 400, message="123456", sent={"code": "123456"}),
    ),
    Proof(
        "VERSION-001",
        [
            success(),
            success(**ABSENT_STAMP),
            answer(op.TRANSFER_ORDERS, body=envelope(data={}, version="1.3.0")),
        ],
        [],
    ),
    Proof(
        "VERSION-002", answer(op.SECURE_SESSION, body=envelope(version="1.3.0")), answer(op.SECURE_SESSION)
    ),
]

UNAVAILABLE = refusal(op.LOGIN_INITIATE, "E-17", 503)
BARE_HEADERS = {"X-PORTAL-ACCESS-CODE": None}
SETTINGS = {"emailConfig": {"password": "open-sesame"}}
REFRESH = {"refreshToken": "refresh-1"}

BOUNDS = [
    Bound(
        "a server error is one unless it is an overload of a stated rate",
        "ENV-018",
        wrong=[
            refusal(op.LOGIN_INITIATE, "RATE.SLOW_DOWN", 500),
            refusal(op.LOGIN_INITIATE, "E-17", 500, answered={"Retry-After": "30"}),
            refusal(op.LOGIN_INITIATE, "SERVICE_UNAVAILABLE", 503),
            refusal(op.ROLES, "RATE.SLOW_DOWN", 503),
            refusal(op.ROLES, "E-17", 503, answered={"Retry-After": "30"}),
            UNAVAILABLE,
        ],
        lawful=[
            # Its headers are not on record, and may have told a rate.
            structs.replace(UNAVAILABLE, response=Response(status=503, body=envelope("E-17"), lacks=("*",)))
        ],
    ),
    Bound(
        "what did not come through the ingress is not held to the envelope",
        "",
        lawful=[answer(op.ROLES, body={"error": "no"}, status=403, headers=BARE_HEADERS)],
    ),
    Bound(
        "a secret within a settings object is not echoed",
        "ENV-019",
        wrong=[answer(op.CHANNEL_UPDATE, {"password": "open-sesame"}, sent=SETTINGS)],
    ),
    Bound(
        "a code of a record is no secret",
        "",
        lawful=[answer(op.CHANNEL_TYPE_CREATE, {"code": "SMS_TYPE"}, sent={"code": "SMS_TYPE"})],
    ),
    Bound(
        "a refresh token that stays is no echo",
        "",
        lawful=[answer(op.TOKEN_REFRESH, completed(**REFRESH), sent=REFRESH)],
    ),
    Bound("a listing that is all right contradicts nothing", "", lawful=[roles(role())]),
]
READ = [
    Reading("envelope-version", success(version=ABSENT), ["absent"]),
    Reading("envelope-timestamp", success(), ["present"]),
    Reading("success-status", answer(op.ROLES, [], status=201), [201]),
    Reading("null-data", error(data=ABSENT), ["left out"]),
    Reading("bot-challenge-endpoints", refusal(op.ROLES, "4030", 403), [op.ROLES]),
]


def test_a_mask_is_told_from_a_password() -> None:
    masks = ("******", "ab***yz", "••••", "xxxxxxxx", "####", "xxx", "···", "×××")
    assert [text for text in (*masks, "", "secret", "a*b*c", "xx", "extra") if is_mask(text)] == [*masks]
