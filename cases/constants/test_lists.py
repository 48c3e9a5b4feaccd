"""The constants lists, called again, and by a caller without permissions (chapter "Constants lists")."""

from __future__ import annotations

import pytest

from cases.premises import answered, granted, outcome
from conformance.cases import (
    CONSTANT_LISTS,
    PERMISSION_DENIED,
    Account,
    Exchange,
    Portal,
    Verify,
    is_error,
    mark,
)

SUFFIXES = [
    pytest.param(
        suffix,
        marks=mark.requirement(row.values, row.presence, "CONSTANT-062", "CONSTANT-064", "CONSTANT-066"),
    )
    for suffix, row in CONSTANT_LISTS.items()
]


def key_of(suffix: str) -> str:
    return CONSTANT_LISTS[suffix].endpoint


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_constants_list_is_the_same_when_called_again(portal: Portal, admin: Account, suffix: str) -> None:
    granted(portal.call(key_of(suffix), token=admin.token))
    granted(portal.call(key_of(suffix), token=admin.token))


@mark.requirement("CONSTANT-064")
@mark.needs("accounts.spare")
@pytest.mark.parametrize("suffix", list(CONSTANT_LISTS))
def test_a_constants_list_is_the_same_for_another_account(
    portal: Portal, admin: Account, spare: Account, suffix: str
) -> None:
    """One that may read it: what it is shown is compared on the wire with what was listed before."""
    granted(portal.call(key_of(suffix), token=admin.token))
    granted(portal.call(key_of(suffix), token=spare.token))


@mark.requirement("CONSTANT-065", "CONSTANT-072")
@pytest.mark.parametrize("suffix", list(CONSTANT_LISTS))
def test_constants_asked_for_without_permissions_are_answered_somehow(
    portal: Portal, verify: Verify, limited: Account, suffix: str
) -> None:
    exchange = answered(portal.call(key_of(suffix), token=limited.token))
    verify.observe("constants-permission", exchange, outcome(exchange))
    if exchange.success or exchange.status != 403 or exchange.code is None:
        verify.untested("CONSTANT-072", f"the list is not refused by 403 ({outcome(exchange)})", "target")
        return
    shown = exchange if exchange.code == PERMISSION_DENIED else _denied_elsewhere(portal, limited, suffix)
    if shown is None:
        verify.untested("CONSTANT-072", f"the code for it is {exchange.code} at other lists, too", "target")
    else:
        verify("CONSTANT-072", is_error(exchange, PERMISSION_DENIED, shown))


COMPARED = ("countries", "timezones", "wallet-statuses")


def _denied_elsewhere(portal: Portal, limited: Account, suffix: str) -> Exchange | None:
    """Where another list is refused by the code that is shown for them; None where none of some is."""
    for other in COMPARED:
        answer = answered(portal.call(key_of(other), token=limited.token))
        if other != suffix and answer.code == PERMISSION_DENIED:
            return answer
    return None
