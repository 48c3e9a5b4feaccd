"""Several clients of one recording, their sign-ins and their pace."""

from __future__ import annotations

import time
import tomllib
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from conformance.replay import replay
from conformance.replay.compare.outcome import State
from conformance.spec.endpoints import COUNTRIES, LOGIN_MFA_SEND, PASSWORD_CHANGE
from conformance.tests.replays import (
    options_for,
    profile_of,
    recorder,
    replayed,
    rewritten,
    steps_of,
    written,
)
from conformance.tests.scripted_client import Walker
from conformance.tests.traffic import NO_TOKEN, NOW, answer
from conformance.traffic import capture
from reference_impl import serve as reference


@pytest.mark.parametrize("name", ["admin", "spare"])
def test_sign_ins_of_one_account_at_the_same_time_each_use_their_own_code(tmp_path: Path, name: str) -> None:
    with recorder(out := tmp_path / "several.jsonl") as (walker, portal):
        walkers = [walker.browser(f"client-{n}") for n in range(6)]
        sign_ins = [walker.sign_in_by_steps(walker.accounts[name]) for walker in walkers]
        for sign_in in sign_ins:
            next(sign_in)
        if walker.accounts[name]["mfa"] == "EMAIL":
            for sign_in in sign_ins:
                next(sign_in)
        for walker, sign_in in zip(walkers, sign_ins, strict=True):
            # No time step of an authenticator serves twice.
            portal.portal.clock.advance(30)
            walker.ahead = portal.portal.clock.now() - time.time()
            assert list(sign_in) in ([], [None])
        for walker in walkers:
            walker.get("/profile")

    told = replayed(out, tmp_path / "reports", concurrency=6)

    assert told.plan.sessions == 6
    assert told.run.regressions == []
    assert told.tally.counts == {State.SAME: told.tally.wanted}


def test_a_replay_right_after_another_does_not_take_its_code_for_refused(tmp_path: Path) -> None:
    with recorder(out := tmp_path / "one.jsonl") as (walker, _):
        walker.sign_in(walker.accounts["admin"])
        walker.get("/profile")

    with reference.start() as portal:
        told = [replay([out], profile_of(portal), options_for(tmp_path / "reports")) for _ in range(2)]

    assert [one.run.regressions for one in told] == [[], []]
    assert [one.tally.counts[State.SAME] for one in told] == [one.tally.wanted for one in told]


@pytest.mark.parametrize("url, paths", [("{email}", ["status", "code"]), ("spare@example.test", [])])
def test_a_refused_code_that_certainly_came_for_the_sign_in_is_the_targets(
    tmp_path: Path, url: str, paths: list[str]
) -> None:
    """An inbox that is not asked for one address may show another one's code."""
    with recorder(out := tmp_path / "one.jsonl") as (walker, _):
        walker.sign_in(walker.accounts["spare"])

    def edit(profile: str) -> str:
        return profile.replace("/inbox/{email}", f"/inbox/{url}")

    told = replayed(out, tmp_path / "reports", faults=["emailed-code-refused"], edit=edit)

    assert [regression.path for regression in told.run.regressions] == paths
    assert all("LOGIN-028" in regression.basis for regression in told.run.regressions)
    assert any("inbox: its code is refused" in note for note in told.notes) is not bool(paths)


def mistaken(password: str) -> list[str]:
    return [password.swapcase(), password[:-1] + ("b" if password[-1] in "aA" else "a"), "another password"]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_password_is_mistaken_as_it_was(tmp_path: Path, is_first: bool) -> None:
    """In a recording that hides it as well, whether it was mistaken before the right one or after it."""
    with recorder(out := tmp_path / "one.jsonl") as (walker, _):
        account = walker.accounts["admin"]
        tried = [*mistaken(account["password"]), account["password"]]
        for password in tried if is_first else reversed(tried):
            walker.post("/auth/login/initiate", {"email": account["email"], "password": password})

    portals: list[reference.Running] = []
    told, steps = steps_of(out, tmp_path / "reports", prepare=portals.append)
    right = profile_of(portals[0]).accounts["admin"].password

    assert told.run.regressions == []
    sent = [step.attempt.live.sent["password"] for step in steps if step.attempt]
    sent = sent if is_first else sent[::-1]
    assert sent[0] == right.swapcase()
    assert sent[1][:-1] == right[:-1]
    assert sent[1] != right
    assert sent[2].casefold()[:8] != right.casefold()[:8]
    assert sent[3] == right
    assert account["password"] not in out.read_text(encoding="utf-8")
    assert "another password" not in out.read_text(encoding="utf-8")


