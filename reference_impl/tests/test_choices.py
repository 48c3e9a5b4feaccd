"""What a choice that no other test makes does; under each variant the selftest runs the cases as well."""

import json
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import jwt
import pytest

from reference_impl.choices import Choices
from reference_impl.draw import Draw
from reference_impl.errors import Refusal
from reference_impl.routes import PERMISSIONS
from reference_impl.tests.client import (
    AUTH,
    INVALID,
    METHODS,
    SESSION_NOT_FOUND,
    WRONG_CODE,
    Client,
    data_of,
    refusal_of,
)
from reference_impl.tests.conftest import Portals
from reference_impl.tokens import VERIFIED_KEPT, Signed
from reference_impl.tokens import tokens as signed

PROFILE = "/web/v1/system/profile"
SYSTEM = "/web/v1/system"
PUBLIC_KEY = "/web/v1/secure-channel/public-key"
WHITELIST = f"{SYSTEM}/security/ip-whitelist"
ACCOUNTS = f"{SYSTEM}/accounts/admin/query"
CHANNELS = f"{SYSTEM}/notifications/channels/query"
GRANTS = f"{SYSTEM}/currency-grants"
WORKSPACES = f"{SYSTEM}/workspaces/mine"
COUNTRIES = f"{SYSTEM}/constants/countries"
ORDERS = "/web/v1/admin/transfer/query/orders/workspace"
INVITATIONS = f"{PROFILE}/invitations"
TERMINATE_ALL = f"{SYSTEM}/security/sessions/terminate-all"
REFRESH = f"{AUTH}/token/refresh"
ID_FORMS = {"uuid": r"[0-9a-f-]{36}", "numeric": r"\d{19}", "prefixed": r"account_\w{32}", "ulid": r"\w{26}"}
TAKEN, REFUSED = ("2000", True), (INVALID[1], False)
SINGAPORE = {"currencyCode": "SGD"}
SOURCES = "".join(
    path.read_text() for path in Path(__file__).parents[1].rglob("*.py") if "tests" not in path.parts
)


def test_every_choice_is_read_somewhere() -> None:
    assert [field.name for field in fields(Choices) if f"choices.{field.name}" not in SOURCES] == []


def algorithm(client: Client) -> str:
    return str(jwt.get_unverified_header(token(client))["alg"])


def orders(client: Client, **query: Any) -> Any:
    return client.verified().get(f"{ORDERS}/{client.seeded.ids['workspace']}", **query)


def page_99(client: Client) -> tuple[int, int]:
    page = client.post(ACCOUNTS, {"page": 99})
    return page["currentPage"], len(page["accounts"])


def permissions(client: Client) -> Any:
    return client.get(f"{SYSTEM}/roles/{client.seeded.ids['role']}/permissions")


def wallet_status(client: Client) -> Any:
    return client.get(f"{SYSTEM}/constants/wallet-statuses")[0]


def public_key(client: Client) -> type:
    return type(client.get(PUBLIC_KEY)["publicKey"])


def completed_by_another(client: Client) -> tuple[int, str]:
    session = data_of(client.but(X_Client_Hash="one").initiate("admin"))["sessionId"]
    return refusal_of(client.but(X_Client_Hash="two").complete(session, "OTP", "000000"))


def id_form(client: Client) -> str:
    return next(
        form for form, like in ID_FORMS.items() if re.fullmatch(like, client.account("admin").account_id)
    )


def refreshed(client: Client) -> list[bool]:
    session = data_of(client.initiate("admin"))["sessionId"]
    early = data_of(client.complete(session, "OTP", client.code("admin", session, "OTP")))
    late = client.post(REFRESH, {"refreshToken": early["refreshToken"]})
    return [late[name] == early[name] for name in ("refreshToken", "accessToken")]


def beyond_ten(client: Client) -> list[int]:
    here, there = (client.but(CF_Connecting_IP=address) for address in ("192.0.2.1", "192.0.2.2"))
    for _ in range(10):
        here.initiate("admin")
    return [
        there.initiate("admin").status_code,
        *(here.initiate(name).status_code for name in ("spare", "admin")),
    ]


def after_a_window(client: Client) -> list[tuple[int, bool]]:
    client.advance(50)
    for _ in range(9):
        client.initiate("admin")
    client.advance(15)
    answers = [client.initiate("admin") for _ in range(2)]
    return [(answer.status_code, "Retry-After" in answer.headers) for answer in answers]


def after_invalid(client: Client) -> tuple[set[tuple[int, str]], int]:
    refusals = {refusal_of(client.send(f"{AUTH}/login/initiate", {})) for _ in range(11)}
    return refusals, client.initiate("admin").status_code


def mailed_twice(client: Client) -> list[int]:
    sessions = [data_of(client.initiate("spare"))["sessionId"] for _ in range(2)]
    bodies = [{"sessionId": session, "method": METHODS["EMAIL"]} for session in sessions]
    return [client.send(f"{AUTH}/login/mfa/send", body).status_code for body in bodies]


