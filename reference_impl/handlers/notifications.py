"""Notification channels and their types (chapter "Notifications")."""

from functools import partial
from typing import Any

from reference_impl.errors import Refusal
from reference_impl.filters import Filter, equals, matching, only
from reference_impl.paging import with_pagination
from reference_impl.portal import Caller, Portal, Record
from reference_impl.shapes import Body

MASK = "******"
FIRST_OWN_TYPE_VALUE = 80019001

TYPE_FILTERS: tuple[Filter, ...] = (
    ("bizId", "bizId", equals()),
    ("typeCode", "typeCode", equals()),
    ("typeStatus", "typeStatus", equals("notification-channel-type-statuses")),
    ("enabledOnly", "typeStatus", only("ENABLED")),
)
CHANNEL_FILTERS: tuple[Filter, ...] = (
    ("bizId", "bizId", equals()),
    ("institutionBizId", "institutionBizId", equals()),
    ("channelCategory", "channelCategory", equals("notification-channel-types")),
    ("channelStatus", "channelStatus", equals("notification-channel-statuses")),
    ("activeOnly", "channelStatus", only("ACTIVE")),
)

# Channel types.


def query_types(portal: Portal, caller: Caller, body: Body) -> Any:
    types = matching(portal, TYPE_FILTERS, portal.newest("channel type"), body)
    return with_pagination(portal, "channel type", [_type(record) for record in types], body)


def create_type(portal: Portal, caller: Caller, body: Body) -> Any:
    taken = portal.records["channel type"].values()
    if any(record["typeCode"] == body["typeCode"] for record in taken):
        raise Refusal("DUPLICATE")
    record = {
        "typeValue": max([FIRST_OWN_TYPE_VALUE, *(other["typeValue"] + 1 for other in taken)]),
        "typeDescription": "",
        "typeStatus": "ENABLED",
        "displayOrder": 0,
        "iconUrl": None,
        "extraConfig": None,
    } | body
    return _shown_type(portal, portal.add("channel type", record))


def update_type(portal: Portal, caller: Caller, body: Body) -> Any:
    return _shown_type(portal, portal.change("channel type", body["bizId"], **_changes(body)))


def delete_type(portal: Portal, caller: Caller, body: Body) -> Any:
    return _shown_type(portal, portal.remove("channel type", body["bizId"]))


def switch_type(trigger: str, portal: Portal, caller: Caller, body: Body) -> Any:
    return _shown_type(portal, _moved(portal, "channel type", "typeStatus", body["bizId"], trigger))


enable_type = partial(switch_type, "enable")
disable_type = partial(switch_type, "disable")


# Channels.


def query_channels(portal: Portal, caller: Caller, body: Body) -> Any:
    channels = matching(portal, CHANNEL_FILTERS, portal.newest("channel"), body)
    return with_pagination(portal, "channel", [_channel(portal, record) for record in channels], body)


def create_channel(portal: Portal, caller: Caller, body: Body) -> Any:
    institution = body.get("institutionBizId") or caller.account["institutionBizId"]
    config = email_config(body["channelHost"], sender=body["channelName"], password="")
    record = {
        "channelRemark": None,
        "channelStatus": "ACTIVE",
        "createdBy": caller.account_id,
        "updatedBy": caller.account_id,
        **body,
        "institutionBizId": portal.find("institution", institution)["bizId"],
        "emailConfig": config | body.get("emailConfig", {}),
    }
    return _shown_channel(portal, portal.add("channel", record))


def update_channel(portal: Portal, caller: Caller, body: Body) -> Any:
    channel = portal.find("channel", body["bizId"])
    changes = _changes(body) | {"updatedBy": caller.account_id}
    if "emailConfig" in body:
        changes["emailConfig"] = channel["emailConfig"] | _without_mask(body["emailConfig"])
    return _shown_channel(portal, portal.change("channel", body["bizId"], **changes))


def delete_channel(portal: Portal, caller: Caller, body: Body) -> Any:
    portal.queued.pop(body["bizId"], None)
    return _shown_channel(portal, portal.remove("channel", body["bizId"]))


def activate_channel(portal: Portal, caller: Caller, body: Body) -> Any:
    changed = _moved_channel("activate", portal, caller, body)
    for message in portal.queued.pop(changed["bizId"], []):
        portal.mail(**message)
    return _shown_channel(portal, changed)


def deactivate_channel(portal: Portal, caller: Caller, body: Body) -> Any:
    return _shown_channel(portal, _moved_channel("deactivate", portal, caller, body))


def _moved_channel(trigger: str, portal: Portal, caller: Caller, body: Body) -> Record:
    changed = _moved(portal, "channel", "channelStatus", body["bizId"], trigger)
    changed["updatedBy"] = caller.account_id
    return changed


# Mail servers.


def validate_mail_server(portal: Portal, caller: Caller, body: Body) -> Any:
    return {"valid": True}


# Notifications.


def notify(portal: Portal, institution: str, *, to: str, subject: str) -> None:
    """By the institution's newest channel; one that is inactive keeps the message until it is activated."""
    channels = portal.newest("channel")
    channel = next((record for record in channels if record["institutionBizId"] == institution), None)
    if channel and channel["channelStatus"] != "ACTIVE":
        portal.queued.setdefault(channel["bizId"], []).append({"to": to, "subject": subject})
    else:
        portal.mail(to, subject)


def _moved(portal: Portal, kind: str, field: str, id: str, trigger: str) -> Record:
    record = portal.find(kind, id)
    moved = portal.next_state(kind, record[field], trigger)
    return portal.change(kind, id, **{field: moved or record[field]})


def _changes(body: Body) -> Body:
    return {name: value for name, value in body.items() if name != "bizId"}


def _type(record: Record) -> Record:
    return record | {"enabled": record["typeStatus"] == "ENABLED"}


def _shown_type(portal: Portal, record: Record) -> Record:
    return portal.view("channel type", _type(record))


def _channel(portal: Portal, record: Record) -> Record:
    config = portal.view("email config", record["emailConfig"])
    return record | {"emailConfig": config | {"password": MASK} if "password" in config else config}


def _shown_channel(portal: Portal, record: Record) -> Record:
    return portal.view("channel", _channel(portal, record))


def _without_mask(config: Body) -> Body:
    """Whoever sends back what was read does not mean to change the password."""
    return {name: value for name, value in config.items() if (name, value) != ("password", MASK)}


def email_config(host: str, *, sender: str, password: str) -> Record:
    """Mail server settings of a channel, with fixed values beside host, sender and password."""
    return {
        "smtpHost": host,
        "smtpPort": 587,
        "senderEmail": "portal@example.test",
        "senderName": sender,
        "username": "portal",
        "password": password,
        "useSsl": False,
        "useStartTls": True,
        "connectionTimeout": 5000,
        "readTimeout": 5000,
    }
