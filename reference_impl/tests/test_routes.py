from collections import Counter

import pytest

from reference_impl.routes import ROWS, Row
from reference_impl.tests.client import DENIED, TOKEN_MISSING, Client, refusal_of

# How many endpoints each chapter of the specification lists.
CHAPTERS = {
    "/web/v1/system/auth/": 9,
    "/web/v1/secure-channel/": 3,
    "/web/v1/system/security/": 16,
    "/web/v1/system/profile": 5,
    "/web/v1/system/workspaces/": 2,
    "/web/v1/system/accounts/": 5,
    "/web/v1/system/constants/": 21,
    "/web/v1/system/currency-grants": 3,
    "/web/v1/system/institutions/": 1,
    "/web/v1/system/invitations": 3,
    "/web/v1/system/notifications/": 14,
    "/web/v1/notification-channels/": 1,
    "/web/v1/system/roles": 3,
    "/web/v1/system/files/": 1,
    "/web/v1/admin/transfer/": 1,
}
PROTECTED = [row for row in ROWS if row.auth == "JWT"]
PERMITTED = [row for row in ROWS if row.permission]


def name(row: Row) -> str:
    return row.name


def path(row: Row) -> str:
    return row.path.replace("{", "").replace("}", "")


def test_all_88_endpoints_are_routed_once() -> None:
    counted = Counter(next(chapter for chapter in CHAPTERS if row.path.startswith(chapter)) for row in ROWS)

    assert counted == CHAPTERS
    assert len({row.name for row in ROWS}) == len(ROWS) == 88


@pytest.mark.parametrize("row", PROTECTED, ids=name)
def test_a_protected_endpoint_asks_for_a_token(client: Client, row: Row) -> None:
    numbered = row.dialect.get("ACCESS.TOKEN_MISSING")
    refused = client.verified().ask(row.method, path(row))

    assert refusal_of(refused) == ((401, "4010") if numbered else TOKEN_MISSING)


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_no_endpoint_answers_outside_the_ingress(client: Client, row: Row) -> None:
    for code in (None, "wrong"):
        refused = client.but(X_PORTAL_ACCESS_CODE=code).ask(row.method, path(row))

        assert refusal_of(refused) == (403, "ACCESS.PORTAL_MISMATCH")


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_the_wrong_method_is_named_as_such(client: Client, row: Row) -> None:
    refused = client.ask("DELETE", path(row))

    assert refusal_of(refused) == (405, "METHOD_NOT_ALLOWED")
    assert row.method in refused.headers["Allow"]


def test_an_account_without_permissions_is_denied_wherever_one_is_needed(client: Client) -> None:
    limited = client.signed_in("limited").verified()

    assert {row.name: refusal_of(limited.ask(row.method, path(row))) for row in PERMITTED} == {
        row.name: DENIED for row in PERMITTED
    }


@pytest.mark.parametrize(
    "unknown",
    [
        "/",
        "/web/v1/system",
        "/web/v1/system/profile/",
        "/web/v2/system/profile",
        "/web/v1/system/roles/no%0Arole/x",
    ],
)
def test_an_unknown_path_is_not_found(client: Client, unknown: str) -> None:
    assert refusal_of(client.ask("GET", unknown)) == (404, "RESOURCE.NOT_FOUND")


def test_a_line_break_in_an_id_makes_it_unknown_and_no_other_portal(client: Client) -> None:
    refused = client.signed_in("admin").ask("GET", "/web/v1/system/roles/no%0Arole")

    assert refusal_of(refused) == (404, "RESOURCE.NOT_FOUND")
