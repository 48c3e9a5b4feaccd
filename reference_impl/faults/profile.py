"""The caller's own profile, invitations and workspaces (chapter "Profile and workspaces")."""

from typing import Any

from reference_impl import invitations
from reference_impl.changes import handled, moved, rewritten, together
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults.fault import (
    asked,
    fault,
    from_call,
    ignoring,
    optional,
    pretending,
    renamed,
    reported,
    ruled,
    then,
    turned,
)
from reference_impl.faults.operations import (
    ACCEPT,
    CURRENT_WORKSPACE,
    DECLINE,
    OWN_INVITATIONS,
    PROFILE,
    PROFILE_UPDATE,
)
from reference_impl.portal import Caller, Portal, Record
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.wrappers import Answer, Seen


def _profile_of_another(portal: Portal, caller: Caller, body: Body) -> Any:
    """The account before the caller's."""
    accounts = list(portal.records["account"].values())
    at = next(at for at, account in enumerate(accounts) if account["bizId"] == caller.account_id)
    return portal.view("account", accounts[at - 1])


def _profile_of_the_first(portal: Portal, caller: Caller, body: Body) -> Any:
    return portal.view("account", next(iter(portal.records["account"].values())))


def _another_from_the_second_call(seen: Seen, answer: Answer) -> None:
    answer.body["data"]["accountEmail"] = "other@example.test"


def _anothers_phone(portal: Portal, caller: Caller, body: Body) -> None:
    other, *_ = [id for id in portal.records["account"] if id != caller.account_id]
    portal.records["account"][other]["accountPhone"] = caller.account["accountPhone"]


def _everybody_renamed(portal: Portal, caller: Caller, body: Body) -> None:
    if "accountName" in body:
        for account in portal.records["account"].values():
            account["accountName"] = body["accountName"]


def _rest_cleared(portal: Portal, caller: Caller, body: Body) -> None:
    """What was not sent is emptied, as by a PUT."""
    for name in ("accountPhone", "accountName"):
        if name not in body:
            caller.account[name] = ""


def _language_kept(portal: Portal, caller: Caller, body: Body) -> None:
    """The language of the profile goes back to the default."""
    if "defaultLanguage" in body:
        caller.account["defaultLanguage"] = "en"


def _created_anew(portal: Portal, caller: Caller, body: Body) -> None:
    caller.account["createdAt"] = caller.account["updatedAt"]


def _any_text(value: Any, limits: Any) -> str:
    return str(value)


def _inverted(body: Body) -> Body:
    """All statuses but those that were asked for."""
    if body.get("statuses"):
        wanted = {number for sent in body["statuses"] for number in sent}
        body["statuses"] = [[number] for number in range(10050301, 10050306) if number not in wanted]
    return body


def _untouched(handler: Handler) -> Handler:
    def updating(portal: Portal, caller: Caller, body: Body) -> Any:
        before = caller.account["updatedAt"]
        data = handler(portal, caller, body)
        caller.account["updatedAt"] = before
        return data | {"updatedAt": portal.view("account", caller.account)["updatedAt"]}

    return updating


def _open_ones(data: Any) -> Any:
    return [item for item in data if item["canAccept"]]


def _open_ones_unless_asked(seen: Seen, answer: Answer) -> None:
    if answer.body["success"] and "statuses" not in seen.asked.query:
        answer.body["data"] = _open_ones(answer.body["data"])


def _acceptable(*codes: str) -> Any:
    """Invitations in these states say that they can be accepted."""

    def turn(item: Record) -> None:
        item["canAccept"] = item["canAccept"] or item["invitationStatus"]["code"] in codes

    return turn


def _not_acceptable(item: Record) -> None:
    item["canAccept"] = False


def _accepted_where_pending(item: Record) -> None:
    if item["invitationStatus"]["code"] == "PENDING":
        item["acceptedAt"] = item["createdAt"]


def _never_accepted_at(item: Record) -> None:
    item["acceptedAt"] = None


