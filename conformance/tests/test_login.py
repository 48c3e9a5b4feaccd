"""The sign-in of an account: which factor it takes, what it waits for, and the step that is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import httpx
import pytest

from conformance.errors import CannotSignIn
from conformance.spec.endpoints import LOGIN_INITIATE, PROFILE
from conformance.target.clock import SimulatedClock
from conformance.target.portal.login import chosen_factor
from conformance.target.profile.tables import Factor
from conformance.tests import traffic
from conformance.tests.reached import BY_MAIL, MINIMAL, SIGNED_IN, Played, answer, answering
from conformance.traffic.exchange import Json

BOTH = [{"code": "EMAIL", "value": 10011001, "label": "x"}, {"code": "OTP", "value": 10011002, "label": "y"}]


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
    initiated = traffic.answer(LOGIN_INITIATE, data={"sessionId": "s", "mfaMethods": methods})

    assert chosen_factor(initiated, factors) == chosen


@pytest.mark.parametrize(
    "retry_after, waits", [("17", [17.0]), ("5", [5.0, 55.0]), ("0", [60.0]), ("90", [90.0])]
)
def test_a_cooldown_of_the_sign_in_before_is_waited_for_to_its_end(
    retry_after: str, waits: list[float]
) -> None:
    cooldown = answer(code="AUTH.MFA_SEND_COOLDOWN", status=425, headers={"Retry-After": retry_after})
    sends: Iterator[httpx.Response] = iter([*(cooldown for _ in waits), answer({"sent": True})])
    waited: list[float] = []
    clock = SimulatedClock(lambda seconds: None, on_wait=lambda seconds, why: waited.append(seconds))

    portal = answering(Played(send=lambda request: next(sends)), profile=BY_MAIL, clock=clock)

    assert portal.account("admin").token == "access"
    assert waited == waits


@pytest.mark.parametrize(
    "answers, step",
    [
        ({"initiate": answer(code="AUTH.ACCOUNT_LOCKED", status=401)}, "initiate"),
        ({"initiate": answer({"mfaMethods": BOTH})}, "initiate"),
        ({"send": answer(code="SYSTEM.ERROR", status=500)}, "mfa/send"),
        ({"complete": answer(code="AUTH.SESSION_NOT_FOUND", status=404)}, "complete"),
        ({"complete": answer(code="AUTH.MFA_CODE_INVALID", status=400)}, "complete"),
        ({"complete": answer({"refreshToken": "x"})}, "complete"),
    ],
)
def test_a_step_that_is_refused_ends_the_sign_in_and_is_named(
    answers: dict[str, httpx.Response], step: str
) -> None:
    portal = answering(Played(answer(SIGNED_IN), **answers), profile=BY_MAIL)

    with pytest.raises(CannotSignIn, match=rf"login/{step} (was refused|succeeded, and data)"):
        portal.account("admin").fresh_sign_in()


def test_an_account_without_any_factor_cannot_sign_in() -> None:
    portal = answering(Played(), profile=MINIMAL.replace('otp_secret = "JBSWY3DPEHPK3PXP"', ""))

    with pytest.raises(CannotSignIn) as caught:
        portal.account("admin").fresh_sign_in()

    assert caught.value.fault_class == "configuration"


def test_a_client_hash_is_kept_through_the_steps_and_with_the_tokens() -> None:
    portal = answering(played := Played())

    session = portal.login.initiate("nobody@example.test", "password", client_hash="my-own-hash")
    portal.login.send(session, "EMAIL")
    portal.login.complete(session, method="EMAIL", code="123456")
    portal.call(PROFILE, token="access")

    assert [request.headers["x-client-hash"] for request in played.asked] == ["my-own-hash"] * 4
