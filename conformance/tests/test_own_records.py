"""A run changes and deletes the records that it made, and none of the deployment's own."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from cases.notifications.making import CHANNEL, a_record
from conformance.errors import Untestable
from conformance.spec.endpoints import CHANNEL_CREATE, CHANNEL_DELETE, CHANNEL_UPDATE
from conformance.target.portal import Portal
from conformance.target.portal.changes import ChangeLedger
from conformance.target.portal.restoring.restore import restore, restore_own
from conformance.target.profile.model import Profile, parse
from conformance.target.profile.tables import OperationSettings
from conformance.tests.reached import MINIMAL, Deciding, Played, answer, answering
from conformance.traffic.exchange import Json

OF_OTHERS = "CH-1"
RECORDS = f"""
[records]
channel = "{OF_OTHERS}"

[operations."{CHANNEL_CREATE}"]
body = {{ channelName = "{{unique}}" }}
"""


class PlayedChannels(Played):
    """A portal of channels that makes ``made-1``, ``made-2`` and so on. ``deletes`` is what it answers to a
    deletion."""

    def __init__(self, deletes: httpx.Response | None = None) -> None:
        super().__init__(create=self.created, query=self.listed, delete=deletes or self.deleted)
        self.ids = [OF_OTHERS]

    def created(self, request: httpx.Request) -> httpx.Response:
        self.ids.append(f"made-{len(self.ids)}")
        return answer({"bizId": self.ids[-1]})

    def listed(self, request: httpx.Request) -> httpx.Response:
        return answer({"items": [{"bizId": id} for id in self.ids]})

    def deleted(self, request: httpx.Request) -> httpx.Response:
        id = json.loads(request.content)["bizId"]
        if id not in self.ids:
            return answer(status=404, code="RESOURCE.NOT_FOUND")
        self.ids.remove(id)
        return answer({})

    def of(self, word: str) -> list[Json]:
        """The bodies of the requests to paths that end with this word."""
        requests = zip(self.words, self.asked, strict=True)
        return [json.loads(request.content or b"null") for end, request in requests if end == word]


def unchecked(key: str, body: Json) -> Profile:
    """A profile with a body that no validation has seen."""
    profile = parse(MINIMAL + RECORDS, {})
    operations = {**profile.operations, key: OperationSettings(body=body)}
    return profile.model_copy(update={"operations": operations})


@pytest.mark.parametrize(
    "body, reason",
    [
        ({"bizId": OF_OTHERS}, r"names \[records\] channel, which the run did not make: it is not sent"),
        ({"bizId": "{channel}"}, r"names \[records\] channel, which the run did not make: it is not sent"),
        ({"bizId": "CH-2"}, "does not name the record that the run made: it is not sent"),
    ],
)
def test_nothing_is_made_where_its_deletion_would_fall_on_another_record(body: Json, reason: str) -> None:
    played = PlayedChannels()
    portal = answering(played, profile=unchecked(CHANNEL_DELETE, body))

    making = a_record(portal, Deciding(), portal.account("admin"), CHANNEL)
    with pytest.raises(Untestable, match=reason), making:
        pytest.fail("a record was made")

    assert (played.of("create"), played.of("delete"), restore_own(portal)) == ([], [], [])


def test_no_update_of_another_record_is_sent() -> None:
    body = {"bizId": "made-12", "name": "{unique}"}
    portal = answering(PlayedChannels(), profile=unchecked(CHANNEL_UPDATE, body))

    with pytest.raises(Untestable, match="does not name the record that the run made"):
        portal.operation_body(CHANNEL_UPDATE, result_id="made-1", unique="suite-1")


def created(portal: Portal, undo: Json) -> None:
    name = portal.unique()
    number = portal.changes.creating(CHANNEL_CREATE, undo, name=name)
    body = portal.operation_body(CHANNEL_CREATE, unique=name)
    answered = portal.call(CHANNEL_CREATE, json=body, token=portal.account("admin").token)
    portal.changes.created(number, answered.data["bizId"])


@pytest.mark.parametrize("undo", [{"bizId": OF_OTHERS}, {"bizId": OF_OTHERS, "and": "{result_id}"}])
def test_a_clean_up_deletes_what_the_run_made_whatever_an_old_ledger_has(undo: Json, tmp_path: Path) -> None:
    played, ledger = PlayedChannels(), tmp_path / "changes.jsonl"
    created(answering(played, profile=MINIMAL + RECORDS, ledger=ledger), undo)
    later = answering(played, profile=MINIMAL + RECORDS)

    assert restore(later, ChangeLedger.read(ledger)) == []
    assert (played.of("delete"), played.ids) == ([{"bizId": "made-1"}], [OF_OTHERS])


@pytest.mark.parametrize(
    "refused, sign_ins, attempts",
    [
        (answer(status=404, code="RESOURCE.NOT_FOUND"), 1, 3),
        (answer(status=403, code="ACCESS.PERMISSION_DENIED"), 2, 4),
    ],
)
def test_a_clean_up_signs_in_no_further_time_for_each_record_that_stays(
    refused: httpx.Response, sign_ins: int, attempts: int, tmp_path: Path
) -> None:
    played, ledger = PlayedChannels(refused), tmp_path / "changes.jsonl"
    maker = answering(played, profile=MINIMAL + RECORDS, ledger=ledger)
    for _ in range(3):
        created(maker, {"bizId": "{result_id}"})
    played.asked.clear()
    later = answering(played, profile=MINIMAL + RECORDS)

    assert len(restore(later, ChangeLedger.read(ledger))) == 3
    assert len(played.of("initiate")) == sign_ins
    assert len(played.of("delete")) == attempts