def sessions_after(path: str) -> Callable[[Client], list[int]]:
    def probe(client: Client) -> list[int]:
        caller, other = client.signed_in("spare"), client.signed_in("spare")
        body = {"oldPassword": client.account("spare").password, "newPassword": "A new password"}
        data_of(client.channel().send(caller, path, body))
        return [session.ask("GET", PROFILE).status_code for session in (caller, other)]

    return probe


def signed_in_by_backup(client: Client) -> tuple[int, str]:
    codes = client.post(f"{SYSTEM}/security/mfa/backup-codes/generate")["codes"]
    return refusal_of(client.complete(data_of(client.initiate("admin"))["sessionId"], "OTP", codes[0]))


def challenged(client: Client) -> list[object]:
    return [refusal_of(client.ask("GET", PROFILE)), client.verified().ask("GET", PROFILE).status_code]


def statuses_taken(client: Client) -> list[tuple[str, bool]]:
    forms: tuple[object, ...] = ([10050301, 10050302], "10050301,10050302")
    answers = [client.ask("GET", INVITATIONS, params={"statuses": form}).json() for form in forms]
    return [(answer["code"], bool(answer["data"])) for answer in answers]


def refused(path: str, body: Any) -> Callable[[Client], tuple[int, str]]:
    return lambda client: refusal_of(client.send(path, body))


def activated(client: Client) -> Any:
    by_id = {"bizId": client.seeded.ids["channel"]}
    for name in ("deactivate", "activate"):
        client.post(f"{SYSTEM}/notifications/channels/{name}", by_id)
    return client.post(CHANNELS, by_id)["items"][0]["channelStatus"]


SHOWN: tuple[tuple[dict[str, Any], Callable[[Client], object], object], ...] = (
    (
        {"envelope_version": False, "envelope_timestamp": False},
        lambda admin: list(admin.ask("GET", PROFILE).json()),
        ["success", "code", "message", "data"],
    ),
    ({"success_message": "SUCCESS"}, lambda admin: admin.ask("GET", PROFILE).json()["message"], "SUCCESS"),
    ({"null_fields": False}, lambda admin: "accountRemark" in admin.get(PROFILE), False),
    ({"fraction_digits": 9}, lambda admin: len(admin.get(PROFILE)["createdAt"].partition(".")[2]), 10),
    *(({"access_token": name}, algorithm, name) for name in ("RS256", "ES256")),
    (
        {"account_status_at_sign_in": "always"},
        lambda admin: data_of(admin.initiate("admin"))["accountStatus"]["code"],
        "ACTIVE",
    ),
    (
        {"turnstile_required": False},
        lambda admin: admin.post(f"{AUTH}/password/forgot", {"email": "admin@example.test"})["success"],
        True,
    ),
    (
        {"pending_at_initiate": "code"},
        lambda admin: admin.initiate("pending").json()["code"],
        "ACCOUNT_PENDING_APPROVAL",
    ),
    ({"client_hash_enforced": True}, completed_by_another, SESSION_NOT_FOUND),
    (
        {"responses": "encrypted"},
        lambda admin: list(json.loads(admin.channel().send(admin, f"{AUTH}/password/reset", {}).json())),
        ["v", "p"],
    ),
    ({"activated_status": "INACTIVE"}, activated, "INACTIVE"),
    ({"unknown_properties": "rejected"}, refused(REFRESH, {"refreshToken": "x", "more": 1}), INVALID),
    ({"text_filters": "equals"}, lambda admin: admin.post(ACCOUNTS, {"name": "person"})["totalElements"], 0),
    (
        {"text_filters": "equals"},
        lambda admin: admin.post(ACCOUNTS, {"name": "person 07"})["totalElements"],
        1,
    ),
    ({"size_above_max": "refused"}, refused(ACCOUNTS, {"size": 101}), INVALID),
    ({"page_negative": "first"}, lambda admin: admin.post(ACCOUNTS, {"page": -5})["currentPage"], 0),
    ({"sort_unknown": "ignored"}, lambda admin: orders(admin, sort="unknown,desc") == orders(admin), True),
    ({"changes_answer": "created"}, lambda admin: admin.post(GRANTS, SINGAPORE)["currencyCode"], "SGD"),
    ({"changes_answer": "success"}, lambda admin: admin.post(WHITELIST, {"ips": []}), {"success": True}),
    (
        {"changes_answer": "resource", "whitelist_entries": "objects"},
        lambda admin: admin.post(WHITELIST, {"ips": ["192.0.2.1"]}),
        {"enabled": False, "entries": [{"ip": "192.0.2.1"}]},
    ),
    (
        {"empty_system": True},
        lambda admin: (
            {"empty": True, "totalPages": 0}.items() <= admin.post(CHANNELS, {})["pagination"].items()
        ),
        True,
    ),
    ({"statuses_required": True}, lambda admin: refusal_of(admin.ask("GET", INVITATIONS)), INVALID),
    ({"workspaces_mine": "items"}, lambda admin: len(admin.get(WORKSPACES)["items"]), 2),
    ({"workspaces_mine": "workspaces"}, lambda admin: len(admin.get(WORKSPACES)["workspaces"]), 2),
    (
        {"orders_of_unknown_workspace": "empty"},
        lambda admin: admin.verified().get(f"{ORDERS}/unknown")["totalElements"],
        0,
    ),
    ({"page_out_of_range": "last"}, page_99, (2, 14)),
    ({"page_out_of_range": "refused"}, refused(ACCOUNTS, {"page": 99}), INVALID),
    ({"permission_items": "codes"}, permissions, list(PERMISSIONS)),
    ({"label_style": "key"}, lambda admin: wallet_status(admin)["label"], "enum.wallet_statuses.active"),
    ({"descriptions": True}, lambda admin: "description" in wallet_status(admin), True),
    ({"constants_public": True}, lambda admin: bool(admin.but(Authorization=None).get(COUNTRIES)), True),
    ({"public_key_format": "pem"}, public_key, str),
    ({"public_key_format": "jwk"}, public_key, dict),
    (
        {"constants_need_permission": False},
        lambda admin: bool(admin.signed_in("limited").get(COUNTRIES)),
        True,
    ),
    *(({"ids": form}, id_form, form) for form in ID_FORMS),
    ({"refresh_rotation": False}, refreshed, [True, False]),
    ({"rate_scope": "address"}, beyond_ten, [200, 429, 429]),
    ({"rate_scope": "account"}, beyond_ten, [429, 200, 429]),
    ({"rate_scope": "all"}, beyond_ten, [429, 429, 429]),
    ({"rate_window": "sliding", "retry_after": False}, after_a_window, [(200, False), (429, False)]),
    ({"rate_window": "fixed"}, after_a_window, [(200, False), (200, False)]),
    ({"rate_counts_invalid": False}, after_invalid, ({INVALID}, 200)),
    ({"cooldown_scope": "session"}, mailed_twice, [200, 200]),
    ({"cooldown_scope": "account"}, mailed_twice, [200, 429]),
    ({"logout_ends": "own"}, sessions_after(f"{AUTH}/logout"), [401, 200]),
    ({"logout_ends": "all"}, sessions_after(f"{AUTH}/logout"), [401, 401]),
    ({"terminate_all_spares_current": False}, sessions_after(TERMINATE_ALL), [401, 401]),
    ({"password_change_ends_sessions": True}, sessions_after(f"{AUTH}/password/change"), [200, 401]),
    ({"backup_codes_sign_in": False}, signed_in_by_backup, WRONG_CODE),
    ({"bot_challenge_also_on": (PROFILE,)}, challenged, [(403, "4030"), 200]),
    ({"statuses_form": "repeated"}, statuses_taken, [TAKEN, REFUSED]),
    ({"statuses_form": "comma"}, statuses_taken, [REFUSED, TAKEN]),
)


