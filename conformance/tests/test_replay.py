"""Replays on a fresh portal: nothing false is reported, what regressed is, at its place."""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace
from starlette.responses import Response
from starlette.types import ASGIApp, Scope

from conformance.cli import main
from conformance.replay.compare.outcome import ReplayedExchange, State
from conformance.replay.engine.step import ReplayStep
from conformance.replay.recording.plan import Omissions
from conformance.spec.endpoints import LOGIN_INITIATE, LOGOUT, MFA, PROFILE, ROLE, ROLES, TOKEN_REFRESH
from conformance.tests.reached import instead
from conformance.tests.replays import Replaying, assessor_of, recorded, recorder, replayed
from conformance.tests.sample_run import error
from conformance.tests.scripted_client import Walker
from conformance.tests.traffic import answer
from conformance.traffic import capture
from conformance.traffic.exchange import Exchange
from reference_impl.limits import Limits


def test_a_fresh_portal_of_the_same_build_has_no_regression(visit: Replaying, recording: Path) -> None:
    told = visit()

    assert told.run.regressions == []
    assert told.tally.share >= 0.95
    assert told.tally.counts.total() == len(list(capture.read(recording)))
    assert told.run.exit_code == 0


@pytest.mark.slow
def test_what_a_lawful_portal_answered_another_of_its_kind_answers_too(tmp_path: Path) -> None:
    variants = ("another-mask", "cookies", "encrypted-answers", "my-workspaces-in-pages", "opaque-tokens")
    recorded(tmp_path / "traffic.jsonl", Walker.visit, variants=variants)

    told = replayed(tmp_path / "traffic.jsonl", tmp_path / "reports", variants=variants)

    assert told.run.regressions == []
    assert told.tally.share >= 0.95
    assert told.run.exit_code == 0


def test_what_fails_for_another_exchange_is_skipped_and_its_cause_counted_once(visit: Replaying) -> None:
    told = visit(faults=("post-auth-login-initiate-is-not-offered",))

    skipped = [one for one in told.tally.kept if one.state is State.SKIPPED]
    (cause,) = told.tally.roots
    assert len(skipped) > 30
    assert told.tally.roots[cause] == len(skipped)
    assert {one.endpoint for one in told.tally.kept if one.number == cause} == {LOGIN_INITIATE}


def test_too_little_compared_is_inconclusive_never_green(visit: Replaying) -> None:
    told = visit(skip=[LOGIN_INITIATE])

    assert told.tally.compared < told.tally.wanted / 2
    assert told.run.exit_code == 5


@pytest.mark.parametrize("pattern", ["*constants*", ROLE, "*password/change"])
def test_what_a_selection_needs_is_sent_and_not_compared(visit: Replaying, pattern: str) -> None:
    told = visit(only=[pattern])

    compared = {key for key, states in told.tally.endpoints.items() if states[State.SAME]}
    assert compared
    assert all(fnmatchcase(key, pattern) or pattern in key for key in compared)
    assert told.tally.compared == told.tally.wanted
    assert told.run.regressions == []
    assert told.run.exit_code == 0


def test_nothing_above_the_allowed_impact_is_sent(visit: Replaying, tmp_path: Path) -> None:
    """What differs for it is not comparable."""
    told = visit(impact="read-only")

    (note,) = (note for note in told.notes if "it is mutating, and --impact allows read-only" in note)
    assert note.endswith("; give --impact mutating.")
    assert " unwanted (PATCH /web/v1/system" in note or " unwanted (POST /web/v1/system" in note
    sent = {one.request.path.rpartition("/")[2] for one in capture.read(tmp_path / "exchanges.jsonl")}
    assert "profile" in sent
    assert sent.isdisjoint({"update", "create", "delete", "change", "logout", "cancel", "deactivate"})
    reasons = {one.endpoint: one.reason for one in told.tally.kept if one.state is State.NOT_COMPARABLE}
    assert told.run.regressions == []
    assert told.run.exit_code == 0
    assert reasons[PROFILE].startswith("it was recorded after POST /web/v1/system/")


def test_faults_are_reported_where_changes_are_omissions(visit: Replaying) -> None:
    told = visit(impact="read-only", faults=("login-session-expires-in-text", "a-method-twice"))

    found = {(one.endpoint, one.path, one.kind) for one in told.run.regressions}
    assert found >= {(LOGIN_INITIATE, "data.expiresIn", "type"), (MFA, "data", "length")}


@pytest.mark.parametrize(
    ("change", "path", "is_open_still", "explained"),
    [
        ("POST profile/update", "profile", False, True),
        ("POST profile/update", "roles", False, False),
        ("POST notifications/channels/create", "notifications/channels/query", False, True),
        ("GET profile", "profile", False, False),
        ("POST auth/logout", "roles", True, True),
        ("POST auth/logout", "roles", False, False),
        ("POST auth/password/change", "security/sessions", False, True),
        ("POST auth/password/change", "auth/logout", False, True),
        ("POST auth/password/change", "auth/token/refresh", False, False),
        ("POST security/mfa/otp/revoke", "auth/login/initiate", False, True),
    ],
)
def test_a_change_explains_what_shows_it_and_comes_after_it(
    change: str, path: str, is_open_still: bool, explained: bool
) -> None:
    method, _, changed = change.partition(" ")
    omissions = Omissions()
    omissions.note(10.0, method, f"/web/v1/system/{changed}", status=200)

    explanation = omissions.before(20.0, f"/web/v1/system/{path}", is_open_still=is_open_still)
    assert explanation == (f"{method} /web/v1/system/{changed}" if explained else None)
    assert omissions.before(5.0, f"/web/v1/system/{path}", is_open_still=is_open_still) is None


