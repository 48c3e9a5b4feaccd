"""The checks of ``conformance.checks.required``."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from conformance.spec import endpoints as op
from conformance.tests.proof import Bound, Proof
from conformance.tests.traffic import answer, contradicted_by, envelope, initiated, refusal
from conformance.traffic.exchange import ABSENT, Exchange, Json, Plain

INVALID, NOT_FOUND = "VALIDATION.INVALID_PARAMETER", "RESOURCE.NOT_FOUND"
EMAIL, PASSWORD = "one@example.test", "[password-1]"


def length_of(sent: Json) -> Mapping[str, str]:
    """The header that a client sends with a body; of a password it counts 12 letters."""
    return {"Content-Length": str(len(json.dumps(sent)))}


def granted(key: str, sent: Json, *, was_sent: Json = ABSENT, **other: Json) -> Exchange:
    """``was_sent``: the body that went over the wire, where the record holds another."""
    headers = length_of(sent if was_sent is ABSENT else was_sent)
    return answer(key, {}, sent=sent, headers={**headers, **other.pop("headers", {})}, **other)


def refused(
    key: str, sent: Json, code: str = INVALID, status: int = 400, *, was_sent: Json = ABSENT
) -> Exchange:
    return refusal(key, code, status, sent=sent, headers=length_of(sent if was_sent is ABSENT else was_sent))


NO_EMAIL, NO_PASSWORD = {"password": PASSWORD}, {"email": EMAIL}
BOTH = {"email": EMAIL, "password": PASSWORD}
REMEMBERED = {**BOTH, "remember": True}


def invited(email: str, sent: str | None = None) -> Exchange:
    """``sent``: what stood in place of the text that the record holds."""
    return granted(
        op.INVITE, {"inviteeEmail": email}, was_sent={"inviteeEmail": email if sent is None else sent}
    )


def measured(length: int) -> Exchange:
    """An accepted invitation of an address that is none; its body has 26 letters, or 27 with a blank."""
    return answer(op.INVITE, {}, sent={"inviteeEmail": "nobody@"}, headers={"Content-Length": str(length)})


PROOFS = [
    Proof(
        "LOGIN-043",
        [
            refused(op.LOGIN_INITIATE, NO_EMAIL, "ACCESS.PORTAL_MISMATCH", 403),
            refused(op.LOGIN_INITIATE, NO_EMAIL, "RATE_LIMITED", 429),
            refused(op.LOGIN_INITIATE, {}, "AUTH.INVALID_CREDENTIALS", 401, was_sent=BOTH),
            granted(op.LOGIN_INITIATE, NO_EMAIL, was_sent=BOTH),
            granted(op.LOGIN_INITIATE, {**NO_EMAIL, "Email": EMAIL}),
            granted(op.LOGIN_INITIATE, NO_EMAIL, query="email=one@example.test"),
            answer(op.LOGIN_INITIATE, initiated(), sent=NO_EMAIL),
            answer(
                op.LOGIN_INITIATE, sent=NO_EMAIL, body=envelope(), status=400, headers=length_of(NO_EMAIL)
            ),
        ],
        refused(op.LOGIN_INITIATE, NO_EMAIL, "AUTH.INVALID_CREDENTIALS", 401),
        silent=True,
    ),
    Proof(
        "LOGIN-044",
        [
            granted(op.LOGIN_INITIATE, NO_PASSWORD, was_sent={**NO_PASSWORD, "password": "12345678"}),
            refused(op.LOGIN_INITIATE, NO_PASSWORD, "AUTH.INVALID_CREDENTIALS", 401, was_sent=BOTH),
        ],
        refused(op.LOGIN_INITIATE, NO_PASSWORD, "AUTH.INVALID_CREDENTIALS", 401),
        silent=True,
    ),
    Proof(
        "ACCOUNT-034",
        [
            refused(op.ACCOUNT_UPDATE, {}, "ACCESS.PERMISSION_DENIED", 403),
            granted(op.ACCOUNT_UPDATE, {"account": {"userBizId": "account-1"}}),
            granted(op.ACCOUNT_UPDATE, {"user_biz_id": "account-1"}),
            answer(op.ACCOUNT_UPDATE, {}, sent={}, form="truncated"),
        ],
        refused(op.ACCOUNT_UPDATE, {}, NOT_FOUND, 404),
        silent=True,
    ),
    Proof(
        "CHANNEL-052",
        [
            refused(op.CHANNEL_COMMAND_DEACTIVATE, {}, "4030", 403),
            refused(op.CHANNEL_COMMAND_DEACTIVATE, {"bizId": "another"}, "4040", 404),
        ],
        granted(op.CHANNEL_COMMAND_DEACTIVATE, {}),
        silent=True,
    ),
    Proof("INVITE-004", refused(op.INVITE, {"message": "Come"}), granted(op.INVITE, {"message": "Come"})),
    Proof(
        "LOGIN-053",
        [
            refused(op.LOGIN_INITIATE, REMEMBERED, "AUTH.INVALID_CREDENTIALS", 401),
            refused(op.LOGIN_INITIATE, REMEMBERED, "RATE_LIMITED", 429),
            granted(op.LOGIN_INITIATE, BOTH),
            granted(op.LOGIN_INITIATE, {**BOTH, "turnstileToken": "[bot-token-1]"}),
            granted(op.LOGIN_INITIATE, {**BOTH, "Email": EMAIL}),
            granted(op.LOGIN_INITIATE, {**BOTH, "remember": None}),
        ],
        granted(op.LOGIN_INITIATE, REMEMBERED),
        silent=True,
    ),
    Proof(
        "INVITE-001",
        [
            invited("nobody@localhost"),
            invited('"a @ b"@example.test'),
            invited(" "),
            invited("nobody", sent="nobody@example.test"),
            invited("[email-1]"),
            invited("***"),
            answer(op.INVITE, {}, sent={"inviteeEmail": "nobody"}),
            refused(op.INVITE, {"inviteeEmail": "nobody"}, "ACCESS.PERMISSION_DENIED", 403),
        ],
        invited("nobody@"),
        silent=True,
    ),
]

BOUNDS = [
    Bound(
        "a body is as it was sent where its length agrees, with blanks or without",
        "INVITE-001",
        wrong=[measured(26), measured(27)],
        lawful=[measured(25), measured(28)],
    ),
    Bound(
        "a body that was encrypted is not measured",
        "ACCOUNT-034",
        lawful=[
            replace(answer(op.ACCOUNT_UPDATE, {}, sent={"v": 2, "p": "c2VhbGVk"}), plain=Plain(request={}))
        ],
    ),
]


@pytest.mark.parametrize(
    "sent, length",
    [({"a": 10**40}, "9"), ({"\ud800": float("nan")}, "9"), ({}, "9" * 5000), ({}, "two"), ({}, "²")],
)
def test_a_body_and_a_length_of_any_form_are_judged(sent: Json, length: str) -> None:
    contradicted_by(answer(op.ACCOUNT_UPDATE, {}, sent=sent, headers={"Content-Length": length}))
