"""A run does no harm: what it cannot sign in with it leaves alone, and what it changes it can put back."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from conformance.tests.deployment import Deployment, Done, deployed

WRONG_SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


def with_wrong_secret(portal: Deployment) -> None:
    """The admin signs in by an authenticator alone, whose secret in the profile is another one."""
    text = portal.profile.read_text(encoding="utf-8")
    right = portal.running.seeded.sign_ins["admin"].otp_secret
    assert right in text
    portal.profile.write_text(re.sub(r'inbox = "mail"\n', "", text.replace(right, WRONG_SECRET)), "utf-8")


@pytest.mark.parametrize("impact", ["read-only", "disruptive"])
def test_a_wrong_authenticator_secret_ends_a_run_within_seconds(tmp_path: Path, impact: str) -> None:
    with deployed(tmp_path, clock=False) as portal:
        before = portal.dump()
        with_wrong_secret(portal)
        began = time.monotonic()
        run = portal.run("--impact", impact, "--time-budget", "3m")
        took = time.monotonic() - began
        after = portal.dump()

    assert run.code == 5, run.said
    assert took < 30
    assert run.fails == []
    assert 1 <= len(refused_codes(run)) <= 5
    assert "left behind" not in run.said
    assert after == before


def refused_codes(run: Done) -> list[int]:
    """The numbers of the exchanges in which a code of the admin was refused."""
    lines = (run.out / "exchanges.jsonl").read_text(encoding="utf-8").splitlines()
    exchanges = [json.loads(line) for line in lines]
    return [
        exchange["n"]
        for exchange in exchanges
        if exchange.get("client") == "admin" and "AUTH.MFA_CODE_INVALID" in str(exchange["response"]["body"])
    ]
