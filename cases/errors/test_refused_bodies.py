"""Bodies with one thing wrong, each a row (chapters "Errors" and "Authentication"): a field that is missing,
that holds nothing, is of another type or beyond its bounds, or an encrypted body that is none. What a refusal
must leave as it was is compared where such a record is changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import pytest

from cases.authentication.passwords import unsealed
from cases.authentication.steps import address_of, method_of, nobody
from cases.premises import authorized, granted, outcome, refusal_text, unchallenged, unless_paced
from conformance.cases import (
    BY_KEY,
    UNFILTERED,
    Account,
    Exchange,
    Json,
    ParameterSet,
    Portal,
    Untestable,
    Verify,
    is_error,
    is_invalid_parameter,
    is_refused,
    mark,
    may_keep_a_rate,
    op,
)


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
        marks = [mark.requirement(*declared), mark.impact(BY_KEY[self.key].impact)]
        if self.by is not None:
            marks.append(mark.needs(f"accounts.{self.by}"))
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


@mark.requirement("ERROR-020", "ERROR-021")
@mark.sign_ins(1)
@pytest.mark.parametrize(
    "field, value", [("email", None), ("email", ""), ("password", None), ("password", "")]
)
def test_a_sign_in_names_somebody(portal: Portal, verify: Verify, field: str, value: Json) -> None:
    right = {"email": f"{portal.unique()}@example.test", "password": portal.wrong_password()}
    refused = unless_paced(portal.call(op.LOGIN_INITIATE, json={**right, field: value}))
    verify_refusal(verify, "ERROR-020" if value is None else "ERROR-021", refused)


@mark.requirement("ERROR-020", "ERROR-021")
@pytest.mark.parametrize("field", ["keyId", "encReqKey", "encRespKey"])
@pytest.mark.parametrize("value", [None, ""], ids=["null", "empty"])
def test_a_secure_session_has_its_keys(portal: Portal, verify: Verify, field: str, value: Json) -> None:
    right = dict(portal.secure.shared().exchange.request.json)
    refused = authorized(portal.call(op.SECURE_SESSION, json={**right, field: value}))
    verify_refusal(verify, "ERROR-020" if value is None else "ERROR-021", refused)


Body = Callable[[Portal], Json]


def in_order_but(**changed: Json) -> Body:
    """A body in order but for what is named; None leaves a field out."""

    def build(portal: Portal) -> Json:
        fields = {"email": nobody(portal), "password": portal.wrong_password()} | changed
        return {name: value for name, value in fields.items() if value is not None}

    return build


def with_an_unknown_null(portal: Portal) -> Json:
    """A property that is null is a property."""
    return {"email": nobody(portal), "password": portal.wrong_password(), "suite": None}


AGAINST_THE_RULES = [
    pytest.param(in_order_but(email=None), id="no-email", marks=mark.requirement("LOGIN-043")),
    pytest.param(in_order_but(password=None), id="no-password", marks=mark.requirement("LOGIN-044")),
    pytest.param(in_order_but(email=123456789), id="email-is-a-number", marks=mark.requirement("LOGIN-045")),
    pytest.param(
        in_order_but(password=1234567890), id="password-is-a-number", marks=mark.requirement("LOGIN-046")
    ),
    pytest.param(in_order_but(password="Sh0rt-!"), id="password-of-7", marks=mark.requirement("LOGIN-047")),
    pytest.param(
        in_order_but(password="L0ng-" + "x" * 124), id="password-of-129", marks=mark.requirement("LOGIN-048")
    ),
    pytest.param(in_order_but(email=address_of(256)), id="email-of-256", marks=mark.requirement("LOGIN-051")),
    pytest.param(in_order_but(suite="unknown"), id="unknown-property", marks=mark.requirement("LOGIN-053")),
    pytest.param(with_an_unknown_null, id="unknown-null", marks=mark.requirement("LOGIN-082")),
]


@pytest.mark.parametrize("body_of", AGAINST_THE_RULES)
@mark.sign_ins(1)
def test_a_body_against_the_rules_begins_no_sign_in(portal: Portal, verify: Verify, body_of: Body) -> None:
    refused = unchallenged(portal.call(op.LOGIN_INITIATE, json=body_of(portal)))
    if refused.status == 403:
        # Of 400 it is asked which code it has; a rate that is kept has none of its own.
        unless_paced(refused)
    if may_keep_a_rate(refused) and outcome(portal.login.initiate(nobody(portal))) == outcome(refused):
        raise Untestable(
            f"a body in order is refused in the same way ({refusal_text(refused)})", "environment"
        )

    verify(verify.declared[0], is_invalid_parameter(refused))


SEALED = [
    pytest.param(op.PASSWORD_RESET, id="reset", marks=mark.requirement("PASSWORD-012")),
    pytest.param(op.PASSWORD_INIT, id="init", marks=mark.requirement("PASSWORD-013")),
    pytest.param(op.PASSWORD_CHANGE, id="change", marks=mark.requirement("PASSWORD-014")),
]
MALFORMED = [
    pytest.param({"v": 2}, id="no-payload"),
    pytest.param({"v": 2, "p": "this is no base64!"}, id="payload-is-no-base64"),
]


@pytest.mark.parametrize("key", SEALED)
@pytest.mark.parametrize("content", MALFORMED)
@mark.needs("accounts.spare")
@mark.impact("disruptive")
def test_a_malformed_encrypted_body_is_invalid(
    portal: Portal, spare: Account, verify: Verify, key: str, content: Json
) -> None:
    """In the form that the target's encrypted bodies have."""
    body = content if portal.secure.shared().form == "object" else json.dumps(content)
    refused = unsealed(portal, key, body, token=spare.token if key == op.PASSWORD_CHANGE else None)

    if "p" in content and refused.status == 401 and not refused.success:
        raise Untestable("a payload that cannot be opened may be taken for a stale one", "target")
    verify(verify.declared[0], is_invalid_parameter(refused))
