"""Sessions as their owner sees them listed (chapter "Security endpoints")."""

from __future__ import annotations

from cases.authentication.steps import an_account
from cases.premises import granted, listed
from conformance.cases import Account, Exchange, Json, Portal, Untestable

PATH = "/web/v1/system/security/sessions"
LIST = f"GET {PATH}"
READ_CONFIG = f"GET {PATH}/config"
SET_CONFIG = f"POST {PATH}/config"
HISTORY = f"GET {PATH}/history"
TERMINATE = f"POST {PATH}/terminate"
TERMINATE_ALL = f"POST {PATH}/terminate-all"
PROFILE = "GET /web/v1/system/profile"


def whoever(portal: Portal) -> Account:
    """Who signs in once more: the spare account where there is one."""
    return an_account(portal, "spare", "admin")


def sessions(portal: Portal, token: str) -> Exchange:
    return granted(portal.call(LIST, token=token))


def ids(listing: Exchange) -> list[Json]:
    return [session.get("sessionId") for session in listed(listing)]


def current(listing: Exchange) -> str:
    """The id of the session that asked. Raises Untestable where it cannot be told."""
    own = [session for session in listed(listing) if session.get("isCurrent") is True]
    if len(own) != 1 or not isinstance(own[0].get("sessionId"), str):
        raise Untestable("the listing does not tell which session is the current one", "target")
    return str(own[0]["sessionId"])
