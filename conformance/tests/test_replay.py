"""Replays on a fresh portal: nothing false is reported, what regressed is, at its place."""

from __future__ import annotations

import json
import signal
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from conformance.replay import replay
from conformance.replay.compare.outcome import State
from conformance.replay.engine.log import ReplayLog
from conformance.replay.engine.step import ReplayStep
from conformance.replay.recording.omissions import Omissions
from conformance.tests.replays import options_for, profile_of, recorder, replayed
from conformance.tests.traffic import answer
from conformance.traffic import capture
from conformance.traffic.redaction.redact import Secrets
from reference_impl import serve as reference
from reference_impl.limits import Limits


def test_a_fresh_portal_of_the_same_build_has_no_regression(recording: Path, tmp_path: Path) -> None:
    told = replayed(recording, tmp_path)

    assert told.run.regressions == []
    assert told.tally.share >= 0.95
    assert told.run.exit_code == 0


FAULTS = {
    "login-session-expires-in-text": (
        "POST /web/v1/system/auth/login/initiate",
        "data.expiresIn",
        "type",
    ),
    "a-method-twice": ("GET /web/v1/system/security/mfa", "data", "length"),
}


KEEPING = [
    ("chunked", "header-case", "gzip", "other-order-of-fields", "rate-of-all"),
    ("connection-close", "password-change-ends-sessions", "oaep-sha1", "encrypted-objects"),
    ("old-refresh-tokens-stay-valid", "cbc-with-the-iv-last", "large-size-refused", "request-id-required"),
]
"""Variants that answer what was asked as it was recorded; those of a row do not hide each other."""

CHOOSING = [
    ("numeric-ids", "history-counted-for-each-account", "es256-tokens"),
    ("urn-ids", "zero-offset", "encrypted-answers"),
]
"""Variants whose answers differ in what nobody may rely on: the form of ids, of tokens, of times."""


@pytest.mark.slow
@pytest.mark.parametrize("variants", [*KEEPING, *CHOOSING], ids=" ".join)
def test_what_a_portal_may_choose_is_no_regression(
    recording: Path, tmp_path: Path, variants: tuple[str, ...]
) -> None:
    told = replayed(recording, tmp_path, variants=variants)

    assert told.run.regressions == []
    assert told.tally.share >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize(
    "variant", ["another-mask", "cookies", "encrypted-answers", "my-workspaces-in-pages", "opaque-tokens"]
)
def test_what_a_lawful_portal_answered_another_of_its_kind_answers_too(tmp_path: Path, variant: str) -> None:
    with recorder(out := tmp_path / "traffic.jsonl", open_channel=True, variants=[variant]) as (walker, _):
        walker.visit()

    told = replayed(out, tmp_path / "reports", variants=(variant,))

    assert told.run.regressions == []
    assert told.tally.share >= 0.95
    assert told.run.exit_code == 0


def test_the_redacted_recording_holds_no_secret_and_neither_do_the_reports(
    recording: Path, tmp_path: Path
) -> None:
    with reference.start() as portal:
        profile = profile_of(portal)
        replay([recording], profile, options_for(tmp_path))

    planted = [value for value, _ in profile.secrets()]
    for file in tmp_path.iterdir():
        text = file.read_text()
        assert [value for value in planted if value in text] == [], file.name
    assert '"eyJ' not in recording.read_text()


@pytest.mark.parametrize("shown", [123456, "[hidden]"])
def test_a_secret_that_stands_without_quotes_leaves_the_evidence_whole(
    tmp_path: Path, shown: int | str
) -> None:
    secrets = Secrets()
    secrets.add(str(shown), "code")
    log = ReplayLog(tmp_path / "exchanges.jsonl", secrets)

    log.add(answer("GET /web/v1/system/profile", {"seen": shown, "note": "kept"}))
    log.close()

    (kept,) = capture.read(tmp_path / "exchanges.jsonl")
    assert kept.data == {"seen": "[code-1]", "note": "kept"}


def test_each_exchange_ends_in_exactly_one_state(recording: Path, tmp_path: Path) -> None:
    told = replayed(recording, tmp_path, faults=("issued-token-is-not-accepted",))

    numbers = [one.number for one in told.tally.kept]
    assert told.tally.counts.total() == len(list(capture.read(recording)))
    assert len(numbers) == len(set(numbers))


def test_what_fails_for_another_exchange_is_skipped_and_its_cause_counted_once(
    recording: Path, tmp_path: Path
) -> None:
    told = replayed(recording, tmp_path, faults=("post-auth-login-initiate-is-not-offered",))

    skipped = [one for one in told.tally.kept if one.state is State.SKIPPED]
    (cause,) = told.tally.roots
    assert len(skipped) > 30
    assert told.tally.roots[cause] == len(skipped)
    assert {one.endpoint for one in told.tally.kept if one.number == cause} == {
        "POST /web/v1/system/auth/login/initiate"
    }


def test_too_little_compared_is_inconclusive_never_green(recording: Path, tmp_path: Path) -> None:
    told = replayed(recording, tmp_path, skip=["POST /web/v1/system/auth/login/initiate"])

    assert told.tally.compared < told.tally.wanted / 2
    assert told.run.exit_code == 5


@pytest.mark.parametrize(
    "pattern", ["*constants*", "GET /web/v1/system/roles/{roleBizId}", "*password/change"]
)
def test_what_a_selection_needs_is_sent_and_not_compared(
    recording: Path, tmp_path: Path, pattern: str
) -> None:
    told = replayed(recording, tmp_path, only=[pattern])

    compared = {key for key, states in told.tally.endpoints.items() if states[State.SAME]}
    assert compared
    assert all(fnmatchcase(key, pattern) or pattern in key for key in compared)
    assert told.tally.compared == told.tally.wanted
    assert told.run.regressions == []
    assert told.run.exit_code == 0


