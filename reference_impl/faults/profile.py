"""The caller's own profile and workspaces (chapter "Profile and workspaces")."""

from dataclasses import replace
from typing import Any

from reference_impl.changes import handled, rewritten
from reference_impl.errors import Refusal
from reference_impl.faults import operations as op
from reference_impl.faults.fault import (
    Call,
    asked,
    from_call,
    pretending,
    reported,
    ruled,
    served,
    then,
    turned,
)
from reference_impl.faults.verbs import in_ascii
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body


def _or_the_first(handler: Handler) -> Handler:
    """Where the workspace that is named is none of the caller's, the caller's first is given."""

    def showing(portal: Portal, caller: Caller, body: Body) -> Any:
        mine = caller.account["workspaceBizIds"]
        if caller.workspace_id is not None and caller.workspace_id not in mine:
            caller = replace(caller, workspace_id=None)
        return handler(portal, caller, body)

    return showing


def _the_first_alone(call: Call) -> Any:
    data = call.run()
    if data["bizId"] != call.caller.account["workspaceBizIds"][0]:
        raise Refusal("GA2031")
    return data


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


def _untouched(call: Call) -> Any:
    before = call.caller.account["updatedAt"]
    data = call.run()
    call.caller.account["updatedAt"] = before
    return data | {"updatedAt": call.portal.view("account", call.caller.account)["updatedAt"]}


def _one_workspace(call: Call) -> Any:
    """Every workspace that is named gives the caller's first."""
    mine = call.caller.account["workspaceBizIds"]
    return call.portal.view("workspace", call.portal.find("workspace", mine[0])) if mine else call.run()


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


ROWS = {
    "WORKSPACE-016 an-unknown-workspace-is-the-first": handled(op.CURRENT_WORKSPACE, _or_the_first),
    "WORKSPACE-015 a-listed-workspace-cannot-be-chosen": served(op.CURRENT_WORKSPACE, _the_first_alone),
    "PROFILE-001 profile-is-another-from-the-second-call": rewritten(
        from_call(2, lambda seen, answer: answer.body["data"].update(accountEmail="other@example.test")),
        op.PROFILE,
    ),
    "PROFILE-010 one-profile-for-all": handled(
        op.PROFILE,
        lambda handler: (
            lambda portal, caller, body: portal.view(
                "account", next(iter(portal.records["account"].values()))
            )
        ),
    ),
    "PROFILE-002 caller-of-the-tenant-portal": reported(
        op.PROFILE, "accountPortal", code="TENANT", value=10010102
    ),
    "PROFILE-003 update-answers-the-old-name": reported(op.PROFILE_UPDATE, "", accountName="Before"),
    "PROFILE-004 profile-update-is-not-kept": pretending(op.PROFILE_UPDATE, "account"),
    "PROFILE-005 language-of-the-profile-is-not-kept": then(op.PROFILE_UPDATE, _language_kept),
    "PROFILE-006 profile-update-clears-the-rest": then(op.PROFILE_UPDATE, _rest_cleared),
    "PROFILE-007 profile-update-renames-everybody": then(op.PROFILE_UPDATE, _everybody_renamed),
    "PROFILE-007 profile-update-writes-anothers-phone": then(op.PROFILE_UPDATE, _anothers_phone),
    "PROFILE-008 profile-update-changes-created-at": then(
        op.PROFILE_UPDATE,
        lambda portal, caller, body: caller.account.update(createdAt=caller.account["updatedAt"]),
    ),
    "PROFILE-008 profile-update-leaves-updated-at": served(op.PROFILE_UPDATE, _untouched),
    "PROFILE-009 profile-takes-a-number-for-a-name": ruled(
        op.PROFILE_UPDATE, "accountName", lambda value, limits: str(value)
    ),
    "WORKSPACE-011 workspace-header-is-ignored": served(op.CURRENT_WORKSPACE, _one_workspace),
    "WORKSPACE-014 current-workspace-changes": handled(op.CURRENT_WORKSPACE, _turns),
    "PROFILE-012 a-name-loses-other-letters": asked(op.PROFILE_UPDATE, in_ascii("accountName")),
    "PROFILE-012 a-name-is-not-stored-with-a-phone": asked(
        op.PROFILE_UPDATE,
        lambda body: {
            name: value for name, value in body.items() if name != "accountName" or "accountPhone" not in body
        },
    ),
    "PROFILE-013 an-update-answers-another-country": turned(
        op.PROFILE_UPDATE, "", lambda record: record.update(defaultCountry="FR")
    ),
}