def _accepted_only_once_closed(handler: Handler) -> Handler:
    """What cannot be accepted is answered as if it had been."""

    def accepting(portal: Portal, caller: Caller, body: Body) -> Any:
        try:
            return handler(portal, caller, body)
        except Refusal as refusal:
            if refusal.name != "INVITATION_CLOSED":
                raise
        return portal.view(
            "invitation", invitations.current(portal, portal.find("invitation", body["invitationBizId"]))
        )

    return accepting


def _everybodys(portal: Portal, caller: Caller, body: Body) -> Any:
    records = (invitations.current(portal, record) for record in portal.newest("invitation"))
    wanted = {
        portal.symbol("user-invitation-statuses", n) for sent in body.get("statuses") or [] for n in sent
    }
    shown = [record for record in records if not wanted or record["invitationStatus"] in wanted]
    return [portal.view("invitation", record | _named(record)) for record in shown]


def _named(record: Record) -> Record:
    """Who is invited may have no account: then a name stands in."""
    return {
        "inviteeAccountBizId": record["inviteeAccountBizId"] or "none",
        "inviteeAccountName": record["inviteeAccountName"] or "none",
        "inviterName": record["inviterName"] or "none",
    }


def _one_workspace(handler: Handler) -> Handler:
    """Every workspace that is named gives the caller's first."""

    def serving(portal: Portal, caller: Caller, body: Body) -> Any:
        mine = caller.account["workspaceBizIds"]
        return (
            portal.view("workspace", portal.find("workspace", mine[0]))
            if mine
            else handler(portal, caller, body)
        )

    return serving


def _first_workspace_required(handler: Handler) -> Handler:
    def serving(portal: Portal, caller: Caller, body: Body) -> Any:
        if caller.workspace_id is None:
            raise Refusal(INVALID)
        return handler(portal, caller, body)

    return serving


def _turns(handler: Handler) -> Handler:
    """The current workspace is another on every second call."""
    calls: list[str] = []

    def serving(portal: Portal, caller: Caller, body: Body) -> Any:
        calls.append(caller.account_id)
        mine = caller.account["workspaceBizIds"]
        if caller.workspace_id is None and len(mine) > 1:
            at = calls.count(caller.account_id) % len(mine)
            return portal.view("workspace", portal.find("workspace", mine[at]))
        return handler(portal, caller, body)

    return serving


_NEITHER = (ACCEPT, DECLINE)

