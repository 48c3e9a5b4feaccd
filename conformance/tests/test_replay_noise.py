"""What is learned as noise holds for the next replay of the same build."""

from __future__ import annotations

import pytest

from conformance.replay.compare.difference import Difference
from conformance.replay.compare.noise import Noise
from conformance.traffic.exchange import Json

QUERY = "POST /web/v1/system/accounts/admin/query"


def differs(name: str, old: Json, new: Json) -> Difference:
    return Difference("value", ("data", name), old, new)


def learned(name: str, *pairs: tuple[Json, Json]) -> Noise:
    noise = Noise()
    for old, new in pairs:
        noise.learn(QUERY, differs(name, old, new))
    return noise


@pytest.mark.parametrize(
    "pairs, new, is_noise",
    [
        ([(14, 300)], 200, True),
        ([(14, 300)], 940, False),
        ([(14, 300), (14, 200)], 940, False),
        ([(14, 300), (14, 700)], 940, True),
        ([(14, 300), (14, 700)], "940", False),
        ([("505467a859", "9be77a0f31")], "3498637767", True),
        ([("505467a859", "9be77a0f31")], "", False),
    ],
)
def test_a_number_that_leaves_its_range_again_is_compared_by_its_type(
    pairs: list[tuple[Json, Json]], new: Json, is_noise: bool
) -> None:
    assert learned("rev", *pairs).excuses(QUERY, differs("rev", pairs[0][0], new)) is is_noise


def test_a_number_of_records_is_bounded_however_often_it_moves() -> None:
    noise = learned("totalElements", (5, 6), (5, 9))

    assert noise.excuses(QUERY, differs("totalElements", 5, 20))
    assert not noise.excuses(QUERY, differs("totalElements", 5, 4))
