"""Clients that look at the same pages again and again."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

from conformance import record
from conformance.tests.scripted_client import Walker
from reference_impl import serve as reference

ROUNDS = 4
Drive = Callable[[str, str], object]
"""What clients do at a portal, by its address and its profile."""


def recording_of(drive: Drive, out: Path, *, seed: int | None = None) -> Path:
    """What clients do at a fresh portal, as the proxy records it."""
    with reference.start(seed=seed) as portal, record.serve(portal.url, out) as recorder:
        drive(recorder.url, portal.profile())
    return out


def poll(url: str, profile_text: str) -> None:
    """Two clients who look at the same pages, one of them with a change and a new token between."""
    profile = tomllib.loads(profile_text)
    watcher, admin = (Walker(url, profile, hash=name) for name in ("watcher", "admin"))
    watcher.sign_in(profile["accounts"]["spare"])
    admin.sign_in(profile["accounts"]["admin"])
    for number in range(ROUNDS):
        watcher.get("/profile")
        watcher.get("/security/mfa")
        _look(admin)
        if number == 1:
            admin.channel()
        if number == 2:
            admin.renew_token()


def _look(walker: Walker) -> None:
    role = walker.get("/roles")["data"][0]
    walker.get(f"/roles/{role['bizId']}")
    walker.get("/security/mfa")
    walker.post("/notifications/channels/query", {"page": 0, "size": 20})
    walker.look_at_orders(walker.get("/workspaces/current")["data"]["bizId"])


def crowd(url: str, profile_text: str) -> None:
    """Four clients, three of them of one account, who look at the same pages: each at all of them, twice."""
    profile = tomllib.loads(profile_text)
    walkers = [Walker(url, profile, hash=f"fingerprint-{number}") for number in range(4)]
    for walker, name in zip(walkers, ("admin", "admin", "spare", "admin"), strict=True):
        walker.sign_in({**profile["accounts"][name], "mfa": "EMAIL"})
    institution = walkers[0].get("/workspaces/current")["data"]["institutionBizId"]
    for _ in range(2):
        for walker in walkers:
            walker.get("/profile")
            walker.get("/security/sessions")
            walker.get(f"/institutions/{institution}")
            walker.get("/constants/countries")
            filters = {"page": 0, "size": 5, "email": None, "name": walker.hash}
            walker.post("/accounts/admin/query", filters)
            _look(walker)
