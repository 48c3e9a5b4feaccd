"""What is dated otherwise than it was done, and by somebody else (several chapters)."""

from typing import Any

from reference_impl.changes import Change, handled
from reference_impl.faults.fault import fault, then
from reference_impl.faults.operations import (
    ACCEPT,
    ACCOUNT_UPDATE,
    CANCEL,
    CHANNEL_CREATE,
    CHANNEL_UPDATE,
    INVITE,
    TYPE_CREATE,
    TYPE_UPDATE,
)
from reference_impl.faults.stored import named_with, newest_with
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body

HOUR = 3600.0


def undated(operation: str, kind: str, name: str) -> Change:
    """A change leaves ``updatedAt`` as it was."""

    def around(handler: Handler) -> Handler:
        def changing(portal: Portal, caller: Caller, body: Body) -> Any:
            before = portal.records[kind].get(body[name], {}).get("updatedAt")
            data = handler(portal, caller, body)
            portal.records[kind][body[name]]["updatedAt"] = before
            return data

        return changing

    return handled(operation, around)


def _author_kept(handler: Handler) -> Handler:
    """Whoever updates a channel, it was updated by who created it."""

    def updating(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        channel = portal.find("channel", body["bizId"])
        channel["updatedBy"] = channel["createdBy"]
        return data

    return updating


def _by_an_institution(portal: Portal, caller: Caller, body: Body) -> None:
    portal.newest("channel")[0]["createdBy"] = caller.account["institutionBizId"]


FAULTS = (
    fault(
        "INVITE-013",
        "a-cancelled-invitation-ends-at-once",
        then(
            CANCEL, named_with("invitation", "invitationBizId", expiresAt=lambda record: record["createdAt"])
        ),
    ),
    fault(
        "INVITATION-038",
        "an-accepted-invitation-ends-at-once",
        then(
            ACCEPT, named_with("invitation", "invitationBizId", expiresAt=lambda record: record["createdAt"])
        ),
        also="AGREE-009",
    ),
    fault(
        "MODEL-018",
        "an-invitation-was-made-hours-ago",
        then(INVITE, newest_with("invitation", createdAt=lambda record: record["createdAt"] - 8 * HOUR)),
    ),
    fault(
        "MODEL-018",
        "an-invitation-was-accepted-when-it-was-made",
        then(
            ACCEPT, named_with("invitation", "invitationBizId", acceptedAt=lambda record: record["createdAt"])
        ),
    ),
    fault(
        "MODEL-018",
        "a-channel-was-made-hours-ago",
        then(CHANNEL_CREATE, newest_with("channel", createdAt=lambda record: record["createdAt"] - 8 * HOUR)),
    ),
    fault(
        "MODEL-017",
        "a-channel-type-is-made-hours-ahead",
        then(
            TYPE_CREATE,
            newest_with(
                "channel type",
                createdAt=lambda record: record["createdAt"] + 8 * HOUR,
                updatedAt=lambda record: record["updatedAt"] + 8 * HOUR,
            ),
        ),
        also="MODEL-018 MODEL-019 RESOURCE-004 MODEL-005",
    ),
    fault("MODEL-019", "an-update-does-not-date-a-channel", undated(CHANNEL_UPDATE, "channel", "bizId")),
    fault("MODEL-019", "an-update-does-not-date-a-type", undated(TYPE_UPDATE, "channel type", "bizId")),
    fault(
        "MODEL-019", "an-administrators-update-is-not-dated", undated(ACCOUNT_UPDATE, "account", "userBizId")
    ),
    fault("MODEL-020", "a-channel-was-updated-by-its-creator", handled(CHANNEL_UPDATE, _author_kept)),
    fault("MODEL-020", "a-channel-was-made-by-an-institution", then(CHANNEL_CREATE, _by_an_institution)),
)
