"""The diagnosis of one part of a profile, and the settings that a profile gains by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from conformance.errors import FaultClass
from conformance.target.portal import Portal
from conformance.target.profile.learned import Learned
from conformance.target.profile.model import Profile
from conformance.target.profile.tables import WAYS_IN, BotChallenge
from conformance.traffic.exchange import Json

State = Literal["works", "missing", "wrong"]


@dataclass(frozen=True)
class Diagnosis:
    """One part of a profile: ``works``; ``missing``, so that what needs it stays untested; or ``wrong``.

    ``message`` says what was found and what to do. ``fault_class`` is None for what works. ``learned`` are
    values that the profile does not have, by their key in the part's table.
    """

    part: str
    state: State
    message: str
    fault_class: FaultClass | None = None
    learned: Mapping[str, Json] = field(default_factory=dict)


Check = Callable[[Portal], Iterator[Diagnosis]]
"""Tries one part of a profile, or several of a kind."""


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
