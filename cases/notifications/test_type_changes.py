"""A channel type made, updated, disabled, enabled and deleted; each step is read back."""

from __future__ import annotations

from cases.notifications.making import TYPE, Made, a_record, differences
from cases.premises import code_of, without
from conformance.cases import Account, Json, Portal, Verify, equal, holds, impact, needs, requirement

CREATE, DELETE = TYPE.verb("create"), TYPE.verb("delete")


@requirement(
    "CHANNELTYPE-026", "CHANNELTYPE-027", "CHANNELTYPE-028", "CHANNELTYPE-029", "CHANNELTYPE-030",
    "CHANNELTYPE-031",
)  # fmt: skip
@needs(CREATE, DELETE)
@impact("mutating")
def test_a_channel_type_through_its_life(portal: Portal, verify: Verify, admin: Account) -> None:
    with a_record(portal, verify, admin, TYPE) as made:
        listing, record = made.read_once(lambda record: record is not None)
        verify("CHANNELTYPE-026", holds(listing, "data.items", record is not None, made.id, *made.steps))

        is_updated(made, "CHANNELTYPE-027")
        if made.call("disable", "CHANNELTYPE-028"):
            has_status(made, "CHANNELTYPE-028", "DISABLED")
        if made.call("enable", "CHANNELTYPE-029"):
            has_status(made, "CHANNELTYPE-029", "ENABLED")
        is_deleted(made, "CHANNELTYPE-030")
        made.observe_answers()


def has_status(made: Made, requirement: str, code: str) -> None:
    listing, record = made.read_once(lambda record: record is None or code_of(record, "typeStatus") == code)
    if record is not None:
        at = f"data.items[{listing.data['items'].index(record)}].typeStatus.code"
        made.verify(requirement, equal(listing, at, code, *made.steps))


def is_updated(made: Made, requirement: str) -> None:
    """What the profile's body sends is shown afterwards."""
    updated = made.call("update", requirement)
    if updated is None:
        return
    sent = updated.sent if isinstance(updated.sent, dict) else {}
    new = {name: value for name, value in sent.items() if value != made.id}
    listing, record = made.read_once(lambda record: record is None or not differences(record, new))
    if record is None or not any(name in record for name in new):
        made.verify.untested(requirement, "the update names no field that the listing shows")
        return
    other = differences(record, new)
    made.verify(requirement, holds(listing, "data.items", not other, new, *made.steps, actual=other))


def is_deleted(made: Made, requirement: str) -> None:
    """It is gone from the listing, or is there as something else than before, such as DELETED."""
    before = without(made.read()[1] or {}, *TRACES)
    deleted = made.call("delete", requirement)
    if deleted is None:
        return

    def is_gone(record: dict[str, Json] | None) -> bool:
        return record is None or without(record, *TRACES) != before

    listing, record = made.read_once(is_gone)
    if is_gone(record):
        made.creation.settled()
    gone = holds(listing, "data.items", is_gone(record), f"no {made.id}, or one that is marked", *made.steps)
    made.verify(requirement, gone)
    made.answers["after delete"] = "gone" if record is None else "listed with a mark"


TRACES = ("updatedAt", "updatedBy")
"""What any change leaves behind, also one that changed nothing else."""
