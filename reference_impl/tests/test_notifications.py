from typing import Any

import pytest

from reference_impl.choices import Choices
from reference_impl.tests.client import INVALID, NOT_FOUND, Client, refusal_of
from reference_impl.tests.conftest import Portals

TYPES = "/web/v1/system/notifications/channel-types"
CHANNELS = "/web/v1/system/notifications/channels"
COMMAND = "/web/v1/notification-channels/command/deactivate"
CHANNEL = {"channelName": "Mine", "channelHost": "smtp.example.test", "channelCategory": "EMAIL"}
TYPE = {"typeCode": "MINE", "typeName": "Mine"}


@pytest.mark.parametrize(("path", "total"), [(TYPES, 45), (CHANNELS, 45)])
def test_listings_fill_three_pages(admin: Client, path: str, total: int) -> None:
    pages = [admin.post(f"{path}/query", {"page": page, "pageSize": 20}) for page in (1, 2, 3)]
    ids = {item["bizId"] for page in pages for item in page["items"]}

    assert len(ids) == total
    assert admin.post(f"{path}/query", {}) == pages[0]
    assert pages[2]["pagination"]["hasNext"] is False


# Channel types.


def test_a_type_is_created_changed_switched_and_deleted(admin: Client) -> None:
    created = admin.post(f"{TYPES}/create", TYPE)
    by_id = {"bizId": created["bizId"]}

    assert by_type(admin, **by_id) == [created]
    assert by_type(admin)[0] == created

    admin.post(f"{TYPES}/update", by_id | {"typeName": "Renamed"})

    assert by_type(admin, **by_id)[0]["typeName"] == "Renamed"

    admin.post(f"{TYPES}/disable", by_id)

    assert (by_type(admin, **by_id)[0]["typeStatus"]["code"], by_type(admin, **by_id)[0]["enabled"]) == (
        "DISABLED",
        False,
    )
    assert by_type(admin, enabledOnly=True, **by_id) == []

    admin.post(f"{TYPES}/enable", by_id)

    assert by_type(admin, enabledOnly=True, **by_id)[0]["enabled"] is True

    admin.post(f"{TYPES}/delete", by_id)

    assert by_type(admin, **by_id) == []
    assert refusal_of(admin.send(f"{TYPES}/delete", by_id)) == NOT_FOUND


def test_a_type_code_is_taken_once(admin: Client) -> None:
    admin.post(f"{TYPES}/create", TYPE)

    assert refusal_of(admin.send(f"{TYPES}/create", TYPE)) == (409, "RESOURCE.DUPLICATE")


# Channels.


def test_a_channel_is_created_changed_and_deleted(admin: Client) -> None:
    config = {"smtpPort": 465, "password": "secret of the channel"}
    created = admin.post(f"{CHANNELS}/create", CHANNEL | {"emailConfig": config})
    by_id = {"bizId": created["bizId"]}

    assert created["emailConfig"]["password"] == "******"
    assert created["emailConfig"]["smtpPort"] == 465
    assert by_channel(admin, **by_id) == [created]

    admin.post(f"{CHANNELS}/update", by_id | {"channelName": "Renamed", "emailConfig": {"smtpPort": 25}})

    changed = by_channel(admin, **by_id)[0]
    assert (changed["channelName"], changed["emailConfig"]["smtpPort"]) == ("Renamed", 25)

    admin.post(f"{CHANNELS}/delete", by_id)

    assert by_channel(admin, **by_id) == []


def test_a_mask_that_is_sent_back_changes_no_password(admin: Client) -> None:
    id = admin.seeded.ids["channel"]
    stored = admin.portal.records["channel"][id]["emailConfig"]["password"]
    admin.post(f"{CHANNELS}/update", {"bizId": id, "emailConfig": {"password": "******"}})

    assert admin.portal.records["channel"][id]["emailConfig"]["password"] == stored


def test_no_answer_tells_the_password_of_a_channel(admin: Client) -> None:
    id = admin.seeded.ids["channel"]
    stored = admin.portal.records["channel"][id]["emailConfig"]["password"]

    for verb in ("query", "update", "activate", "deactivate"):
        assert stored not in admin.send(f"{CHANNELS}/{verb}", {"bizId": id}).text


