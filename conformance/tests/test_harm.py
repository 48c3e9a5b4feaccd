"""A run does no harm: what it cannot sign in with it leaves alone, and what it changes it can put back."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Scope

from cases.administration.test_grants import granting
from conformance.errors import OutOfTime
from conformance.target.clock import Clock
from conformance.target.locks import FileLock, locks_of, target_lock
from conformance.target.portal import RESTORING_SECONDS, Portal
from conformance.target.portal.restoring.restore import restore_own
from conformance.target.profile.model import load, parse
from conformance.tests.deployment import Done, command, deployed, done
from conformance.tests.reached import WRONG_SECRET, all_of, instead, without_keys
from conformance.tests.sample_run import error
from conformance.tests.test_changes import change_password
from conformance.traffic import capture
from reference_impl.limits import Limits
from reference_impl.serve import Running, start


def test_a_wrong_authenticator_secret_ends_a_run_within_seconds(tmp_path: Path) -> None:
    with deployed(tmp_path, clock=False) as portal:
        before = portal.dump()
        by_wrong_codes_alone = all_of(WRONG_SECRET, without_keys("inbox"))
        portal.profile.write_text(by_wrong_codes_alone(portal.profile.read_text("utf-8")), "utf-8")
        run = portal.run("--impact", "disruptive", "--time-budget", "3m")
        after = portal.dump()

    assert run.code == 5, run.said
    waits = [wait["end"] - wait["start"] for wait in run.results["timeline"] if wait["kind"] == "wait"]
    assert sum(waits) < 5, run.results["timeline"]
    assert run.fails == []
    assert 1 <= len(refused_codes(run)) <= 5
    assert "Not restored" not in run.said
    assert after == before


def refused_codes(run: Done) -> list[int]:
    """The numbers of the exchanges in which a code of the admin was refused."""
    seen = capture.read(run.out / "exchanges.jsonl")
    return [each.n for each in seen if each.client == "admin" and each.code == "AUTH.MFA_CODE_INVALID"]


SPARE = "spare"


def own_password(running: Running) -> str:
    return running.seeded.sign_ins[SPARE].password


def signs_in(running: Running, password: str) -> bool:
    """Whether the portal's own record of the account has this password."""
    return running.portal.passwords[running.seeded.sign_ins[SPARE].account_id].matches(password)


@contextmanager
def budgeted(
    seconds: float | None, ledger: Path, *, monotonic: Callable[[], float] = time.monotonic, **options: Any
) -> Iterator[tuple[Portal, Running]]:
    """The suite's door to a portal, with so much time, and the portal itself."""
    with start(clock=False, **options) as running:
        clock = Clock(time_budget=seconds, monotonic=monotonic)
        profile = parse(running.profile(), {})
        with Portal.connect(profile, impact="disruptive", clock=clock, ledger=ledger) as portal:
            yield portal, running


def no_time_passes() -> float:
    return 1_000.0


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "changes.jsonl"


def test_a_change_is_not_made_where_the_time_budget_leaves_no_way_back(ledger: Path) -> None:
    with budgeted(30, ledger, monotonic=no_time_passes) as (portal, running):
        with pytest.raises(OutOfTime, match=r"may take \d+ s, and the time budget leaves 30 s"):
            change_password(portal)

        assert restore_own(portal) == []
        assert signs_in(running, own_password(running))
    assert not ledger.exists()


def test_no_grant_is_made_where_the_time_budget_leaves_no_wait_for_the_listing(ledger: Path) -> None:
    with budgeted(RESTORING_SECONDS + 3, ledger, monotonic=no_time_passes) as (portal, running):
        admin = portal.account("admin")
        admin.signed_in()
        before = len(running.portal.records["currency grant"])
        with pytest.raises(OutOfTime, match="the time budget leaves 3 s"), granting(portal, admin):
            pass

        assert restore_own(portal) == []
        assert len(running.portal.records["currency grant"]) == before


def test_the_reserve_is_given_back_when_nothing_is_left_to_restore(ledger: Path) -> None:
    with budgeted(300, ledger, monotonic=no_time_passes) as (portal, _):
        changes = [portal.changes.changing_password(SPARE, number) for number in (1, 2)]
        kept = 300 - (portal.clock.remaining() or 0)
        portal.changes.undone(changes[0])
        assert 300 - (portal.clock.remaining() or 0) == kept > 100

        portal.changes.undone(changes[1])
        assert portal.clock.remaining() == 300


