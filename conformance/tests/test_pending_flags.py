"""A pending approval may be told under both names that the document has for the flag."""

from __future__ import annotations

import pytest

from cases.authentication.test_pending_approval import is_told
from conformance.spec.endpoints import LOGIN_INITIATE
from conformance.tests.traffic import answer
from conformance.traffic.exchange import Json


@pytest.mark.parametrize(
    "data, told",
    [
        ({"pendingApproval": True}, True),
        ({"pendingApproval": True, "isPendingApproval": True}, True),
        ({"pendingApproval": False, "isPendingApproval": True}, False),
        ({}, False),
    ],
)
def test_every_flag_has_to_say_so(data: dict[str, Json], told: bool) -> None:
    assert is_told(answer(LOGIN_INITIATE, data)) is told
