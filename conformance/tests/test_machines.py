"""The state machines find what does not keep to the stated moves, with no scenario to lead them there."""

from __future__ import annotations

import contextlib
import io

import pytest

from conformance.run.catalogue import pytest_arguments
from conformance.run.planning import ids_of
from conformance.selftest import QUIET, workers
from conformance.selftest.fault_run import FaultOutcome, attempt
from conformance.target.bundled import FAULTS

MACHINES = {
    "test_signing_in.py::test_a_sign_in_follows_the_stated_moves_in_any_order": """
        valid-credentials-are-refused-the-third-time one-login-session-for-all used-up-session-is-400
        login-session-reusable send-is-refused no-cooldown code-of-another-method-completes
        issued-token-is-not-accepted refresh-is-refused refresh-token-serves-as-access-token
        expired-session-cannot-be-refreshed session-outlives-logout access-token-outlives-logout
        refresh-token-outlives-logout logged-out-session-is-listed new-sign-in-is-not-listed""",
    "test_inviting.py::test_an_invitation_is_answered_once": """
        accepting-does-not-stick accepting-makes-it-declined invitation-is-not-kept
        closed-invitation-is-accepted""",
    "test_records.py::test_a_record_is_as_it_was_last_changed": """
        type-update-is-not-kept disabling-a-type-does-not-stick deleted-type-is-listed
        channel-update-is-not-kept deleted-channel-is-listed command-does-not-stick""",
}
"""Faults of state with the machine that finds them."""

FOUND_BY = {fault: machine for machine, faults in MACHINES.items() for fault in faults.split()}
CLEAN = "clean"


class Alone:
    """Inside pytest, runs the machines and nothing else, with each fault and without any."""

    def __init__(self) -> None:
        self.outcomes: dict[str, FaultOutcome] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        session.config.option.effort = "quick"
        files = {machine.partition("::")[0] for machine in MACHINES}
        machines = [item for item in session.items if item.path.name in files]
        trials = [(name, _trial(session, machines, name)) for name in (CLEAN, *FOUND_BY)]
        self.outcomes = {outcome.name: outcome for outcome in workers.run(trials, workers=1)}

    def finders(self, fault: str) -> set[str]:
        """The machines that turned what a fault breaks."""
        turned = self.outcomes[fault].turned
        sources = {source for id in FAULTS[fault].breaks if id in turned for source in turned[id].sources}
        return {source.rpartition("/")[2] for source in sources if source.startswith("cases/")}


def _trial(session: pytest.Session, machines: list[pytest.Item], name: str) -> workers.Job:
    if name == CLEAN:
        return lambda: attempt(session, machines, name, faults=[])
    concerned = [item for item in machines if set(FAULTS[name].breaks).intersection(ids_of(item))]
    return lambda: attempt(session, concerned, name, faults=[name])


@pytest.fixture(scope="module")
def alone() -> Alone:
    machines = Alone()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        pytest.main([*pytest_arguments(), *QUIET], plugins=[machines])
    return machines


@pytest.mark.slow
def test_the_machines_find_at_least_twenty_faults_of_state_unaided(alone: Alone) -> None:
    missed = [fault for fault in FOUND_BY if not alone.finders(fault)]

    assert len(FOUND_BY) - len(missed) >= 20, missed


def test_each_finds_what_is_in_its_own_moves(alone: Alone) -> None:
    assert {machine for fault, machine in FOUND_BY.items() if machine in alone.finders(fault)} == {*MACHINES}


def test_the_machines_find_nothing_in_a_portal_without_a_fault(alone: Alone) -> None:
    assert alone.outcomes[CLEAN].turned == {}
    assert alone.outcomes[CLEAN].errors == {}
