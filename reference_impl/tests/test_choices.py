import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import jwt
import pytest

from reference_impl.choices import Choices
from reference_impl.draw import Draw
from reference_impl.errors import Refusal
from reference_impl.tests.client import AUTH, INVALID, METHODS, Client, data_of, refusal_of
from reference_impl.tests.conftest import Portals
from reference_impl.tokens import VERIFIED_KEPT, Signed
from reference_impl.tokens import tokens as signed

PROFILE = "/web/v1/system/profile"
SESSIONS = "/web/v1/system/security/sessions"
SOURCES = "".join(
    path.read_text() for path in Path(__file__).parents[1].rglob("*.py") if "tests" not in path.parts
)


@pytest.mark.parametrize("name", [field.name for field in fields(Choices)])
def test_every_choice_is_read_somewhere(name: str) -> None:
    assert f"choices.{name}" in SOURCES


def test_version_and_timestamp_may_be_left_out(portal_with: Portals) -> None:
    client = chosen(portal_with, envelope_version=False, envelope_timestamp=False, success_message="SUCCESS")
    envelope = client.ask("GET", "/web/v1/secure-channel/public-key").json()

    assert list(envelope) == ["success", "code", "message", "data"]
    assert envelope["message"] == "SUCCESS"


def test_nulls_may_be_left_out(portal_with: Portals) -> None:
    admin = chosen(portal_with, null_fields=False).signed_in()

    assert "accountRemark" not in admin.get(PROFILE)
    assert admin.ask("GET", "/unknown").json()["data"] is None


@pytest.mark.parametrize(
    ("form", "like"),
    [
        ("uuid", r"[0-9a-f-]{36}"),
        ("numeric", r"\d{19}"),
        ("prefixed", r"account_\w{32}"),
        ("ulid", r"\w{26}"),
    ],
)
def test_ids_come_in_the_form_chosen(portal_with: Portals, form: str, like: str) -> None:
    assert re.fullmatch(like, chosen(portal_with, ids=form).signed_in().get(PROFILE)["bizId"])


@pytest.mark.parametrize("digits", [3, 6, 9])
def test_instants_have_as_many_digits_as_chosen(portal_with: Portals, digits: int) -> None:
    created = chosen(portal_with, fraction_digits=digits).signed_in().get(PROFILE)["createdAt"]

    assert len(created) == len("2026-01-02T03:04:05.Z") + digits


@pytest.mark.parametrize("algorithm", ["HS256", "RS256", "ES256"])
def test_access_tokens_are_signed_as_chosen(portal_with: Portals, algorithm: str) -> None:
    admin = chosen(portal_with, access_token=algorithm).signed_in()

    assert jwt.get_unverified_header(token(admin))["alg"] == algorithm
    assert admin.ask("GET", PROFILE).status_code == 200


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


def test_access_tokens_may_be_opaque(portal_with: Portals) -> None:
    admin = chosen(portal_with, access_token="opaque").signed_in()

    assert "." not in token(admin)
    assert admin.ask("GET", PROFILE).status_code == 200
    assert admin.but(Authorization="Bearer x").ask("GET", PROFILE).status_code == 401


def test_a_refresh_token_may_stay(portal_with: Portals) -> None:
    client = chosen(portal_with, refresh_rotation=False)
    session = data_of(client.initiate("admin"))["sessionId"]
    first = data_of(client.complete(session, "OTP", client.code("admin", session, "OTP")))
    second = client.post(f"{AUTH}/token/refresh", {"refreshToken": first["refreshToken"]})

    assert second["refreshToken"] == first["refreshToken"]
    assert second["accessToken"] != first["accessToken"]


@pytest.mark.parametrize(
    ("scope", "same_account", "same_address"),
    [("address", 200, 429), ("account", 429, 200), ("all", 429, 429)],
)
def test_initiations_are_counted_as_chosen(
    portal_with: Portals, scope: str, same_account: int, same_address: int
) -> None:
    client = chosen(portal_with, rate_scope=scope)
    here, there = (client.but(CF_Connecting_IP=address) for address in ("192.0.2.1", "192.0.2.2"))
    for _ in range(10):
        here.initiate("admin")

    assert there.initiate("admin").status_code == same_account
    assert here.initiate("spare").status_code == same_address
    assert here.initiate("admin").status_code == 429


