"""What a replay's options may say, and what a portal that is not there comes to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.errors import UsageError
from conformance.replay import ReplayOptions, replay
from conformance.replay.command import show
from conformance.target.profile.model import parse
from conformance.tests.replays import options_for
from conformance.tests.sample_run import sample
from conformance.tests.traffic import account, answer
from conformance.traffic import capture

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
