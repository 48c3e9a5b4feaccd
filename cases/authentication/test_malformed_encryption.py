"""Encrypted bodies that are none: what reset, init and change make of them."""

from __future__ import annotations

import json

import pytest

from cases.authentication.passwords import unsealed
from conformance.cases import (
    Account,
    Json,
    Portal,
    Untestable,
    Verify,
    impact,
    is_invalid_parameter,
    needs,
    op,
    requirement,
)

SEALED = [
    pytest.param(op.PASSWORD_RESET, id="reset", marks=requirement("PASSWORD-012")),
    pytest.param(op.PASSWORD_INIT, id="init", marks=requirement("PASSWORD-013")),
    pytest.param(op.PASSWORD_CHANGE, id="change", marks=requirement("PASSWORD-014")),
]
MALFORMED = [
    pytest.param({"v": 2}, id="no-payload"),
    pytest.param({"v": 2, "p": "this is no base64!"}, id="payload-is-no-base64"),
]


@pytest.mark.parametrize("key", SEALED)
@pytest.mark.parametrize("content", MALFORMED)
@needs("accounts.spare")
@impact("disruptive")
def test_a_malformed_encrypted_body_is_invalid(
    portal: Portal, spare: Account, verify: Verify, key: str, content: Json
) -> None:
    """In the form that the target's encrypted bodies have."""
    body = content if portal.secure.shared().form == "object" else json.dumps(content)
    refused = unsealed(portal, key, body, token=spare.token if key == op.PASSWORD_CHANGE else None)

    if "p" in content and refused.status == 401 and not refused.success:
        raise Untestable("a payload that cannot be opened may be taken for a stale one", "target")
    verify(verify.declared[0], is_invalid_parameter(refused))
