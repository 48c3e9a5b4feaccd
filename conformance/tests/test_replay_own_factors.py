"""An authenticator and backup codes that are set up while somebody records."""

from __future__ import annotations

import time
import tomllib
from pathlib import Path

import pyotp
import pytest

from conformance import record
from conformance.replay import ReplayResult, replay
from conformance.replay.compare.outcome import State
from conformance.spec.endpoints import LOGIN_COMPLETE, OTP_VERIFY
from conformance.target.profile.model import parse
from conformance.tests.replays import options_for
from conformance.tests.scripted_client import Walker
from reference_impl import serve as reference
from reference_impl.choices import Choices

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
    with reference.start(choices=WITH_BACKUP_CODES) as portal, record.serve(portal.url, out) as recorder:
        profile = tomllib.loads(portal.profile())
        spare, walker = profile["accounts"]["spare"], Walker(recorder.url, profile)
        other = Walker(recorder.url, profile, hash="fingerprint-0002")
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


def replayed(recording: Path, out: Path, faults: tuple[str, ...] = ()) -> ReplayResult:
    with reference.start(choices=WITH_BACKUP_CODES, faults=faults) as portal:
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
