"""Secrets that a recording hides: mailed tokens, authenticators and backup codes, and what nothing shows."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pyotp
import pytest
from starlette.types import ASGIApp

from conformance.replay import ReplayResult
from conformance.replay.compare.callers import Authenticators, why_nothing_is_shown
from conformance.replay.compare.outcome import Difference, ReplayedExchange, State
from conformance.spec import endpoints as op
from conformance.target.portal.cipher import Scheme, seal
from conformance.tests.replays import recorder, replayed
from conformance.tests.scripted_client import Walker
from conformance.tests.traffic import answer, refusal
from conformance.traffic import capture
from conformance.traffic.exchange import Exchange
from reference_impl import serve as reference
from reference_impl.choices import Choices
from reference_impl.errors import INVALID, Refusal
from reference_impl.handlers.passwords import set_password
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Routes
from reference_impl.shapes import Body, Shape, needed, text

BY_CODE = '{ email = "{email}", code = "{code}", newPassword = "{new_password}" }'
BY_TOKEN = '{ token = "{code}", newPassword = "{new_password}" }'
NO_TOKEN = r"pattern = '\b(\d{6})\b'" + "\ntimeout = 0.1"
OF_BOTH = r"pattern = '(?:token: |\b)([A-J]{26}|\d{6})\b'"
LETTERS = str.maketrans("0123456789", "ABCDEFGHIJ")
ACCOUNT_RESET = "POST /web/v1/system/accounts/admin/password/reset"
NEW = "Another-password-1"


@dataclass
class ByToken:
    """A portal that mails tokens of 26 letters. ``is_broken``: it refuses each of them."""

    is_broken: bool = False

    def wrap(self, app: ASGIApp) -> ASGIApp:
        routes = app.state.routes  # type: ignore[attr-defined]
        rows = dict(routes.rows)
        takes = Shape(
            {"token": needed(text(least=1, most=64)), "newPassword": needed(text(least=8, most=64))}
        )
        for key in (op.PASSWORD_RESET, op.PASSWORD_INIT):
            rows[key] = replace(rows[key], handler=self._set, takes=takes)
        rows[op.PASSWORD_FORGOT] = replace(rows[op.PASSWORD_FORGOT], handler=self._forgot)
        rows[ACCOUNT_RESET] = replace(rows[ACCOUNT_RESET], handler=self._by_admin)
        vars(routes).update(vars(Routes(rows)))
        self.tokens: dict[str, str] = {}
        return app

    def _forgot(self, portal: Portal, caller: Caller, body: Body) -> Any:
        account = portal.account_of(body["email"])
        if account:
            self._mail(portal, account["bizId"])
        return {"success": True, "message": "Maybe a mail is on its way."}

    def _by_admin(self, portal: Portal, caller: Caller, body: Body) -> Any:
        self._mail(portal, body["userBizId"])
        return {"success": True}

    def _mail(self, portal: Portal, id: str) -> None:
        token = portal.draw.digits(26).translate(LETTERS)
        self.tokens[token] = id
        portal.mail(portal.find("account", id)["accountEmail"], "Your password", text=f"Your token: {token}")

    def _set(self, portal: Portal, caller: Caller, body: Body) -> Any:
        id = self.tokens.pop(body["token"], None)
        if id is None or self.is_broken:
            raise Refusal(INVALID)
        set_password(portal, id, body["newPassword"])


def by_token(profile: str) -> str:
    """The profile of such a portal."""
    return re.sub(r"(?m)^pattern = .*$", lambda _: OF_BOTH, profile.replace(BY_CODE, BY_TOKEN))


class Forgetful(Walker):
    """Somebody who has passwords mailed."""

    def token_of(self, email: str) -> str:
        url = self.profile["inboxes"]["mail"]["url"].replace("{email}", email)
        return str(re.findall("token: ([A-J]{26})", httpx.get(url).text)[0])

    def set_password(self, path: str, token: str) -> None:
        session, key = self.open_channel()
        body = json.dumps({"token": token, "newPassword": NEW}).encode()
        sealed = json.dumps({"v": 2, "p": seal(body, key, Scheme())})
        self.post(f"/auth/password/{path}", sealed, **{"X-Secure-Channel-Session-Id": session})

    def forget(self, email: str) -> None:
        challenge = self.profile["bot_challenge"]["token"]
        self.post("/auth/password/forgot", {"email": email, "turnstileToken": challenge})


def forgets_passwords(walker: Forgetful, accounts: dict[str, dict[str, str]]) -> None:
    """One person forgets a password, another one gets one from an administrator; both sign in with it."""
    spare, limited = accounts["spare"], accounts["limited"]
    walker.sign_in(spare)
    walker.forget(spare["email"])
    token = walker.token_of(spare["email"])
    mail, browser = (replace(walker, hash=name) for name in ("mail", "browser"))
    mail.set_password("reset", token)
    mail.set_password("reset", token)
    browser.sign_in({**spare, "password": NEW})
    walker.sign_in(accounts["admin"])
    filters = dict.fromkeys(("institutionBizId", "accountPortal", "accountStatus", "name"))
    asked = {**filters, "email": limited["email"], "page": 0, "size": 5}
    id = walker.post("/accounts/admin/query", asked)["data"]["accounts"][0]["bizId"]
    walker.post("/accounts/admin/password/reset", {"userBizId": id})
    mail.set_password("init", walker.token_of(limited["email"]))
    browser.sign_in({**limited, "password": NEW})
    browser.get("/profile")


@pytest.fixture(scope="module")
def forgotten(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("recording") / "forgotten.jsonl"
    with recorder(out, open_channel=True, wrap=ByToken().wrap, edit=by_token) as (walker, _):
        forgets_passwords(Forgetful(walker.base, walker.profile), walker.accounts)
    statuses = [one.status for one in capture.read(out)]
    assert set(statuses) == {200, 400}
    assert statuses.count(400) == 1
    return out


def replayed_by_token(
    recording: Path, out: Path, *, is_broken: bool = False, replacing: tuple[str, str] = ("", ""), **more: Any
) -> ReplayResult:
    """The recording on a portal of the same kind. ``replacing`` is done in the profile."""

    def edit(profile: str) -> str:
        assert replacing[0] in by_token(profile)
        return by_token(profile).replace(*replacing)

    return replayed(recording, out, wrap=ByToken(is_broken).wrap, edit=edit, **more)


def unset_password(portal: reference.Running) -> None:
    """An account has no password that the profile has."""
    set_password(portal.portal, portal.seeded.sign_ins["limited"].account_id, "Nobody-has-this-1")


@pytest.mark.parametrize("replacing", [("", ""), (BY_TOKEN, BY_CODE)], ids=["named", "not named"])
def test_a_token_is_taken_from_the_mail_and_sent_by_its_name_whatever_the_profile_names(
    forgotten: Path, tmp_path: Path, replacing: tuple[str, str]
) -> None:
    told = replayed_by_token(forgotten, tmp_path, concurrency=4, replacing=replacing)

    assert told.run.regressions == []
    assert told.tally.counts == {State.SAME: told.plan.size}


def test_without_the_token_nothing_is_held_against_the_target(forgotten: Path, tmp_path: Path) -> None:
    """Nor against the profile: the sign-ins with these passwords follow from it."""
    told = replayed_by_token(forgotten, tmp_path, replacing=(OF_BOTH, NO_TOKEN))

    left = {one.endpoint: one for one in told.tally.kept if one.state is not State.SAME}
    assert told.run.regressions == []
    assert left.keys() == {op.PASSWORD_RESET, op.PASSWORD_INIT}
    assert "inbox: its code for a password is refused" in left[op.PASSWORD_RESET].reason
    assert left[op.PASSWORD_INIT].state is State.NOT_REPLAYABLE
    assert "[inboxes.mail]" in left[op.PASSWORD_INIT].reason
    assert not any("] password is refused" in note for note in told.notes)


def test_a_refused_token_that_certainly_came_is_the_targets(forgotten: Path, tmp_path: Path) -> None:
    told = replayed_by_token(forgotten, tmp_path, is_broken=True)

    assert {one.endpoint for one in told.run.regressions} == {op.PASSWORD_RESET, op.PASSWORD_INIT}
    assert not any("does not fit" in note for note in told.notes)


def test_a_sign_in_with_a_password_that_was_not_set_is_held_against_nobody(
    forgotten: Path, tmp_path: Path
) -> None:
    told = replayed_by_token(forgotten, tmp_path, prepare=unset_password, replacing=(OF_BOTH, NO_TOKEN))

    left = {one.endpoint: one for one in told.tally.kept if one.state is State.NOT_COMPARABLE}
    assert told.run.regressions == []
    assert f"({op.PASSWORD_INIT}) set the password of [accounts.limited]" in left[op.LOGIN_INITIATE].reason
    assert not any("] password is refused" in note for note in told.notes)


WITH_BACKUP_CODES = Choices(backup_codes_sign_in=True)
AUTHENTICATOR = 10011002


def sign_in_by_code(walker: Walker, account: dict[str, str], code: str) -> None:
    begun = walker.post("/auth/login/initiate", {"email": account["email"], "password": account["password"]})
    sent = {"sessionId": begun["data"]["sessionId"], "method": AUTHENTICATOR, "code": code}
    done = walker.post("/auth/login/complete", sent)
    walker.token = done["data"]["accessToken"]


@pytest.fixture(scope="module")
def factors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Somebody who signs in by mail sets an authenticator up, signs in with it and with a backup code."""
    out = tmp_path_factory.mktemp("recording") / "factors.jsonl"
    with recorder(out, choices=WITH_BACKUP_CODES) as (walker, portal):
        spare = walker.accounts["spare"]
        other = walker.browser("fingerprint-0002")
        walker.sign_in(spare)
        secret = walker.post("/security/mfa/otp/setup")["data"]["secret"]
        walker.post("/security/mfa/otp/verify", {"code": pyotp.TOTP(secret).now()})
        portal.portal.clock.advance(30)
        other.ahead = portal.portal.clock.now() - time.time()
        other.sign_in({**spare, "mfa": "OTP", "otp_secret": secret})
        codes = walker.post("/security/mfa/backup-codes/generate")["data"]["codes"]
        sign_in_by_code(other, spare, codes[3])
        other.get("/security/mfa/backup-codes")
        walker.post("/security/mfa/otp/revoke")
        other.sign_in(spare)
    assert set(walker.statuses + other.statuses) == {200}
    return out


