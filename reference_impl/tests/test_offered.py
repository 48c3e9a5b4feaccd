import json

import pytest

from reference_impl.tests.client import Client
from reference_impl.tests.conftest import Portals

CHANNELS = "/web/v1/system/notifications/channels"


def test_the_clock_moves_all_time(client: Client) -> None:
    before = client.portal.now()
    client.advance(61)

    assert 61 <= client.portal.now() - before < 62


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


def test_what_was_received_is_logged(client: Client) -> None:
    admin = client.signed_in()
    admin.ask("GET", "/web/v1/system/profile")
    admin.post("/web/v1/system/profile/update", {"accountName": "Other"})
    told = client.http.get("/received").json()

    assert [(entry["method"], entry["status"], entry["changed"]) for entry in told["requests"][-2:]] == [
        ("GET", 200, False),
        ("POST", 200, True),
    ]
    assert told["initiations"]["count"] == len(told["initiations"]["at"]) == 1


def test_reading_leaves_the_dump_as_it_was(admin: Client) -> None:
    before = state(admin)
    for path in ("/web/v1/system/invitations", "/web/v1/system/profile/invitations"):
        admin.get(path)

    assert state(admin) == before


def state(client: Client) -> str:
    return json.dumps(client.http.get("/dump").json()["state"], sort_keys=True)
