"""A disk that takes no more: the replay ends, restores what it changed, and says what is left."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance.errors import LeftBehind, UsageError
from conformance.replay import replay
from conformance.target.portal.changes import LEDGER, ChangeLedger
from conformance.tests.replays import options_for, profile_of, recorded
from conformance.tests.test_replay_changes import changes_password, leaves_things, state_of_portal
from reference_impl import serve as reference


@contextmanager
def no_file_above(size: int) -> Iterator[None]:
    """No file grows above a size meanwhile: what exceeds it fails as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("recording") / "traffic.jsonl", leaves_things)


@pytest.mark.parametrize("size", [100, 1000, 12_000])
def test_what_a_replay_changed_is_restored_where_the_disk_is_full(
    recording: Path, tmp_path: Path, size: int
) -> None:
    """Nothing is written, or some of the ledger, or some of the log as well."""
    with reference.start() as portal:
        before = state_of_portal(portal)
        with no_file_above(size), pytest.raises(UsageError, match="Nothing is left changed at the target"):
            replay([recording], profile_of(portal), options_for(tmp_path / "out"))
        after = state_of_portal(portal)

    assert after == before


def test_what_cannot_be_restored_is_named_where_no_report_can_be_written(tmp_path: Path) -> None:
    recording = recorded(tmp_path / "traffic.jsonl", changes_password)
    ledger = tmp_path / "out" / LEDGER
    with (
        reference.start(variants=["password-history"]) as portal,
        no_file_above(400),
        pytest.raises(LeftBehind) as raised,
    ):
        replay([recording], profile_of(portal), options_for(tmp_path / "out"))

    assert raised.value.exit_code == 7
    assert "Not restored: the password of [accounts.spare]: " in str(raised.value)
    assert f"To restore it: portal-conformance cleanup {ledger} --profile " in str(raised.value)
    assert "Its present value is in" not in str(raised.value)  # there was no room for it
    assert len(ChangeLedger.read(ledger).pending) == 1
