"""Somebody else's data, and codes that nothing has (several chapters)."""

from typing import Any

from reference_impl.changes import handled
from reference_impl.faults.fault import fault, first, reported, turned
from reference_impl.faults.operations import (
    ACCOUNTS_QUERY,
    CURRENT_WORKSPACE,
    HISTORY,
    INSTITUTION,
    OWN_INVITATIONS,
    PROFILE,
    SESSION_CONFIG,
    SESSIONS,
    constants,
)
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body

COUNTRIES = constants("countries")
TIMEZONES = constants("timezones")


def _with_those_of_others(handler: Handler) -> Handler:
    """The sessions of another account are listed behind the caller's."""

    def listing(portal: Portal, caller: Caller, body: Body) -> Any:
        sessions = handler(portal, caller, body)
        ids = {session.account_id for session in portal.sessions.values()} - {caller.account_id}
        listed = list(sessions)
        for id in sorted(ids):
            other = Caller(caller.client_ip, "", "", "en", known_account=portal.find("account", id))
            listed += [session | {"isCurrent": False} for session in handler(portal, other, body)]
        return listed

    return listing


def _by_its_workspace(portal: Portal, caller: Caller, body: Body) -> None:
    """The id of a workspace is taken for that of its institution."""
    workspace = portal.records["workspace"].get(body["institutionBizId"])
    if workspace is not None:
        body["institutionBizId"] = workspace["institutionBizId"]


def _history_of_all(handler: Handler) -> Handler:
    def listing(portal: Portal, caller: Caller, body: Body) -> Any:
        own = portal.history
        everybody = sorted(
            (entry for entries in own.values() for entry in entries), key=lambda e: e["loginTime"]
        )
        portal.history = {caller.account_id: everybody}
        try:
            return handler(portal, caller, body)
        finally:
            portal.history = own

    return listing


def _as_another(handler: Handler) -> Handler:
    """Whoever asks, the first account is answered."""

    def answering(portal: Portal, caller: Caller, body: Body) -> Any:
        account = next(iter(portal.records["account"].values()))
        return handler(portal, Caller("", "", "", "en", session=caller.session, known_account=account), body)

    return answering


def _numbered_otherwise(country: dict[str, Any]) -> None:
    if country["code"] == "JP":
        country["numericCode"] = 393


FAULTS = (
    fault("MODEL-007", "sessions-of-others-are-listed", handled(SESSIONS, _with_those_of_others)),
    fault("MODEL-007", "the-history-is-everybodys", handled(HISTORY, _history_of_all)),
    fault("MODEL-008", "own-invitations-are-anothers", handled(OWN_INVITATIONS, _as_another)),
    fault("SESSION-030", "one-session-config-for-all", handled(SESSION_CONFIG, _as_another)),
    fault(
        "RESOURCE-007", "accounts-live-nowhere", reported(ACCOUNTS_QUERY, "accounts[]", defaultCountry="JX")
    ),
    fault(
        "RESOURCE-008", "the-profile-is-of-no-zone", reported(PROFILE, "", defaultTimezone="ASIA_ATLANTIS")
    ),
    fault(
        "INSTITUTION-011", "an-institution-is-read-by-its-workspace", first(INSTITUTION, _by_its_workspace)
    ),
    fault(
        "RESOURCE-008",
        "the-workspace-is-of-no-zone",
        reported(CURRENT_WORKSPACE, "", workspaceTimezone="MARS_OLYMPUS"),
    ),
    fault("RESOURCE-009", "the-profile-speaks-no-language", reported(PROFILE, "", defaultLanguage="qj")),
    fault("CONSTANT-067", "japan-has-another-number", turned(COUNTRIES, "[]", _numbered_otherwise)),
    fault("CONSTANT-068", "shanghai-is-nowhere", reported(TIMEZONES, "[]", zoneIdCode="Asia/Nowhere")),
)
