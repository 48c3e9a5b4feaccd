from typing import Any

import pytest

from reference_impl.fields import instant, seconds
from reference_impl.tests.client import Client, refusal_of

DAY = 86400


@pytest.fixture
def caller(admin: Client) -> Client:
    return admin.verified()


def path(client: Client, workspace: str = "workspace") -> str:
    return f"/web/v1/admin/transfer/query/orders/workspace/{client.seeded.ids[workspace]}"


def test_orders_of_the_last_thirty_days_come_newest_first(caller: Client) -> None:
    page = caller.get(path(caller))
    created = [order["createdAt"] for order in page["content"]]

    assert {name: value for name, value in page.items() if name != "content"} == {
        "totalElements": 65,
        "totalPages": 4,
        "size": 20,
        "number": 0,
    }
    assert created == sorted(created, reverse=True)


def test_the_default_range_is_thirty_days(caller: Client) -> None:
    now = caller.portal.now()
    all_of_them = whole(caller, startTime=instant(now - 1000 * DAY, 3))
    recent = [order for order in all_of_them if seconds(order["createdAt"]) >= now - 30 * DAY]

    assert len(all_of_them) == 90
    assert ids(whole(caller)) == ids(recent)


def test_a_range_holds_at_both_ends(caller: Client) -> None:
    now = caller.portal.now()
    start, end = instant(now - 20 * DAY, 3), instant(now - 10 * DAY, 3)
    found = whole(caller, startTime=start, endTime=end)

    assert found
    assert all(start <= order["createdAt"] <= end for order in found)
    assert len(found) == sum(start <= order["createdAt"] <= end for order in whole(caller))


@pytest.mark.parametrize(
    "field", ["createdAt", "amount", "status", "currency", "completedAt", "failureReason"]
)
def test_a_sort_holds_both_ways(caller: Client, field: str) -> None:
    up, down = (whole(caller, sort=f"{field},{way}") for way in ("asc", "desc"))
    values = [(order[field] is None, order[field]) for order in up]

    assert values == sorted(values)
    assert [order[field] for order in down] == [order[field] for order in up][::-1]


def test_orders_are_of_the_workspace_named(caller: Client) -> None:
    theirs = caller.get(path(caller, "other_workspace"))

    assert theirs["totalElements"] == 7
    assert not ids(theirs["content"]) & ids(whole(caller))


def test_amounts_add_up_and_what_is_completed_was_created_before(caller: Client) -> None:
    for order in whole(caller):
        assert order["totalAmount"] == order["amount"] + order["feeAmount"]
        assert (order["status"] == 2) is (order["statusName"] == "COMPLETED")
        assert order["completedAt"] >= order["createdAt"]


def test_the_query_speaks_in_numbers(client: Client) -> None:
    admin = client.signed_in()

    assert refusal_of(client.verified().ask("GET", path(client))) == (401, "4010")
    assert refusal_of(client.verified().but(Authorization="Bearer x").ask("GET", path(client))) == (
        401,
        "4010",
    )
    assert refusal_of(admin.ask("GET", path(client))) == (403, "4030")


def whole(client: Client, **query: str) -> list[dict[str, Any]]:
    return list(client.get(path(client), size="100", **query)["content"])


def ids(orders: list[dict[str, Any]]) -> set[str]:
    return {order["bizId"] for order in orders}
