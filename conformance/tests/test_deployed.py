"""The suite as its users run it: against a portal in another process, over a real socket."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from conformance.run.outlook.plan import plan
from conformance.spec import BY_KEY
from conformance.spec.endpoints import LOGIN_INITIATE, LOGIN_MFA_SEND
from conformance.target.profile.model import load
from conformance.tests.deployment import Deployment, Done, command, deployed, done
from reference_impl.limits import Limits

QUICK = Limits(login_session=6, mfa_code=6, mfa_cooldown=3, login_window=5, access_token=8)
NUMBERS = {"LIMIT-005", "LIMIT-006", "LIMIT-007", "LIMIT-008", "LIMIT-009"}
"""The requirements that state the numbers which ``QUICK`` changes."""
LONGEST_PAUSE = 2.5
"""Seconds that a case lets pass between two requests, so that a time can be seen to move."""


def test_with_a_real_clock_only_the_numbers_fail_and_the_waits_overlap(tmp_path: Path) -> None:
    with deployed(tmp_path, limits=QUICK, clock=False) as portal:
        run = portal.run("--impact", "disruptive")
        begun = [
            row["at"] for row in portal.received()["requests"] if _is_initiation(row) and row["status"] != 429
        ]

    assert {one["requirement"] for one in run.results["findings"] if one["verdict"] == "fail"} <= NUMBERS, (
        run.fails
    )
    one_after_the_other = QUICK.access_token + QUICK.login_session + QUICK.mfa_code
    assert _waited_for_an_end(run) < 0.7 * one_after_the_other, run.results["timeline"]
    assert all(
        later - first > QUICK.login_window - 0.05 for first, later in zip(begun, begun[10:], strict=False)
    )


def _waited_for_an_end(run: Done) -> float:
    """Seconds spent on nothing but the end of a code, a session or a token. A slow machine spends fewer.

    What shows something else is watched for as long as it took to be seen, on a busy machine for long."""
    waits = [one for one in run.results["timeline"] if one["kind"] == "wait"]
    others = ("window of sign-ins", "what changes by itself")
    seconds = [one["end"] - one["start"] for one in waits if not any(each in one["label"] for each in others)]
    return float(sum(each for each in seconds if each > LONGEST_PAUSE))


def _is_initiation(row: dict[str, object]) -> bool:
    return row["method"] == "POST" and str(row["path"]).endswith("/login/initiate")


def test_a_read_only_run_changes_nothing_and_decides_what_its_plan_foretells(tmp_path: Path) -> None:
    with deployed(tmp_path) as portal:
        planned = plan(load(portal.profile), "read-only")
        before = portal.dump()
        run = portal.run("--impact", "read-only")
        changing = [row for row in portal.received()["requests"] if row["changed"] and not _signs_in(row)]
        after = portal.dump()

    assert run.code == 0, run.said
    assert changing == []
    assert after == before

    rows = run.results["requirements"]
    reasons = {row["id"]: row["reason"] for row in rows if row["id"] in planned.undecided}
    assert {row["id"] for row in rows if row["verdict"] != "untested"} == set(planned.rules)
    assert [rule for rule, why in planned.undecided.items() if not reasons[rule].startswith(why)] == []
    every = planned.cases + len(planned.untested)
    assert f"\ncases     {every:,} selected, {planned.cases:,} of them can be tried" in run.said
    asked = {timing["endpoint"]: timing["requests"] for timing in run.results["timings"]}
    assert 0 < asked[LOGIN_INITIATE] <= planned.sign_ins
    assert 0 < asked[LOGIN_MFA_SEND] <= planned.mails


def _signs_in(row: dict[str, object]) -> bool:
    return str(row["path"]).endswith(
        ("/login/initiate", "/login/mfa/send", "/login/complete", "/token/refresh", "/secure-channel/session")
    )


def _changing(portal: Deployment, out: Path) -> subprocess.Popen[bytes]:
    """A run that has begun to change something; what it says is in the file ``said``."""
    with (out.parent / "said").open("wb") as said:
        run = subprocess.Popen(portal.arguments("--impact", "mutating", out=out), stdout=said, cwd=out.parent)
    _wait_for(
        lambda: any(str(row["path"]).endswith("/channels/create") for row in portal.received()["requests"])
    )
    return run


def test_what_a_killed_run_left_is_cleaned_up(tmp_path: Path) -> None:
    with deployed(tmp_path) as portal:
        before = portal.dump()
        out = tmp_path / "out"
        killed = _changing(portal, out)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        ledger = out / "changes.jsonl"
        cleaned = done(command("cleanup", str(ledger), "--profile", str(portal.profile)), out)
        after = portal.dump()

    assert killed.returncode == -signal.SIGKILL
    assert cleaned.code == 0, cleaned.said
    assert after == before


@pytest.mark.parametrize("wanted", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_puts_back_what_it_changed_and_reports(
    wanted: signal.Signals, tmp_path: Path
) -> None:
    with deployed(tmp_path) as portal:
        before = portal.dump()
        out = tmp_path / "out"
        ended = _changing(portal, out)
        ended.send_signal(wanted)
        ended.wait(timeout=60)
        after = portal.dump()

    run = Done(ended.returncode, (tmp_path / "said").read_text(encoding="utf-8"), out)

    assert run.code == 2
    assert re.search(r"^Interrupted: .+, then the reports are written. Press Ctrl-C", run.said, re.M)
    assert run.results["exit_code"] == 2
    assert run.fails == []
    assert after == before


def _wait_for(event: object, seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not event():  # type: ignore[operator]
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.005)


def test_a_target_that_goes_away_fails_nothing(tmp_path: Path) -> None:
    with deployed(tmp_path) as portal:
        out = tmp_path / "out"
        going = subprocess.Popen(
            portal.arguments("--impact", "mutating", out=out), stdout=subprocess.DEVNULL, cwd=tmp_path
        )
        _wait_for(lambda: len(portal.received()["requests"]) > 200)
        portal.running.stop()
        going.wait(timeout=120)

    run = Done(going.returncode, "", out)

    assert run.code == 6
    assert run.fails == []
    assert run.results["summary"]["pass"] > 50


def test_a_wrong_password_is_a_credentials_error_after_one_attempt(tmp_path: Path) -> None:
    with deployed(tmp_path) as portal:
        password = portal.running.seeded.sign_ins["admin"].password
        portal.profile.write_text(portal.profile.read_text().replace(password, "not-the-password"))
        run = portal.run("--impact", "read-only")
    lines = (run.out / "exchanges.jsonl").read_text(encoding="utf-8").splitlines()
    attempts = [line for line in map(json.loads, lines) if _tries_the_profile_password(line)]
    reasons = {
        one.get("fault_class")
        for one in run.results["requirements"]
        if "accounts.admin" in (one["reason"] or "")
    }

    assert run.fails == []
    assert run.code == 5
    assert reasons == {"credentials"}
    assert len(attempts) == 1


def _tries_the_profile_password(line: dict[str, Any]) -> bool:
    """The profile's passwords are registered first, and the admin's first of them."""
    body = line["request"].get("body")
    initiates = line["request"]["url"].endswith("/login/initiate")
    return initiates and isinstance(body, dict) and body.get("password") == "[password-1]"


def test_a_fault_is_reported_with_its_evidence(tmp_path: Path) -> None:
    with deployed(tmp_path, faults=["wrong-code-ends-session"]) as portal:
        run = portal.run("--impact", "disruptive", "--rerun", "LOGIN-030")
        finding = next(one for one in run.results["findings"] if one["requirement"] == "LOGIN-030")
        exchanges = (run.out / "exchanges.jsonl").read_text(encoding="utf-8").splitlines()
        again = portal.run("--impact", "disruptive", "--rerun", finding["signature"])

    assert (run.code, again.code, finding["verdict"]) == (1, 1, "fail"), run.said
    assert finding["endpoint"] in BY_KEY
    assert finding["message"]
    assert finding["expected"] != finding["actual"]
    assert finding["exchanges"]
    assert all(1 <= number <= len(exchanges) for number in finding["exchanges"])
