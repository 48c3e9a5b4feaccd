"""Portals that treat neighbours in their own way: further invitations, idle sessions, other readers."""

from datetime import UTC, datetime
from typing import Any

from reference_impl import invitations
from reference_impl.changes import data_rewritten, handled
from reference_impl.errors import Refusal
from reference_impl.faults.fault import reported, then
from reference_impl.faults.operations import (
    ACCEPT,
    COMPLETE,
    FILE,
    GRANT,
    INITIATE,
    INSTITUTION,
    ROLE_PERMISSIONS,
    SESSION_CONFIG,
    SESSIONS,
    constants,
)
from reference_impl.faults.verbs import where_refused
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.variants.variant import may


def _others_cancelled(portal: Portal, caller: Caller, body: Body) -> None:
    accepted = portal.find("invitation", body["invitationBizId"])
    for record in list(portal.records["invitation"].values()):
        own = invitations.is_for(caller, record)
        same = record["workspaceBizId"] == accepted["workspaceBizId"]
        if own and same and invitations.current(portal, record)["invitationStatus"] == "PENDING":
            portal.change("invitation", record["bizId"], invitationStatus="CANCELLED")


def _by_the_minute(data: Any) -> Any:
    """The last activity is written once a minute, and at first at the sign-in."""
    for session in data:
        active = datetime.fromisoformat(session["lastActivityTime"].upper()).replace(second=0, microsecond=0)
        whole = f"{active.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.000Z"
        session["lastActivityTime"] = max(whole, session["loginTime"])
    return data


def _first_step_noted(portal: Portal, caller: Caller, body: Body) -> None:
    account = portal.account_of(body["email"])
    if account is not None:
        _noted(portal, caller, account["bizId"], 2)


def _wrong_code_noted(portal: Portal, caller: Caller, body: Body) -> None:
    session = portal.login_sessions.get(body.get("sessionId", ""))
    if session is not None:
        _noted(portal, caller, session.account_id, 3)


def _noted(portal: Portal, caller: Caller, account_id: str, result: int) -> None:
    portal.record_sign_in(account_id, caller)
    portal.history[account_id][-1]["loginResult"] = result


def _remark_for_its_author(handler: Handler) -> Handler:
    """Remarks are shown to who manages accounts, and to nobody else."""

    def reading(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        name = "remark" if "remark" in data else "institutionRemark"
        manages = "accounts:write" in portal.permissions(caller.account)
        return data if manages else data | {name: "***", "createdBy": "***"}

    return reading


def _once_only(handler: Handler) -> Handler:
    def granting(portal: Portal, caller: Caller, body: Body) -> Any:
        for grant in portal.records["currency grant"].values():
            if grant["currencyCode"] == body["currencyCode"] and grant["grantStatus"] == "ENABLED":
                raise Refusal("RESOURCE.NOT_FOUND")
        return handler(portal, caller, body)

    return granting


def _named_alone(data: Any) -> Any:
    return [{"id": at, "label": f"Permission {at}"} for at, _ in enumerate(data, 1)]


VARIANTS = (
    may(
        "accepting-one-invitation-cancels-the-others",
        "what becomes of other invitations to the same workspace is not stated",
        then(ACCEPT, _others_cancelled),
    ),
    may(
        "activity-by-the-minute",
        "how exact the last activity of a session is is not stated",
        data_rewritten(_by_the_minute, SESSIONS),
        "activity",
    ),
    may(
        "the-first-step-is-in-the-history",
        "the meaning of `loginResult` is unspecified",
        then(INITIATE, _first_step_noted),
    ),
    may(
        "wrong-codes-are-in-the-history-without-a-reason",
        "the meaning of `loginResult` is unspecified, and `failureReason` may be null",
        where_refused(COMPLETE, _wrong_code_noted),
    ),
    may(
        "password-changes-are-not-dated",
        "`passwordChangedAt` is nullable",
        reported(SESSION_CONFIG, "", passwordChangedAt=None),
        "session-config",
    ),
    may(
        "a-file-shows-less-to-some",
        "what is masked for whom is not stated",
        handled(FILE, _remark_for_its_author),
    ),
    may(
        "an-institution-shows-less-to-some",
        "what is masked for whom is not stated",
        handled(INSTITUTION, _remark_for_its_author),
    ),
    may("a-currency-is-granted-once", "what may be granted is not shown (N1)", handled(GRANT, _once_only)),
    may(
        "permissions-without-codes",
        "fields of the items of a role's permissions are not shown",
        data_rewritten(_named_alone, ROLE_PERMISSIONS),
        "permission-items",
    ),
    may(
        "offsets-in-words",
        "the form of `utcOffset` is not stated",
        reported(constants("timezones"), "[]", utcOffset=lambda offset: f"UTC{offset}"),
    ),
)
