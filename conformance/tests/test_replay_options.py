"""What a user says of a replay: options, the profile, and one that does not fit the target."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.errors import ExitCode, UsageError
from conformance.replay import ReplayOptions, replay
from conformance.replay.command import show
from conformance.replay.compare.callers.credentials import CredentialCheck
from conformance.replay.compare.outcome import State
from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.spec.endpoints import LOGIN_INITIATE
from conformance.target.profile.model import parse
from conformance.tests.replays import options_for, recorder, replayed
from conformance.tests.sample_run import error, sample
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


@pytest.mark.parametrize("number", [0, -3])
def test_fewer_than_one_session_at_a_time_is_refused(number: int, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=rf"--concurrency {number}: give 1 or more"):
        ReplayOptions(out=tmp_path, concurrency=number).check(parse(PROFILE, {}))


@pytest.mark.parametrize("accounts", [{"admin@example.test": "nobody"}, {"x@example.test": "nobody"}])
def test_an_account_that_the_profile_lacks_is_named(accounts: Mapping[str, str], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no \[accounts.nobody\]; it has admin"):
        ReplayOptions(out=tmp_path, accounts=accounts).check(parse(PROFILE, {}))


@pytest.mark.parametrize("pace", ["0", "nan", "inf", "-2x", "fast", ""])
def test_a_pace_that_is_no_factor_is_refused(pace: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="give max, recorded, or a factor such as 10x"):
        _ = ReplayOptions(out=tmp_path, pace=pace).scale


def test_a_portal_that_refuses_the_only_connection_is_unreachable(tmp_path: Path) -> None:
    recording = tmp_path / "recording.jsonl"
    with capture.Writer(recording) as writer:
        writer.write(answer("GET /web/v1/secure-channel/public-key", account()))

    result = replay([recording], parse(PROFILE, {}), options_for(tmp_path / "out", impact="read-only"))

    assert result.run.exit_code == 6
    assert "Nothing answers at http://127.0.0.1:9" in result.notes[0]


@pytest.mark.parametrize(
    ("times", "line"),
    [
        ((1,), "1 difference is drift (state, time or data): GET /a data.total."),
        ((2, 3), "5 differences are drift (state, time or data): GET /a data.total, GET /b body."),
    ],
)
def test_drift_is_counted_and_placed_in_the_terminal(
    times: tuple[int, ...], line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    groups = [
        {"endpoint": f"GET /{name}", "path": path, "meaning": "drift", "kind": "value", "times": count}
        for name, path, count in zip("ab", ("data.total", ""), times, strict=False)
    ]
    details = {"differences": groups, "compared": 3, "wanted": 3}

    show(sample().run(command="replay").model_copy(update={"replay": details}), tmp_path, form="text")

    shown = capsys.readouterr().out.splitlines()
    assert line in shown
    assert "0 regressions; 3 of 3 exchanges compared." in shown


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
    recording, profile = tmp_path / "recording.jsonl", tmp_path / "portal.toml"
    profile.write_text(PROFILE)
    with capture.Writer(recording) as writer:
        for key in ("GET /web/v1/system/profile", "GET /web/v1/secure-channel/public-key"):
            writer.write(answer(key, account()))
    command = ["replay", str(recording), "--profile", str(profile), "--out", str(tmp_path / "out")]

    for more in ([], ["--dry-run"]):
        assert main([*command, "--only", pattern, *more]) == 4
        assert f"--only {pattern}: {said}" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


Edit = Callable[[str], str]


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

    told = replayed(recording, tmp_path, edit=edit)

    assert word in told.notes[0]
    assert told.run.regressions == []
    assert [one.requirement for one in told.run.findings if one.verdict == "fail"] == []
    assert told.run.exit_code == (4 if unfit.endswith("access code") else 5)


@pytest.mark.parametrize("token", ["", 'token = "not-the-token"\n'])
def test_a_bot_token_that_is_missing_or_refused_is_named_and_the_rest_compared(
    recording: Path, tmp_path: Path, token: str
) -> None:
    told = replayed(
        recording, tmp_path, edit=substituted(r'(?s)(\[bot_challenge\]\n)token = "[^"]*"\n', rf"\1{token}")
    )

    assert "[bot_challenge] token" in told.notes[0]
    assert told.run.regressions == []
    assert told.run.exit_code == 0
    assert told.tally.share > 0.9


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The administrator deactivates a channel, forgets to name one, and looks at what became of it. Another
    account signs in three times, and reads constants."""
    with recorder(out := tmp_path_factory.mktemp("several") / "traffic.jsonl") as (walker, portal):
        admin = walker.browser("admin")
        admin.sign_in(walker.accounts["admin"])
        challenge = walker.profile["bot_challenge"]
        path, bot = (
            "/web/v1/notification-channels/command/deactivate",
            {challenge["header"]: challenge["token"]},
        )
        channel = admin.channel()
        admin.post("/notifications/channels/activate", {"bizId": channel})
        admin.call("POST", path, {"bizId": channel}, **bot)
        admin.call("POST", path, {}, **bot)
        admin.post("/notifications/channels/query", {"bizId": channel, "activeOnly": False})
        spare = walker.browser("spare")
        for _ in range(3):
            spare.sign_in(walker.accounts["spare"])
            spare.get("/constants/countries")
            portal.portal.clock.advance(30)
    return out


