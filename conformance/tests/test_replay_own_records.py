"""A change of a record that is gone, by the replay's own doing, needs no restoring."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from conformance import record
from conformance.replay import ReplayResult, replay
from conformance.spec.endpoints import CHANNELS_QUERY
from conformance.spec.requests import UNFILTERED
from conformance.target.portal import Portal
from conformance.tests.replays import options_for, profile_of
from conformance.tests.scripted_client import Walker
from conformance.traffic.exchange import Json
from reference_impl import serve as reference

CHANNELS = "/notifications/channels"


def channel_in(walker: Walker) -> str:
    """The id of a channel that an answer to its creation does not name."""
    text = json.dumps(walker.profile["operations"][f"POST /web/v1/system{CHANNELS}/create"]["body"])
    sent = json.loads(text.replace("{unique}", "walker"))
    walker.post(f"{CHANNELS}/create", sent)
    listed = walker.post(f"{CHANNELS}/query", {"activeOnly": False})["data"]["items"]
    return next(str(each["bizId"]) for each in listed if each["channelName"] == sent["channelName"])


def replayed_after(folder: Path, *parts: str, own: bool) -> tuple[ReplayResult, Json]:
    """The replay of changes of a channel, one of the recording's own or the first that is there; and the
    channels that are left."""
    out = folder / "traffic.jsonl"
    with reference.start(variants=["answers-an-array"], seed=3) as portal:
        with record.serve(portal.url, out, record.RecordOptions(open_channel=True)) as recorder:
            walker = Walker(recorder.url, tomllib.loads(portal.profile()))
            walker.sign_in(walker.profile["accounts"]["admin"])
            listed = walker.post(f"{CHANNELS}/query", {"activeOnly": False})["data"]["items"]
            id = channel_in(walker) if own else listed[0]["bizId"]
            for part in parts:
                walker.post(f"{CHANNELS}/{part}", {"bizId": id})
    with reference.start(variants=["answers-an-array"], seed=3) as portal:
        told = replay([out], profile_of(portal), options_for(folder / "out"))
        with Portal.connect(profile_of(portal), impact="read-only") as visitor:
            token = visitor.account("admin").token
            listing = visitor.call(CHANNELS_QUERY, json=UNFILTERED[CHANNELS_QUERY], token=token)
        return told, listing.data["items"]


@pytest.mark.parametrize("own", [True, False], ids=["its own", "another"])
def test_what_was_changed_in_a_channel_that_the_replay_deletes_needs_no_restoring(
    tmp_path: Path, own: bool
) -> None:
    told, _ = replayed_after(tmp_path, "deactivate", "activate", "delete", own=own)

    assert told.run.ending.left_behind == []
    assert told.run.exit_code == 0
    assert any("Not restored" in note for note in told.notes) is not own


def test_a_channel_of_its_own_without_an_id_is_only_deleted_in_the_end(tmp_path: Path) -> None:
    told, left = replayed_after(tmp_path, "deactivate", "activate", own=True)

    ledger = (tmp_path / "out" / "changes.jsonl").read_text()
    assert [json.loads(row)["kind"] for row in ledger.splitlines() if '"change"' in row] == ["creating"]
    assert told.run.ending.left_behind == []
    assert all("walker" not in channel["channelName"] for channel in left)