@pytest.mark.parametrize(
    "faults",
    [
        {},
        {"refresh-is-refused": TOKEN_REFRESH},
        {"session-outlives-logout": PROFILE, "logout-counts-no-session": LOGOUT},
        {"invalid-token-is-403": PROFILE, "logout-says-no-success": LOGOUT},
    ],
    ids=" ".join,
)
def test_a_password_that_is_not_changed_explains_no_fault_of_tokens_and_logouts(
    visit: Replaying, faults: dict[str, str]
) -> None:
    result = visit(skip=["*password/change"], faults=tuple(faults))

    assert {one.endpoint for one in result.run.regressions} == set(faults.values())
    assert result.run.exit_code == bool(faults)


def test_an_interrupted_replay_reports_what_it_has_seen(visit: Replaying, tmp_path: Path) -> None:
    steps = count(1)

    def interrupt(step: ReplayStep) -> None:
        if next(steps) == 10:
            signal.raise_signal(signal.SIGINT)

    told = visit(on_step=interrupt)

    results = json.loads((tmp_path / "results.json").read_text())
    assert results["exit_code"] == told.run.exit_code == 2
    assert 10 <= told.tally.compared < len(told.plan.started) / 2
    assert len((tmp_path / "exchanges.jsonl").read_text().splitlines()) >= told.tally.compared
    assert told.notes[0].startswith("Interrupted: ")
    assert told.notes[1] == "The same command with --resume goes on with this replay."


def test_a_baseline_accepts_what_the_target_is_known_to_contradict_and_no_regression(
    recording: Path, tmp_path: Path
) -> None:
    known, fault = tmp_path / "known.toml", ("login-session-expires-in-text",)
    with recorder(tmp_path / "old.jsonl", faults=fault) as (walker, _):
        walker.visit(changes=False)
    contradicting = tmp_path / "old.jsonl"

    before = replayed(contradicting, tmp_path / "a", faults=fault)
    assert main(["compare", str(tmp_path / "a"), "--known", str(known), "--accept", "all"]) == 0
    after = replayed(contradicting, tmp_path / "c", faults=fault, known=known)
    regressed = replayed(recording, tmp_path / "d", faults=fault, known=known)

    assert [one.run.exit_code for one in (before, after)] == [1, 0]
    assert regressed.run.regressions
    assert regressed.run.exit_code == 1


def test_a_repaired_fault_is_a_change_not_a_regression(tmp_path: Path) -> None:
    with recorder(out := tmp_path / "faulty.jsonl", faults=["login-session-of-600"]) as (walker, _):
        walker.sign_in(walker.accounts["admin"])

    told = replayed(out, tmp_path / "reports")

    assert told.run.regressions == []
    assert told.tally.counts[State.CHANGED] == 1


def test_a_rate_limit_that_the_recording_does_not_show_is_noted(visit: Replaying) -> None:
    told = visit(limits=Limits(login_initiations=1))

    (note,) = (note for note in told.notes if "rate limit" in note)
    assert note.startswith("POST /web/v1/system/auth/login/initiate was refused for a rate limit that")
    assert told.run.exit_code == 0


PAGE = b"<html><title>Bad gateway</title></html>"


@dataclass
class Gateway:
    """A proxy before a portal that answers the first requests for the roles in its place."""

    times: int
    requests: int = 0

    def __call__(self, scope: Scope) -> ASGIApp | None:
        if f"{scope['method']} {scope['path']}" != ROLES:
            return None
        self.requests += 1
        return Response(PAGE, 502, media_type="text/html") if self.requests <= self.times else None


def test_a_request_that_a_gateway_turned_away_once_is_sent_again(visit: Replaying) -> None:
    gateway = Gateway(times=1)

    assert visit(wrap=instead(gateway)).run.regressions == []
    assert gateway.requests == 2


def test_an_endpoint_that_stays_behind_the_gateway_is_a_breaking_change(visit: Replaying) -> None:
    gateway = Gateway(times=1000)
    regressions = visit(wrap=instead(gateway)).run.regressions

    assert gateway.requests == 2
    rows = [(each.path, each.kind, each.meaning) for each in regressions if each.endpoint == ROLES]
    assert rows == [
        ("status", "status", "breaking"),
        ("headers.content-type", "value", "breaking"),
        ("", "type", "breaking"),
    ]
    assert {each.basis for each in regressions if each.endpoint == ROLES} == {
        "a proxy or gateway before the portal answered in its place, and is not described"
    }


LIMITED = error("RATE_LIMIT.EXCEEDED")


@pytest.mark.parametrize(
    ("recorded", "key", "state"),
    [
        (answer(PROFILE, body={"length": 6}, form="not-json", status=502), PROFILE, State.NOT_COMPARABLE),
        (answer(PROFILE, body=LIMITED, status=429), PROFILE, State.NOT_COMPARABLE),
        (answer(LOGIN_INITIATE, body=LIMITED, status=429), LOGIN_INITIATE, State.REGRESSED),
    ],
)
def test_what_held_the_recorded_client_back_is_compared_where_the_document_states_it(
    recorded: Exchange, key: str, state: State
) -> None:
    live = replace(answer(key, {}), n=2)

    assert assessor_of().assess(ReplayedExchange(1, recorded, live), ()).state is state