def test_values_of_another_kind_in_a_sign_in_are_replayed_as_they_were(tmp_path: Path) -> None:
    out, others = tmp_path / "others.jsonl", ({"value": "x"}, ["x"], 5, True, None)
    with recorder(out) as (walker, _):
        spare = walker.accounts["spare"]
        walkers = [walker.browser(f"client-{n}") for n in range(2)]
        begun = [begun_by_mail(walker, spare) for walker in walkers]
        for (walker, by_mail), other in product(zip(walkers, begun, strict=True), others):
            for name in ("email", "password"):
                sent = {"email": spare["email"], "password": spare["password"], name: other}
                walker.post("/auth/login/initiate", sent)
            for name in ("sessionId", "method"):
                walker.post("/auth/login/complete", {**by_mail, "code": "123456", name: other})
                walker.post("/auth/login/mfa/send", {**by_mail, name: other})
            walker.post("/auth/login/complete", {**by_mail, "code": other})

    result = replayed(out, tmp_path / "reports", concurrency=2)

    assert result.run.regressions == []
    assert result.tally.counts == {State.SAME: result.plan.size}


def begun_by_mail(walker: Walker, account: dict[str, str]) -> dict[str, Any]:
    """A sign-in that has begun: the body that asks for its mailed code."""
    begun = walker.post("/auth/login/initiate", {"email": account["email"], "password": account["password"]})
    return {"sessionId": begun["data"]["sessionId"], "method": 10011001}


def test_a_refused_resend_that_is_mailed_now_contradicts_and_spoils_no_sign_in(tmp_path: Path) -> None:
    with recorder(out := tmp_path / "resend.jsonl") as (walker, _):
        spare = walker.accounts["spare"]
        walker.browser("another").sign_in(walker.accounts["admin"])
        by_mail = begun_by_mail(walker, spare)
        for _ in range(2):
            walker.post("/auth/login/mfa/send", by_mail)
        done = walker.post("/auth/login/complete", {**by_mail, "code": walker.code(spare)})
        walker.token = done["data"]["accessToken"]
        walker.get("/profile")

    told = replayed(out, tmp_path / "reports", faults=("no-cooldown",))

    assert {(each.meaning, each.basis) for each in told.run.regressions} == {("contradiction", "LOGIN-025")}
    assert told.tally.counts[State.SAME] == told.tally.wanted - 1


def test_a_recording_that_begins_within_a_cooldown_is_replayed_outside_of_one(tmp_path: Path) -> None:
    with recorder(out := tmp_path / "late.jsonl") as (walker, portal):
        spare = walker.accounts["spare"]
        walker.browser("another").sign_in(walker.accounts["admin"])
        before = Walker(portal.url, walker.profile)
        by_mail = begun_by_mail(walker, spare)
        before.post("/auth/login/mfa/send", by_mail)
        walker.post("/auth/login/mfa/send", by_mail)
        portal.portal.clock.advance(61)
        walker.post("/auth/login/mfa/send", by_mail)
        done = walker.post("/auth/login/complete", {**by_mail, "code": walker.code(spare)})
        walker.token = done["data"]["accessToken"]
        walker.get("/profile")

    told = replayed(out, tmp_path / "reports")

    assert {regression.endpoint for regression in told.run.regressions} == {LOGIN_MFA_SEND}
    assert told.tally.counts[State.SAME] == told.tally.wanted - 1


def test_secrets_that_were_refused_and_taken_out_are_not_replayed_as_good_ones(tmp_path: Path) -> None:
    with recorder(out := tmp_path / "refused.jsonl", open_channel=True) as (walker, _):
        spare = walker.accounts["spare"]
        walker.sign_in(spare)
        workspace = walker.get("/workspaces/current")["data"]["bizId"]
        path = f"/web/v1/admin/transfer/query/orders/workspace/{workspace}"
        walker.call("GET", path, **{walker.profile["bot_challenge"]["header"]: "a-token-of-yesterday"})
        walker.post("/auth/password/forgot", {"email": spare["email"], "turnstileToken": "another-one-of-it"})
        walker.change_password(spare["password"], "Sh0rt")
        walker.change_password("Not-the-old-password-1", "Another-password-1")
        walker.sign_in(spare)
    assert walker.statuses.count(403) == 2

    told = replayed(rewritten(out, lambda line: line.pop("hidden", None)), tmp_path / "reports")

    left = [row for row in told.tally.kept if row.state is not State.SAME]
    assert told.run.regressions == []
    assert [(one.state, one.endpoint) for one in left] == [(State.NOT_REPLAYABLE, PASSWORD_CHANGE)] * 2
    assert all(one.reason.startswith("it was refused (") for one in left)


