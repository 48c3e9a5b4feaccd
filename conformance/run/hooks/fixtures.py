"""The fixtures of the cases: the portal, its accounts, ``verify`` and ``search``."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.run.hooks.stash import SESSION, VERIFY
from conformance.run.options import value_of
from conformance.run.search import Search
from conformance.run.session import RunSession
from conformance.target.portal import Portal
from conformance.target.portal import ProfileAccount as Account
from conformance.verdicts.verify import Verify


@pytest.fixture(scope="session")
def run_session(request: pytest.FixtureRequest) -> RunSession:
    return request.config.stash[SESSION]


@pytest.fixture(scope="session")
def portal(run_session: RunSession) -> Portal:
    """The only door to the target."""
    return run_session.portal


@pytest.fixture
def verify(request: pytest.FixtureRequest, run_session: RunSession) -> Verify:
    """Takes what a case decides; it never raises."""
    return request.node.stash[VERIFY]  # type: ignore[no-any-return]


def _account(name: str) -> Callable[[Portal], Account]:
    @pytest.fixture(name=name)
    def account(portal: Portal) -> Account:
        """An account of the profile, by its name."""
        return portal.account(name)

    return account


admin, spare, limited, pending = map(_account, ("admin", "spare", "limited", "pending"))


@pytest.fixture(scope="session")
def effort(request: pytest.FixtureRequest) -> str:
    """How many examples property cases draw: quick, normal or thorough."""
    return str(value_of(request.config, "effort"))


@pytest.fixture
def search(request: pytest.FixtureRequest, run_session: RunSession, verify: Verify, effort: str) -> Search:
    """Looks for examples that contradict the specification."""
    return Search(run_session, verify, effort=effort, seed=int(value_of(request.config, "seed")))