@pytest.mark.parametrize(
    ("choices", "probe", "shown"), SHOWN, ids=lambda value: None if callable(value) else str(value)[:40]
)
def test_a_choice_shows(
    portal_with: Portals, choices: dict[str, Any], probe: Callable[[Client], object], shown: object
) -> None:
    assert probe(chosen(portal_with, **choices).signed_in()) == shown


def test_a_token_is_verified_once_and_one_with_another_signature_is_none() -> None:
    tokens = signed(Choices(), Draw(1))
    token = tokens.issue({"sid": "1"})
    tokens.read(token)["sid"] = "2"

    assert tokens.read(token) == {"sid": "1"}
    with pytest.raises(Refusal):
        tokens.read(f"{token[:-6]}AAAAAA")


def test_only_so_many_verified_tokens_are_kept() -> None:
    tokens = signed(Choices(access_token="HS256"), Draw(1))
    for number in range(VERIFIED_KEPT + 5):
        tokens.read(tokens.issue({"sid": str(number)}))

    assert isinstance(tokens, Signed)
    assert len(tokens.verified) == 5


@pytest.mark.parametrize(
    ("choice", "headers"),
    [
        ("request_id_required", ("x-request-id",)),
        (
            "edge_headers_required",
            ("x-forwarded-proto", "cf-connecting-ip", "cf-ray", "cf-ipcountry", "x-locale"),
        ),
    ],
)
def test_headers_may_be_required(portal_with: Portals, choice: str, headers: tuple[str, ...]) -> None:
    client = chosen(portal_with, **{choice: True})
    sent = dict.fromkeys(headers, "1")

    assert client.ask("GET", PUBLIC_KEY, headers=sent).status_code == 200
    for name in headers:
        lacking = {other: "1" for other in headers if other != name}
        assert refusal_of(client.ask("GET", PUBLIC_KEY, headers=lacking)) == INVALID


def chosen(portal_with: Portals, **choices: Any) -> Client:
    return portal_with(choices=Choices(**choices))


def token(client: Client) -> str:
    return client.headers["Authorization"].removeprefix("Bearer ")
