"""What bodies and queries may not hold, and ids that nothing has, for all endpoints in tables."""

from typing import Any

import pytest

from reference_impl.limits import Limits
from reference_impl.tests.client import AUTH, INVALID, NOT_FOUND, Client, refusal_of
from reference_impl.tests.conftest import Portals

SYSTEM = "/web/v1/system"
ACCOUNTS = f"{SYSTEM}/accounts/admin"
ORDERS = "/web/v1/admin/transfer/query/orders/workspace"
NAME = "admin@example.test"

INVALID_BODIES: dict[str, tuple[Any, ...]] = {
    f"{AUTH}/login/initiate": (
        {},
        {"email": NAME},
        {"email": NAME, "password": "x" * 7},
        {"email": NAME, "password": "x" * 129},
        {"email": "a" * 244 + "@example.test", "password": "x" * 8, "more": 1},
        {"email": "a" * 243 + "@example.test", "password": "x" * 8},
        {"email": None, "password": "x" * 8},
        {"email": 1, "password": "x" * 8},
        {"email": NAME, "password": ["x" * 8]},
        {"email": NAME, "password": "x" * 8, "more": None},
    ),
    f"{SYSTEM}/security/ip-whitelist": tuple(
        {"ips": ips} for ips in (None, "192.0.2.1", ["nonsense"], [1], ["192.0.2.1/99"])
    ),
    f"{SYSTEM}/security/sessions/config": tuple(
        {"maxConcurrentSessions": most} for most in (0, -1, "2", None, 1.5, True, 10**6)
    ),
    f"{SYSTEM}/profile/update": (
        {"accountName": ""},
        {"accountName": None},
        {"accountName": 1},
        {"accountName": "x" * 129},
        {"accountPhone": "no phone"},
        {"defaultLanguage": "?"},
        {"defaultTimezone": "no zone!"},
        {"defaultCountry": "JPN"},
        {"defaultCountry": "jp"},
    ),
    f"{ACCOUNTS}/query": (
        {"page": -1},
        {"page": "0"},
        {"size": 0},
        {"size": 2.5},
        {"accountStatus": "NONE"},
        {"accountPortal": 1},
        {"name": 1},
        {"email": []},
    ),
    f"{ACCOUNTS}/update": ({"accountName": "No id"},),
    f"{SYSTEM}/invitations": (
        {},
        {"inviteeEmail": "no address"},
        {"inviteeEmail": "two@@example.test"},
        {"inviteeEmail": "@example.test"},
        {"inviteeEmail": "a b@example.test"},
        {"inviteeEmail": "a@example.test", "expirationDays": 0},
        {"inviteeEmail": "a@example.test", "expirationDays": "3"},
        {"inviteeEmail": "a@example.test", "message": 1},
    ),
    f"{SYSTEM}/notifications/email/validate/imap": (
        {},
        {"host": "mail.example.test", "port": 0, "username": "a", "password": "b"},
    ),
    f"{AUTH}/password/forgot": tuple({"email": NAME, "turnstileToken": token} for token in (None, 1)),
}
UNKNOWN = (
    ("GET", f"{ACCOUNTS}/unknown", None),
    ("POST", f"{ACCOUNTS}/update", {"userBizId": "unknown"}),
    ("GET", f"{SYSTEM}/roles/unknown", None),
    ("GET", f"{SYSTEM}/roles/unknown/permissions", None),
    ("GET", f"{SYSTEM}/files/unknown", None),
    ("GET", f"{SYSTEM}/institutions/unknown", None),
    ("POST", f"{SYSTEM}/invitations/cancel", {"invitationBizId": "unknown"}),
    ("GET", f"{ORDERS}/unknown", None),
)


def test_a_body_that_breaks_a_rule_is_invalid(portal_with: Portals) -> None:
    admin = portal_with(limits=Limits(login_initiations=100)).signed_in()
    refusals = {
        (path, at): refusal_of(admin.send(path, body))
        for path, bodies in INVALID_BODIES.items()
        for at, body in enumerate(bodies)
    }

    assert refusals == dict.fromkeys(refusals, INVALID)
    assert admin.get(f"{SYSTEM}/security/ip-whitelist")["entries"] == []


