"""No secret of recorded traffic stands in the capture, a report or the terminal; and the capture replays."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from conformance.tests.planted import Listener, standing
from conformance.tests.scripted_client import Walker
from reference_impl import serve as reference

NEW_PASSWORD = "Another-password-1"
COMMAND = [sys.executable, "-m", "conformance.cli"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("traffic")


@pytest.fixture(scope="module")
def recorded(folder: Path) -> set[str]:
    """A visit recorded by the command, its terminal kept; the secrets that passed."""
    listener = Listener()
    with reference.start(wrap=listener.wrap, seed=5) as portal:
        asked = ["record", "--upstream", portal.url, "--out", str(folder / "traffic.jsonl")]
        recorder = subprocess.Popen(
            [*COMMAND, *asked, "--port", "0", "--judge", "--open-channel"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert recorder.stdout is not None
        told = recorder.stdout.readline()
        visit(re.search(r"at (\S+) into", told)[1], portal)  # type: ignore[index]
        listener.know(portal)
        recorder.send_signal(signal.SIGINT)
        told += recorder.communicate(timeout=30)[0]
    (folder / "record.txt").write_text(told, encoding="utf-8")
    assert recorder.returncode == 0, told
    return listener.heard | {NEW_PASSWORD}


def visit(base: str, portal: reference.Running) -> None:
    """Every kind of secret passes: password, code, token, bot token, TOTP seed, backup codes, AES keys."""
    profile = tomllib.loads(portal.profile())
    admin = profile["accounts"]["admin"]
    walker = Walker(base, profile)
    walker.sign_in(admin, errs=True)
    walker.look_around()
    walker.change_things()
    walker.change_password(admin["password"], NEW_PASSWORD)
    walker.change_password(NEW_PASSWORD, admin["password"])
    walker.post("/security/mfa/otp/setup")
    walker.post("/security/mfa/backup-codes/generate")
    walker.renew_token()
    walker.sign_out()


def test_the_recording_and_its_terminal_hold_none(recorded: set[str], folder: Path) -> None:
    codes = [secret for secret in recorded if re.fullmatch(r"\d{6}", secret)]
    tokens = [secret for secret in recorded if secret.count(".") == 2]

    assert min(len(codes), len(tokens)) >= 2
    assert len([secret for secret in recorded if re.fullmatch(r"\d{4}-\d{4}", secret)]) == 10
    assert len(recorded) > 25
    assert standing(recorded, folder / "traffic.jsonl", folder / "record.txt") == []


def test_the_redacted_recording_replays_and_leaves_none_either(recorded: set[str], folder: Path) -> None:
    listener = Listener()
    out = folder / "replayed"
    with reference.start(wrap=listener.wrap, seed=6, faults=["a-method-twice"]) as portal:
        (folder / "next.toml").write_text(portal.profile(), encoding="utf-8")
        asked = ["replay", str(folder / "traffic.jsonl"), "--profile", str(folder / "next.toml")]
        done = subprocess.run(
            [*COMMAND, *asked, "--impact", "disruptive", "--out", str(out)],
            capture_output=True,
            text=True,
            check=False,
        )
        listener.know(portal)
    (out / "terminal.txt").write_text(done.stdout + done.stderr, encoding="utf-8")

    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert {one["endpoint"] for one in results["regressions"]} == {"GET /web/v1/system/security/mfa"}
    assert results["replay"]["share"] >= 0.95
    files = [path for path in out.iterdir() if path.is_file()]
    assert len(files) > 5
    assert standing(recorded | listener.heard, *files) == []


def test_what_check_reports_of_it_holds_none(recorded: set[str], folder: Path) -> None:
    out = folder / "checked"
    done = subprocess.run(
        [*COMMAND, "check", str(folder / "traffic.jsonl"), "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    (out / "terminal.txt").write_text(done.stdout + done.stderr, encoding="utf-8")

    assert done.returncode == 0, done.stdout + done.stderr
    assert standing(recorded, *(path for path in out.iterdir() if path.is_file())) == []
