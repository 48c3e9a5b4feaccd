import httpx
import pytest

from reference_impl import serve
from reference_impl.tests.conftest import Portals
from reference_impl.variants import VARIANTS, drawn

PUBLIC_KEY = "/web/v1/secure-channel/public-key"


def test_every_variant_says_what_permits_it() -> None:
    assert [variant.name for variant in VARIANTS.values() if not variant.gap] == []


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
