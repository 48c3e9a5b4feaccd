"""The sign-in sequence step by step, without a portal, and the calls it is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import httpx
import pytest

from conformance.errors import CannotSignIn
from conformance.spec.endpoints import LOGIN_COMPLETE, LOGIN_INITIATE, LOGIN_MFA_SEND, PROFILE
from conformance.target.portal.login import (
    Answer,
    Ask,
    Call,
    SignInRefused,
    Step,
    Tokens,
    Wait,
    refusal,
    sign_in,
)
from conformance.target.profile.tables import Factor
from conformance.tests.reached import answer, answering, connected, envelope
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


def test_a_cooldown_of_the_sign_in_before_is_waited_for() -> None:
    cooldown = said(code="AUTH.MFA_SEND_COOLDOWN", status=429, headers=[("Retry-After", "17")])

    steps, _ = taken(
        session(), cooldown, None, said({"sent": True}), "123456", said(TOKENS), factors=("EMAIL",)
    )

    assert steps[2] == Wait(17.0, "the resend cooldown")
    assert steps[3] == steps[1]


@pytest.mark.parametrize("retry_after, waits", [("5", [5.0, 55.0]), ("0", [60.0]), ("90", [90.0])])
def test_a_retry_after_that_is_shorter_than_the_cooldown_is_followed_by_the_rest_of_it(
    retry_after: str, waits: list[float]
) -> None:
    cooldown = said(code="AUTH.MFA_SEND_COOLDOWN", status=429, headers=[("Retry-After", retry_after)])
    refused = [answer for _ in waits for answer in (cooldown, None)]

    steps, _ = taken(session(), *refused, said({"sent": True}), "1", said(TOKENS), factors=("EMAIL",))

    assert [step.seconds for step in steps if isinstance(step, Wait)] == waits


def test_an_authenticator_code_that_was_used_elsewhere_is_followed_by_the_next() -> None:
    wrong = said(code="AUTH.MFA_CODE_INVALID", status=400)

    steps, tokens = taken(session(), "111111", wrong, "222222", said(TOKENS))

    assert [step.body["code"] for step in steps if isinstance(step, Call) and step.key == LOGIN_COMPLETE] == [
        "111111",
        "222222",
    ]
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


def test_a_refusal_is_said_with_status_code_and_message() -> None:
    assert refusal(said(code="4010", status=401)) == "HTTP 401, 4010"


def test_an_account_without_any_factor_cannot_sign_in() -> None:
    with pytest.raises(CannotSignIn) as caught:
        taken(session(), factors=())

    assert caught.value.fault_class == "configuration"


def playing(
    *answers: httpx.Response,
) -> tuple[Callable[[httpx.Request], httpx.Response], list[httpx.Request]]:
    asked: list[httpx.Request] = []
    left = list(answers)

    def respond(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return left.pop(0)

    return respond, asked


def test_a_client_hash_is_kept_through_the_steps_and_with_the_tokens() -> None:
    respond, asked = playing(
        answer({"sessionId": "s-1", "mfaMethods": BOTH}), answer({"sent": True}), answer(TOKENS), answer({})
    )
    portal = answering(respond)

    session = portal.login.initiate("nobody@example.test", "password", client_hash="my-own-hash")
    portal.login.send(session, "EMAIL")
    portal.login.complete(session, method="EMAIL", code="123456")
    portal.call(PROFILE, token="access")

    assert {request.headers["x-client-hash"] for request in asked} == {"my-own-hash"}


def test_a_session_that_is_not_there_cannot_be_gone_on_with() -> None:
    respond, _ = playing(answer(code="AUTH.INVALID_CREDENTIALS", status=401))
    portal = answering(respond)

    refused = portal.login.initiate("nobody@example.test", "password")

    with pytest.raises(CannotSignIn, match=r"no login session was opened: HTTP 401"):
        portal.login.send(refused)


def test_cases_take_the_steps_one_by_one_on_a_real_portal() -> None:
    with connected() as (portal, _, _running):
        admin = portal.account("admin")
        session = portal.login.initiate(admin)

        refused = portal.login.complete(session, method="OTP", code=admin.wrong_code("OTP"))
        assert refused.code == "AUTH.MFA_CODE_INVALID"

        accepted = portal.login.complete(session, method="OTP", code=admin.code("OTP"))
        assert accepted.success

        renewed = portal.login.refresh(accepted.data["refreshToken"])
        assert renewed.success

        assert portal.login.logout(renewed.data["accessToken"]).success