def replayed_with_codes(recording: Path, out: Path, *faults: str, **more: Any) -> ReplayResult:
    return replayed(recording, out, choices=WITH_BACKUP_CODES, faults=faults, **more)


def test_later_sign_ins_use_what_the_target_returned(factors: Path, tmp_path: Path) -> None:
    result = replayed_with_codes(factors, tmp_path)

    assert result.run.regressions == []
    assert result.tally.counts == {State.SAME: result.plan.size}


def test_an_authenticator_that_could_not_be_set_up_is_not_the_profiles(factors: Path, tmp_path: Path) -> None:
    result = replayed_with_codes(factors, tmp_path, "post-security-mfa-otp-verify-is-not-offered")

    unsent = [one for one in result.tally.kept if one.state is State.NOT_REPLAYABLE]
    assert {one.endpoint for one in result.run.regressions} >= {op.OTP_VERIFY}
    assert [one.endpoint for one in unsent] == [op.LOGIN_COMPLETE]
    assert "was set up when recorded" in unsent[0].reason
    assert not any("does not fit" in note for note in result.notes)


def test_a_refused_code_of_a_verified_authenticator_is_the_targets(factors: Path, tmp_path: Path) -> None:
    result = replayed_with_codes(factors, tmp_path, "verified-authenticator-does-not-sign-in")

    assert op.LOGIN_COMPLETE in {one.endpoint for one in result.run.regressions}
    assert not any("does not fit" in note for note in result.notes)


