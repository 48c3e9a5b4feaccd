"""Which record a replayed change is about, where the deployment has a name of its own for the id."""

from __future__ import annotations

from conformance.replay.changes.reading import body_before, id_of
from conformance.replay.rebuild.actions import NoteChange
from conformance.spec.endpoints import CHANNEL_UPDATE, CHANNELS_QUERY
from conformance.target.portal.restoring.ways import FieldsUndo
from conformance.tests.reached import MINIMAL, answer, answering

OWN_NAME = f'[operations."{CHANNEL_UPDATE}"]\nbody = {{ ref = "{{result_id}}", channelName = "x" }}\n'


def test_the_profile_tells_the_name_of_the_id_in_a_body() -> None:
    portal = answering(lambda request: answer(), profile=MINIMAL + OWN_NAME)
    change = NoteChange(0, CHANNEL_UPDATE, {"ref": "C-1", "channelName": "new"}, "admin", None, None)

    assert id_of(portal, change) == "C-1"
    before = body_before(portal, change, {"channelName": "old"}, FieldsUndo(CHANNELS_QUERY))
    assert before == {"ref": "C-1", "channelName": "old"}


def test_without_the_profile_no_record_is_taken_for_the_one_that_is_meant() -> None:
    portal = answering(lambda request: answer())
    assert id_of(portal, NoteChange(0, CHANNEL_UPDATE, {"ref": "C-1"}, "admin", None, None)) is None
