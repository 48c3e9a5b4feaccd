"""The state machines find what does not keep to the stated moves, with no scenario to lead them there."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import pytest

from conformance.run.catalogue import pytest_arguments
from conformance.run.planning import ids_of
from conformance.selftest import QUIET, workers
from conformance.selftest.fault_run import FaultOutcome, attempt
from conformance.target.bundled import FAULTS, Fault

MACHINES = ("test_signing_in.py", "test_inviting.py", "test_records.py")
SEEN_IN_ONE_ANSWER = frozenset(
    ("CHANNELTYPE-025", "CHANNEL-030", "CHANNEL-046", "CHANNEL-055", "INVITATION-026", "INVITATION-027")
)
"""What the machines decide beside moves: how the fields of one answer go together."""


@dataclass
class Alone:
    """What the machines make of faulty portals. ``clean``: of the portal without a fault; ``found``: of each
    fault, the machines that turned what it breaks, by their names."""

    clean: FaultOutcome = field(default_factory=lambda: FaultOutcome("clean"))
    outcomes: dict[str, FaultOutcome] = field(default_factory=dict)

    @property
    def found(self) -> Mapping[str, list[str]]:
        return {name: _finders(FAULTS[name], outcome) for name, outcome in self.outcomes.items()}


def state_faults(declared: Collection[str]) -> list[Fault]:
    """The faults that break a move: what a machine decides, and no answer tells by itself."""
    moves = set(declared) - SEEN_IN_ONE_ANSWER
    return [fault for fault in FAULTS.values() if moves.intersection(fault.breaks)]


def left_alone(*, only: Collection[str] | None = None, effort: str = "quick", jobs: int = 1) -> Alone:
    """Runs the machines, and nothing else, with each state fault, or with those of some names."""
    collecting = _Collecting(only, effort, jobs)
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        pytest.main([*pytest_arguments(), *QUIET], plugins=[collecting])
    if collecting.alone is None:
        raise RuntimeError(f"the cases cannot be collected:\n{said.getvalue()}")
    return collecting.alone


@dataclass
class _Collecting:
    """Runs inside pytest, once it has collected the cases."""

    only: Collection[str] | None
    effort: str
    jobs: int
    alone: Alone | None = None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        session.config.option.effort = self.effort
        machines = [item for item in session.items if item.path.name in MACHINES]
        declared = {requirement for item in machines for requirement in ids_of(item)}
        faults = [fault for fault in state_faults(declared) if self.only is None or fault.name in self.only]
        self.alone = Alone()
        trials = [("clean", _trial(session, machines, "clean"))]
        trials += [(fault.name, _trial(session, machines, fault.name)) for fault in faults]
        for outcome in workers.run(trials, workers=self.jobs):
            if outcome.name == "clean":
                self.alone.clean = outcome
            else:
                self.alone.outcomes[outcome.name] = outcome


def _trial(session: pytest.Session, machines: list[pytest.Item], name: str) -> workers.Job:
    broken = FAULTS[name].breaks if name in FAULTS else None
    concerned = [item for item in machines if broken is None or set(broken).intersection(ids_of(item))]
    faults = [name] if broken is not None else []
    return lambda: attempt(session, concerned, name, faults=faults)


def _finders(fault: Fault, outcome: FaultOutcome) -> list[str]:
    sources = {
        source
        for requirement in fault.breaks
        if requirement in outcome.turned
        for source in outcome.turned[requirement].sources
    }
    return sorted(source.rpartition("::")[2] for source in sources if source.startswith("cases/"))


SIGNING_IN = "test_a_sign_in_follows_the_stated_moves_in_any_order"
INVITING = "test_an_invitation_is_answered_once"
RECORDS = "test_a_record_is_as_it_was_last_changed"

FOUND = {
    "valid-credentials-are-refused-the-third-time": SIGNING_IN,
    "one-login-session-for-all": SIGNING_IN,
    "used-up-session-is-400": SIGNING_IN,
    "login-session-reusable": SIGNING_IN,
    "send-is-refused": SIGNING_IN,
    "no-cooldown": SIGNING_IN,
    "code-of-another-method-completes": SIGNING_IN,
    "issued-token-is-not-accepted": SIGNING_IN,
    "refresh-is-refused": SIGNING_IN,
    "refresh-token-serves-as-access-token": SIGNING_IN,
    "expired-session-cannot-be-refreshed": SIGNING_IN,
    "session-outlives-logout": SIGNING_IN,
    "access-token-outlives-logout": SIGNING_IN,
    "refresh-token-outlives-logout": SIGNING_IN,
    "logged-out-session-is-listed": SIGNING_IN,
    "new-sign-in-is-not-listed": SIGNING_IN,
    "accepting-does-not-stick": INVITING,
    "accepting-makes-it-declined": INVITING,
    "invitation-is-not-kept": INVITING,
    "closed-invitation-is-accepted": INVITING,
    "type-update-is-not-kept": RECORDS,
    "disabling-a-type-does-not-stick": RECORDS,
    "deleted-type-is-listed": RECORDS,
    "channel-update-is-not-kept": RECORDS,
    "deleted-channel-is-listed": RECORDS,
    "command-does-not-stick": RECORDS,
}
"""With the machine that finds it."""


@pytest.fixture(scope="module")
def alone() -> Alone:
    return left_alone(only=FOUND)


@pytest.mark.slow
def test_the_machines_find_at_least_twenty_faults_of_state_unaided(alone: Alone) -> None:
    found = {name for name, machines in alone.found.items() if machines}

    assert len(found) >= 20, f"missed: {sorted(FOUND.keys() - found)}"


def test_each_finds_what_is_in_its_own_moves(alone: Alone) -> None:
    finders = {FOUND[name] for name, machines in alone.found.items() if FOUND[name] in machines}

    assert finders == {SIGNING_IN, INVITING, RECORDS}


def test_the_machines_find_nothing_in_a_portal_without_a_fault(alone: Alone) -> None:
    assert alone.clean.turned == {}
    assert alone.clean.errors == {}