def sets_up(walker: Walker) -> None:
    walker.post("/security/mfa/otp/setup")


@pytest.mark.parametrize(
    ("act", "fault", "basis"),
    [
        (sets_up, "an-unverified-authenticator-is-offered", "MFA-015"),
        (lambda walker: walker.get("/security/mfa"), "revoked-authenticator-is-offered", "shown as not"),
    ],
)
def test_an_authenticator_that_is_not_verified_or_enabled_is_not_offered(
    tmp_path: Path, act: Callable[[Walker], object], fault: str, basis: str
) -> None:
    with recorder(out := tmp_path / "factors.jsonl") as (walker, _):
        spare = walker.accounts["spare"]
        walker.sign_in(spare)
        act(walker)
        walker.sign_in(spare)

    sound = replayed_with_codes(out, tmp_path / "sound")
    faulty = replayed_with_codes(out, tmp_path / "faulty", fault)

    assert sound.run.regressions == []
    assert {(one.endpoint, one.path, one.meaning) for one in faulty.run.regressions} == {
        (op.LOGIN_INITIATE, "data.mfaMethods", "breaking")
    }
    assert basis in faulty.run.regressions[0].basis


def test_an_authenticator_that_the_targets_account_had_before_may_be_offered() -> None:
    def offers(account: str, *live: str) -> ReplayedExchange:
        old, new = (
            answer(op.LOGIN_INITIATE, {"mfaMethods": [{"code": code} for code in codes]})
            for codes in (("EMAIL",), live)
        )
        return ReplayedExchange(1, old, new, account=account)

    setup, authenticators = answer(op.OTP_SETUP, {"secret": "A"}), Authenticators()
    for account, before in (("spare", ("EMAIL",)), ("admin", ("EMAIL", "OTP"))):
        authenticators.note(offers(account, *before))
        authenticators.note(ReplayedExchange(2, setup, setup, account=account))

    difference = Difference("length", ("data", "mfaMethods"), 1, 2)
    assert authenticators.offered(offers("spare", "EMAIL", "OTP"), difference) == "MFA-015"
    assert authenticators.offered(offers("spare", "EMAIL", "SMS"), difference) is None
    assert authenticators.offered(offers("admin", "EMAIL", "OTP"), difference) is None