def test_a_bot_token_that_is_refused_explains_what_follows_from_it(several: Path, tmp_path: Path) -> None:
    result = replayed(
        several,
        tmp_path,
        edit=substituted(r'(?s)(\[bot_challenge\]\n)token = "[^"]*"\n', r'\1token = "no"\n'),
    )

    assert "[bot_challenge] token is refused" in result.notes[0]
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
    with reference.start() as portal:
        profile = parse(WITHOUT_SPARE(portal.profile()), {})
        options = options_for(tmp_path, **asked)
        options.check(profile)
        result = replay([several], profile, options)

    assert result.run.exit_code == 0
    assert result.tally.share == 1.0


@pytest.mark.parametrize("left_out", [True, False])
def test_a_dry_run_counts_what_is_skipped_for_an_account(
    several: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], left_out: bool
) -> None:
    with reference.start() as portal:
        file = tmp_path / "portal.toml"
        file.write_text(WITHOUT_SPARE(portal.profile()))
        chosen = ["--account", "spare@example.test=none"] if left_out else []
        command = ["replay", str(several), "--profile", str(file), "--impact", "disruptive", *chosen]
        main([*command, "--dry-run"])
        planned = capsys.readouterr().out
        main([*command, "--out", str(tmp_path / "out")])
    states = json.loads((tmp_path / "out" / "results.json").read_text())["replay"]["states"]

    sent, skipped = states["same"], states["not replayable"] + states["skipped"] + states["unwanted"]
    assert planned.startswith(f"{sent} of {sent + skipped} requests of 2 clients would go to ")
    assert f"{skipped:7} would not be sent: " in planned
    assert "spare@example.test signs in as no account of the profile." in planned


@pytest.mark.parametrize(
    ("accounts", "is_changed"), [({}, False), ({"somebody@example.test": "admin"}, True)]
)
def test_an_account_that_nobody_named_changes_nothing_for_the_recorded_one(
    recording: Path, tmp_path: Path, accounts: dict[str, str], is_changed: bool
) -> None:
    """It reads in its place."""
    other = tmp_path / "other.jsonl"
    other.write_text(recording.read_text().replace("admin@example.test", "somebody@example.test"))
    result = replayed(other, tmp_path / "out", accounts=accounts)

    sent = {
        exchange.request.operation.impact
        for exchange in capture.read(tmp_path / "out" / "exchanges.jsonl")
        if exchange.request.operation is not None
    }
    hint = "--account somebody@example.test=admin"
    refused = [each for each in result.tally.kept if each.state is State.NOT_REPLAYABLE]
    assert (sent == {"read-only"}) is not is_changed
    assert bool(refused) is not is_changed
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
        (["--ramp", "5s"], "need --rate"),
        (["--latency", "p95 <= 1x"], "need --rate"),
        (["--repeat", "3"], "need --rate"),
        (["--rate", "5/s", "--repeat", "0"], "--repeat 0"),
        (["--rate", "often"], "--rate often"),
        (["--rate", "5/s", "--ramp", "soon"], "--ramp soon"),
        (["--rate", "5/s", "--pace", "10x"], "leave out --pace"),
        (["--rate", "5/s", "--concurrency", "4"], "leave out --pace, --concurrency"),
        (["--rate", "5/s", "--latency", "quick"], "--latency 'quick'"),
    ],
)
def test_options_of_a_load_that_make_no_sense_are_refused(
    recording: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: Sequence[str],
    expected: str,
) -> None:
    (tmp_path / "portal.toml").write_text(PROFILE)
    command = ["replay", str(recording), "--profile", str(tmp_path / "portal.toml")]

    assert main([*command, "--out", str(tmp_path / "out"), *options]) == ExitCode.USAGE
    assert expected in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out" / "results.json").exists()
