"""What a user says of a replay: options, the profile, and one that does not fit the target."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.errors import ExitCode
from conformance.replay import replay
from conformance.replay.compare.callers import CredentialCheck
from conformance.replay.compare.outcome import ReplayedExchange, State
from conformance.spec.endpoints import LOGIN_INITIATE, PUBLIC_KEY
from conformance.spec.endpoints import PROFILE as OWN_PROFILE
from conformance.target.profile.model import parse
from conformance.tests.replays import Edit, Replaying, options_for, recorder, replayed, written
from conformance.tests.sample_run import error
from conformance.tests.traffic import account, answer
from conformance.traffic import capture
from reference_impl import serve as reference

PROFILE = """
[portal]
url = "http://127.0.0.1:9"
access_code = "an-access-code"
[accounts.admin]
email = "admin@example.test"
password = "a-password-of-admin"
"""


def test_a_portal_that_refuses_the_only_connection_is_unreachable(tmp_path: Path) -> None:
    recording = written(tmp_path / "recording.jsonl", answer(PUBLIC_KEY, account()))

    result = replay([recording], parse(PROFILE, {}), options_for(tmp_path / "out", impact="read-only"))

    assert result.run.exit_code == 6
    assert "Nothing answers at http://127.0.0.1:9" in result.notes[0]


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("publik-key", "it matches no endpoint of the recording. The nearest is GET /web/v1/secure-channel/"),
        ("7-9", "the recording has the exchanges 1-2"),
    ],
)
def test_a_selection_that_selects_nothing_of_the_recording_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], pattern: str, said: str
) -> None:
    (profile := tmp_path / "portal.toml").write_text(PROFILE)
    exchanges = (answer(key, account()) for key in (OWN_PROFILE, PUBLIC_KEY))
    recording = written(tmp_path / "recording.jsonl", *exchanges)
    command = ["replay", str(recording), "--profile", str(profile), "--out", str(tmp_path / "out")]

    for more in ([], ["--dry-run"]):
        assert main([*command, "--only", pattern, *more]) == 4
        assert f"--only {pattern}: {said}" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


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
    visit: Replaying, unfit: str
) -> None:
    edit, word = UNFIT[unfit]

    told = visit(edit=edit)

    assert word in told.notes[0]
    assert told.run.regressions == []
    assert [one.requirement for one in told.run.findings if one.verdict == "fail"] == []
    assert told.run.exit_code == (4 if unfit.endswith("access code") else 5)


def with_bot_token(row: str) -> Edit:
    return substituted(r'(?s)(\[bot_challenge\]\n)token = "[^"]*"\n', rf"\1{row}")


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The administrator deactivates a channel, forgets to name one, and looks at what became of it. Another
    account signs in three times, and reads constants."""
    with recorder(out := tmp_path_factory.mktemp("several") / "traffic.jsonl") as (walker, portal):
        admin = walker.browser("admin")
        admin.sign_in(walker.accounts["admin"])
        challenge = walker.profile["bot_challenge"]
        path = "/web/v1/notification-channels/command/deactivate"
        bot = {challenge["header"]: challenge["token"]}
        channel = admin.channel()
        activate = "/web/v1/system/notifications/channels/activate"
        admin.call("POST", activate, {"bizId": channel}, **bot)  # which asks for no challenge
        admin.call("POST", path, {"bizId": channel}, **bot)
        admin.call("POST", path, {}, **bot)
        admin.post("/notifications/channels/query", {"bizId": channel, "activeOnly": False})
        spare = walker.browser("spare")
        for _ in range(3):
            spare.sign_in(walker.accounts["spare"])
            spare.get("/constants/countries")
            portal.portal.clock.advance(30)
    return out


@pytest.mark.parametrize("token", ["", 'token = "no"\n'])
def test_a_bot_token_that_is_missing_or_refused_explains_what_follows_from_it(
    several: Path, tmp_path: Path, token: str
) -> None:
    result = replayed(several, tmp_path, edit=with_bot_token(token))

    assert "[bot_challenge] token" in result.notes[0]
    assert result.run.regressions == []
    assert result.run.exit_code == 0
    assert result.tally.counts[State.NOT_COMPARABLE] == 3
    assert result.tally.compared == result.tally.wanted - 3


def test_a_password_that_was_accepted_and_then_is_not_is_a_regression() -> None:
    accepted = answer(LOGIN_INITIATE, {"sessionId": "a"})
    refused = answer(LOGIN_INITIATE, body=error("AUTH.INVALID_CREDENTIALS"), status=401)
    check = CredentialCheck()

    first = check.problem(ReplayedExchange(1, accepted, accepted, account="admin"))
    second = check.problem(ReplayedExchange(2, accepted, refused, account="admin"))

    assert (first, second, check.problems) == (None, None, {})
    assert CredentialCheck().problem(ReplayedExchange(1, accepted, refused, account="admin")) is not None


WITHOUT_SPARE = substituted(r"(?s)\[accounts\.spare\].*?(?=\n\[)", "")