def sends_an_ended_token(walker: Walker, elsewhere: Walker) -> None:
    elsewhere.post("/auth/logout")
    walker.get("/profile", Authorization=f"Bearer {elsewhere.token}")


def refreshes(walker: Walker, elsewhere: Walker) -> None:
    walker.post("/auth/token/refresh", {"refreshToken": elsewhere.refresh}, Authorization="")


@pytest.mark.parametrize(
    ("visit", "endpoint", "reason"),
    [
        (sends_an_ended_token, op.PROFILE, "it sends a token that the recording redacts"),
        (refreshes, op.TOKEN_REFRESH, "the recorded request was accepted"),
    ],
)
def test_a_hidden_token_of_elsewhere_is_a_gap_and_no_evidence(
    tmp_path: Path, visit: Callable[[Walker, Walker], None], endpoint: str, reason: str
) -> None:
    with recorder(out := tmp_path / "traffic.jsonl") as (walker, portal):
        elsewhere = Walker(portal.url, walker.profile)
        elsewhere.sign_in(walker.accounts["spare"])
        walker.sign_in(walker.accounts["admin"])
        visit(walker, elsewhere)

    result = replayed(out, tmp_path / "out")

    (gap,) = result.tally.kept
    assert (gap.state, gap.endpoint) == (State.NOT_COMPARABLE, endpoint)
    assert reason in gap.reason
    assert result.run.regressions == []
    assert any("1 exchange not comparable: it sends a" in note for note in result.notes)


ACCEPTED = answer(op.PROFILE, {})
REFUSED = refusal(op.PROFILE, "ACCESS.TOKEN_INVALID", 401)


@pytest.mark.parametrize(
    ("recorded", "live", "kind", "is_comparable"),
    [
        (ACCEPTED, ACCEPTED, "token", True),
        (ACCEPTED, REFUSED, "token", False),
        (REFUSED, REFUSED, "token", False),
        (REFUSED, ACCEPTED, "token", True),
        (REFUSED, refusal(op.PROFILE, "5000", 500), "token", True),
        (REFUSED, ACCEPTED, "password", False),
        (refusal(op.LOGIN_INITIATE, "AUTH.INVALID_CREDENTIALS", 401), REFUSED, "password", True),
    ],
)
def test_what_a_made_up_secret_shows(
    recorded: Exchange, live: Exchange, kind: str, is_comparable: bool
) -> None:
    """That it is accepted in place of a refused token, and that it is as wrong as a recorded password was."""
    pair = ReplayedExchange(1, recorded, live, made_up=(kind,))

    assert (why_nothing_is_shown(pair) is None) is is_comparable
    assert why_nothing_is_shown(ReplayedExchange(1, recorded, live)) is None
