from typing import Any

import pytest

from reference_impl.tests.client import Client

ACCOUNTS = "/web/v1/system/accounts/admin"
QUERY = f"{ACCOUNTS}/query"


def test_accounts_come_in_pages_counted_from_zero(admin: Client) -> None:
    page = admin.post(QUERY, {})

    assert {name: value for name, value in page.items() if name != "accounts"} == {
        "totalElements": 54,
        "totalPages": 3,
        "currentPage": 0,
        "pageSize": 20,
    }
    assert len(page["accounts"]) == 20


@pytest.mark.parametrize("size", [1, 7, 20, 54, 100])
def test_pages_partition_the_whole(admin: Client, size: int) -> None:
    first = admin.post(QUERY, {"size": size})
    pages = [admin.post(QUERY, {"page": page, "size": size}) for page in range(first["totalPages"])]
    ids = [account["bizId"] for page in pages for account in page["accounts"]]

    assert len(ids) == len(set(ids)) == first["totalElements"]


def test_a_size_above_the_most_is_capped(admin: Client) -> None:
    assert admin.post(QUERY, {"size": 5000})["pageSize"] == 100


def test_filters_hold_together(admin: Client) -> None:
    institution = admin.seeded.ids["institution"]
    filters = {
        "institutionBizId": institution,
        "accountStatus": "ACTIVE",
        "name": "PERSON",
        "email": "person0",
    }
    found = everyone(admin, **filters)

    assert found
    for account in found:
        assert account["institutionBizId"] == institution
        assert account["accountStatus"]["code"] == "ACTIVE"
        assert account["accountEmail"].startswith("person0")


def test_filters_that_are_null_filter_nothing(admin: Client) -> None:
    names = ("institutionBizId", "accountPortal", "accountStatus", "email", "name", "page", "size")

    assert admin.post(QUERY, dict.fromkeys(names)) == admin.post(QUERY, {})


def test_an_update_leaves_the_others_untouched(admin: Client) -> None:
    id = admin.seeded.ids["account"]
    before = {account["bizId"]: account for account in everyone(admin)}
    admin.post(f"{ACCOUNTS}/update", {"userBizId": id, "accountName": "Changed", "accountRemark": "Seen"})
    after = {account["bizId"]: account for account in everyone(admin)}

    assert {key for key in before if before[key] != after[key]} == {id}
    assert (after[id]["accountName"], after[id]["accountRemark"]) == ("Changed", "Seen")
    assert admin.get(f"{ACCOUNTS}/{id}") == after[id]


def test_a_suspended_account_is_signed_out_and_kept_out(client: Client) -> None:
    admin, spare = client.signed_in("admin"), client.signed_in("spare")
    body = {"userBizId": client.account("spare").account_id, "accountStatus": "SUSPENDED"}
    admin.post(f"{ACCOUNTS}/status", body)

    assert spare.ask("GET", "/web/v1/system/profile").status_code == 401
    assert client.initiate("spare").status_code == 403

    admin.post(f"{ACCOUNTS}/status", body | {"accountStatus": 10010202})

    assert client.initiate("spare").status_code == 200


def test_an_administrator_sets_a_password_or_has_one_set(client: Client) -> None:
    admin = client.signed_in("admin")
    body = {"userBizId": client.account("spare").account_id}
    admin.post(f"{ACCOUNTS}/password/reset", body | {"newPassword": "Set by admin"})

    assert client.initiate("spare").status_code == 401
    assert client.initiate("spare", "Set by admin").status_code == 200

    admin.post(f"{ACCOUNTS}/password/reset", body)

    assert len(client.newest_code("spare@example.test")) == 6


def everyone(client: Client, **filters: object) -> list[dict[str, Any]]:
    return list(client.post(QUERY, {"size": 100, **filters})["accounts"])
