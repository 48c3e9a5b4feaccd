"""A profile that does not fit the target is named first, and nothing is held against the target for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.replay import ReplayResult, replay
from conformance.replay.compare.credentials import CredentialCheck
from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.spec.endpoints import LOGIN_INITIATE
from conformance.target.profile.model import parse
from conformance.tests.replays import options_for, recorded_visit
from conformance.tests.sample_run import error
from conformance.tests.traffic import answer
from reference_impl import serve as reference

Edit = Callable[[str], str]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded_visit(tmp_path_factory.mktemp("recording"))


def replayed_with(recording: Path, out: Path, edit: Edit) -> ReplayResult:
    with reference.start() as portal:
        return replay([recording], parse(edit(portal.profile()), {}), options_for(out))


def substituted(pattern: str, text: str) -> Edit:
    return lambda profile: re.sub(pattern, text, profile, count=1)


UNFIT: dict[str, tuple[Edit, str]] = {
    "a wrong access code": (substituted(r'access_code = ".*"', 'access_code = "wrong"'), "access_code"),
    "no access code": (substituted(r'access_code = ".*"', 'access_code = ""'), "PORTAL_ACCESS_CODE"),
    "a wrong password": (substituted(r'password = ".*"', 'password = "Not-the-password-1"'), "password"),
    "a wrong authenticator": (
        substituted(r'otp_secret = ".*"\ninbox = .*', 'otp_secret = "JBSWY3DPEHPK3PXP"'),
        "otp_secret",
    ),
}


@pytest.mark.parametrize("unfit", UNFIT)
def test_what_the_profile_lacks_is_named_first_and_the_replay_is_inconclusive(
    recording: Path, tmp_path: Path, unfit: str
) -> None:
    edit, word = UNFIT[unfit]

    told = replayed_with(recording, tmp_path, edit)

    assert word in told.notes[0]
    assert told.run.regressions == []
    assert [one.requirement for one in told.run.findings if one.verdict == "fail"] == []
    assert told.run.exit_code == 5


@pytest.mark.parametrize("token", ["", 'token = "not-the-token"\n'])
def test_a_bot_token_that_is_missing_or_refused_is_named_and_the_rest_compared(
    recording: Path, tmp_path: Path, token: str
) -> None:
    told = replayed_with(
        recording, tmp_path, substituted(r'(?s)(\[bot_challenge\]\n)token = "[^"]*"\n', rf"\1{token}")
    )

    assert "[bot_challenge] token" in told.notes[0]
    assert told.run.regressions == []
    assert told.run.exit_code == 0
    assert told.tally.share > 0.9


def test_a_password_that_was_accepted_and_then_is_not_is_a_regression() -> None:
    accepted = answer(LOGIN_INITIATE, {"sessionId": "a"})
    refused = answer(LOGIN_INITIATE, body=error("AUTH.INVALID_CREDENTIALS"), status=401)
    check = CredentialCheck()

    first = check.problem(ReplayedExchange(1, accepted, accepted, account="admin"))
    second = check.problem(ReplayedExchange(2, accepted, refused, account="admin"))

    assert (first, second, check.problems) == (None, None, {})
    assert CredentialCheck().problem(ReplayedExchange(1, accepted, refused, account="admin")) is not None