def test_nothing_above_the_allowed_impact_is_sent_and_what_differs_for_it_is_not_comparable(
    recording: Path, tmp_path: Path
) -> None:
    told = replayed(recording, tmp_path, impact="read-only")

    (note,) = (note for note in told.notes if "it is mutating, and --impact allows read-only" in note)
    assert note.endswith("; give --impact mutating.")
    assert " unwanted (PATCH /web/v1/system" in note or " unwanted (POST /web/v1/system" in note
    sent = {one.request.path.rpartition("/")[2] for one in capture.read(tmp_path / "exchanges.jsonl")}
    assert "profile" in sent
    assert sent.isdisjoint({"update", "create", "delete", "change", "logout", "cancel", "deactivate"})
    reasons = {one.endpoint: one.reason for one in told.tally.kept if one.state is State.NOT_COMPARABLE}
    assert told.run.regressions == []
    assert told.run.exit_code == 0
    assert reasons["GET /web/v1/system/profile"].startswith("it was recorded after POST /web/v1/system/")


def test_faults_are_reported_where_changes_are_omissions(recording: Path, tmp_path: Path) -> None:
    told = replayed(recording, tmp_path, impact="read-only", faults=tuple(FAULTS))

    found = {(one.endpoint, one.path, one.kind) for one in told.run.regressions}
    assert found >= set(FAULTS.values())


@pytest.mark.parametrize(
    ("change", "path", "is_open_still", "explained"),
    [
        ("POST profile/update", "profile", False, True),
        ("POST profile/update", "accounts/admin/a-1", False, True),
        ("POST profile/update", "roles", False, False),
        ("POST notifications/channels/create", "notifications/channels/query", False, True),
        ("POST notifications/channels/query", "notifications/channels/query", False, False),
        ("GET profile", "profile", False, False),
        ("POST auth/logout", "roles", True, True),
        ("POST auth/logout", "roles", False, False),
        ("POST auth/password/change", "security/sessions", False, True),
        ("POST auth/password/change", "auth/logout", False, True),
        ("POST auth/password/change", "auth/token/refresh", False, False),
        ("POST auth/password/change", "profile", False, False),
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [
        "refresh-is-refused",
        "session-outlives-logout",
        "profile-without-token",
        "invalid-token-is-403",
        "logout-counts-no-session",
        "logout-says-no-success",
    ],
)
def test_a_password_that_is_not_changed_explains_no_fault_of_tokens_and_logouts(
    recording: Path, tmp_path: Path, fault: str
) -> None:
    result = replayed(recording, tmp_path, skip=["*password/change"], faults=(fault,))

    assert result.run.regressions != []
    assert result.run.exit_code == 1


def test_without_its_password_changes_a_recording_replays_as_well(recording: Path, tmp_path: Path) -> None:
    result = replayed(recording, tmp_path, skip=["*password/change"])

    assert result.run.regressions == []


def test_a_target_that_is_not_there_ends_with_exit_code_6_and_reports(
    recording: Path, tmp_path: Path
) -> None:
    with reference.start() as portal:
        profile = profile_of(portal).model_copy(
            update={"clock": profile_of(portal).clock.model_copy(update={"advance": None})}
        )

    told = replay([recording], profile, options_for(tmp_path))

    assert told.run.exit_code == 6
    assert told.run.regressions == []
    assert any(note.endswith("recorded exchanges were not replayed.") for note in told.notes)
    assert (tmp_path / "report.html").exists()


def test_an_interrupted_replay_reports_what_it_has_seen(recording: Path, tmp_path: Path) -> None:
    steps: list[ReplayStep] = []

    def interrupt(step: ReplayStep) -> None:
        steps.append(step)
        if len(steps) == 10:
            signal.raise_signal(signal.SIGINT)

    with reference.start() as portal:
        told = replay([recording], profile_of(portal), options_for(tmp_path), on_step=interrupt)

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
    updated = replayed(contradicting, tmp_path / "b", faults=fault, baseline=known, baseline_update=True)
    after = replayed(contradicting, tmp_path / "c", faults=fault, baseline=known)
    regressed = replayed(recording, tmp_path / "d", faults=fault, baseline=known)

    assert [one.run.exit_code for one in (before, updated, after)] == [1, 0, 0]
    assert regressed.run.regressions
    assert regressed.run.exit_code == 1


def test_noise_is_learned_and_then_listed_never_silent(recording: Path, tmp_path: Path) -> None:
    fault = ("login-session-of-600",)
    noise = tmp_path / "noise.toml"

    replayed(recording, tmp_path / "learning", faults=fault, learn=noise)
    told = replayed(recording, tmp_path / "told", faults=fault, noise=noise)

    assert told.run.regressions == []
    assert any("noise" in note for note in told.notes)
    (excused,) = told.noise.excused
    assert excused[1] == "data.expiresIn"


def test_a_repaired_fault_is_a_change_not_a_regression(tmp_path: Path) -> None:
    with recorder(out := tmp_path / "faulty.jsonl", faults=["login-session-of-600"]) as (walker, _):
        walker.sign_in(walker.accounts["admin"])

    told = replayed(out, tmp_path / "reports")

    assert told.run.regressions == []
    assert told.tally.counts[State.CHANGED] == 1


def test_a_rate_limit_that_the_recording_does_not_show_is_noted(recording: Path, tmp_path: Path) -> None:
    with reference.start(limits=Limits(login_initiations=1)) as portal:
        told = replay([recording], profile_of(portal), options_for(tmp_path))

    (note,) = (note for note in told.notes if "rate limit" in note)
    assert note.startswith("POST /web/v1/system/auth/login/initiate was refused for a rate limit that")
    assert told.run.exit_code == 0
