from reference_impl.choices import Choices
from reference_impl.enumerations import CONSTANTS, HIDDEN
from reference_impl.tests.client import Client
from reference_impl.tests.conftest import Portals

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


def test_a_label_may_be_a_key_and_a_description_may_be_there(portal_with: Portals) -> None:
    admin = portal_with(choices=Choices(label_style="key", descriptions=True)).signed_in()
    first = admin.get("/web/v1/system/constants/wallet-statuses")[0]

    assert first["label"] == "enum.wallet_statuses.active"
    assert first["description"]


def test_a_list_may_be_short_and_public(portal_with: Portals) -> None:
    client = portal_with(choices=Choices(constants_complete=False, constants_public=True))

    assert len(client.get("/web/v1/system/constants/countries")) == 2
