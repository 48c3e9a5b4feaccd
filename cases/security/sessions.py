"""Sessions as their owner sees them listed (chapter "Security endpoints")."""

from __future__ import annotations

from cases.authentication.steps import an_account
from cases.premises import granted, listed
from conformance.cases import Account, Exchange, Json, Portal, Untestable, op


def whoever(portal: Portal) -> Account:
    """Picks the account for a further sign-in: the spare account, or else the administrator."""
    return an_account(portal, "spare", "admin")


def sessions(portal: Portal, token: str) -> Exchange:
    return granted(portal.call(op.SESSIONS, token=token))


def ids(listing: Exchange) -> list[Json]:
    return [session.get("sessionId") for session in listed(listing)]


def current(listing: Exchange) -> str:
    """The id of the session that asked. Raises Untestable where it cannot be told."""
    own = [session for session in listed(listing) if session.get("isCurrent") is True]
    if len(own) != 1 or not isinstance(own[0].get("sessionId"), str):
        raise Untestable("the listing does not tell which session is the current one", "target")
    return str(own[0]["sessionId"])
