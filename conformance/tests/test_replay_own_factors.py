"""An authenticator and backup codes that are set up while somebody records."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyotp
import pytest
from starlette.types import ASGIApp

from conformance.replay import ReplayResult, replay
from conformance.replay.compare.callers.owners import Authenticators
from conformance.replay.compare.difference import Difference
from conformance.replay.compare.outcome import State
from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.spec.endpoints import LOGIN_COMPLETE, LOGIN_INITIATE, OTP_SETUP, OTP_VERIFY
from conformance.target.profile.model import parse
from conformance.tests.replays import options_for, recorder
from conformance.tests.scripted_client import Walker
from conformance.tests.traffic import answer
from reference_impl import serve as reference
from reference_impl.choices import Choices
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Routes
from reference_impl.shapes import Body

WITH_BACKUP_CODES = Choices(backup_codes_sign_in=True)
AUTHENTICATOR = 10011002


def sign_in_by_code(walker: Walker, account: dict[str, str], code: str) -> None:
    begun = walker.post("/auth/login/initiate", {"email": account["email"], "password": account["password"]})
    sent = {"sessionId": begun["data"]["sessionId"], "method": AUTHENTICATOR, "code": code}
    done = walker.post("/auth/login/complete", sent)
    walker.token = done["data"]["accessToken"]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
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


@dataclass
class SetupThatShows:
    """A portal whose setup of an authenticator shows these fields alone, each as another one is shown."""

    fields: dict[str, str]

    def wrap(self, app: ASGIApp) -> ASGIApp:
        routes = app.state.routes  # type: ignore[attr-defined]
        row = routes.rows[OTP_SETUP]

        def handler(portal: Portal, caller: Caller, body: Body) -> Any:
            shown = row.handler(portal, caller, body)
            return {name: shown[other] for name, other in self.fields.items()}

        vars(routes).update(vars(Routes({**routes.rows, OTP_SETUP: replace(row, handler=handler)})))
        return app


def replayed(
    recording: Path,
    out: Path,
    faults: tuple[str, ...] = (),
    wrap: Callable[[ASGIApp], ASGIApp] | None = None,
) -> ReplayResult:
    with reference.start(choices=WITH_BACKUP_CODES, faults=faults, wrap=wrap) as portal:
        return replay([recording], parse(portal.profile(), {}), options_for(out))


def test_later_sign_ins_use_the_secret_and_the_codes_that_the_target_returned(
    recording: Path, tmp_path: Path
) -> None:
    result = replayed(recording, tmp_path)

    assert result.run.regressions == []
    assert result.tally.counts == {State.SAME: result.plan.size}


def test_an_authenticator_that_could_not_be_set_up_is_not_the_profiles(
    recording: Path, tmp_path: Path
) -> None:
    result = replayed(recording, tmp_path, ("post-security-mfa-otp-verify-is-not-offered",))

    unsent = [one for one in result.tally.kept if one.state is State.NOT_REPLAYABLE]
    assert {one.endpoint for one in result.run.regressions} >= {OTP_VERIFY}
    assert [one.endpoint for one in unsent] == [LOGIN_COMPLETE]
    assert "was set up when recorded" in unsent[0].reason
    assert not any("does not fit" in note for note in result.notes)


def test_a_refused_code_of_an_authenticator_that_was_verified_is_the_targets(
    recording: Path, tmp_path: Path
) -> None:
    result = replayed(recording, tmp_path, ("verified-authenticator-does-not-sign-in",))

    assert LOGIN_COMPLETE in {one.endpoint for one in result.run.regressions}
    assert not any("does not fit" in note for note in result.notes)


@pytest.mark.parametrize("fields", [{"qrContent": "otpAuthUri"}, {}])
def test_a_setup_that_shows_no_secret_by_its_name_is_held_against_nobody(
    recording: Path, tmp_path: Path, fields: dict[str, str]
) -> None:
    """The address for an authenticator holds the secret as well, whatever its name."""
    result = replayed(recording, tmp_path, wrap=SetupThatShows(fields).wrap)

    unsent = [one for one in result.tally.kept if one.state is State.NOT_REPLAYABLE]
    assert {one.endpoint for one in result.run.regressions} <= {OTP_SETUP}
    assert [one.endpoint for one in unsent] == ([] if fields else [OTP_VERIFY, LOGIN_COMPLETE])
    assert not fields or OTP_VERIFY not in {one.endpoint for one in result.tally.kept}


def sets_up_without_verifying(walker: Walker, spare: dict[str, str]) -> None:
    walker.sign_in(spare)
    walker.post("/security/mfa/otp/setup")
    walker.sign_in(spare)


def sees_that_none_is_enabled(walker: Walker, spare: dict[str, str]) -> None:
    walker.sign_in(spare)
    walker.get("/security/mfa")
    walker.sign_in(spare)


@pytest.mark.parametrize(
    ("visit", "fault", "basis"),
    [
        (sets_up_without_verifying, "an-unverified-authenticator-is-offered", "MFA-015"),
        (sees_that_none_is_enabled, "revoked-authenticator-is-offered", "shown as not enabled"),
    ],
)
def test_an_authenticator_that_is_not_verified_or_enabled_is_not_offered(
    tmp_path: Path, visit: Callable[[Walker, dict[str, str]], None], fault: str, basis: str
) -> None:
    out = tmp_path / "factors.jsonl"
    with recorder(out) as (walker, _):
        visit(walker, walker.accounts["spare"])

    sound, faulty = replayed(out, tmp_path / "sound"), replayed(out, tmp_path / "faulty", (fault,))

    assert sound.run.regressions == []
    assert {(one.endpoint, one.path, one.meaning) for one in faulty.run.regressions} == {
        (LOGIN_INITIATE, "data.mfaMethods", "breaking")
    }
    assert basis in faulty.run.regressions[0].basis


def offering(account: str, recorded: list[str], live: list[str]) -> ReplayedExchange:
    """A sign-in that began, with the methods that it offers."""
    old, new = (
        answer(LOGIN_INITIATE, {"mfaMethods": [{"code": code} for code in codes]})
        for codes in (recorded, live)
    )
    return ReplayedExchange(1, old, new, account=account)


def test_an_authenticator_that_the_targets_account_had_before_may_be_offered() -> None:
    setup = answer(OTP_SETUP, {"secret": "A"})
    authenticators = Authenticators()
    difference = Difference("length", ("data", "mfaMethods"), 1, 2)
    mailed, both = ["EMAIL"], ["EMAIL", "OTP"]
    for account, before in (("spare", mailed), ("admin", both)):
        authenticators.note(offering(account, mailed, before))
        authenticators.note(ReplayedExchange(2, setup, setup, account=account))

    assert authenticators.offered(offering("spare", mailed, both), difference) == "MFA-015"
    assert authenticators.offered(offering("spare", mailed, ["EMAIL", "SMS"]), difference) is None
    assert authenticators.offered(offering("admin", mailed, both), difference) is None
