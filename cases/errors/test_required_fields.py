"""Required fields that are there and hold nothing: null, or an empty text (chapter "Errors")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from cases.premises import authorized, unless_paced
from conformance.cases import (
    BY_KEY,
    Account,
    Exchange,
    Json,
    ParameterSet,
    Portal,
    Verify,
    impact,
    is_invalid_parameter,
    is_refused,
    op,
    requirement,
    sign_ins,
)


@dataclass(frozen=True)
class Emptied:
    """A body with one field that holds nothing; the others are in order."""

    key: str
    field: str
    value: Json
    others: Mapping[str, Json]

    @property
    def requirement(self) -> str:
        return "ERROR-020" if self.value is None else "ERROR-021"


FIELDS: tuple[tuple[str, str, Mapping[str, Json]], ...] = (
    (op.TOKEN_REFRESH, "refreshToken", {}),
    (op.ACCOUNT_UPDATE, "userBizId", {}),
    (op.CHANNEL_COMMAND_DEACTIVATE, "bizId", {}),
    (op.INVITATION_ACCEPT, "invitationBizId", {}),
    (op.INVITATION_DECLINE, "invitationBizId", {"reason": "suite"}),
    (op.INVITATION_CANCEL, "invitationBizId", {"reason": "suite"}),
)
"""What names the record that a request is about, without which there is none."""

EMPTIED = tuple(Emptied(key, field, value, others) for key, field, others in FIELDS for value in (None, ""))


def rows() -> list[ParameterSet]:
    return [
        pytest.param(
            emptied,
            id=f"{emptied.key} {emptied.field} {'null' if emptied.value is None else 'empty'}",
            marks=[requirement(emptied.requirement), impact(BY_KEY[emptied.key].impact)],
        )
        for emptied in EMPTIED
    ]


@pytest.mark.parametrize("emptied", rows())
def test_a_required_field_holds_something(
    portal: Portal, verify: Verify, admin: Account, emptied: Emptied
) -> None:
    token = None if BY_KEY[emptied.key].is_prelogin else admin.token
    body = {**emptied.others, emptied.field: emptied.value}
    verify_refusal(verify, emptied, authorized(portal.call(emptied.key, json=body, token=token)))


def verify_refusal(verify: Verify, emptied: Emptied, exchange: Exchange) -> None:
    """An empty text may be a field that is missing, or an id that nobody has."""
    is_right = is_invalid_parameter if emptied.value is None else is_refused
    verify(emptied.requirement, is_right(exchange))


@requirement("ERROR-020", "ERROR-021")
@sign_ins(1)
@pytest.mark.parametrize(
    "field, value", [("email", None), ("email", ""), ("password", None), ("password", "")]
)
def test_a_sign_in_names_somebody(portal: Portal, verify: Verify, field: str, value: Json) -> None:
    right = {"email": f"{portal.unique()}@example.test", "password": portal.wrong_password()}
    emptied = Emptied(op.LOGIN_INITIATE, field, value, right)
    refused = unless_paced(portal.call(op.LOGIN_INITIATE, json={**right, field: value}))
    verify_refusal(verify, emptied, refused)


@requirement("ERROR-020", "ERROR-021")
@pytest.mark.parametrize("field", ["keyId", "encReqKey", "encRespKey"])
@pytest.mark.parametrize("value", [None, ""], ids=["null", "empty"])
def test_a_secure_session_has_its_keys(portal: Portal, verify: Verify, field: str, value: Json) -> None:
    right = dict(portal.secure.shared().exchange.request.json)
    emptied = Emptied(op.SECURE_SESSION, field, value, right)
    verify_refusal(verify, emptied, authorized(portal.call(op.SECURE_SESSION, json={**right, field: value})))