def test_the_way_back_has_time_of_its_own_that_no_wait_before_may_use(ledger: Path) -> None:
    spent = [0.0]
    limits = Limits(login_window=2, mfa_cooldown=1)
    with budgeted(100, ledger, monotonic=lambda: time.monotonic() + spent[0], limits=limits) as reached:
        portal, running = reached
        change_password(portal)
        with pytest.raises(OutOfTime):
            portal.clock.wait(95, "whatever a case waits for")
        portal.secure.forget()
        portal.account(SPARE).forget()
        while portal.budget.initiations_left():
            portal.login.initiate("nobody@example.test", within_budget=False)
        spent[0] = 200.0

        assert restore_own(portal) == []
        assert signs_in(running, own_password(running))


def test_a_channel_of_a_portal_whose_clock_is_ahead_ends_when_it_ends_there(ledger: Path) -> None:
    limits = Limits(secure_session=2)
    with budgeted(None, ledger, limits=limits, now=lambda: time.time() + 86_400) as (portal, running):
        first = portal.secure.shared()
        time.sleep(2.1)

        assert portal.secure.shared().session_id != first.session_id
        assert signs_in(running, change_password(portal))


@pytest.mark.parametrize("ended", ["channel", "session", "both"])
def test_the_way_back_is_tried_anew_from_scratch(ledger: Path, ended: str) -> None:
    """The portal ends the channel, or the session, without the suite's knowledge."""
    with budgeted(None, ledger, limits=Limits(secure_session=3600)) as (portal, running):
        change_password(portal)
        portal.secure.shared()
        if ended in ("channel", "both"):
            running.portal.secure_sessions.clear()
        if ended in ("session", "both"):
            running.portal.sessions.clear()

        assert restore_own(portal) == []
        assert signs_in(running, own_password(running))


def reason_of(run: Done, requirement: str) -> str:
    return str(next(row["reason"] for row in run.results["requirements"] if row["id"] == requirement))


@pytest.mark.parametrize(
    "variant, rule, reason",
    [
        ("password-history", "PASSWORD-007", "PASSWORD.IN_HISTORY"),
        ("new-passwords-need-a-sign", "SECURE-013", "refuses the present password"),
    ],
)
def test_no_password_is_changed_where_the_present_one_could_not_be_set_again(
    tmp_path: Path, variant: str, rule: str, reason: str
) -> None:
    with deployed(tmp_path, variants=[variant]) as portal:
        run = portal.run("--impact", "disruptive", "--rerun", rule)
        kept = signs_in(portal.running, own_password(portal.running))

    assert (run.code, kept, run.verdict(rule)) == (5, True, "untested"), run.said
    assert reason in reason_of(run, rule)


class RefusingPasswords:
    """A portal that refuses every change of a password while it ``is_on``, from the one after so many that
    were not refused."""

    def __init__(self, after: int = 0) -> None:
        self.is_on = after > 0
        self.after = after

    def __call__(self, scope: Scope) -> ASGIApp | None:
        is_change = scope["path"].endswith("/password/change")
        self.after -= is_change
        is_refused = self.is_on and is_change and self.after < 0
        return JSONResponse(error("PASSWORD.TOO_SOON"), 409) if is_refused else None


def test_what_is_not_restored_is_written_down_with_its_present_value(ledger: Path) -> None:
    refusing = RefusingPasswords()
    with budgeted(None, ledger, wrap=instead(refusing)) as (portal, _):
        new = change_password(portal)
        refusing.is_on = True
        left = restore_own(portal)
    rows = [json.loads(line) for line in ledger.read_text(encoding="utf-8").splitlines()]

    assert len(left) == 1
    assert "the password of [accounts.spare]" in left[0]
    assert new not in left[0]
    assert rows[-1]["event"] == "not restored"
    assert rows[-1]["present"] == {"email": "spare@example.test", "password": new}
    assert ledger.stat().st_mode & 0o777 == 0o600


