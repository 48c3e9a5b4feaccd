"""Why orders cannot be compared: there are too few, or their times do not say of which zone they are."""

from __future__ import annotations

import pytest

from cases.orders.queries import some_times
from conformance.errors import Untestable
from conformance.spec.endpoints import TRANSFER_ORDERS
from conformance.tests.traffic import answer
from conformance.traffic.exchange import Json


@pytest.mark.parametrize(
    "created, number, reason",
    [
        (["2026-01-01T00:00:00"], 1, "the orders show their createdAt without an offset from UTC"),
        (["2026-01-01T00:00:00"], 2, "the workspace has fewer than 2 orders to compare"),
        ([], 1, "the workspace has no orders to compare"),
    ],
)
def test_the_reason_names_what_is_missing(created: list[Json], number: int, reason: str) -> None:
    listing = answer(TRANSFER_ORDERS, {"content": [{"createdAt": time} for time in created]})

    with pytest.raises(Untestable) as caught:
        some_times(listing, number)

    assert caught.value.reason == reason
