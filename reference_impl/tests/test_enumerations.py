from reference_impl.enumerations import CONSTANTS, HIDDEN
from reference_impl.tests.client import Client

EXTRA = {
    "countries": {"alpha2Code", "alpha3Code", "numericCode", "phoneCode"},
    "timezones": {"zoneIdCode", "utcOffset"},
    "us-states": {"isoCode"},
}
SHOWN = {"code", "value", "label"}


def test_a_list_shows_its_codes_and_extra_fields(admin: Client) -> None:
    for name, codes in CONSTANTS.items():
        listed = admin.get(f"/web/v1/system/constants/{name}")

        assert [(item["code"], item["value"]) for item in listed] == [code[:2] for code in codes]
        assert [item for item in listed if item.keys() ^ EXTRA.get(name, set()) != SHOWN] == []


def test_codes_and_values_are_unique_within_a_list() -> None:
    for codes in (CONSTANTS | HIDDEN).values():
        assert len({code.code for code in codes}) == len({code.value for code in codes}) == len(codes)


def test_every_list_has_codes_that_were_seen() -> None:
    seen = {name: sum(code.shown for code in codes) for name, codes in CONSTANTS.items()}

    assert seen == dict.fromkeys(CONSTANTS, 2) | {"notification-channel-types": 1}