def test_what_is_not_restored_stands_in_every_report(tmp_path: Path) -> None:
    refusing = RefusingPasswords(after=5)
    with deployed(tmp_path, wrap=instead(refusing), limits=Limits(login_window=1)) as portal:

        def said_by(name: str, *words: str) -> Done:
            return done(command(name, *words, "--profile", str(portal.profile)), tmp_path / "reports")

        run = portal.run("--impact", "disruptive", "--rerun", "SECURE-021")
        diagnosed = said_by("doctor")
        ledger = run.out / "changes.jsonl"
        secret = json.loads(ledger.read_text(encoding="utf-8").splitlines()[-1])["present"]["password"]
        refusing.is_on = False
        cleaned = said_by("cleanup", str(ledger))
        restored = signs_in(portal.running, own_password(portal.running))
        healthy = said_by("doctor")

    cleanup = f"portal-conformance cleanup {ledger} --profile {portal.profile}"
    names = ("report.html", "summary.md", "results.json")
    whole = [run.said, *((run.out / name).read_text("utf-8").replace("\\", "") for name in names)]

    assert run.code == 7
    assert run.results["ending"]["cleanup"] == cleanup
    assert "PASSWORD.TOO_SOON" in run.results["ending"]["left_behind"][0]
    for part in ("the password of [accounts.spare]", cleanup, str(ledger)):
        assert all(part in text for text in whole), part
    assert not any(secret in text for text in whole)
    assert cleanup in diagnosed.said
    assert diagnosed.code == 4  # the spare account no longer signs in with the password of the profile
    assert (cleaned.code, restored) == (0, True), cleaned.said
    assert cleanup not in healthy.said


@contextmanager
def holding(lock: FileLock) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that holds a lock, until it is killed."""
    program = (
        "import sys, time; from pathlib import Path; from conformance.target.locks import FileLock\n"
        "with FileLock(Path(sys.argv[1]), '').held(on_wait=None, note=''):\n"
        "    print('held', flush=True); time.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(lock.path)], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process
    finally:
        process.kill()
        process.wait()


def test_of_two_runs_at_once_the_second_ends_with_4(tmp_path: Path) -> None:
    out, history = tmp_path / "out", tmp_path / "runs.db"
    options = ("--impact", "read-only", "--rerun", "ENV-001", "--history", str(history))
    with deployed(tmp_path) as portal:
        locks = list(locks_of(load(portal.profile), out=out, history=history))
        for lock in locks:
            with holding(lock) as other:
                refused = portal.run(*options, out=out)
            assert refused.code == 4, refused.said
            assert f"{lock.subject} is in use by process {other.pid}" in refused.said
            assert "--wait" in refused.said
        requests = len(portal.received()["requests"])
        later = portal.run(*options, out=out)

    assert len(locks) == 3, "of the target, of the reports and of the history"
    assert requests == 0
    assert later.code == 0, later.said


def test_the_doctor_leaves_the_accounts_of_a_run_alone_and_keeps_its_ledger(tmp_path: Path) -> None:
    with deployed(tmp_path) as portal:
        target = target_lock(load(portal.profile))
        assert target is not None
        before = len(portal.received()["requests"])
        with holding(target) as other:
            refused = done(command("doctor", "--profile", str(portal.profile)), tmp_path / "none")
            pid = other.pid
            requests = len(portal.received()["requests"]) - before
        with target.held(on_wait=None, note="ledger-of-a-run"):
            pass
        done(command("doctor", "--profile", str(portal.profile)), tmp_path / "none")

    assert refused.code == 4, refused.said
    assert f"is in use by process {pid}" in refused.said
    assert requests == 0
    assert target.content()["note"] == "ledger-of-a-run"


def test_with_wait_the_second_run_begins_when_the_first_has_ended(tmp_path: Path) -> None:
    with deployed(tmp_path) as portal:
        target = target_lock(load(portal.profile))
        assert target is not None
        options = ("--impact", "read-only", "--rerun", "ENV-001", "--wait")
        with holding(target) as other:
            words = portal.arguments(*options, out=tmp_path / "out")
            run = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
            assert run.stdout is not None
            line = next(line for line in run.stdout if "in use" in line)
            other.kill()
            rest, _ = run.communicate(timeout=120)

    assert f"is in use by process {other.pid}" in line
    assert "waiting for its end" in line
    assert run.returncode == 0, rest


def test_a_change_that_a_wrong_token_made_is_counted_and_named(tmp_path: Path) -> None:
    with deployed(tmp_path, faults=["signature-is-not-checked"]) as portal:
        run = portal.run("--impact", "mutating", "--only", "AUTHN-007", "--time-budget", "1m")

    assert run.results["changes"]["accepted"] >= 1
    assert "POST /web/v1/system/profile/update accepted a request that it had to refuse" in run.said
