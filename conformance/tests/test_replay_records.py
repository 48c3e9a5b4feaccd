"""Records of the target in the place of recorded ones, and ids that are counted for each kind."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance import record
from conformance.replay import ReplayResult
from conformance.replay.compare.outcome import State
from conformance.replay.rebuild.correlation import Correlation
from conformance.spec import endpoints as op
from conformance.tests.replays import profile_of, recorded, replayed, rewritten
from conformance.tests.scripted_client import Walker
from reference_impl import serve as reference

SEED = 5
COUNTED = "ids-counted-by-kind"


@pytest.fixture(scope="module")
def other_account(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return visit_to_another(tmp_path_factory.mktemp("other") / "traffic.jsonl")


def visit_to_another(out: Path, *variants: str, renames: bool = False) -> Path:
    """A visit to another account than that of the profile, and to the lists in which both stand."""
    with reference.start(seed=SEED, variants=variants) as portal:
        profile = tomllib.loads(portal.profile())
        visitor = Walker(portal.url, profile)
        visitor.sign_in(profile["accounts"]["admin"])
        listed = visitor.post("/accounts/admin/query", {})["data"]["accounts"]
        mine = next(each for each in listed if each["bizId"] == profile["records"]["account"])
        other = next(each for each in listed if each["institutionBizId"] != mine["institutionBizId"])
    with reference.start(seed=SEED, variants=variants) as portal:
        with record.serve(portal.url, out, record.RecordOptions(open_channel=True)) as recorder:
            walker = Walker(recorder.url, tomllib.loads(portal.profile()))
            walker.sign_in(walker.profile["accounts"]["admin"])
            if renames:
                sent = {"userBizId": other["bizId"], "accountName": "Renamed by a visit"}
                walker.post("/accounts/admin/update", sent)
            walker.get(f"/accounts/admin/{other['bizId']}")
            for path in ("/accounts/admin/query", "/notifications/channels/query"):
                walker.post(path, {"activeOnly": False} if "channels" in path else {})
    return out


def replayed_alike(other_account: Path, out: Path, *variants: str) -> ReplayResult:
    """The replay on a portal with the recorded ids."""
    return replayed(other_account, out, seed=SEED, variants=variants)


@pytest.mark.parametrize("variants", [(), (COUNTED,)], ids=["unique ids", "counted ids"])
def test_what_another_record_shows_is_drift_and_its_id_may_show_as_itself(
    tmp_path: Path, variants: tuple[str, ...]
) -> None:
    told = replayed_alike(
        visit_to_another(tmp_path / "traffic.jsonl", *variants), tmp_path / "out", *variants
    )

    assert told.run.regressions == []
    assert told.run.exit_code == 0
    drift = [group for group in told.groups if group["meaning"] == "drift"]
    assert {group["endpoint"] for group in drift} == {op.ACCOUNT}
    assert all("record of [records]" in str(group["basis"]) for group in drift)


def test_what_was_changed_in_another_record_is_drift_in_lists_and_a_third_one_is_none(tmp_path: Path) -> None:
    other_account = visit_to_another(tmp_path / "traffic.jsonl", renames=True)
    same = replayed_alike(other_account, tmp_path / "same")
    with reference.start(seed=SEED) as portal:
        asked = profile_of(portal).records.account

    def rename_a_third(line: dict[str, Any]) -> None:
        if "/accounts/admin/query" in line["request"]["url"]:
            accounts = line["response"]["body"]["data"]["accounts"]
            others = (each for each in accounts if each["accountName"] != "Renamed by a visit")
            next(each for each in others if each["bizId"] != asked)["accountName"] = "Somebody else"

    told = replayed_alike(rewritten(other_account, rename_a_third), tmp_path / "out")

    drift = {group["path"] for group in same.groups if group["endpoint"] == op.ACCOUNTS_QUERY}
    assert any(str(path).endswith(".accountName") for path in drift)
    assert (same.run.regressions, same.run.ending.left_behind) == ([], [])
    assert [each.recorded for each in told.run.regressions] == ["Somebody else"]


@pytest.mark.parametrize(
    ("change", "path", "kind"),
    [
        (lambda data: data.update(accountName=["Anna"]), "data.accountName", "type"),
        (lambda data: data.update(nickname="Anna"), "data.nickname", "missing"),
    ],
)
def test_the_form_of_another_record_is_compared(
    other_account: Path, tmp_path: Path, change: Callable[[dict[str, Any]], object], path: str, kind: str
) -> None:
    def change_account(line: dict[str, Any]) -> None:
        if re.search("/accounts/admin/(?!query)", line["request"]["url"]):
            change(line["response"]["body"]["data"])

    told = replayed_alike(rewritten(other_account, change_account, tmp_path / "a.jsonl"), tmp_path / "out")

    assert [(each.path, each.kind) for each in told.run.regressions] == [(path, kind)]


@pytest.fixture(params=[None, "account"], ids=["unique ids", "counted ids"])
def kind(request: pytest.FixtureRequest) -> str | None:
    return request.param  # type: ignore[no-any-return]


def paired(correlation: Correlation, kind: str | None, recorded: str, live: str) -> bool:
    return correlation.pair(recorded if kind is None else (kind, recorded), live)


def test_an_id_in_whose_place_another_is_asked_for_shows_as_either(kind: str | None) -> None:
    correlation = Correlation(used=())
    correlation.replace("2" if kind is None else (kind, "2"), "1")

    pairs = [("2", "1"), ("2", "2"), ("1", "1"), ("2", "3")]
    assert [paired(correlation, kind, *pair) for pair in pairs] == [True, True, True, False]
    assert correlation.live["2"] == "1"

    correlation.forget_since(0)
    assert paired(correlation, kind, "2", "3")
    assert not paired(correlation, kind, "2", "2")


def test_what_another_record_names_is_asked_for_and_binds_nothing(kind: str | None) -> None:
    correlation = Correlation(used=(), shows_another=True)

    assert paired(correlation, kind, "institution-2", "institution-1")
    assert not paired(correlation, kind, "institution-2", "institution-3")

    correlation.shows_another = False
    assert correlation.live["institution-2"] == "institution-1"
    assert paired(correlation, kind, "institution-2", "institution-2")
    assert paired(correlation, kind, "institution-1", "institution-1")


@pytest.fixture(scope="module")
def recordings(recording: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same visit on a portal with unique ids, and on one that counts them."""
    folder = tmp_path_factory.mktemp("recordings")
    counted = recorded(folder / "counted.jsonl", Walker.visit, variants=[COUNTED])
    return {"": recording, COUNTED: counted}


@pytest.mark.parametrize(
    ("recorded", "target", "cache"),
    [("", COUNTED, True), (COUNTED, "", True), (COUNTED, COUNTED, True), (COUNTED, COUNTED, False)],
)
def test_counted_ids_are_followed_by_kind(
    recordings: dict[str, Path], tmp_path: Path, recorded: str, target: str, cache: bool
) -> None:
    result = replayed(recordings[recorded], tmp_path, variants=(target,) if target else (), cache=cache)

    assert result.run.regressions == []
    assert set(result.tally.counts) <= {State.SAME, State.NOT_REPLAYABLE}


def test_another_id_among_records_of_one_kind_is_noticed() -> None:
    correlation = Correlation(used=())

    assert correlation.pair(("role", "1"), "3")
    assert correlation.pair(("workspace", "1"), "7")
    assert correlation.pair(("role", "1"), "3")
    assert not correlation.pair(("role", "1"), "7")
    assert not correlation.pair(("role", "2"), "3")