FAULTS = (
    # Profile.
    fault(
        "PROFILE-001",
        "profile-of-another-account",
        handled(PROFILE, lambda handler: _profile_of_another),
        also="PROFILE-010 PROFILE-004 PROFILE-005 PROFILE-006 SESSION-030",
    ),
    fault(
        "PROFILE-001",
        "profile-is-another-from-the-second-call",
        rewritten(from_call(2, _another_from_the_second_call), PROFILE),
    ),
    fault(
        "PROFILE-010",
        "one-profile-for-all",
        handled(PROFILE, lambda handler: _profile_of_the_first),
        also="PROFILE-001 PROFILE-004 PROFILE-005 PROFILE-006 SESSION-030",
    ),
    fault(
        "PROFILE-002",
        "caller-of-the-tenant-portal",
        reported(PROFILE, "accountPortal", code="TENANT", value=10010102),
    ),
    fault("PROFILE-003", "update-answers-the-old-name", reported(PROFILE_UPDATE, "", accountName="Before")),
    fault(
        "PROFILE-004",
        "profile-update-is-not-kept",
        pretending(PROFILE_UPDATE, "account"),
        also="PROFILE-005 PROFILE-008",
    ),
    fault("PROFILE-005", "language-of-the-profile-is-not-kept", then(PROFILE_UPDATE, _language_kept)),
    fault("PROFILE-005", "country-of-the-profile-is-ignored", ignoring(PROFILE_UPDATE, "defaultCountry")),
    fault("PROFILE-006", "profile-update-clears-the-rest", then(PROFILE_UPDATE, _rest_cleared)),
    fault("PROFILE-007", "profile-update-renames-everybody", then(PROFILE_UPDATE, _everybody_renamed)),
    fault("PROFILE-007", "profile-update-writes-anothers-phone", then(PROFILE_UPDATE, _anothers_phone)),
    fault("PROFILE-008", "profile-update-changes-created-at", then(PROFILE_UPDATE, _created_anew)),
    fault("PROFILE-008", "profile-update-leaves-updated-at", handled(PROFILE_UPDATE, _untouched)),
    fault(
        "PROFILE-009", "profile-takes-a-number-for-a-name", ruled(PROFILE_UPDATE, "accountName", _any_text)
    ),
    # Invitations.
    fault(
        "INVITATION-020", "accepting-does-not-stick", pretending(ACCEPT, "invitation"), also="INVITATION-029"
    ),
    fault(
        "INVITATION-020",
        "accepting-makes-it-declined",
        moved("invitation", "PENDING", "accept", "DECLINED"),
        ACCEPT,
    ),
    fault(
        "INVITATION-021",
        "expired-invitation-can-be-accepted",
        turned(OWN_INVITATIONS, "[]", _acceptable("EXPIRED")),
        also="INVITATION-028",
    ),
    fault(
        "INVITATION-021",
        "declined-invitation-can-be-accepted",
        turned(OWN_INVITATIONS, "[]", _acceptable("DECLINED")),
        also="INVITATION-030",
    ),
    fault(
        "INVITATION-021",
        "cancelled-invitation-can-be-accepted",
        turned(OWN_INVITATIONS, "[]", _acceptable("CANCELLED")),
    ),
    fault(
        "INVITATION-021",
        "accepted-invitation-can-be-accepted",
        turned(OWN_INVITATIONS, "[]", _acceptable("ACCEPTED")),
    ),
    fault("INVITATION-022", "statuses-are-ignored", ignoring(OWN_INVITATIONS, "statuses")),
    fault("INVITATION-022", "statuses-give-all-but-those", asked(OWN_INVITATIONS, _inverted)),
    fault(
        "INVITATION-025",
        "historical-invitations-are-left-out",
        rewritten(_open_ones_unless_asked, OWN_INVITATIONS),
    ),
    fault("INVITATION-026", "nothing-can-be-accepted", turned(OWN_INVITATIONS, "[]", _not_acceptable)),
    fault(
        "INVITATION-027",
        "pending-invitation-says-when-accepted",
        turned(OWN_INVITATIONS, "[]", _accepted_where_pending),
    ),
    fault(
        "INVITATION-027",
        "accepted-invitation-does-not-say-when",
        turned(OWN_INVITATIONS, "[]", _never_accepted_at),
    ),
    fault(
        "INVITATION-028",
        "invitations-never-expire",
        moved("invitation", "PENDING", "expire", None),
        OWN_INVITATIONS,
    ),
    fault(
        "INVITATION-029",
        "closed-invitation-is-accepted",
        handled(ACCEPT, _accepted_only_once_closed),
        also="INVITATION-030",
    ),
    fault("INVITATION-030", "declining-does-not-stick", pretending(DECLINE, "invitation")),
    fault(
        "INVITATION-031",
        "unknown-invitation-is-400",
        together(*(renamed(operation, "RESOURCE.NOT_FOUND", INVALID) for operation in _NEITHER)),
    ),
    fault(
        "INVITATION-031",
        "unknown-invitation-is-400-at-decline",
        renamed(DECLINE, "RESOURCE.NOT_FOUND", INVALID),
    ),
    fault(
        "INVITATION-032", "invitations-of-everybody", handled(OWN_INVITATIONS, lambda handler: _everybodys)
    ),
    fault("INVITATION-033", "accepting-nothing-is-404", optional(ACCEPT, "invitationBizId", "none")),
    # Workspaces.
    fault("WORKSPACE-011", "workspace-header-is-ignored", handled(CURRENT_WORKSPACE, _one_workspace)),
    fault(
        "HEADER-009", "workspace-header-is-required", handled(CURRENT_WORKSPACE, _first_workspace_required)
    ),
    fault("WORKSPACE-014", "current-workspace-changes", handled(CURRENT_WORKSPACE, _turns)),
)