@pytest.mark.parametrize(("window", "status"), [("sliding", 429), ("fixed", 200)])
def test_the_window_slides_or_starts_anew(portal_with: Portals, window: str, status: int) -> None:
    client = chosen(portal_with, rate_window=window, retry_after=False)
    client.initiate("admin")
    client.advance(50)
    for _ in range(9):
        client.initiate("admin")
    client.advance(15)
    allowed = [client.initiate("admin") for _ in range(2)]

    assert allowed[0].status_code == 200
    assert allowed[1].status_code == status
    assert "Retry-After" not in allowed[1].headers


def test_initiations_that_are_invalid_may_not_count(portal_with: Portals) -> None:
    client = chosen(portal_with, rate_counts_invalid=False)
    for _ in range(11):
        assert refusal_of(client.send(f"{AUTH}/login/initiate", {})) == INVALID

    assert client.initiate("admin").status_code == 200


@pytest.mark.parametrize(("scope", "status"), [("session", 200), ("account", 429)])
def test_the_cooldown_is_of_the_session_or_the_account(portal_with: Portals, scope: str, status: int) -> None:
    client = chosen(portal_with, cooldown_scope=scope)
    sessions = [data_of(client.initiate("admin"))["sessionId"] for _ in range(2)]
    bodies = [{"sessionId": session, "method": METHODS["EMAIL"]} for session in sessions]
    client.post(f"{AUTH}/login/mfa/send", bodies[0])

    assert client.send(f"{AUTH}/login/mfa/send", bodies[1]).status_code == status


@pytest.mark.parametrize(("ends", "ended"), [("own", 1), ("all", 2)])
def test_logout_ends_what_was_chosen(portal_with: Portals, ends: str, ended: int) -> None:
    client = chosen(portal_with, logout_ends=ends)
    one, other = client.signed_in("spare"), client.signed_in("spare")

    assert one.post(f"{AUTH}/logout")["terminatedSessions"] == ended
    assert other.ask("GET", PROFILE).status_code == (200 if ends == "own" else 401)


def test_terminate_all_may_end_the_callers_session_too(portal_with: Portals) -> None:
    spare = chosen(portal_with, terminate_all_spares_current=False).signed_in("spare")
    spare.post(f"{SESSIONS}/terminate-all")

    assert spare.ask("GET", PROFILE).status_code == 401


def test_a_new_password_may_end_the_other_sessions(portal_with: Portals) -> None:
    client = chosen(portal_with, password_change_ends_sessions=True)
    other, spare = client.signed_in("spare"), client.signed_in("spare")
    body = {"oldPassword": client.account("spare").password, "newPassword": "A new password"}
    data_of(client.channel().send(spare, f"{AUTH}/password/change", body))

    assert (other.ask("GET", PROFILE).status_code, spare.ask("GET", PROFILE).status_code) == (401, 200)


def test_backup_codes_may_be_for_something_else(portal_with: Portals) -> None:
    client = chosen(portal_with, backup_codes_sign_in=False)
    codes = client.signed_in().post("/web/v1/system/security/mfa/backup-codes/generate")["codes"]
    session = data_of(client.initiate("admin"))["sessionId"]

    assert client.complete(session, "OTP", codes[0]).status_code == 400


def test_the_account_status_may_always_be_told(portal_with: Portals) -> None:
    client = chosen(portal_with, account_status_at_sign_in="always")

    assert data_of(client.initiate("admin"))["accountStatus"]["code"] == "ACTIVE"


def test_forgot_may_do_without_a_bot_challenge(portal_with: Portals) -> None:
    client = chosen(portal_with, turnstile_required=False)

    assert client.post(f"{AUTH}/password/forgot", {"email": "admin@example.test"})["success"] is True


def test_the_bot_challenge_may_stand_before_other_endpoints(portal_with: Portals) -> None:
    admin = chosen(portal_with, bot_challenge_also_on=(PROFILE,)).signed_in()

    assert refusal_of(admin.ask("GET", PROFILE)) == (403, "4030")
    assert admin.verified().ask("GET", PROFILE).status_code == 200


