"""What a profile may say by what the doctor found: settings, records, and what a run must have tested."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.target.doctor.diagnosis import Diagnosis
from conformance.target.profile.learned import Learned
from conformance.target.profile.model import Profile
from conformance.target.profile.tables import WAYS_IN, BotChallenge
from conformance.traffic.exchange import Json

LEEWAY = 20
"""One must in so many may stay untested for reasons that only a run shows."""


def ways_in(results: Sequence[Diagnosis]) -> list[str]:
    """The accounts that a run expects to be given a token, and that can be."""
    works = {result.part for result in results if result.state == "works"}
    return [name for name in WAYS_IN if f"accounts.{name}" in works]


def usable(profile: Profile, results: Sequence[Diagnosis]) -> Profile:
    """The profile without the accounts and the token that do not work: what a run can do with it as it is."""
    wrong = {result.part for result in results if result.state == "wrong"}
    accounts = {
        name: account for name, account in profile.accounts.items() if f"accounts.{name}" not in wrong
    }
    challenge = BotChallenge() if "bot_challenge" in wrong else profile.bot_challenge
    return profile.model_copy(update={"accounts": accounts, "bot_challenge": challenge})


def proposed(results: Sequence[Diagnosis], *, testable: int, run: str) -> Learned:
    """What the diagnoses teach of a target. ``testable``: how many musts a ``run`` with these options can
    test."""
    records: dict[str, str] = {}
    tables: dict[str, dict[str, Json]] = {}
    notes: dict[str, tuple[str, ...]] = {}
    for result in results:
        table = result.part.partition(".")[0]
        if table == "records":
            records |= {name: str(value) for name, value in result.learned.items()}
        elif result.learned:
            tables.setdefault(table, {}).update(result.learned)
    accounts = ways_in(results)
    if accounts:
        tables["expect"] = {"musts": testable - testable // LEEWAY, "accounts": list(accounts)}
        notes["expect"] = (
            f"By `doctor`, for {run}:",
            f"such a run can test {testable} musts, and a twentieth of them",
            "may stay untested. Below that: exit code 5.",
        )
    return Learned(tables, records, notes)
