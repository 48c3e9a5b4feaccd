"""Ids that are counted for each kind of record: two records of different kinds have the same id."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from conformance.replay.compare.outcome import State
from conformance.replay.rebuild.correlation import Correlation
from conformance.replay.recording.kinds import is_counted, record_of
from conformance.spec.endpoints import CHANNELS_QUERY, ROLE, ROLE_PERMISSIONS, ROLES, WORKSPACES_CURRENT
from conformance.tests.replays import recorder, replayed

COUNTED = "ids-counted-by-kind"


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same visit on a portal with unique ids, and on one that counts them."""
    folder = tmp_path_factory.mktemp("recordings")
    for variant in ("", COUNTED):
        with recorder(folder / f"{variant}.jsonl", variants=[variant] if variant else []) as (walker, _):
            walker.visit()
    return {variant: folder / f"{variant}.jsonl" for variant in ("", COUNTED)}


@pytest.mark.parametrize(
    ("recorded", "target", "cache"),
    list(itertools.product(("", COUNTED), ("", COUNTED), [False, True])),
)
def test_counted_ids_are_followed_by_kind(
    recordings: dict[str, Path], tmp_path: Path, recorded: str, target: str, cache: bool
) -> None:
    result = replayed(recordings[recorded], tmp_path, variants=(target,) if target else (), cache=cache)

    assert result.run.regressions == []
    assert set(result.tally.counts) <= {State.SAME, State.NOT_REPLAYABLE}


def test_another_id_among_records_of_one_kind_is_noticed() -> None:
    correlation = Correlation(used=())

    assert correlation.pair_counted("role", "1", "3")
    assert correlation.pair_counted("workspace", "1", "7")
    assert correlation.pair_counted("role", "1", "3")
    assert not correlation.pair_counted("role", "1", "7")
    assert not correlation.pair_counted("role", "2", "3")


@pytest.mark.parametrize(
    ("name", "operation", "kind"),
    [
        ("bizId", ROLES, "role"),
        ("roleBizId", ROLE, "role"),
        ("bizId", ROLE_PERMISSIONS, "permission"),
        ("bizId", WORKSPACES_CURRENT, "workspace"),
        ("workspaceBizId", ROLES, "workspace"),
        ("bizId", CHANNELS_QUERY, "channel"),
        ("createdBy", CHANNELS_QUERY, "account"),
        ("channelName", CHANNELS_QUERY, None),
    ],
)
def test_the_name_of_a_field_and_its_endpoint_tell_whose_id_it_holds(
    name: str, operation: str, kind: str | None
) -> None:
    assert record_of(name, operation) == kind


def test_a_unique_id_is_not_counted() -> None:
    assert [is_counted(id) for id in ("7", "10482", "ROLE-12")] == [True] * 3
    assert not is_counted("5d473325-1067-464f-ad5b-a50f4f0a1117")
    assert not is_counted("[id-1]")
