"""A whitelist that a replay has changed is put back by its addresses, and read back."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.replay import replay
from conformance.spec.endpoints import IP_WHITELIST, IP_WHITELIST_SET
from conformance.target.portal import Portal
from conformance.tests.replays import options_for, profile_of, recorded
from conformance.tests.scripted_client import Walker
from reference_impl import serve as reference

BEFORE, SENT = "198.51.100.7", "198.51.100.8"


def adds_an_address(walker: Walker) -> None:
    walker.sign_in(walker.profile["accounts"]["spare"])
    for _ in range(3):
        walker.get("/profile")
    walker.post("/security/ip-whitelist", {"ips": [SENT]})


@pytest.mark.parametrize(
    "variant, left", [("whitelist-of-objects", [BEFORE]), ("whitelist-adds", [BEFORE, SENT])]
)
def test_addresses_are_put_back_and_those_that_stay_are_named(
    tmp_path: Path, variant: str, left: list[str]
) -> None:
    recording = recorded(tmp_path / "traffic.jsonl", adds_an_address)

    with reference.start(variants=[variant]) as portal:
        profile = profile_of(portal)
        with Portal.connect(profile, impact="disruptive") as visitor:
            token = visitor.account("spare").token
            assert visitor.call(IP_WHITELIST_SET, json={"ips": [BEFORE]}, token=token).success
        told = replay([recording], profile, options_for(tmp_path / "out"))
        with Portal.connect(profile, impact="disruptive") as visitor:
            entries = str(visitor.call(IP_WHITELIST, token=visitor.account("spare").token).at("data.entries"))

    assert [address for address in (BEFORE, SENT) if address in entries] == left
    named = (
        "ips of [accounts.spare]: ['198.51.100.7'] was sent, and is shown as ['198.51.100.7', '198.51.100.8']"
    )
    assert any(named in note for note in told.run.notes) == (len(left) == 2)
