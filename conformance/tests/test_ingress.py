"""A target that lets nobody in is recognised before a case runs; one that only breaks rules is judged."""

from __future__ import annotations

import re

import pytest

from conformance.target.portal import Portal
from conformance.target.portal.ingress import EMPTY_CODE, NO_CODE, WRONG_CODE, refusal_at_ingress
from conformance.target.profile.model import of_target
from conformance.tests.reached import connected
from reference_impl.choices import Choices
from reference_impl.serve import start


def with_access_code(text: str, code: str) -> str:
    return re.sub(r'^access_code = ".*"', f'access_code = "{code}"', text, flags=re.MULTILINE)


OWN = Choices(portal_mismatch_code="OTHER", portal_mismatch_status=404)


@pytest.mark.parametrize("choices", [Choices(), OWN], ids=["as-stated", "with-a-code-of-its-own"])
@pytest.mark.parametrize("code, advice", [("", EMPTY_CODE), ("another-access-code", WRONG_CODE)])
def test_without_the_right_access_code_nothing_gets_in(choices: Choices, code: str, advice: str) -> None:
    with connected(edit=lambda text: with_access_code(text, code), choices=choices) as (portal, _, _):
        refused = refusal_at_ingress(portal)

    assert refused is not None
    assert "refuses every request alike" in refused.reason
    assert refused.reason.endswith(advice)
    assert refused.is_access_code == (choices != OWN)


def test_an_address_with_a_path_that_is_not_found_is_named_first() -> None:
    def edit(text: str) -> str:
        return re.sub(r'(url = "http://[^"/]+)"', r'\1/web/v1"', text, count=1)

    with connected(edit=edit) as (portal, _, _):
        refused = refusal_at_ingress(portal)

    assert refused is not None
    assert "Does the path /web/v1 belong to [portal] url?" in refused.reason


def test_a_portal_that_is_down_says_nothing_of_an_access_code() -> None:
    down = Choices(portal_mismatch_code="DOWN", portal_mismatch_status=503)
    with connected(edit=lambda text: with_access_code(text, ""), choices=down) as (portal, _, _):
        refused = refusal_at_ingress(portal)

    assert refused is not None
    assert not refused.is_access_code


def test_without_a_profile_the_access_code_is_a_variable() -> None:
    with start() as running, Portal.connect(of_target(running.url, {}), impact="read-only") as portal:
        refused = refusal_at_ingress(portal)

    assert refused is not None
    assert refused.reason.endswith(NO_CODE)
    assert refused.is_access_code


@pytest.mark.parametrize("faults", [(), ("missing-token-is-403",), ("missing-token-has-another-code",)])
def test_a_portal_that_serves_those_who_may_is_judged(faults: tuple[str, ...]) -> None:
    with connected(faults=faults) as (portal, _, _):
        assert refusal_at_ingress(portal) is None
