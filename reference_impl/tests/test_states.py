import pytest

from reference_impl.states import MOVES, moves

STATED = {
    ("login session", "NONE", "initiate"): "PENDING_MFA",
    ("login session", "PENDING_MFA", "send"): "PENDING_MFA",
    ("login session", "PENDING_MFA", "right code"): "CONSUMED",
    ("login session", "PENDING_MFA", "wrong code"): "PENDING_MFA",
    ("channel", "ACTIVE", "deactivate"): "INACTIVE",
    ("invitation", "PENDING", "accept"): "ACCEPTED",
}


def test_the_stated_moves_stand_in_the_tables() -> None:
    assert {(family, at, move): MOVES[family][at, move] for family, at, move in STATED} == STATED


@pytest.mark.parametrize("state", ["ACCEPTED", "EXPIRED", "CANCELLED", "DECLINED"])
def test_a_closed_invitation_has_no_move(state: str) -> None:
    assert not [row for row in MOVES["invitation"] if row[0] == state]


def test_each_portal_has_tables_of_its_own() -> None:
    one = moves()
    one["channel"].clear()

    assert moves()["channel"] == MOVES["channel"] != {}
