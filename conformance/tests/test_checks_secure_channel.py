"""The checks of ``conformance.checks.access.secure_channel``."""

from __future__ import annotations

import pytest

from conformance.spec.endpoints import PUBLIC_KEY, SECURE_SESSION
from conformance.tests.proof import Proof
from conformance.tests.traffic import ABSENT_STAMP, NOW, answer, envelope, observed
from conformance.traffic.exchange import Exchange, Json

STAMP = int(NOW.timestamp() * 1000)


def opened(id: str = "channel-1", expires: Json = STAMP + 1, **other: Json) -> Exchange:
    data = {"sessionId": id, "expiresAt": expires}
    return answer(SECURE_SESSION, body=envelope(data=data, **{"version": "1.3.0", **other}))


PROOFS = [
    Proof(
        "SECURE-008",
        [opened(expires=float(STAMP)), opened(expires=253_402_300_799_999)],
        opened(expires=STAMP // 1000),
    ),
    Proof("SECURE-009", [opened(), opened(expires=1, **ABSENT_STAMP)], opened(expires=STAMP - 1)),
    Proof("SECURE-022", [opened("one"), opened("two")], [opened("one"), opened("two"), opened("one")]),
]


@pytest.mark.parametrize(
    "data, form", [({"keyId": "a", "publicKey": "b"}, ["keyId", "publicKey"]), ("MII", "str")]
)
def test_the_form_of_the_public_key_is_read(data: Json, form: Json) -> None:
    assert observed("public-key-form", answer(PUBLIC_KEY, data)) == [form]
