import tomllib

import httpx
import pytest

from reference_impl import serve
from reference_impl.profile import profile
from reference_impl.routes import ROWS
from reference_impl.tests.client import Client, path_of
from reference_impl.tests.conftest import Portals
from reference_impl.variants import VARIANTS, drawn, grouped

REQUIRED = {"X_Request_Id": "1", "X_Locale": "en", "X_Forwarded_Proto": "https", "CF_Ray": "1"}
EDGE = {"CF_Connecting_IP": "192.0.2.1", "CF_IPCountry": "CH"}
PUBLIC_KEY = "/web/v1/secure-channel/public-key"


def _signed_in(client: Client) -> Client:
    return client.but(**REQUIRED, **EDGE).verified().signed_in("admin", client.account("admin").mfa)


def test_every_variant_signs_in_beside_others_and_has_a_profile_that_fits(portal_with: Portals) -> None:
    for group in grouped(VARIANTS.values(), len(VARIANTS)):
        client = portal_with(variants=[variant.name for variant in group])
        portal = client.portal
        read = tomllib.loads(profile(portal, client.seeded, "http://127.0.0.1:1", clock=True, inbox=True))

        assert _signed_in(client).ask("GET", "/web/v1/system/profile").status_code == 200
        assert read["portal"]["access_code"] == portal.access_code
        assert read["secure_channel"]["payload"] == portal.choices.payload
        assert {account["mfa"] for account in read["accounts"].values()} <= set(portal.choices.factors)


def test_every_variant_says_what_permits_it() -> None:
    assert [variant.name for variant in VARIANTS.values() if not variant.gap] == []


def test_variants_that_go_together_answer_everywhere_without_a_server_error(portal_with: Portals) -> None:
    client = portal_with(variants=[variant.name for variant in drawn(VARIANTS.values(), 0)])
    admin = _signed_in(client)
    statuses = {
        (row.name, caller is admin): caller.ask(row.method, path_of(row)).status_code
        for row in ROWS
        for caller in (admin, client)
    }

    assert [at for at, status in statuses.items() if status >= 500] == []


def test_of_what_is_drawn_nothing_contradicts_another_and_nothing_could_be_added() -> None:
    for seed in range(20):
        chosen = drawn(VARIANTS.values(), seed)
        others = [variant for variant in VARIANTS.values() if variant not in chosen]

        assert all(one.goes_with(other for other in chosen if other is not one) for one in chosen)
        assert not any(other.goes_with(chosen) for other in others)


@pytest.mark.parametrize(
    ("name", "header", "value"),
    [
        ("gzip", "content-encoding", "gzip"),
        ("chunked", "transfer-encoding", "chunked"),
        ("connection-close", "connection", "close"),
    ],
)
def test_a_wrapper_changes_how_an_answer_travels(
    portal_with: Portals, name: str, header: str, value: str
) -> None:
    answer = portal_with(variants=[name]).ask("GET", PUBLIC_KEY)

    assert answer.headers[header] == value
    assert answer.json()["success"] is True


@pytest.mark.parametrize(
    ("name", "status"),
    [("unknown-path-in-html", 404), ("unknown-path-is-served", 200), ("unknown-path-redirects", 302)],
)
def test_unknown_paths_are_answered_with_anything_and_known_ones_are_not(
    portal_with: Portals, name: str, status: int
) -> None:
    client = portal_with(variants=[name])

    assert client.ask("GET", "/web/v1/nowhere").status_code == status
    assert client.get(PUBLIC_KEY)["keyId"]


def test_headers_may_come_in_another_case() -> None:
    with serve.start(variants=["header-case"]) as running:
        answer = httpx.get(f"{running.url}/web/v1/system/profile")

    assert b"Content-Type" in dict(answer.headers.raw)
