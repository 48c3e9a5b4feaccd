"""The profile's ``[readings]``: each becomes a requirement of this deployment, decided by observations."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.spec import Requirement
from conformance.spec.requirements import PINNED, left_open
from conformance.traffic.exchange import Json
from conformance.verdicts.findings import Finding, Ledger, Verdict


def pin_readings(ledger: Ledger, readings: Mapping[str, Json]) -> None:
    """Decides each pinned reading: a value that was observed and is another one fails it."""
    for key, pinned in readings.items():
        requirement = Requirement(
            id=f"{PINNED}{key}", section="Readings pinned by the profile", level="must",
            statement=f"The profile pins the reading {key!r} as {pinned!r}.",
        )  # fmt: skip
        ledger.requirements[requirement.id] = requirement
        _decide(ledger, requirement.id, key, pinned)


def pinned_by(reading: str) -> set[str]:
    """The requirements that a pinned reading, by its own id, is decided with."""
    return set(left_open(reading)) if reading.startswith(PINNED) else set()


def _decide(ledger: Ledger, requirement: str, key: str, pinned: Json) -> None:
    observations = [observation for observation in ledger.observations if observation.topic == key]
    others = [observation for observation in observations if observation.observed != pinned]
    for observation in others:
        ledger.add(
            Finding(
                requirement,
                Verdict.FAIL,
                observation.endpoint,
                f"changed reading: {key} is {observation.observed!r}",
                pinned,
                observation.observed,
                path=key,
                exchanges=observation.exchanges,
            )
        )
    if observations and not others:
        ledger.satisfy(requirement)
    if not observations:
        ledger.leave_untested(requirement, "the run saw nothing that shows this reading", "environment")
