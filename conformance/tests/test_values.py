"""What counts as a number, and which addresses stay on this machine."""

from __future__ import annotations

import pytest

from conformance.record import is_loopback
from conformance.traffic.values import is_integer


def test_a_number_without_a_fraction_is_an_integer() -> None:
    assert is_integer(3)
    assert is_integer(3.0)
    assert not is_integer(3.5)
    assert not is_integer(float("inf"))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost", "portal.localhost"])
def test_a_loopback_host_stays_on_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["10.0.0.1", "portal.example.test", "localhost.example.test", ""])
def test_any_other_host_does_not(host: str) -> None:
    assert not is_loopback(host)
