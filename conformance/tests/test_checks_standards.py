"""The checks of ``conformance.checks.standards``."""

from __future__ import annotations

import pytest

from conformance.checks.standards import is_language, is_zone
from conformance.spec.endpoints import COUNTRIES, TIMEZONES
from conformance.spec.iso import is_country
from conformance.tests.proof import Proof
from conformance.tests.traffic import answer, coded, profile
from conformance.traffic.exchange import Exchange, Json

OWN_ZONE = coded("ZONE_1", 95010199, zoneIdCode="UTC", utcOffset="+00:00")

SHANGHAI = coded("ASIA_SHANGHAI", 95010102, zoneIdCode="Asia/Shanghai", utcOffset="GMT+08:00")


def in_summer(offset: str) -> Json:
    return coded("EUROPE_PARIS", 95010198, zoneIdCode="Europe/Paris", utcOffset=offset)


def country(**other: Json) -> Exchange:
    japan = {"alpha2Code": "JP", "alpha3Code": "JPN", "numericCode": 392, "phoneCode": "+81", **other}
    return answer(COUNTRIES, [coded("JP", 95010302, **japan)])


def zones(*listed: Json) -> Exchange:
    return answer(TIMEZONES, [coded("UTC", 95010101, zoneIdCode="UTC", utcOffset="+00:00"), *listed])


PROOFS = [
    Proof(
        "RESOURCE-008",
        [zones(OWN_ZONE), profile(defaultTimezone="ZONE_1"), profile(defaultTimezone="Asia/Shanghai")],
        [zones(), profile(defaultTimezone="ASIA_ATLANTIS")],
    ),
    Proof("RESOURCE-008", profile(defaultTimezone="ZONE_1"), [], silent=True),  # its own list was not shown
    Proof("CONSTANT-067", [country(), country(alpha2Code="XJ", numericCode=1)], country(numericCode=393)),
    Proof("CONSTANT-068", zones(OWN_ZONE), zones({**OWN_ZONE, "zoneIdCode": "Asia/Nowhere"})),
    Proof("CONSTANT-070", zones(OWN_ZONE), zones({**OWN_ZONE, "utcOffset": "Asia/Shanghai"})),
    Proof("CONSTANT-071", [zones(SHANGHAI, OWN_ZONE), zones(in_summer("UTC+2"))], zones(in_summer("+03:00"))),
    Proof("CONSTANT-071", zones({**SHANGHAI, "utcOffset": "eight"}), [], silent=True),
]


def test_a_zone_has_many_names_and_not_every_name_is_a_zones() -> None:
    zones = ["UTC", "CST", "UTC+8", "GMT-03:30", "+05:30", "8", "America/New_York", "SHANGHAI"]
    others = ["MARS_OLYMPUS", "Europe/Atlantis", "somewhere else"]

    assert [code for code in zones + others if is_zone(code)] == zones


@pytest.mark.parametrize(
    "code, is_one", [("en", True), ("zh-Hant", True), ("yue", True), ("cn", True), ("qj", False)]
)
def test_a_language_begins_with_one_that_there_is(code: str, is_one: bool) -> None:
    assert is_language(code) is is_one


@pytest.mark.parametrize(
    "code, is_one", [("JP", True), ("jp", True), ("ZZ", True), ("EU", True), ("JX", False)]
)
def test_a_country_is_assigned_or_reserved(code: str, is_one: bool) -> None:
    assert is_country(code) is is_one
