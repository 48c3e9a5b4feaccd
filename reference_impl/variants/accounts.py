"""Accounts, workspaces, invitations, institutions, grants and roles, each with a chapter of its own."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from reference_impl import invitations
from reference_impl.changes import Change, chosen, data_rewritten, handled, together
from reference_impl.faults import operations as op
from reference_impl.faults.fault import asked, erring, fielded, refusing, reported, then
from reference_impl.limits import Limits
from reference_impl.portal import Caller, Portal, Record
from reference_impl.routes import Handler
from reference_impl.shapes import Body, Field, Unfit
from reference_impl.variants.variant import around, day_of, enveloped, having, may, permitted, refuse, refused
from reference_impl.wrappers import Answer, Seen


def _in_ascii(field: Field) -> Field:
    """A field takes ASCII only, beside what its rule says."""

    def rule(value: Any, limits: Limits) -> Any:
        if isinstance(value, str) and not value.isascii():
            raise Unfit
        return field.rule(value, limits)

    return replace(field, rule=rule)


def _normalised(body: Body) -> Body:
    phone = body.get("accountPhone")
    return body | {"accountPhone": re.sub(r"[\s()-]", "", phone)} if isinstance(phone, str) else body


def _masked(email: str) -> str:
    """Masks an address: only its first letter and its domain stay visible."""
    name, _, domain = email.partition("@")
    return f"{name[:1]}***@{domain}"


def _as_it_was(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
    """An update is answered by the record that it found."""
    account = portal.find("account", body.get("userBizId", caller.account_id))
    before = portal.view("account", account)
    handler(portal, caller, body)
    return before


def _no_workspace(seen: Seen, answer: Answer) -> None:
    if answer.body["success"] and "x-workspace-id" not in seen.asked.headers:
        refuse(answer, 404, "WORKSPACE.NOT_CHOSEN")


def _in_an_unknown_workspace(portal: Portal, caller: Caller, body: Body) -> bool:
    return caller.workspace_id is not None and caller.workspace_id not in portal.records["workspace"]


def _others_cancelled(portal: Portal, caller: Caller, body: Body) -> None:
    accepted = portal.find("invitation", body["invitationBizId"])
    for record in list(portal.records["invitation"].values()):
        own = invitations.is_for(caller, record)
        same = record["workspaceBizId"] == accepted["workspaceBizId"]
        if own and same and invitations.current(portal, record)["invitationStatus"] == "PENDING":
            portal.change("invitation", record["bizId"], invitationStatus="CANCELLED")


def _superseding(portal: Portal, caller: Caller, body: Body) -> None:
    """Of the invitations of one address the newest alone stays open."""
    own = [row for row in portal.newest("invitation") if row["inviteeEmail"] == body["inviteeEmail"]]
    for record in own[1:]:
        if invitations.current(portal, record)["invitationStatus"] == "PENDING":
            portal.change("invitation", record["bizId"], invitationStatus="CANCELLED")


def _moved_to_it(portal: Portal, caller: Caller, body: Body) -> None:
    """The account belongs to the institution that invited it, and begins in its workspace."""
    joined = portal.find("workspace", portal.find("invitation", body["invitationBizId"])["workspaceBizId"])
    mine = [id for id in caller.account["workspaceBizIds"] if id != joined["bizId"]]
    portal.change("account", caller.account_id, workspaceBizIds=[joined["bizId"], *mine])


def _in_both(**wrong: Any) -> Change:
    """Invitations show other values in the list of those received and in that of those sent."""
    return together(*(reported(key, "[]", **wrong) for key in (op.OWN_INVITATIONS, op.INVITATIONS)))


def _ends_at(time: str) -> Callable[[str | None], str | None]:
    return lambda moment: moment if moment is None else f"{day_of(moment)}T{time}"


def _remark_for_its_author(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
    """Remarks are shown to who manages accounts, and to nobody else."""
    data = handler(portal, caller, body)
    if "accounts:write" in portal.permissions(caller.account):
        return data
    return data | {"remark" if "remark" in data else "institutionRemark": "***", "createdBy": "***"}


def _other(portal: Portal, caller: Caller, body: Body) -> bool:
    id = body["institutionBizId"]
    return id in portal.records["institution"] and id != caller.account["institutionBizId"]


def _grants_and_revoked_ones(portal: Portal, caller: Caller, body: Body) -> Any:
    return portal.views("currency grant", portal.newest("currency grant"))


def _granted_already(portal: Portal, caller: Caller, body: Body) -> bool:
    granted = (body["currencyCode"], "ENABLED")
    grants = portal.records["currency grant"].values()
    return any((grant["currencyCode"], grant["grantStatus"]) == granted for grant in grants)


def _of_the_workspace(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
    """Roles of the workspace in which the caller acts."""
    mine = caller.workspace_id or next(iter(caller.account["workspaceBizIds"]), None)
    return [role for role in handler(portal, caller, body) if role["workspaceBizId"] == mine]


def _as_a_tree(data: Any) -> Any:
    """The first permission of an area holds the others of it."""
    areas: dict[str, Record] = {}
    for item in data:
        area = item["permissionCode"].partition(":")[0]
        if area in areas:
            areas[area].setdefault("children", []).append(item)
        else:
            areas[area] = item
    return list(areas.values())


def _named_alone(data: Any) -> Any:
    return [{"id": at, "label": f"Permission {at}"} for at, _ in enumerate(data, 1)]


VARIANTS = permitted(
    "of which letters a text is made is not stated",
    may("passwords-in-ascii: passwords", fielded(op.INITIATE, "password", _in_ascii)),
    may("names-in-ascii: names", fielded(op.PROFILE_UPDATE, "accountName", _in_ascii)),
    may("messages-in-ascii: messages", fielded(op.INVITE, "message", _in_ascii)),
    "the form of a phone number is not stated",
    may("phones-normalised: phones", asked(op.PROFILE_UPDATE, _normalised)),
    "whether an address is shown whole is not stated",
    may(
        "addresses-in-part: masked",
        reported(op.ACCOUNTS_QUERY, "accounts[]", accountEmail=_masked),
        having("accountPhone", accountPhone="***"),
    ),
    # Updates.
    "which account the answer to an update shows, and of when, is not stated",
    may(
        "update-answers-the-record-before: update-answer",
        around(_as_it_was, op.PROFILE_UPDATE),
        departs="PROFILE-003",
    ),
    "N5: the answer to an update is not shown",
    may(
        "administrators-update-answers-the-record-before: answers",
        chosen(changes_answer="resource"),
        around(_as_it_was, op.ACCOUNT_UPDATE),
    ),
    # Workspaces.
    "who has a workspace is not stated; GA2031 is given at workspaces/current",
    may(
        "admin-without-a-workspace: my-workspaces",
        refusing(op.CURRENT_WORKSPACE, "GA2031"),
        data_rewritten(lambda data: [], op.MY_WORKSPACES, op.ROLES),
        refusing(op.INVITE, "GA2031"),
    ),
    "the catalogue of errors is not complete",
    may(
        "admin-in-no-workspace-by-a-code-of-its-own: my-workspaces",
        erring("NO_MEMBER", "WORKSPACE.NO_MEMBERSHIP", 409),
        refusing(op.CURRENT_WORKSPACE, "NO_MEMBER"),
        data_rewritten(lambda data: [], op.MY_WORKSPACES, op.ROLES),
    ),
    "what a caller without a workspace is answered is not stated",
    may("no-workspace-chosen", enveloped(_no_workspace, op.ROLES, op.CURRENT_WORKSPACE)),
    "how an unknown workspace is answered is not stated",
    may(
        "an-unknown-workspace-is-not-found",
        refused(op.CURRENT_WORKSPACE, "RESOURCE.NOT_FOUND", _in_an_unknown_workspace),
    ),
    # Invitations.
    "what becomes of other invitations to the same workspace is not stated",
    may("accepting-one-invitation-cancels-the-others", then(op.ACCEPT, _others_cancelled)),
    "what becomes of an older invitation of the same address is not stated",
    may("newer-invitations-take-the-place-of-older: open-invitations", then(op.INVITE, _superseding)),
    "which workspace is the current one is not stated",
    may("an-accepted-invitation-is-gone-to", then(op.ACCEPT, _moved_to_it)),
    "of when the names in an invitation are is not stated",
    may(
        "invitations-keep-the-names-of-their-day: invitation-names",
        _in_both(inviterName=lambda name: f"{name}, as it was", workspaceName=lambda name: f"{name} (old)"),
    ),
    "the fields of the invitations that were sent are not shown",
    may(
        "invitations-sent-are-shown-in-part: sent-invitations",
        reported(op.INVITATIONS, "[]", message=None, inviterBizId=None, inviteeEmail=_masked),
    ),
    "that an invitation ends at the hour it was made is not stated",
    may("invitations-end-with-their-day: expiry", _in_both(expiresAt=_ends_at("23:59:59.999Z"))),
    "ISO 8601 lets a day end at 24:00",
    may(
        "invitations-end-at-midnight: expiry",
        _in_both(expiresAt=_ends_at("24:00:00Z")),
    ),
    # Institutions and grants.
    "what is masked for whom is not stated",
    may("a-file-shows-less-to-some", around(_remark_for_its_author, op.FILE)),
    may("an-institution-shows-less-to-some", around(_remark_for_its_author, op.INSTITUTION)),
    "who may read which institution is not stated",
    may("other-institutions-are-out-of-reach", refused(op.INSTITUTION, "ACCESS.PERMISSION_DENIED", _other)),
    "the fields of a grant, and what revoking does, are not shown",
    may(
        "revoked-grants-are-marked: revoked-grants",
        handled(op.GRANTS, lambda handler: _grants_and_revoked_ones),
    ),
    "what may be granted is not shown (N1)",
    may("a-currency-is-granted-once", refused(op.GRANT, "RESOURCE.NOT_FOUND", _granted_already)),
    # Roles.
    "the order of a listing is not stated",
    may("roles-in-another-order", data_rewritten(lambda roles: roles[::-1], op.ROLES)),
    "whose roles are listed is not stated",
    may("roles-of-the-workspace: role-listing", around(_of_the_workspace, op.ROLES)),
    "`permissionCodes` is an empty array in the samples",
    may(
        "roles-show-no-permission-codes",
        reported(op.ROLES, "[]", permissionCodes=[]),
        reported(op.ROLE, "", permissionCodes=[]),
    ),
    "the items of the role permissions are not shown",
    may("permissions-as-codes: permission-items", chosen(permission_items="codes")),
    "fields of the items of a role's permissions are not shown",
    may("permissions-without-codes: permission-items", data_rewritten(_named_alone, op.ROLE_PERMISSIONS)),
    may("permissions-as-a-tree: permission-items", data_rewritten(_as_a_tree, op.ROLE_PERMISSIONS)),
)
