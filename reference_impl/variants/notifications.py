"""Notification channels and their types (chapter "Notifications"), and verbs that change nothing."""

from typing import Any

from reference_impl.changes import Change, chosen, rewritten
from reference_impl.faults import operations as op
from reference_impl.faults.fault import objects, on_success, reported, then
from reference_impl.plan import Plan
from reference_impl.portal import Caller, Portal, Record
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.variants.variant import around, having, may, permitted, refused, seeing
from reference_impl.wrappers import Seen

PLATFORM = "PLATFORM"


def _while(operation: str, kind: str, field: str, state: str) -> Change:
    """Refuses an operation on a record in this state; without an id, on the caller's own record."""

    def is_so(portal: Portal, caller: Caller, body: Body) -> bool:
        id = body.get("bizId", caller.account_id)
        return bool(portal.records[kind].get(id, {}).get(field) == state)

    return refused(operation, "DUPLICATE", is_so)


def _inactive_at_first(portal: Portal, caller: Caller, body: Body) -> None:
    portal.newest("channel")[0]["channelStatus"] = "INACTIVE"


def _of_another_maker(portal: Portal, caller: Caller, body: Body) -> bool:
    channel = portal.records["channel"].get(body["bizId"])
    return channel is not None and channel["createdBy"] != caller.account_id


def _authors_by_email(seen: Seen, data: Any) -> None:
    accounts = seen.portal.records["account"]
    for record in (*objects(data, "items[]"), *objects(data, "")):
        for name in ("createdBy", "updatedBy"):
            if record.get(name) in accounts:
                record[name] = accounts[record[name]]["accountEmail"]


def _kept_as(operation: str, kind: str, **marks: Any) -> Change:
    """What is taken away stays, with a mark on it."""

    def removing(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
        before = dict(portal.records[kind])
        data = handler(portal, caller, body)
        if body.get("bizId") in before:
            before[body["bizId"]].update(marks, updatedAt=portal.now())
        portal.records[kind] = before
        return data

    return around(removing, operation)


def _deleted_types_too(plan: Plan) -> None:
    """A type of no known state is shown under a code of its own."""
    statuses = plan.lists["notification-channel-type-statuses"]
    deleted = statuses[0]._replace(code="DELETED", value=80010309, label="Deleted")
    plan.lists["notification-channel-type-statuses"] = (*statuses, deleted)


def _inherited(portal: Portal, caller: Caller, body: Body, record: Record) -> bool:
    """Filters by institution; channels of the platform belong to every institution."""
    wanted, owner = body.get("institutionBizId"), record["institutionBizId"]
    platform = portal.records["institution"].get(owner, {}).get("institutionType") == PLATFORM
    return not wanted or owner == wanted or platform


def _code_in_part(portal: Portal, caller: Caller, body: Body, record: Record) -> bool:
    return (body.get("typeCode") or "").casefold() in record["typeCode"].casefold()


def _active_in_any_state_but_one(portal: Portal, caller: Caller, body: Body, record: Record) -> bool:
    return not body.get("activeOnly") or record["channelStatus"] != "INACTIVE"


VARIANTS = permitted(
    "whether a verb that changes nothing is refused is not stated",
    may(
        "what-is-so-already-is-refused",
        _while(op.TYPE_DISABLE, "channel type", "typeStatus", "DISABLED"),
        _while(op.TYPE_ENABLE, "channel type", "typeStatus", "ENABLED"),
        _while(op.CHANNEL_DEACTIVATE, "channel", "channelStatus", "INACTIVE"),
        _while(op.ENABLE_WHITELIST, "security", "whitelistState", "ENABLED"),
        _while(op.DISABLE_WHITELIST, "security", "whitelistState", "DISABLED"),
    ),
    "what a deletion does in which state is not stated",
    may(
        "what-is-in-use-is-not-deleted: deletions",
        _while(op.CHANNEL_DELETE, "channel", "channelStatus", "ACTIVE"),
        _while(op.TYPE_DELETE, "channel type", "typeStatus", "ENABLED"),
    ),
    "N5: what a deletion does is not shown",
    may(
        "deleted-channels-are-marked: deleted-channels",
        _kept_as(op.CHANNEL_DELETE, "channel", channelStatus="DELETED"),
    ),
    may(
        "deleted-types-are-marked: deleted-types",
        _deleted_types_too,
        _kept_as(op.TYPE_DELETE, "channel type", typeStatus="DELETED"),
    ),
    "who may change what of another is not stated",
    may(
        "channels-are-updated-by-their-makers",
        refused(op.CHANNEL_UPDATE, "ACCESS.PERMISSION_DENIED", _of_another_maker),
    ),
    "the state of a new channel is not stated",
    may("channels-begin-inactive: new-channels", then(op.CHANNEL_CREATE, _inactive_at_first)),
    "the effect of activate on the status is not shown",
    may("activating-takes-a-while", chosen(activated_status="ACTIVATING")),
    # Queries.
    "what a filter takes is not stated",
    may(
        "channels-are-inherited: channel-institutions",
        seeing(op.CHANNELS_QUERY, "channel", _inherited, institutionBizId=None),
    ),
    "how a text is matched is not stated",
    may("type-codes-in-part", seeing(op.TYPES_QUERY, "channel type", _code_in_part, typeCode=None)),
    "which further states are active is not shown",
    may(
        "active-while-activating: activated active-only",
        chosen(activated_status="ACTIVATING"),
        seeing(op.CHANNELS_QUERY, "channel", _active_in_any_state_but_one, activeOnly=False),
    ),
    # What is shown.
    "what `createdBy` and `updatedBy` name an account by is not stated",
    may(
        "authors-by-their-address: authors",
        rewritten(on_success(_authors_by_email), op.CHANNELS_QUERY, op.COMMAND),
    ),
    "fields that are null say nothing",
    may("a-deactivation-shows-no-remark", reported(op.COMMAND, "", channelRemark=None)),
    "how a password is masked is not stated",
    may("another-mask", having("smtpHost", password="[hidden]")),
    may("password-masked-by-null: mask", reported(op.CHANNELS_QUERY, "items[].emailConfig", password=None)),
    may(
        "password-masked-but-for-its-end: mask",
        reported(op.CHANNELS_QUERY, "items[].emailConfig", password="••••••st"),
    ),
)