def test_a_request_id_may_be_required(portal_with: Portals) -> None:
    client = chosen(portal_with, request_id_required=True)
    path = "/web/v1/secure-channel/public-key"

    assert refusal_of(client.ask("GET", path)) == INVALID
    assert client.but(X_Request_Id="1").ask("GET", path).status_code == 200


def test_an_unknown_path_may_be_answered_with_text(portal_with: Portals) -> None:
    answer = chosen(portal_with, unknown_path="text").ask("GET", "/unknown")

    assert (answer.status_code, answer.text) == (404, "Not Found")


@pytest.mark.parametrize(
    ("form", "accepted", "refused"),
    [
        ("repeated", [10050301, 10050302], "10050301,10050302"),
        ("comma", "10050301,10050302", [10050301, 10050302]),
    ],
)
def test_statuses_may_be_taken_in_one_form_only(
    portal_with: Portals, form: str, accepted: object, refused: object
) -> None:
    admin = chosen(portal_with, statuses_form=form).signed_in()

    assert admin.get(f"{PROFILE}/invitations", statuses=accepted)
    answer = admin.ask("GET", f"{PROFILE}/invitations", params={"statuses": refused})
    assert refusal_of(answer) == INVALID


def test_text_filters_may_ask_for_the_whole(portal_with: Portals) -> None:
    admin = chosen(portal_with, text_filters="equals").signed_in()
    query = "/web/v1/system/accounts/admin/query"

    assert admin.post(query, {"name": "person"})["totalElements"] == 0
    assert admin.post(query, {"name": "person 07"})["totalElements"] == 1


def test_lists_may_be_cautious(portal_with: Portals) -> None:
    admin = chosen(portal_with, size_above_max="refused", page_negative="first", sort_unknown="ignored")
    admin = admin.signed_in().verified()
    query = "/web/v1/system/accounts/admin/query"
    orders = f"/web/v1/admin/transfer/query/orders/workspace/{admin.seeded.ids['workspace']}"

    assert refusal_of(admin.send(query, {"size": 101})) == INVALID
    assert admin.post(query, {"page": -5})["currentPage"] == 0
    assert admin.get(orders, sort="unknown,desc") == admin.get(orders)


@pytest.mark.parametrize(
    ("form", "created", "changed"),
    [
        ("created", dict, None),
        ("null", type(None), None),
        ("empty", dict, {}),
        ("success", dict, {"success": True}),
    ],
)
def test_what_is_not_shown_is_answered_as_chosen(
    portal_with: Portals, form: str, created: type, changed: object
) -> None:
    admin = chosen(portal_with, changes_answer=form).signed_in()

    assert type(admin.post("/web/v1/system/currency-grants", {"currencyCode": "SGD"})) is created
    assert admin.post("/web/v1/system/security/ip-whitelist", {"ips": []}) == changed


def test_changes_may_answer_with_what_they_changed(portal_with: Portals) -> None:
    admin = chosen(portal_with, changes_answer="resource", whitelist_entries="objects").signed_in()
    told = admin.post("/web/v1/system/security/ip-whitelist", {"ips": ["192.0.2.1"]})

    assert told == {"enabled": False, "entries": [{"ip": "192.0.2.1"}]}


def test_a_system_may_be_empty(portal_with: Portals) -> None:
    admin = chosen(portal_with, empty_system=True).signed_in()
    page = admin.post("/web/v1/system/notifications/channels/query", {})

    assert page["items"] == []
    assert page["pagination"]["empty"] is True
    assert page["pagination"]["totalPages"] == 0


def test_orders_may_be_unfinished(portal_with: Portals) -> None:
    admin = chosen(portal_with, unfinished_orders=True).signed_in().verified()
    orders = admin.get(
        f"/web/v1/admin/transfer/query/orders/workspace/{admin.seeded.ids['workspace']}", size=100
    )

    assert {order["statusName"] for order in orders["content"] if order["completedAt"] is None} == {
        "PROCESSING"
    }


def test_constants_may_need_no_permission(portal_with: Portals) -> None:
    limited = chosen(portal_with, constants_need_permission=False).signed_in("limited")

    assert limited.get("/web/v1/system/constants/countries")


def chosen(portal_with: Portals, **choices: Any) -> Client:
    return portal_with(choices=Choices(**choices))


def token(client: Client) -> str:
    return client.headers["Authorization"].removeprefix("Bearer ")
