from reference_impl.tests.client import DENIED, NOT_FOUND, TOKEN_MISSING, Client, refusal_of

FILES = "/web/v1/system/files"


def test_a_file_is_found_by_its_id(admin: Client) -> None:
    file = admin.get(f"{FILES}/{admin.seeded.ids['file']}")

    assert file["fileSize"] > 2**32
    assert file["contentType"] == "application/pdf"
    assert refusal_of(admin.ask("GET", f"{FILES}/unknown")) == NOT_FOUND


def test_a_file_asks_for_a_permission_and_takes_no_api_key(client: Client) -> None:
    path = f"{FILES}/{client.seeded.ids['file']}"

    assert refusal_of(client.signed_in("limited").ask("GET", path)) == DENIED
    for header in ({"X-API-Key": "key"}, {"Authorization": "ApiKey key"}):
        assert refusal_of(client.ask("GET", path, headers=header)) == TOKEN_MISSING
