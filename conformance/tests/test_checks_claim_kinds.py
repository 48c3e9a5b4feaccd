"""The kinds of a token's claims (``conformance.checks.access.claims``)."""

from __future__ import annotations

import pytest

from conformance.checks.access.claims import claim_kinds
from conformance.tests.test_hidden import jwt, packed
from conformance.traffic.exchange import Json


@pytest.mark.parametrize(
    "value, kind",
    [
        ("person09@example.test", "email"),
        ("Person Nine", "text"),
        ("9f2c", "word"),
        ([1], "list"),
        (None, "nothing"),
        (True, "flag"),
        (7, "number"),
    ],
)
def test_a_claim_is_of_a_kind_that_tells_no_value(value: Json, kind: str) -> None:
    assert claim_kinds(jwt({"sub": value})) == {"sub": kind}
    assert claim_kinds(jwt({"user": {"sub": value}})) == {"user.sub": kind}


def test_a_name_that_is_no_word_is_left_out() -> None:
    assert claim_kinds(jwt({"Person Nine": 1, "iat": 1})) == {"iat": "number"}


def test_of_an_encrypted_token_no_claims_are_known() -> None:
    header = packed({"alg": "dir", "enc": "A256GCM"})

    assert claim_kinds(f"{header}.a.b.c.d") == {}
    assert claim_kinds("opaque") is None
