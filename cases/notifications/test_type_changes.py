"""A channel type made, updated, disabled, enabled and deleted; each step is read back."""

from __future__ import annotations

from cases.changing import MOVES_BY_ITSELF, TOGETHER, changed_beside
from cases.dating import DATED, MOVED, TRACES, dated, verify_moved
from cases.notifications.making import TYPE, OwnRecord, a_record, differences, is_left_out
from cases.premises import A_WHILE, code_of, without
from cases.surroundings import Surroundings
from conformance.cases import Account, Exchange, Json, Portal, Verify, equal, holds, mark

CREATE, DELETE = TYPE.verb("create"), TYPE.verb("delete")


@mark.requirement(
    "CHANNELTYPE-023", "CHANNELTYPE-026", "CHANNELTYPE-027", "CHANNELTYPE-028", "CHANNELTYPE-029",
    "CHANNELTYPE-030", "CHANNELTYPE-031", "CHANNELTYPE-033", "CHANNELTYPE-034", "CHANNEL-066",
    "MODEL-016", DATED, MOVED,
)  # fmt: skip
@mark.needs(CREATE, DELETE)
@mark.impact("mutating")
@mark.pauses(2 * A_WHILE)
def test_a_channel_type_through_its_life(portal: Portal, verify: Verify, admin: Account) -> None:
    with a_record(portal, verify, admin, TYPE) as channel_type:
        listing, record = channel_type.read_once(lambda record: record is not None)
        verify(
            "CHANNELTYPE-026",
            holds(listing, "data.items", record is not None, channel_type.id, *channel_type.steps),
        )

        is_as_made(channel_type, "CHANNELTYPE-034", listing, record)
        around = Surroundings(portal, admin.token, shared=True)
        before = is_updated(channel_type, "CHANNELTYPE-027")
        portal.clock.wait(A_WHILE, "a time that a change sets")
        if channel_type.call("disable", "CHANNELTYPE-028"):
            channel_type.repeat("disable")
            has_status(channel_type, "CHANNELTYPE-028", "DISABLED", before=before)
            is_left_out(channel_type, "CHANNELTYPE-023", "enabledOnly", "typeStatus", "DISABLED")
        if channel_type.call("enable", "CHANNELTYPE-029"):
            has_status(channel_type, "CHANNELTYPE-029", "ENABLED")
            channel_type.repeat("enable")
            has_status(channel_type, "CHANNELTYPE-029", "ENABLED")
        leaves_the_rest(channel_type, around)
        is_deleted(channel_type, "CHANNELTYPE-030")
        channel_type.observe_answers()


def has_status(
    channel_type: OwnRecord, requirement: str, code: str, *, before: dict[str, Json] | None = None
) -> None:
    listing, record = channel_type.read_once(
        lambda record: record is None or code_of(record, "typeStatus") == code
    )
    if record is not None:
        place = f"data.items[{listing.data['items'].index(record)}]"
        at = f"{place}.typeStatus.code"
        channel_type.verify(requirement, equal(listing, at, code, *channel_type.steps))
        if before:
            done = channel_type.steps[-1]
            verify_moved(channel_type.verify, listing, place, before=before, after=record, done=done)


def is_as_made(own: OwnRecord, requirement: str, listing: Exchange, record: dict[str, Json] | None) -> None:
    """What the body of its making sent is shown, and it was made when it was."""
    if record is None:
        return
    made, at = own.steps[0], f"data.items[{listing.data['items'].index(record)}]"
    other = differences(record, without(dict(own.body), *MOVES_BY_ITSELF))
    sent = {name: own.body[name.partition(".")[0]] for name in other}
    own.verify(requirement, holds(listing, at, not other, sent, made, actual=other))
    for comparison in dated(listing, f"{at}.createdAt", record.get("createdAt"), made):
        own.verify(DATED, comparison)


FRAMES = {"CHANNEL-048": ("AGREE-005", "CHANNEL-061"), "CHANNELTYPE-027": ("AGREE-006", "CHANNELTYPE-033")}
"""By the requirement of an update: the kind of its records, and the requirement that it changes no more."""


def is_updated(channel_type: OwnRecord, requirement: str) -> dict[str, Json]:
    """What the profile's body sends is shown afterwards, and nothing else has changed: the record as it is
    then, and none where it was not updated."""
    before = channel_type.read()[1]
    channel_type.portal.clock.wait(A_WHILE, "a time that an update sets")
    updated = channel_type.call("update", requirement)
    if updated is None:
        return {}
    sent = updated.sent if isinstance(updated.sent, dict) else {}
    new = {name: value for name, value in sent.items() if value != channel_type.id}
    listing, record = channel_type.read_once(lambda record: record is None or not differences(record, new))
    if record is None or not any(name in record for name in new):
        channel_type.verify.untested(requirement, "the update names no field that the listing shows")
        return {}
    other = differences(record, new)
    channel_type.verify(
        requirement, holds(listing, "data.items", not other, new, *channel_type.steps, actual=other)
    )
    at = f"data.items[{listing.data['items'].index(record)}]"
    verify_moved(channel_type.verify, listing, at, before=before or {}, after=record, done=updated)
    _leaves_other_fields(channel_type, FRAMES[requirement], listing, before or {}, record, sent=sent)
    return record


def _leaves_other_fields(
    own: OwnRecord,
    rules: tuple[str, str],
    listing: Exchange,
    before: dict[str, Json],
    record: dict[str, Json],
    *,
    sent: dict[str, Json],
) -> None:
    """``rules``: the requirement that such records agree, and the one that an update changes no more."""
    kind, frame = rules
    new = {name for name, value in sent.items() if value != own.id}
    if not new <= record.keys() | frozenset().union(*TOGETHER):
        own.verify.untested(frame, "the update names fields that the listing does not show")
        return
    beside = changed_beside(kind, before, record, named=sent)
    kept = {name: before[name] for name in beside}
    own.verify(frame, holds(listing, "data.items", not beside, kept, *own.steps, actual=beside))


def leaves_the_rest(record: OwnRecord, around: Surroundings) -> None:
    if len(record.steps) > 1:
        around.judged(record.verify, "MODEL-016", record.steps[-1], (record.family.query, record.id))


def is_deleted(channel_type: OwnRecord, requirement: str) -> None:
    """It is gone from the listing, or is there as something else than before, such as DELETED."""
    before = without(channel_type.read()[1] or {}, *TRACES)
    deleted = channel_type.call("delete", requirement)
    if deleted is None:
        return

    def is_gone(record: dict[str, Json] | None) -> bool:
        return record is None or without(record, *TRACES) != before

    listing, record = channel_type.read_once(is_gone)
    if is_gone(record):
        channel_type.creation.settled()
    gone = holds(
        listing,
        "data.items",
        is_gone(record),
        f"no {channel_type.id}, or one that is marked",
        *channel_type.steps,
    )
    channel_type.verify(requirement, gone)
    channel_type.answers["after delete"] = "gone" if record is None else "listed with a mark"
