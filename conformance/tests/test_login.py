"""The sign-in sequence step by step, without a portal, and the calls it is made of."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from conformance.errors import CannotSignIn
from conformance.spec.endpoints import LOGIN_COMPLETE, LOGIN_INITIATE, LOGIN_MFA_SEND, PROFILE
from conformance.target.portal.login import Answer, Ask, Call, SignInRefused, Step, Tokens, Wait, sign_in
from conformance.target.profile.tables import Factor
from conformance.tests.reached import Played, answering, envelope
from conformance.traffic.exchange import Exchange, Json, Request, Response

BOTH = [{"code": "EMAIL", "value": 10011001, "label": "x"}, {"code": "OTP", "value": 10011002, "label": "y"}]
TOKENS = {"accessToken": "access", "refreshToken": "refresh", "expiresIn": 3600}


def said(
    data: Json = None, *, code: str = "2000", status: int = 200, headers: Sequence[tuple[str, str]] = ()
) -> Exchange:
    return Exchange(
        n=1,
        started="2026-01-01T00:00:00Z",
        request=Request(method="POST", url="http://portal.example.test/"),
        response=Response(status=status, headers=list(headers), body=envelope(data, code=code)),
    )


def session(methods: Json = BOTH) -> Exchange:
    return said({"sessionId": "s-1", "mfaMethods": methods})


def taken(*answers: Answer, factors: Sequence[Factor] = ("OTP", "EMAIL")) -> tuple[list[Step], Tokens]:
    """The steps of a sign-in that gets these answers, and what it ends with."""
    flow = sign_in("a@example.test", "pw", factors=factors)
    steps: list[Step] = [next(flow)]
    for given in answers:
        try:
            steps.append(flow.send(given))
        except StopIteration as done:
            return steps, done.value
    raise AssertionError("the sequence has not ended")


def test_an_authenticator_code_is_given_without_a_send() -> None:
    steps, tokens = taken(session(), "123456", said(TOKENS))

    assert steps == [
        Call(LOGIN_INITIATE, {"email": "a@example.test", "password": "pw"}),
        Ask("OTP"),
        Call(LOGIN_COMPLETE, {"sessionId": "s-1", "method": 10011002, "code": "123456"}),
    ]
    assert (tokens.access, tokens.refresh, tokens.expires_in, tokens.factor) == (
        "access",
        "refresh",
        3600.0,
        "OTP",
    )


def test_an_emailed_code_is_sent_first() -> None:
    steps, _ = taken(session(), said({"sent": True}), "123456", said(TOKENS), factors=("EMAIL", "OTP"))

    assert steps[1:3] == [Call(LOGIN_MFA_SEND, {"sessionId": "s-1", "method": 10011001}), Ask("EMAIL")]


@pytest.mark.parametrize(
    "methods, factors, chosen",
    [
        (BOTH, ("EMAIL", "OTP"), "EMAIL"),
        (BOTH[1:], ("EMAIL", "OTP"), "OTP"),
        ([{"value": 10011001}], ("OTP", "EMAIL"), "EMAIL"),
        ([], ("OTP",), "OTP"),
        ("nonsense", ("EMAIL",), "EMAIL"),
        ([{"code": "PUSH", "value": 1}], ("OTP", "EMAIL"), "OTP"),
    ],
)
def test_the_factor_is_one_that_is_offered_and_preferred(
    methods: Json, factors: Sequence[Factor], chosen: str
) -> None:
    flow = sign_in("a@example.test", "pw", factors=factors)
    next(flow)

    step = flow.send(session(methods))

    assert step == (
        Ask("OTP") if chosen == "OTP" else Call(LOGIN_MFA_SEND, {"sessionId": "s-1", "method": 10011001})
    )


@pytest.mark.parametrize(
    "retry_after, waits", [("17", [17.0]), ("5", [5.0, 55.0]), ("0", [60.0]), ("90", [90.0])]
)
def test_a_cooldown_of_the_sign_in_before_is_waited_for_to_its_end(
    retry_after: str, waits: list[float]
) -> None:
    cooldown = said(code="AUTH.MFA_SEND_COOLDOWN", status=429, headers=[("Retry-After", retry_after)])
    refused = [answer for _ in waits for answer in (cooldown, None)]

    steps, _ = taken(session(), *refused, said({"sent": True}), "1", said(TOKENS), factors=("EMAIL",))

    assert [step for step in steps if isinstance(step, Wait)] == [
        Wait(seconds, "the resend cooldown") for seconds in waits
    ]
    assert steps[3] == steps[1]


def test_an_authenticator_code_that_was_used_elsewhere_is_followed_by_the_next() -> None:
    wrong = said(code="AUTH.MFA_CODE_INVALID", status=400)

    steps, tokens = taken(session(), "111111", wrong, "222222", said(TOKENS))

    sent = [step.body["code"] for step in steps if isinstance(step, Call) and step.key == LOGIN_COMPLETE]
    assert sent == ["111111", "222222"]
    assert tokens.access == "access"


@pytest.mark.parametrize(
    "answers, step",
    [
        ([said(code="AUTH.INVALID_CREDENTIALS", status=401)], "initiate"),
        ([said({"mfaMethods": BOTH})], "initiate"),
        ([session(), "1", said(code="AUTH.SESSION_NOT_FOUND", status=404)], "complete"),
        (
            [session(), *(answer for code in "123" for answer in (code, said(code="AUTH.MFA_CODE_INVALID")))],
            "complete",
        ),
        ([session(), "1", said({"refreshToken": "x"})], "complete"),
    ],
)
def test_a_step_that_is_refused_ends_the_sequence_and_is_named(answers: list[Answer], step: str) -> None:
    with pytest.raises(SignInRefused) as caught:
        taken(*answers)

    assert caught.value.step == step


def test_an_account_without_any_factor_cannot_sign_in() -> None:
    with pytest.raises(CannotSignIn) as caught:
        taken(session(), factors=())

    assert caught.value.fault_class == "configuration"


def test_a_client_hash_is_kept_through_the_steps_and_with_the_tokens() -> None:
    portal = answering(played := Played())

    session = portal.login.initiate("nobody@example.test", "password", client_hash="my-own-hash")
    portal.login.send(session, "EMAIL")
    portal.login.complete(session, method="EMAIL", code="123456")
    portal.call(PROFILE, token="access")

    assert [request.headers["x-client-hash"] for request in played.asked] == ["my-own-hash"] * 4
