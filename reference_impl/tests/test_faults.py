import re
from functools import partial

import pytest

from conformance.spec import REQUIREMENTS
from reference_impl.app import build
from reference_impl.changes import limited, moved, together
from reference_impl.clock import Clock
from reference_impl.faults import FAULTS, Fault
from reference_impl.faults.consequences import CONSEQUENCES
from reference_impl.faults.fault import GONE, reported
from reference_impl.faults.operations import PROFILE, ROLES
from reference_impl.routes import ROWS
from reference_impl.tests.conftest import Portals

OPERATIONS = {row.name for row in ROWS}


def is_sound(row: Fault) -> bool:
    """Whether a fault breaks and touches what there is, and has a name that an option can give."""
    listed = {*row.breaks, *row.also}
    return (
        bool(row.breaks)
        and listed <= REQUIREMENTS.keys()
        and not set(row.breaks) & set(row.also)
        and set(row.operations) <= OPERATIONS
        and re.fullmatch(r"[a-z0-9-]+", row.name.lower()) is not None
    )


def test_every_fault_breaks_and_touches_what_there_is() -> None:
    assert [row for row in FAULTS.values() if not is_sound(row)] == []


def test_a_change_is_of_the_operations_that_its_verbs_name_unless_it_says_otherwise() -> None:
    change = together(moved("session", "ACTIVE", "logout", None), reported(PROFILE, "", bizId=GONE))

    assert change.operations == (PROFILE,)
    assert change.at(ROLES).operations == (ROLES,)
    assert limited(max_sessions=1).operations == ()


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("the-last-login-is-the-first", "/web/v1/system/security/sessions/config"),
        ("the-profile-is-kept-after-an-administrators-update", "/web/v1/system/profile"),
    ],
)
def test_a_fault_remembers_nothing_of_another_portal(portal_with: Portals, name: str, path: str) -> None:
    moments = (1.9e9, 2e9)
    answers = [
        portal_with(faults=[name], seed=1, clock=Clock(partial(float, moment))).signed_in().get(path)
        for moment in moments
    ]

    assert answers[0] != answers[1]


def test_faults_of_one_portal_are_not_those_of_the_next() -> None:
    broken = build(faults=["invitations-never-expire"]).state.portal
    sound = build().state.portal

    assert broken.moves != sound.moves


def test_consequences_are_of_faults_that_exist() -> None:
    assert CONSEQUENCES.keys() <= FAULTS.keys()