def test_a_channel_is_switched_off_and_on(admin: Client) -> None:
    by_id = {"bizId": admin.seeded.ids["channel"]}
    admin.post(f"{CHANNELS}/deactivate", by_id)

    assert by_channel(admin, **by_id)[0]["channelStatus"] == "INACTIVE"

    admin.post(f"{CHANNELS}/activate", by_id)

    assert by_channel(admin, **by_id)[0]["channelStatus"] == "ACTIVE"


def test_what_activate_does_to_the_status_may_be_nothing(portal_with: Portals) -> None:
    admin = portal_with(choices=Choices(activated_status="INACTIVE")).signed_in()
    by_id = {"bizId": admin.seeded.ids["channel"]}
    admin.post(f"{CHANNELS}/deactivate", by_id)
    admin.post(f"{CHANNELS}/activate", by_id)

    assert by_channel(admin, **by_id)[0]["channelStatus"] == "INACTIVE"


def test_a_channel_is_deactivated_from_whatever_activate_made_of_it(portal_with: Portals) -> None:
    admin = portal_with(choices=Choices(activated_status="ACTIVATING")).signed_in()
    by_id = {"bizId": admin.seeded.ids["channel"]}
    for name in ("deactivate", "activate", "deactivate"):
        admin.post(f"{CHANNELS}/{name}", by_id)

    assert by_channel(admin, **by_id)[0]["channelStatus"] == "INACTIVE"


def test_notifications_wait_while_their_channel_is_inactive(admin: Client) -> None:
    by_id = {"bizId": admin.post(f"{CHANNELS}/create", CHANNEL)["bizId"]}
    admin.post(f"{CHANNELS}/deactivate", by_id)
    admin.post("/web/v1/system/invitations", {"inviteeEmail": "guest@example.test"})

    assert admin.http.get("/inbox/guest@example.test").json() == []

    admin.post(f"{CHANNELS}/activate", by_id)

    assert [mail["subject"] for mail in admin.http.get("/inbox/guest@example.test").json()] == [
        "You are invited"
    ]


# The command.


def test_the_command_deactivates_and_shows_the_channel(admin: Client) -> None:
    id = admin.seeded.ids["channel"]
    shown = admin.verified().post(COMMAND, {"bizId": id})

    assert (shown["bizId"], shown["channelStatus"]) == (id, "INACTIVE")
    assert by_channel(admin, bizId=id) == [shown]


def test_the_command_speaks_in_numbers(client: Client) -> None:
    admin = client.signed_in()

    assert refusal_of(admin.verified().send(COMMAND, {})) == (400, "4000")
    assert refusal_of(client.verified().send(COMMAND, {"bizId": "x"})) == (401, "4010")
    assert refusal_of(admin.send(COMMAND, {"bizId": "x"})) == (403, "4030")
    assert refusal_of(admin.but(X_Turnstile_Token="wrong").send(COMMAND, {"bizId": "x"})) == (403, "4030")
    assert refusal_of(admin.verified().send(COMMAND, {"bizId": "unknown"})) == (404, "4040")


# Mail servers.


@pytest.mark.parametrize("kind", ["imap", "smtp"])
def test_a_mail_server_is_validated_without_calling_it(admin: Client, kind: str) -> None:
    path = f"/web/v1/system/notifications/email/validate/{kind}"
    body = {"host": "mail.example.test", "port": 993, "username": "a", "password": "b"}

    assert admin.send(path, body).status_code == 200
    assert refusal_of(admin.send(path, body | {"port": 0})) == INVALID
    assert refusal_of(admin.send(path, {})) == INVALID


def test_a_mail_server_is_called_where_that_was_asked_for(portal_with: Portals) -> None:
    admin = portal_with(choices=Choices(mail_servers_contacted=True)).signed_in()
    body = {"host": "127.0.0.1", "port": admin.http.base_url.port, "username": "a", "password": "b"}
    path = "/web/v1/system/notifications/email/validate/smtp"

    assert admin.send(path, body).status_code == 200
    assert refusal_of(admin.send(path, body | {"port": 1})) == INVALID


def by_type(client: Client, **filters: Any) -> list[dict[str, Any]]:
    return list(client.post(f"{TYPES}/query", filters)["items"])


def by_channel(client: Client, **filters: Any) -> list[dict[str, Any]]:
    return list(client.post(f"{CHANNELS}/query", filters)["items"])