@pytest.mark.parametrize("body", [{"email": "a" * 242 + "@example.test"}, {"password": "é" * 128}])
def test_initiate_takes_the_longest_and_the_shortest(client: Client, body: dict[str, str]) -> None:
    refused = client.send(f"{AUTH}/login/initiate", {"email": NAME, "password": "x" * 8} | body)

    assert refusal_of(refused) == (401, "AUTH.INVALID_CREDENTIALS")


@pytest.mark.parametrize(
    "query",
    [
        "page=99999999999",
        "page=1.5",
        "size=0",
        "size=x",
        "page=-1",
        "startTime=yesterday",
        "endTime=",
        "sort=x,y",
    ],
)
def test_a_bad_query_is_invalid(admin: Client, query: str) -> None:
    answer = admin.verified().ask("GET", f"{ORDERS}/{admin.seeded.ids['workspace']}?{query}")

    assert refusal_of(answer) == (400, "4000")


def test_what_has_an_unknown_id_is_not_found(admin: Client) -> None:
    verified = admin.verified()
    refusals = {
        (method, path): refusal_of(verified.ask(method, path, json=body)) for method, path, body in UNKNOWN
    }

    assert refusals == dict.fromkeys(refusals, NOT_FOUND)


CHANNEL_TYPES = (f"{SYSTEM}/notifications/channel-types/query", "items")
CHANNELS = (f"{SYSTEM}/notifications/channels/query", "items")
QUERIED = (f"{ACCOUNTS}/query", "accounts")


@pytest.mark.parametrize(
    ("listing", "filters", "shown", "values"),
    [
        (CHANNEL_TYPES, {"typeCode": "EMAIL"}, "typeCode", {"EMAIL"}),
        (CHANNEL_TYPES, {"typeStatus": "DISABLED"}, "enabled", {False}),
        (CHANNEL_TYPES, {"typeStatus": 80010301}, "enabled", {True}),
        (CHANNEL_TYPES, {"enabledOnly": True}, "enabled", {True}),
        (CHANNEL_TYPES, {"enabledOnly": False}, "enabled", {True, False}),
        (CHANNELS, {"channelCategory": "EMAIL"}, "channelCategory", {"EMAIL"}),
        (CHANNELS, {"channelStatus": "INACTIVE"}, "channelStatus", {"INACTIVE"}),
        (CHANNELS, {"channelStatus": 80010201}, "channelStatus", {"ACTIVE"}),
        (CHANNELS, {"activeOnly": True}, "channelStatus", {"ACTIVE"}),
        (CHANNELS, {"activeOnly": False}, "channelStatus", {"ACTIVE", "INACTIVE"}),
        (CHANNELS, {"activeOnly": True, "channelStatus": "INACTIVE"}, "channelStatus", set()),
        (QUERIED, {"accountStatus": "REGISTERED"}, "accountStatus", {"REGISTERED"}),
        (QUERIED, {"accountStatus": 10010201}, "accountStatus", {"REGISTERED"}),
        (QUERIED, {"accountStatus": "10010201"}, "accountStatus", {"REGISTERED"}),
        (QUERIED, {"accountStatus": {"code": "REGISTERED"}}, "accountStatus", {"REGISTERED"}),
        (QUERIED, {"accountPortal": "TENANT"}, "accountPortal", {"TENANT"}),
        (QUERIED, {"accountPortal": 10010102}, "accountPortal", {"TENANT"}),
    ],
)
def test_a_filter_shows_what_it_names_and_all_of_it(
    admin: Client, listing: tuple[str, str], filters: dict[str, Any], shown: str, values: set[object]
) -> None:
    path, items = listing
    everything = admin.post(path, {"size": 100, "pageSize": 100})[items]
    found = admin.post(path, {"size": 100, "pageSize": 100} | filters)[items]

    assert {_symbol(item[shown]) for item in found} == values
    assert len(found) == sum(_symbol(item[shown]) in values for item in everything)


def _symbol(value: Any) -> Any:
    return value["code"] if isinstance(value, dict) else value
