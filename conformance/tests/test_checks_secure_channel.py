"""The checks of ``conformance.checks.access.secure_channel``."""

from __future__ import annotations

from conformance.spec.endpoints import PASSWORD_CHANGE, PUBLIC_KEY, SECURE_SESSION
from conformance.tests.proof import Proof, Reading
from conformance.tests.traffic import ABSENT_STAMP, NOW, answer, envelope, refusal
from conformance.traffic.exchange import ABSENT, Exchange, Json

STAMP = int(NOW.timestamp() * 1000)


def opened(id: str = "channel-1", expires: Json = STAMP + 1, **other: Json) -> Exchange:
    data = {"sessionId": id, "expiresAt": expires}
    return answer(SECURE_SESSION, body=envelope(data=data, **{"version": "1.3.0", **other}))


IN_THE_CLEAR = {"oldPassword": "[password-1]", "newPassword": "[password-2]"}
OPENED_BY_TOOLS = {"X-Secure-Channel-Session-Id": "channel-1"}


def asked_for(id: str, code: str, status: int) -> Exchange:
    return refusal(SECURE_SESSION, code, status, sent={"keyId": id, "encReqKey": "a", "encRespKey": "b"})


def with_a_key(**data: Json) -> Exchange:
    return answer(SECURE_SESSION, {"sessionId": "channel-1", "expiresAt": STAMP + 1, **data})


def change(**other: Json) -> Exchange:
    return answer(PASSWORD_CHANGE, None, **{"sent": IN_THE_CLEAR, **other})


PROOFS = [
    Proof(
        "SECURE-005",
        [
            asked_for("none", "RESOURCE.NOT_FOUND", 404),
            answer(PUBLIC_KEY, {"key": {"id": "key-1"}}),
            asked_for("key-1", "RESOURCE.NOT_FOUND", 404),
            asked_for("none", "4000", 400),
            asked_for("none", "ACCESS.PORTAL_MISMATCH", 403),
        ],
        [answer(PUBLIC_KEY, {"key": {"id": "key-1"}}), asked_for("none", "RESOURCE.NOT_FOUND", 404)],
        silent=True,
    ),
    Proof("SECURE-007", [with_a_key(keyId="[key-1]"), with_a_key(echo="a" * 44)], [], silent=True),
    Proof(
        "PASSWORD-019",
        [
            change(headers=OPENED_BY_TOOLS),
            change(lacks=("x-secure-channel-session-id",)),
            change(sent={"v": 2, "p": "c2VhbGVk"}),
            change(sent='{"v": 2, "p": "c2VhbGVk"}'),
            change(sent=ABSENT),
            refusal(PASSWORD_CHANGE, "4010", 401, sent=IN_THE_CLEAR),
        ],
        change(),
        silent=True,
    ),
    Proof("SECURE-008", opened(), opened(expires=STAMP // 1000)),
    Proof("SECURE-009", [opened(), opened(expires=1, **ABSENT_STAMP)], opened(expires=STAMP - 1)),
]

READ = [
    Reading("public-key-form", answer(PUBLIC_KEY, {"keyId": "a", "pem": "b"}), [["keyId", "pem"]]),
    Reading("public-key-form", answer(PUBLIC_KEY, "MII"), ["str"]),
]
