"""Sign-in in any order: what the portal does agrees with what the stated moves say of it."""

from __future__ import annotations

from cases.properties.signing_in import Player, SigningIn, player
from conformance.cases import Portal, Search, Untestable, mark


@mark.requirement(
    "LOGIN-020", "LOGIN-022", "LOGIN-025", "LOGIN-026", "LOGIN-027", "LOGIN-028", "LOGIN-029", "LOGIN-030",
    "LOGIN-031", "LOGIN-032", "LOGIN-033", "LOGIN-034", "LOGIN-059", "LOGIN-061", "LOGIN-064",
    "TOKEN-010", "TOKEN-011", "TOKEN-012", "TOKEN-013", "TOKEN-014", "TOKEN-021", "TOKEN-022",
    "AUTHN-011", "AUTHN-012", "SESSION-021", "SESSION-031",
)  # fmt: skip
@mark.needs("clock")
@mark.sign_ins(48)
def test_a_sign_in_follows_the_stated_moves_in_any_order(portal: Portal, search: Search) -> None:
    players = able(portal)

    search.through(lambda trial: SigningIn(trial, portal, players))


def able(portal: Portal) -> list[Player]:
    """Those accounts that may be signed out without harm to others; else the one that all use.

    Raises Untestable where none can be signed in."""
    players: list[Player] = []
    for name in ("limited", "spare", "admin"):
        if portal.has_account(name) and not (players and name == "admin"):
            try:
                players.append(player(portal, portal.account(name)))
            except Untestable as reason:
                refused = reason
    if not players:
        raise refused
    return players
