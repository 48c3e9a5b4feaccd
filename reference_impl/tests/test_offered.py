import json

import pytest

from reference_impl.tests.client import Client
from reference_impl.tests.conftest import Portals

CHANNELS = "/web/v1/system/notifications/channels"


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"seconds":"x"}', b'{"seconds":null}'])
def test_the_clock_tells_what_it_takes(client: Client, content: bytes) -> None:
    assert client.http.post("/clock/advance", content=content).status_code == 400


def test_clock_and_inbox_are_there_only_where_offered(portal_with: Portals) -> None:
    client = portal_with(offer_clock=False, offer_inbox=False)

    assert client.ask("POST", "/clock/advance", json={"seconds": 1}).status_code == 404
    assert client.ask("GET", "/inbox/admin@example.test").status_code == 404


def test_what_was_put_back_leaves_the_dump_as_it_was(admin: Client) -> None:
    before = state(admin)
    id = admin.post(
        f"{CHANNELS}/create",
        {"channelName": "Mine", "channelHost": "smtp.example.test", "channelCategory": "EMAIL"},
    )["bizId"]

    assert state(admin) != before

    admin.post(f"{CHANNELS}/delete", {"bizId": id})
    invitation = admin.post("/web/v1/system/invitations", {"inviteeEmail": "guest@example.test"})
    admin.post("/web/v1/system/invitations/cancel", {"invitationBizId": invitation["bizId"]})
    name = admin.get("/web/v1/system/profile")["accountName"]
    admin.post("/web/v1/system/profile/update", {"accountName": "Other"})
    admin.post("/web/v1/system/profile/update", {"accountName": name})

    assert state(admin) == before


def test_the_dump_tells_no_secret(client: Client) -> None:
    client.signed_in("spare")
    client.signed_in("admin", "OTP")
    dumped = client.http.get("/dump").text
    channel = client.portal.records["channel"][client.seeded.ids["channel"]]
    secrets = [client.portal.access_code, client.portal.bot_token, channel["emailConfig"]["password"]]
    secrets += [text for name in ("admin", "spare") for text in (client.account(name).password,)]
    secrets += [client.account("admin").otp_secret, *client.portal.refresh_tokens]

    assert not [secret for secret in secrets if secret in dumped]


def state(client: Client) -> str:
    return json.dumps(client.http.get("/dump").json()["state"], sort_keys=True)
