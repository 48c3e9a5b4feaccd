"""A profile that does not fit the target is named first, and nothing is held against the target for it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance import record
from conformance.replay import ReplayResult, replay
from conformance.replay.compare.credentials import CredentialCheck
from conformance.replay.compare.outcome import State
from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.spec.endpoints import LOGIN_INITIATE
from conformance.target.profile.model import parse
from conformance.tests.replays import options_for, profile_of, recorded_visit
from conformance.tests.sample_run import error
from conformance.tests.scripted_client import Walker
from conformance.tests.traffic import answer
from conformance.traffic import capture
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
    assert told.run.exit_code == (4 if unfit.endswith("access code") else 5)


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


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The administrator deactivates a channel, forgets to name one, and looks at what became of it. Another
    account signs in three times, and reads constants."""
    out = tmp_path_factory.mktemp("several") / "traffic.jsonl"
    with reference.start() as portal, record.serve(portal.url, out) as recorder:
        profile = tomllib.loads(portal.profile())
        admin = Walker(recorder.url, profile, hash="admin")
        admin.sign_in(profile["accounts"]["admin"])
        challenge = profile["bot_challenge"]
        path, bot = (
            "/web/v1/notification-channels/command/deactivate",
            {challenge["header"]: challenge["token"]},
        )
        channel = admin.channel()
        admin.post("/notifications/channels/activate", {"bizId": channel})
        admin.call("POST", path, {"bizId": channel}, **bot)
        admin.call("POST", path, {}, **bot)
        admin.post("/notifications/channels/query", {"bizId": channel, "activeOnly": False})
        spare = Walker(recorder.url, profile, hash="spare")
        for _ in range(3):
            spare.sign_in(profile["accounts"]["spare"])
            spare.get("/constants/countries")
            portal.portal.clock.advance(30)
    return out


def test_a_bot_token_that_is_refused_explains_what_follows_from_it(several: Path, tmp_path: Path) -> None:
    result = replayed_with(
        several, tmp_path, substituted(r'(?s)(\[bot_challenge\]\n)token = "[^"]*"\n', r'\1token = "no"\n')
    )

    assert "[bot_challenge] token is refused" in result.notes[0]
    assert result.run.regressions == []
    assert result.tally.counts[State.NOT_COMPARABLE] == 3


def test_a_password_that_is_refused_is_sent_once(several: Path, tmp_path: Path) -> None:
    result = replayed_with(
        several, tmp_path, substituted(r'(spare@example.test"\npassword = )".*"', r'\1"Not-the-password-1"')
    )

    sent = [
        exchange.sent
        for exchange in capture.read(tmp_path / "exchanges.jsonl")
        if exchange.request.path.endswith("/login/initiate")
    ]
    assert [body["email"] for body in sent] == ["admin@example.test", "spare@example.test"]
    named = [note for note in result.notes if "[accounts.spare] password is refused" in note]
    assert [note.startswith("The profile does not fit") for note in named] == [True, False, False]
    (skipped,) = (note for note in result.notes if " skipped: exchange 8 (" in note)
    assert "POST /web/v1/system/auth/login/initiate" in skipped


def test_what_a_stand_in_may_not_do_is_held_against_the_profile(several: Path, tmp_path: Path) -> None:
    with reference.start() as portal:
        options = options_for(tmp_path, accounts={"spare@example.test": "limited"})
        result = replay([several], profile_of(portal), options)

    assert "[accounts.limited] stands for spare@example.test and may not do all of it" in result.notes[0]
    assert result.run.regressions == []
    assert result.tally.counts[State.NOT_COMPARABLE] == 3


def test_a_password_that_was_accepted_and_then_is_not_is_a_regression() -> None:
    accepted = answer(LOGIN_INITIATE, {"sessionId": "a"})
    refused = answer(LOGIN_INITIATE, body=error("AUTH.INVALID_CREDENTIALS"), status=401)
    check = CredentialCheck()

    first = check.problem(ReplayedExchange(1, accepted, accepted, account="admin"))
    second = check.problem(ReplayedExchange(2, accepted, refused, account="admin"))

    assert (first, second, check.problems) == (None, None, {})
    assert CredentialCheck().problem(ReplayedExchange(1, accepted, refused, account="admin")) is not None
