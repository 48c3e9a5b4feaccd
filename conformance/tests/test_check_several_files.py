"""Recordings that were redacted apart are checked together: a placeholder of one means nothing in another."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from conformance.check import CheckOptions, check
from conformance.replay.recording.store import Store
from conformance.spec import CONSTANT_LISTS
from conformance.spec.endpoints import LOGIN_COMPLETE, LOGOUT, PASSWORD_FORGOT, PROFILE
from conformance.tests.replays import written
from conformance.tests.traffic import NOW, account, answer, coded, refusal
from conformance.traffic import capture
from conformance.traffic.exchange import Exchange
from conformance.work.merge import merge

REDACTED: Mapping[str, str | None] = {
    "Authorization": "Bearer [token-1]",
    "X-PORTAL-ACCESS-CODE": "[access-code-1]",
}
RAW = {"Authorization": "Bearer kVx8Q2mZr71LpWq0TnYc5sHd3Jf", "X-PORTAL-ACCESS-CODE": "9f3c71d2aa"}
USED_AFTER_LOGOUT = "TOKEN-011"


def left(n: int = 1, /, **headers: str) -> Exchange:
    data = {"success": True, "terminatedSessions": 1}
    return answer(LOGOUT, data, n=n, headers={**REDACTED, **headers})


def used(n: int = 1, /, **headers: str) -> Exchange:
    started = NOW + timedelta(minutes=1)
    return answer(PROFILE, account(), n=n, started=started, headers={**REDACTED, **headers})


def contradicted(files: Sequence[Path], out: Path) -> set[str]:
    check(files, CheckOptions(out=out))
    return {row["requirement"] for row in json.loads((out / "results.json").read_text())["findings"]}


@pytest.mark.parametrize("form", ["jsonl.gz", "har"])
def test_a_token_of_one_recording_is_no_token_of_another(tmp_path: Path, form: str) -> None:
    files = [written(tmp_path / f"1.{form}", left()), written(tmp_path / f"2.{form}", used())]
    both = [written(tmp_path / f"both.{form}", left(1), used(2))]

    assert USED_AFTER_LOGOUT in contradicted(both, tmp_path / "one")
    assert USED_AFTER_LOGOUT not in contradicted(files, tmp_path / "two")
    lines = (tmp_path / "two" / "exchanges.jsonl").read_text().splitlines()
    assert "[token-1]" in lines[0]
    assert "[token-1000001]" in lines[1]


def a_portal(text: str, value: int) -> list[Exchange]:
    """What a portal that gives the ids of another one answers: its session, its texts, its own codes."""
    asked = {"sessionId": "the-first-session", "method": 10011001, "code": "123456"}
    issued = {"accessToken": text, "refreshToken": f"{text}-too", "expiresIn": 3600}
    granted = {**issued, "accountStatus": None, "pendingApproval": False}
    status = coded("HELD_BACK", value)
    listed = [coded("PROCESSING", 30010101), coded("AUDITING", 30010102), status]
    return [
        answer(LOGIN_COMPLETE, granted, sent=asked, headers={"Authorization": None}),
        answer(PASSWORD_FORGOT, {"success": True, "message": text}, sent={"email": "a@example.test"}),
        answer(CONSTANT_LISTS["order-statuses"].endpoint, listed),
        answer(PROFILE, account(accountStatus=status)),
        answer(PROFILE, account(accountStatus=status)),
    ]


def test_what_one_portal_shows_is_not_held_against_another(tmp_path: Path) -> None:
    """Two portals of one seed, or one that was set up anew: the recordings do not say which."""
    portals = [a_portal("A mail is on its way", 10019901), a_portal("Look for a mail", 10019902)]
    files = [written(tmp_path / f"{number}.jsonl", *portal) for number, portal in enumerate(portals)]

    assert contradicted(files, tmp_path / "apart") == set()
    one = [written(tmp_path / "one.jsonl", *portals[0], *portals[1])]
    expected = {"LOGIN-031", "PASSWORD-003", "CONSTANT-064", "ENUM-009"}
    assert contradicted(one, tmp_path / "one") >= expected


def test_files_whose_numbers_go_on_are_one_recording(tmp_path: Path) -> None:
    files = [written(tmp_path / "1.jsonl", left(1)), written(tmp_path / "2.jsonl", used(2))]

    assert USED_AFTER_LOGOUT in contradicted(files, tmp_path / "out")


def test_a_merge_keeps_apart_what_was_redacted_apart(tmp_path: Path) -> None:
    for number, one in enumerate((left(), used())):
        check([written(tmp_path / f"{number}.jsonl", one)], CheckOptions(out=tmp_path / str(number)))

    merge([tmp_path / "0", tmp_path / "1"], tmp_path / "merged")

    merged = tmp_path / "merged" / "exchanges.jsonl"
    assert USED_AFTER_LOGOUT not in contradicted([merged], tmp_path / "again")


def test_a_merge_shows_what_was_seen_with_the_placeholders_of_the_whole(tmp_path: Path) -> None:
    for number in range(2):
        started = NOW + timedelta(hours=number)
        odd = refusal(PROFILE, "4010", 401, data={"a": 1}, headers=REDACTED, started=started)
        check([written(tmp_path / f"{number}.jsonl", odd)], CheckOptions(out=tmp_path / str(number)))
        run = json.loads((tmp_path / str(number) / "results.json").read_text())
        (finding,) = run["findings"]
        finding |= {"actual": "[token-1]", "path": f"data.name{number}"}  # neither has the other's signature
        (tmp_path / str(number) / "results.json").write_text(json.dumps(run))

    merged = merge([tmp_path / "0", tmp_path / "1"], tmp_path / "merged")

    assert [row.actual for row in merged.findings] == ["[token-1]", "[token-1000001]"]


def test_secrets_that_the_check_redacts_have_other_placeholders_than_those_of_a_recorder(
    tmp_path: Path,
) -> None:
    files = [written(tmp_path / "1.jsonl", left()), written(tmp_path / "2.jsonl", used(**RAW))]

    check(files, CheckOptions(out=tmp_path / "out"))

    bearers = [exchange.request.bearer for exchange in capture.read(tmp_path / "out" / "exchanges.jsonl")]
    assert len(set(bearers)) == 2
    assert not any(bearer in RAW["Authorization"] for bearer in bearers if bearer)


def test_several_files_without_placeholders_are_redacted_as_one(tmp_path: Path) -> None:
    files = [written(tmp_path / f"{number}.har", used(**RAW)) for number in range(2)]

    check(files, CheckOptions(out=tmp_path / "out"))

    exchanges = capture.read(tmp_path / "out" / "exchanges.jsonl")
    assert [exchange.request.bearer for exchange in exchanges] == ["[token-1]", "[token-1]"]


def test_a_refusal_before_a_recording_shows_its_access_code_is_judged_as_if_alone(tmp_path: Path) -> None:
    odd = refusal(PROFILE, "4010", 401, data={"a": 1}, headers=REDACTED)
    first, second = written(tmp_path / "1.jsonl", used()), written(tmp_path / "2.jsonl", odd)

    alone = contradicted([second], tmp_path / "alone")

    assert alone
    assert contradicted([first, second], tmp_path / "together") == alone


def test_a_replay_of_several_files_keeps_their_placeholders_apart(tmp_path: Path) -> None:
    lines = [used(Authorization="Bearer [token-1000001]"), used()]
    files = [written(tmp_path / f"{number}.jsonl", line) for number, line in enumerate(lines)]

    with Store(files) as store:
        assert len({store.exchange(at).request.bearer for at in range(2)}) == 2
