"""Accounts share a session, refresh it in time, and are not tried again with a password that was refused."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import httpx
import jwt
import pytest

from conformance.errors import CannotSignIn
from conformance.spec.endpoints import PROFILE, ROLES
from conformance.target.clock import Clock
from conformance.target.portal import Portal
from conformance.target.portal.accounts import LONG_FROM
from conformance.target.portal.sign_ins.attempts import otp_advice
from conformance.target.portal.sign_ins.session import lifetime
from conformance.target.profile.model import parse
from conformance.target.profile.tables import Factor
from conformance.tests.reached import (
    BY_MAIL,
    MINIMAL,
    WRONG_SECRET,
    Played,
    all_of,
    answer,
    answering,
    connected,
    envelope,
    replacing,
)
from conformance.traffic.exchange import Exchange, Request, Response

NOON = 1_767_268_800


def paths(seen: list[Exchange]) -> list[str]:
    return [exchange.request.path.removeprefix("/web/v1/system/") for exchange in seen]


def test_the_session_is_shared_and_begun_once() -> None:
    with connected() as (portal, exchanges, _):
        admin = portal.account("admin")

        assert admin.token == admin.token == admin.signed_in().token
        assert paths(exchanges) == ["auth/login/initiate", "auth/login/complete"]
        assert admin.fresh_sign_in().token != admin.token


def test_a_token_near_its_end_is_refreshed_and_not_signed_in_again() -> None:
    with connected() as (portal, exchanges, _):
        admin = portal.account("admin")
        first = admin.token
        portal.clock.wait(3545, "the token to near its end")

        second = admin.token

        assert second != first
        assert paths(exchanges)[2:] == ["auth/token/refresh"]
        assert portal.call(PROFILE, token=second).success


def test_where_the_refresh_is_refused_a_new_sign_in_follows() -> None:
    with connected() as (portal, exchanges, _):
        admin = portal.account("admin")
        portal.login.logout(admin.token)
        portal.clock.wait(3600, "the token to end")

        assert portal.call(PROFILE, token=admin.token).success
        steps = ["auth/logout", "auth/token/refresh", "auth/login/initiate", "auth/login/complete"]
        assert paths(exchanges)[2:6] == steps


def test_a_shared_token_that_was_refused_is_replaced_before_it_is_given_out_again() -> None:
    with connected() as (portal, _, _running):
        admin = portal.account("admin")
        ended = admin.token
        portal.login.logout(ended)
        assert portal.call(PROFILE, token=ended).status == 401

        assert admin.token != ended
        assert portal.call(PROFILE, token=admin.token).success


def test_a_refusal_that_is_not_the_tokens_fault_keeps_the_session() -> None:
    portal = answering(played := Played(roles=answer(status=401, code="4010")))
    admin = portal.account("admin")
    portal.call(ROLES, token=admin.token)

    assert admin.token == "access"
    assert played.words.count("initiate") == 1


REFUSED = answer(status=401, code="AUTH.INVALID_CREDENTIALS")
WRONG_CODE = answer(status=400, code="AUTH.MFA_CODE_INVALID")
MALFORMED = answer(status=400, code="VALIDATION.INVALID_PARAMETER")


def test_a_wrong_password_is_tried_once_and_never_again() -> None:
    portal = answering(played := Played(REFUSED))
    admin = portal.account("admin")
    reasons: list[CannotSignIn] = []
    for attempt in (admin.signed_in, admin.fresh_sign_in, lambda: portal.login.initiate(admin)):
        with pytest.raises(CannotSignIn, match=r"\.admin\]: email or password is refused") as caught:
            attempt()
        assert caught.value.fault_class == "credentials"
        reasons.append(caught.value)

    assert len(played.asked) == 1
    assert len(set(map(id, reasons))) == len(reasons)  # what is raised anew holds no old tracebacks


def test_a_password_that_worked_before_is_the_targets_to_accept() -> None:
    portal = answering(played := Played())
    admin = portal.account("admin")
    portal.login.initiate(admin)
    played.other = REFUSED

    assert portal.login.initiate(admin).code == "AUTH.INVALID_CREDENTIALS"
    assert portal.login.initiate(admin).status == 401


def test_a_wrong_secret_is_found_out_in_one_sign_in() -> None:
    admin = answering(played := Played(complete=WRONG_CODE)).account("admin")
    for _ in range(4):
        with pytest.raises(CannotSignIn, match="complete was refused"):
            admin.signed_in()

    assert played.words == ["initiate", "complete", "complete", "complete"]
    assert not admin.attempts.has_held_token


@pytest.mark.parametrize("refusal", [MALFORMED, answer(status=400, code="4000")])
def test_a_password_that_is_too_short_to_be_right_is_named_and_sent_once(refusal: httpx.Response) -> None:
    played = Played(refusal)
    portal = answering(played, profile=MINIMAL.replace("the admin's password", "short"))
    for _ in range(2):
        with pytest.raises(CannotSignIn, match=r"\[accounts.admin\] password: it has 5 characters") as caught:
            portal.login.initiate(portal.account("admin"))
        assert caught.value.fault_class == "credentials"

    assert len(played.asked) == 1
    lawful = answering(played)
    assert lawful.login.initiate(lawful.account("admin")).status == 400


@pytest.mark.parametrize(
    "ahead, advice",
    [
        (0, "The clocks agree, so [accounts.admin] otp_secret is not the secret of its authenticator"),
        (300, "The portal's clock is 300 s ahead of this machine's: set the clock that is wrong."),
        (-90, "The portal's clock is 90 s behind this machine's: set the clock that is wrong."),
    ],
)
def test_a_refused_code_is_blamed_on_the_secret_only_where_the_clocks_agree(ahead: int, advice: str) -> None:
    asked = Request(method="POST", url="http://portal.example.test/")
    answered = Response(status=400, body=envelope(timestamp=1000 * (NOON + ahead)))
    refused = Exchange(n=1, started="2026-01-01T12:00:00Z", request=asked, response=answered)

    assert otp_advice("admin", refused, is_simulated=False).startswith(advice)
    assert otp_advice("admin", refused, is_simulated=True).startswith("The clocks agree")


@pytest.mark.parametrize("limit, most", [(2, 2), (5, 5), (100, 5)])
def test_right_codes_that_cases_give_are_refused_so_often_at_most(limit: int, most: int) -> None:
    profile = MINIMAL + f"[limits]\nmax_failed_sign_ins = {limit}\n"
    portal = answering(Played(complete=WRONG_CODE), profile=profile)
    admin = portal.account("admin")
    session = portal.login.initiate(admin)
    for _ in range(most):
        portal.login.complete(session, method="OTP", code=admin.code())

    for attempt in (admin.code, lambda: portal.login.initiate(admin)):
        with pytest.raises(CannotSignIn, match="the right codes are refused"):
            attempt()


def test_an_account_signs_in_past_codes_that_a_run_on_another_machine_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connected() as (portal, _, running):
        portal.account("admin").fresh_sign_in()
        session = portal.login.initiate(portal.account("admin"))
        early = portal.codes.early_totp(portal.profile.accounts["admin"].otp_secret or "")
        assert portal.login.complete(session, method="OTP", code=early).success

        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        with Portal.connect(parse(running.profile(), {}), impact="disruptive") as later:
            assert later.account("admin").fresh_sign_in().token


@pytest.mark.parametrize("factor", ["OTP", "EMAIL"])
def test_a_wrong_code_has_six_digits_is_wrong_and_is_redacted_as_one(factor: Factor) -> None:
    with connected() as (portal, _, _running):
        admin = portal.account("admin")
        session = portal.login.initiate(admin)
        portal.login.send(session, "EMAIL")
        right = admin.code(factor)
        wrong = [admin.wrong_code(factor) for _ in range(50)]

        for code in (wrong[0], right):
            portal.login.complete(session, method=factor, code=code)

        assert all(len(code) == 6 and code.isdecimal() for code in wrong)
        assert right not in wrong
        assert str(portal.secrets.placeholder(wrong[0])).startswith("[wrong-code-")
        assert str(portal.secrets.placeholder(right)).startswith("[code-")


class LateInbox:
    """Of the codes that were sent one more has arrived each time that it is read."""

    def __init__(self, sent: list[str]) -> None:
        self.sent, self.arrived = sent, 0

    def mark(self) -> int:
        return self.arrived

    def code_after(self, mark: object, clock: Clock) -> str:
        self.arrived = min(self.arrived + 1, len(self.sent))
        return self.sent[self.arrived - 1]

    def has_code_after(self, mark: object) -> bool:
        return self.arrived != mark


@pytest.mark.parametrize("is_late, tried", [(True, ["100001", "100002"]), (False, ["100001"])])
def test_a_late_mail_of_an_earlier_send_is_followed_by_the_next_one(is_late: bool, tried: list[str]) -> None:
    sent: list[str] = []
    codes: list[str] = []

    def respond(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        if request.url.path.endswith("send"):
            sent.append(f"10000{len(sent) + 1}")
            return answer({"sent": True})
        if request.url.path.endswith("complete"):
            codes.append(body["code"])
            if body["code"] != sent[-1]:
                return answer(status=401, code="AUTH.MFA_CODE_INVALID")
            return answer({"accessToken": "access", "refreshToken": "refresh", "expiresIn": 3600})
        return answer({"sessionId": f"s-{len(sent)}", "mfaMethods": [{"code": "EMAIL"}]})

    admin = (portal := answering(respond, profile=BY_MAIL)).account("admin")
    admin.read_from(LateInbox(sent))
    if is_late:
        portal.login.send(portal.login.initiate(admin))

    admin.fresh_sign_in()

    assert codes == tried


def test_a_new_password_can_be_made_again_from_the_run_and_its_number() -> None:
    portal = answering(lambda request: answer())
    admin = portal.account("admin")

    first, second = admin.next_password(), admin.next_password()

    assert first != second
    assert 8 <= len(first) <= 128
    assert admin.password_of(portal.run_id, 2) == second
    assert len(first) < len(admin.next_password(LONG_FROM)) <= 128
    assert portal.secrets.placeholder(first) is not None


@pytest.mark.parametrize(
    "told, token, expected",
    [
        (3600.0, "opaque", 3600.0),
        (8.0, "opaque", 8.0),
        (3_600_000.0, "opaque", 3600.0),
        (None, jwt.encode({"exp": 5000}, "k" * 32), 4000.0),
        (None, "opaque", 300.0),
    ],
)
def test_how_long_a_token_lives(told: float | None, token: str, expected: float) -> None:
    assert lifetime(told, token, 1000.0) == expected


def test_an_account_that_signs_in_by_mail_gives_up_a_refused_authenticator_alone() -> None:
    by_mail = replacing('mfa = "OTP"', 'mfa = "EMAIL"', within="accounts.admin")
    with connected(edit=all_of(WRONG_SECRET, by_mail)) as (portal, _, _running):
        admin = portal.account("admin")
        session = portal.login.initiate(admin).at("data.sessionId")
        refused = portal.login.complete(session, method="OTP", code=admin.code("OTP"))

        assert not refused.success
        assert (admin.can("OTP"), admin.factors, admin.attempts.given_up) == (False, ("EMAIL",), None)
        with pytest.raises(CannotSignIn, match=r"the authenticator of \[accounts.admin\] are refused"):
            admin.code("OTP")
        assert portal.call(PROFILE, token=admin.token).success
