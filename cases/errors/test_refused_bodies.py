"""Bodies with one thing wrong, each a row: a field that is missing, that holds nothing, or that is of another
type (chapter "Errors"). What a refusal must leave as it was is compared where such a record is changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import pytest

from cases.authentication.steps import method_of
from cases.premises import authorized, granted, unchallenged, unless_paced
from conformance.cases import (
    BY_KEY,
    Exchange,
    Json,
    ParameterSet,
    Portal,
    Verify,
    impact,
    is_error,
    is_invalid_parameter,
    is_refused,
    needs,
    op,
    requirement,
    sign_ins,
)
from conformance.spec.requests import UNFILTERED


@dataclass(frozen=True)
class Wrong:
    """A body with one thing wrong, that an account sends. ``rules``: the first is that it is refused, the
    others are judged on the wire. ``named``: the requirement of the refusal's code, with that code.
    ``premise`` holds of an answer that decides something; ``right`` is a body that is granted before."""

    key: str
    what: str
    body: Mapping[str, Json]
    rules: tuple[str, ...]
    by: str | None = "admin"
    named: tuple[str, str] | None = None
    premise: Callable[[Exchange], Exchange] = authorized
    right: Mapping[str, Json] | None = None

    def row(self) -> ParameterSet:
        declared = self.rules if self.named is None else (*self.rules, self.named[0])
        marks = [requirement(*declared), impact(BY_KEY[self.key].impact)]
        if self.by is not None:
            marks.append(needs(f"accounts.{self.by}"))
        return pytest.param(self, id=f"{self.key} {self.what}", marks=marks)

    def sent(self, portal: Portal) -> Exchange:
        token = None if self.by is None else portal.account(self.by).token
        if self.right is not None:
            granted(portal.call(self.key, json=self.right, token=token))
        return self.premise(portal.call(self.key, json=self.body, token=token))


def emptied(key: str, name: str, **others: Json) -> list[Wrong]:
    """What names the record that a request is about, as null and as an empty text."""
    return [
        Wrong(key, f"{name} {what}", {**others, name: value}, (rule,))
        for what, value, rule in (("null", None, "ERROR-020"), ("empty", "", "ERROR-021"))
    ]


def of_a_page(name: str, value: Json) -> Wrong:
    right, rules = UNFILTERED[op.ACCOUNTS_QUERY], ("ACCOUNT-041", "ERROR-003", "ERROR-014")
    return Wrong(op.ACCOUNTS_QUERY, f"{name} {value}", {**right, name: value}, rules, right=right)


NO_NUMBERS: tuple[Json, ...] = ("first", {})
BY_EMAIL = {"method": method_of("EMAIL")}
UNREFRESHED = ("TOKEN-023", "ERROR-003", "ERROR-014")
WRONG = (
    Wrong(op.LOGIN_MFA_SEND, "no sessionId", BY_EMAIL, ("LOGIN-057",), None, premise=unchallenged),
    Wrong(op.TOKEN_REFRESH, "no refreshToken", {}, UNREFRESHED, None, premise=unchallenged),
    *(replace(wrong, by=None) for wrong in emptied(op.TOKEN_REFRESH, "refreshToken")),
    *(of_a_page(name, value) for name in ("page", "size") for value in NO_NUMBERS),
    Wrong(op.ACCOUNT_UPDATE, "no userBizId", {}, ("ACCOUNT-034",)),
    *emptied(op.ACCOUNT_UPDATE, "userBizId"),
    Wrong(op.CHANNEL_COMMAND_DEACTIVATE, "no bizId", {}, ("CHANNEL-052",), named=("CHANNEL-059", "4000")),
    *emptied(op.CHANNEL_COMMAND_DEACTIVATE, "bizId"),
    Wrong(op.INVITATION_ACCEPT, "no invitationBizId", {}, ("INVITATION-033",), "spare"),
    *emptied(op.INVITATION_ACCEPT, "invitationBizId"),
    Wrong(op.INVITATION_DECLINE, "no invitationBizId", {"reason": "suite"}, ("INVITATION-033",), "spare"),
    *emptied(op.INVITATION_DECLINE, "invitationBizId", reason="suite"),
    *emptied(op.INVITATION_CANCEL, "invitationBizId", reason="suite"),
)


def verify_refusal(verify: Verify, rule: str, refused: Exchange) -> bool:
    """An empty text may be a field that is missing, or an id that nobody has."""
    return verify(rule, is_refused(refused) if rule == "ERROR-021" else is_invalid_parameter(refused))


@pytest.mark.parametrize("wrong", [wrong.row() for wrong in WRONG])
def test_a_body_with_one_thing_wrong_is_refused(portal: Portal, verify: Verify, wrong: Wrong) -> None:
    refused = wrong.sent(portal)
    if verify_refusal(verify, wrong.rules[0], refused) and wrong.named is not None:
        rule, code = wrong.named
        verify(rule, is_error(refused, code))


@requirement("ERROR-020", "ERROR-021")
@sign_ins(1)
@pytest.mark.parametrize(
    "field, value", [("email", None), ("email", ""), ("password", None), ("password", "")]
)
def test_a_sign_in_names_somebody(portal: Portal, verify: Verify, field: str, value: Json) -> None:
    right = {"email": f"{portal.unique()}@example.test", "password": portal.wrong_password()}
    refused = unless_paced(portal.call(op.LOGIN_INITIATE, json={**right, field: value}))
    verify_refusal(verify, "ERROR-020" if value is None else "ERROR-021", refused)


@requirement("ERROR-020", "ERROR-021")
@pytest.mark.parametrize("field", ["keyId", "encReqKey", "encRespKey"])
@pytest.mark.parametrize("value", [None, ""], ids=["null", "empty"])
def test_a_secure_session_has_its_keys(portal: Portal, verify: Verify, field: str, value: Json) -> None:
    right = dict(portal.secure.shared().exchange.request.json)
    refused = authorized(portal.call(op.SECURE_SESSION, json={**right, field: value}))
    verify_refusal(verify, "ERROR-020" if value is None else "ERROR-021", refused)