def test_a_recorded_account_that_the_profile_lacks_makes_a_replay_inconclusive(
    several: Path, tmp_path: Path
) -> None:
    result = replayed(several, tmp_path, edit=WITHOUT_SPARE, min_share=0.1)

    assert result.notes[0] == (
        "The profile does not fit: the profile has no account that stands for spare@example.test."
    )
    assert result.run.exit_code == 5
    assert "skipped: the profile has no account that stands for spare@example.test" in (
        result.run.ending.inconclusive
    )
    assert "--account EMAIL=none" in result.run.ending.inconclusive


@pytest.mark.parametrize(
    "asked", [{"accounts": {"spare@example.test": "none"}}, {"only": ["channels"]}, {"skip": ["8-19"]}]
)
def test_an_account_that_is_left_out_on_purpose_leaves_a_replay_conclusive(
    several: Path, tmp_path: Path, asked: dict[str, object]
) -> None:
    result = replayed(several, tmp_path, edit=WITHOUT_SPARE, **asked)

    assert result.run.exit_code == 0
    assert result.tally.share == 1.0


def test_a_dry_run_counts_what_is_skipped_for_an_account(
    several: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with reference.start() as portal:
        file = tmp_path / "portal.toml"
        file.write_text(WITHOUT_SPARE(portal.profile()))
        command = ["replay", str(several), "--profile", str(file), "--impact", "disruptive"]
        main([*command, "--dry-run"])
        planned = capsys.readouterr().out
        main([*command, "--out", str(tmp_path / "out")])
    states = json.loads((tmp_path / "out" / "results.json").read_text())["replay"]["states"]

    sent, skipped = states["same"], states["not replayable"] + states["skipped"] + states["unwanted"]
    assert planned.startswith(f"{sent} of {sent + skipped} requests of 2 clients would go to ")
    assert f"{skipped:7} would not be sent: " in planned
    assert "spare@example.test signs in as no account of the profile." in planned


@pytest.mark.parametrize("asked", [{}, {"accounts": {"somebody@example.test": "admin"}}])
def test_an_account_that_nobody_named_changes_nothing_for_the_recorded_one(
    recording: Path, tmp_path: Path, asked: dict[str, object]
) -> None:
    """It reads in its place."""
    other = tmp_path / "other.jsonl"
    other.write_text(recording.read_text().replace("admin@example.test", "somebody@example.test"))
    result = replayed(other, tmp_path / "out", **asked)

    exchanges = capture.read(tmp_path / "out" / "exchanges.jsonl")
    sent = {each.request.operation.impact for each in exchanges if each.request.operation is not None}
    hint = "--account somebody@example.test=admin"
    refused = [each for each in result.tally.kept if each.state is State.NOT_REPLAYABLE]
    assert (sent == {"read-only"}) is not bool(asked)
    assert bool(refused) is not bool(asked)
    assert all(hint in each.reason for each in refused)
    assert result.tally.compared


def test_a_password_that_is_refused_is_sent_once_and_makes_a_replay_inconclusive(
    several: Path, tmp_path: Path
) -> None:
    edit = substituted(r'(spare@example.test"\npassword = )".*"', r'\1"Not-the-password-1"')

    result = replayed(several, tmp_path, edit=edit, min_share=0.1)

    exchanges = capture.read(tmp_path / "exchanges.jsonl")
    sent = [one.sent["email"] for one in exchanges if one.request.path.endswith("/login/initiate")]
    assert sent == ["admin@example.test", "spare@example.test"]
    named = [note for note in result.notes if "[accounts.spare] password is refused" in note]
    assert [note.startswith("The profile does not fit") for note in named] == [True, False, False]
    (skipped,) = (note for note in result.notes if " skipped: exchange 8 (" in note)
    assert "POST /web/v1/system/auth/login/initiate" in skipped
    assert result.run.exit_code == 5
    assert "skipped: [accounts.spare] password is refused" in result.run.ending.inconclusive


def test_what_a_stand_in_may_not_do_is_held_against_the_profile(several: Path, tmp_path: Path) -> None:
    result = replayed(several, tmp_path, accounts={"spare@example.test": "limited"})

    assert "[accounts.limited] signs in for spare@example.test and lacks a permission" in result.notes[0]
    assert result.run.regressions == []
    assert result.tally.counts[State.NOT_COMPARABLE] == 3


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--concurrency", "0"], "--concurrency 0: give 1 or more"),
        (["--account", "admin@example.test=nobody"], "no [accounts.nobody]; it has admin"),
        (["--pace", "nan"], "give max, recorded, or a factor such as 10x"),
        (["--pace", "-2x"], "give max, recorded, or a factor such as 10x"),
        (["--ramp", "5s"], "need --rate"),
        (["--repeat", "3"], "need --rate"),
        (["--rate", "5/s", "--repeat", "0"], "--repeat 0"),
        (["--rate", "often"], "--rate often"),
        (["--rate", "5/s", "--ramp", "soon"], "--ramp soon"),
        (["--rate", "5/s", "--concurrency", "4"], "leave out --pace, --concurrency"),
        (["--rate", "5/s", "--latency", "quick"], "--latency 'quick'"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: Sequence[str], expected: str
) -> None:
    (tmp_path / "portal.toml").write_text(PROFILE)
    command = ["replay", str(recording), "--profile", str(tmp_path / "portal.toml")]

    assert main([*command, "--out", str(tmp_path / "out"), *options]) == ExitCode.USAGE
    assert expected in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out" / "results.json").exists()