@pytest.mark.parametrize(
    "fault, differing", [(None, 0), ("password-of-seven-is-tried", 1), ("password-of-129-is-tried", 1)]
)
def test_secrets_that_were_refused_for_their_form_are_sent_in_that_form(
    tmp_path: Path, fault: str | None, differing: int
) -> None:
    with recorder(out := tmp_path / "forms.jsonl", open_channel=True) as (walker, _):
        spare = walker.accounts["spare"]
        for password in ("Sh0rt-1", "Long-1"[:3] * 43):
            walker.post("/auth/login/initiate", {"email": spare["email"], "password": password})
        walker.post("/auth/login/initiate", {"password": "Another-password-2"})
        by_mail = begun_by_mail(walker, spare)
        walker.post("/auth/login/complete", {**by_mail, "code": 482915})
        walker.sign_in(spare)
        walker.change_password(spare["password"], "Sh0rt")
        walker.change_password("Not-the-old-password-1", "Another-password-1")
    assert walker.statuses.count(400) == 6

    result = replayed(out, tmp_path / "reports", faults=() if fault is None else (fault,))

    assert result.tally.counts[State.SAME] == result.plan.size - differing
    assert len({regression.exchange for regression in result.run.regressions}) == differing


def test_the_recorded_pace_is_kept_on_an_absolute_schedule(tmp_path: Path) -> None:
    moments = (NOW + timedelta(seconds=number / 2) for number in range(5))
    paced = (answer(COUNTRIES, [], started=moment, headers=NO_TOKEN) for moment in moments)
    spaced = written(tmp_path / "spaced.jsonl", *paced)

    told = replayed(spaced, tmp_path / "reports", pace="5x")

    starts = [exchange.time for exchange in capture.read(tmp_path / "reports" / "exchanges.jsonl")]
    assert starts[-1] - starts[0] == pytest.approx(0.4, abs=0.15)
    assert told.lag.count == 5


def test_what_sign_ins_make_longer_is_listed_and_no_regression(recording: Path, tmp_path: Path) -> None:
    with reference.start() as portal:
        profile = tomllib.loads(portal.profile())
        for _ in range(3):
            portal.portal.clock.advance(30)
            walker = Walker(portal.url, profile, ahead=portal.portal.clock.now() - time.time())
            walker.sign_in(profile["accounts"]["admin"])
        portal.portal.clock.advance(30)
        told = replay([recording], profile_of(portal), options_for(tmp_path))

    history = "GET /web/v1/system/security/sessions/history"
    assert told.run.regressions == []
    assert (history, "data.pagination.totalRecords", "value") in told.drift
    assert ("GET /web/v1/system/security/sessions", "data", "length") in told.drift


def test_a_bot_token_goes_under_the_header_of_the_profile(recording: Path, tmp_path: Path) -> None:
    text = recording.read_text(encoding="utf-8")
    other = text.replace("x-turnstile-token", "cf-turnstile-response")
    assert other != text
    (tmp_path / "other.jsonl").write_text(other, encoding="utf-8")

    assert replayed(tmp_path / "other.jsonl", tmp_path / "reports").run.regressions == []


def test_a_record_of_the_profile_that_stands_for_a_recorded_one_is_named(tmp_path: Path) -> None:
    with recorder(out := tmp_path / "file.jsonl") as (walker, portal):
        walker.sign_in(walker.accounts["admin"])
        walker.look_at_a_file()
        own = profile_of(portal)
        same = replay([out], own, options_for(tmp_path / "same")).run.notes
    others = replayed(out, tmp_path / "others").run.notes

    start = f"file {own.records.file} was recorded"
    assert [sum(note.startswith(start) for note in notes) for notes in (same, others)] == [0, 1]


def test_secrets_within_other_texts_and_paths_are_live(tmp_path: Path) -> None:
    """A name that holds a password comes back as it was sent; a path that holds one is no path otherwise."""
    with recorder(out := tmp_path / "within.jsonl") as (walker, _):
        admin = walker.accounts["admin"]
        walker.sign_in(admin)
        for name in (f"Ada {admin['password']}", "Ada"):
            walker.post("/profile/update", {"accountName": name})
            walker.get("/profile")
        walker.get(f"/no-such-thing/{admin['password']}")
    assert admin["password"] not in out.read_text(encoding="utf-8")

    result, steps = steps_of(out, tmp_path / "reports")

    assert result.run.regressions == []
    assert steps[-1].attempt is not None
    assert "[" not in steps[-1].attempt.send.request.url
