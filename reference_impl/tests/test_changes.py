from typing import Any

import pytest

from reference_impl.app import build
from reference_impl.changes import (
    Change,
    chosen,
    code_listed,
    data_rewritten,
    field_hidden,
    handled,
    limited,
    moved,
    refused_with,
    rewritten,
    row,
    together,
)
from reference_impl.faults import FAULTS, Fault
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.tests.client import AUTH, METHODS, Client, data_of, refusal_of
from reference_impl.tests.conftest import Portals
from reference_impl.wrappers import Answer, Seen

PROFILE = "/web/v1/system/profile"
ACCOUNTS = "/web/v1/system/accounts/admin"
SESSION = "/web/v1/secure-channel/session"


@pytest.fixture
def changed(portal_with: Portals, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Builds a portal with the changes as its only fault."""

    def make(*changes: Change) -> Client:
        monkeypatch.setitem(FAULTS, "tried", Fault("tried", breaks=(), apply=together(*changes)))
        return portal_with(faults=["tried"])

    return make


def test_faults_of_one_portal_are_not_those_of_the_next(changed: Any) -> None:
    change = moved("login session", "PENDING_MFA", "wrong code", "CONSUMED")
    broken, sound = changed(change, chosen(success_message="SUCCESS")).portal, build().state.portal

    assert broken.moves["login session"] != sound.moves["login session"]
    assert broken.choices != sound.choices


def test_an_unknown_fault_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="unknown"):
        build(faults=["unknown"])


def test_a_rewrite_remembers_what_it_saw(changed: Any) -> None:
    def wrong_from_the_second_call(seen: Seen, answer: Answer) -> None:
        seen.memory["calls"] = seen.memory.get("calls", 0) + 1
        if seen.memory["calls"] > 1:
            answer.body["data"]["accountName"] += "!"

    admin = changed(rewritten(wrong_from_the_second_call, f"GET {PROFILE}")).signed_in()

    assert [admin.get(PROFILE)["accountName"] for _ in range(3)] == ["Admin", "Admin!", "Admin!"]


def test_a_rewrite_sees_the_request_and_sets_the_status(changed: Any) -> None:
    def echo(seen: Seen, answer: Answer) -> None:
        answer.status = 418
        answer.body["data"] = [seen.operation, seen.body, seen.parameters]

    client = changed(rewritten(echo, f"POST {SESSION}"))
    answer = client.send(SESSION, {"keyId": "x"})

    assert answer.status_code == 418
    assert answer.json()["data"] == [f"POST {SESSION}", {"keyId": "x"}, {}]
    assert client.ask("GET", PROFILE).status_code == 401


def test_a_rewrite_of_data_touches_successes_only(changed: Any) -> None:
    client = changed(data_rewritten(lambda data: "other"))

    assert client.get("/web/v1/secure-channel/public-key") == "other"
    assert client.ask("GET", PROFILE).json()["data"] is None


def test_another_row_of_a_state_table_is_another_move(changed: Any) -> None:
    client = changed(moved("login session", "PENDING_MFA", "wrong code", "CONSUMED"))
    session = data_of(client.initiate("admin"))["sessionId"]
    client.complete(session, "OTP", "000000")

    assert client.complete(session, "OTP", client.code("admin", session, "OTP")).status_code == 404


def test_another_number_is_another_limit(changed: Any) -> None:
    client = changed(limited(login_initiations=100, mfa_cooldown=0))
    session = [data_of(client.initiate("admin"))["sessionId"] for _ in range(12)][-1]

    for _ in range(2):
        client.post(f"{AUTH}/login/mfa/send", {"sessionId": session, "method": METHODS["EMAIL"]})


def test_another_handler_answers_in_a_row(changed: Any) -> None:
    def forgetting(handler: Handler) -> Handler:
        def forgotten(portal: Portal, caller: Caller, body: Body) -> Any:
            before = portal.records["account"][body["userBizId"]].copy()
            data = handler(portal, caller, body)
            portal.records["account"][body["userBizId"]] = before
            return data

        return forgotten

    admin = changed(handled(f"POST {ACCOUNTS}/update", forgetting)).signed_in()
    id = admin.seeded.ids["account"]
    admin.post(f"{ACCOUNTS}/update", {"userBizId": id, "accountName": "Changed"})

    assert admin.get(f"{ACCOUNTS}/{id}")["accountName"] != "Changed"


def test_other_columns_hold_in_a_row(changed: Any) -> None:
    path = "/web/v1/system/constants/countries"

    assert changed(row(f"GET {path}", auth="none", permission=None)).get(path)


def test_another_status_holds_wherever_the_refusal_is_raised(changed: Any) -> None:
    admin = changed(refused_with("RESOURCE.NOT_FOUND", status=400)).signed_in()

    for path in (f"{ACCOUNTS}/unknown", "/web/v1/system/roles/unknown"):
        assert refusal_of(admin.ask("GET", path)) == (400, "RESOURCE.NOT_FOUND")


def test_another_value_of_a_code_shows_wherever_it_is_used(changed: Any) -> None:
    admin = changed(code_listed("user-portal-types", "SYSTEM", value=1)).signed_in()

    assert admin.get("/web/v1/system/constants/user-portal-types")[0]["value"] == 1
    assert admin.get(PROFILE)["accountPortal"]["value"] == 1


def test_a_hidden_field_is_hidden_wherever_the_resource_is_shown(changed: Any) -> None:
    admin = changed(field_hidden("account", "defaultCountry")).signed_in()

    assert "defaultCountry" not in admin.get(PROFILE)
    assert "defaultCountry" not in admin.post(f"{ACCOUNTS}/query", {})["accounts"][0]
