"""A client that asks the same again and again: making its requests anew once comes to the same."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from conformance import capture, record
from conformance.exchange import Exchange
from conformance.replay import Replayed
from conformance.replay.compare import Comparer
from conformance.replay.outcome import State
from conformance.replay.repeats import Repeat, Repeats
from conformance.tests.replays import replayed
from conformance.tests.scripted_client import Walker
from reference_impl import serve as reference

ROUNDS = 4


@pytest.fixture(scope="module")
def polled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clients who look at the same pages, one of them with a change and a new token between."""
    out = tmp_path_factory.mktemp("polled") / "polled.jsonl"
    with reference.start() as portal, record.serve(portal.url, out) as recorder:
        profile = tomllib.loads(portal.profile())
        watcher, admin = (Walker(recorder.url, profile, hash=name) for name in ("watcher", "admin"))
        watcher.sign_in(profile["accounts"]["spare"])
        admin.sign_in(profile["accounts"]["admin"])
        for number in range(ROUNDS):
            watcher.get("/profile")
            watcher.get("/security/mfa")
            look(admin)
            if number == 1:
                admin.channel()
            if number == 2:
                admin.renew_token()
    return out


def look(walker: Walker) -> None:
    role = walker.get("/roles")["data"][0]
    walker.get(f"/roles/{role['bizId']}")
    walker.get("/security/mfa")
    walker.post("/notifications/channels/query", {"page": 0, "size": 20})
    walker.look_at_orders(walker.get("/workspaces/current")["data"]["bizId"])


@pytest.fixture
def sent_again(monkeypatch: pytest.MonkeyPatch) -> list[Exchange]:
    """What was recorded of those whose request was not made anew."""
    recorded: list[Exchange] = []
    of = Repeats.of

    def noted(self: Repeats, position: int) -> Repeat | None:
        found = of(self, position)
        if found is not None:
            recorded.append(found.recorded)
        return found

    monkeypatch.setattr(Repeats, "of", noted)
    return recorded


def test_what_repeats_is_sent_again_each_under_an_id_of_its_own(
    polled: Path, tmp_path: Path, sent_again: list[Exchange]
) -> None:
    told = replayed(polled, tmp_path / "out", concurrency=2)

    assert told.tally.counts == {State.SAME: told.tally.wanted}
    assert len(sent_again) >= 20
    live = list(capture.read(tmp_path / "out" / "exchanges.jsonl"))
    ids = [exchange.request.header("x-request-id") for exchange in live]
    assert len(set(ids)) == len(ids) == told.tally.wanted


def test_only_what_reads_and_is_not_part_of_a_sign_in_is_sent_again(
    polled: Path, tmp_path: Path, sent_again: list[Exchange]
) -> None:
    replayed(polled, tmp_path / "out", concurrency=2)

    operations = {exchange.request.operation for exchange in sent_again}
    assert None not in operations
    assert {one.impact for one in operations if one} == {"read-only"}
    assert not [one.key for one in operations if one and "/auth/" in one.path]


@pytest.mark.parametrize(
    "fault",
    [
        "a-method-twice",
        "role-without-a-name",
        "profile-is-another-from-the-second-call",
        "refresh-is-refused",
        "account-status-by-another-name",
        "issued-token-is-not-accepted",
        "inactive-channels-tell-their-password",
    ],
)
def test_a_fault_is_told_as_where_everything_is_made_anew_and_compared(
    fault: str, polled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = outcomes(replayed(polled, tmp_path / "short", faults=(fault,)))
    answers = Comparer.answers

    monkeypatch.setattr(Repeats, "of", lambda self, position: None)
    monkeypatch.setattr(Comparer, "answers", lambda self, old, new, pair=None: answers(self, old, new))
    long = outcomes(replayed(polled, tmp_path / "long", faults=(fault,)))

    assert short == long


def outcomes(told: Replayed) -> dict[str, object]:
    return {
        "states": dict(told.tally.counts),
        "regressions": [(one.exchange, one.endpoint, one.path, one.kind) for one in told.run.regressions],
        "verdicts": {one.id: one.verdict for one in told.run.requirements},
    }
