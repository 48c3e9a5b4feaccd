from collections import Counter

import pytest

from reference_impl.routes import ROWS
from reference_impl.tests.client import DENIED, NOT_FOUND, TOKEN_MISSING, Client, path_of, refusal_of

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


def test_all_88_endpoints_are_routed_once() -> None:
    counted = Counter(next(chapter for chapter in CHAPTERS if row.path.startswith(chapter)) for row in ROWS)

    assert counted == CHAPTERS
    assert len({row.name for row in ROWS}) == len(ROWS) == 88


def test_a_protected_endpoint_asks_for_a_token(client: Client) -> None:
    protected = [row for row in ROWS if row.auth == "JWT"]
    expected = {
        row.name: (401, "4010") if "ACCESS.TOKEN_MISSING" in row.dialect else TOKEN_MISSING
        for row in protected
    }
    verified = client.verified()

    assert {row.name: refusal_of(verified.ask(row.method, path_of(row))) for row in protected} == expected


@pytest.mark.parametrize("code", [None, "wrong"])
def test_no_endpoint_answers_outside_the_ingress(client: Client, code: str | None) -> None:
    outside = client.but(X_PORTAL_ACCESS_CODE=code)
    refusals = {row.name: refusal_of(outside.ask(row.method, path_of(row))) for row in ROWS}

    assert refusals == dict.fromkeys(refusals, (403, "ACCESS.PORTAL_MISMATCH"))


def test_the_wrong_method_is_named_as_such(client: Client) -> None:
    refused = [client.ask("DELETE", path_of(row)) for row in ROWS]

    assert {refusal_of(answer) for answer in refused} == {(405, "METHOD_NOT_ALLOWED")}
    allowed = [row.method in answer.headers["Allow"] for row, answer in zip(ROWS, refused, strict=True)]
    assert all(allowed)


def test_an_account_without_permissions_is_denied_wherever_one_is_needed(client: Client) -> None:
    limited = client.signed_in("limited").verified()
    refusals = {row.name: refusal_of(limited.ask(row.method, path_of(row))) for row in ROWS if row.permission}

    assert refusals == dict.fromkeys(refusals, DENIED)


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
    assert refusal_of(client.ask("GET", unknown)) == NOT_FOUND


def test_a_line_break_in_an_id_makes_it_unknown_and_no_other_portal(admin: Client) -> None:
    assert refusal_of(admin.ask("GET", "/web/v1/system/roles/no%0Arole")) == NOT_FOUND
