"""The caller's own profile and workspaces (chapter "Profile and workspaces")."""

from dataclasses import replace
from typing import Any

from reference_impl.changes import rewritten
from reference_impl.errors import Refusal
from reference_impl.faults import operations as op
from reference_impl.faults.fault import (
    Call,
    answered,
    asked,
    from_call,
    pretending,
    reported,
    ruled,
    served,
    then,
)
from reference_impl.faults.verbs import in_ascii
from reference_impl.portal import Caller, Portal
from reference_impl.shapes import Body


def _or_the_first(call: Call) -> Any:
    """Where the workspace that is named is none of the caller's, the caller's first is given."""
    is_own = call.caller.workspace_id in call.caller.account["workspaceBizIds"]
    caller = call.caller if is_own else replace(call.caller, workspace_id=None)
    return call.handler(call.portal, caller, call.body)


def _the_first_alone(call: Call, data: Any) -> Any:
    if data["bizId"] != call.caller.account["workspaceBizIds"][0]:
        raise Refusal("GA2031")
    return data


def _anothers_phone(portal: Portal, caller: Caller, body: Body) -> None:
    other, *_ = [id for id in portal.records["account"] if id != caller.account_id]
    portal.records["account"][other]["accountPhone"] = caller.account["accountPhone"]


def _rest_cleared(portal: Portal, caller: Caller, body: Body) -> None:
    """Clears omitted fields, like a PUT."""
    caller.account.update({name: "" for name in ("accountPhone", "accountName") if name not in body})


def _language_kept(portal: Portal, caller: Caller, body: Body) -> None:
    """The language of the profile goes back to the default."""
    if "defaultLanguage" in body:
        caller.account["defaultLanguage"] = "en"


def _one_workspace(call: Call) -> Any:
    """Every workspace that is named gives the caller's first."""
    mine = call.caller.account["workspaceBizIds"]
    return call.portal.view("workspace", call.portal.find("workspace", mine[0])) if mine else call.run()


def _turns(call: Call) -> Any:
    """The current workspace is another on every second call."""
    mine = call.caller.account["workspaceBizIds"]
    call.memory[call.caller.account_id] = calls = call.memory.get(call.caller.account_id, 0) + 1
    if call.caller.workspace_id is not None or len(mine) < 2:
        return call.run()
    return call.portal.view("workspace", call.portal.find("workspace", mine[calls % len(mine)]))


ROWS = {
    "WORKSPACE-016 an-unknown-workspace-is-the-first": served(op.CURRENT_WORKSPACE, _or_the_first),
    "WORKSPACE-015 a-listed-workspace-cannot-be-chosen": answered(op.CURRENT_WORKSPACE, _the_first_alone),
    "PROFILE-001 profile-is-another-from-the-second-call": rewritten(
        from_call(2, lambda seen, answer: answer.body["data"].update(accountEmail="other@example.test")),
        op.PROFILE,
    ),
    "PROFILE-010 one-profile-for-all": served(
        op.PROFILE,
        lambda call: call.portal.view("account", next(iter(call.portal.records["account"].values()))),
    ),
    "PROFILE-002 caller-of-the-tenant-portal": reported(
        op.PROFILE, "accountPortal", code="TENANT", value=10010102
    ),
    "PROFILE-003 update-answers-the-old-name": reported(op.PROFILE_UPDATE, "", accountName="Before"),
    "PROFILE-004 profile-update-is-not-kept": pretending(op.PROFILE_UPDATE, "account"),
    "PROFILE-005 language-of-the-profile-is-not-kept": then(op.PROFILE_UPDATE, _language_kept),
    "PROFILE-006 profile-update-clears-the-rest": then(op.PROFILE_UPDATE, _rest_cleared),
    "PROFILE-007 profile-update-writes-anothers-phone": then(op.PROFILE_UPDATE, _anothers_phone),
    "PROFILE-008 profile-update-changes-created-at": then(
        op.PROFILE_UPDATE,
        lambda portal, caller, body: caller.account.update(createdAt=caller.account["updatedAt"]),
    ),
    "PROFILE-009 profile-takes-a-number-for-a-name": ruled(
        op.PROFILE_UPDATE, "accountName", lambda value, limits: str(value)
    ),
    "WORKSPACE-011 workspace-header-is-ignored": served(op.CURRENT_WORKSPACE, _one_workspace),
    "WORKSPACE-014 current-workspace-changes": served(op.CURRENT_WORKSPACE, _turns),
    "PROFILE-012 a-name-loses-other-letters": asked(op.PROFILE_UPDATE, in_ascii("accountName")),
    "PROFILE-012 a-name-is-not-stored-with-a-phone": asked(
        op.PROFILE_UPDATE,
        lambda body: {
            name: value for name, value in body.items() if name != "accountName" or "accountPhone" not in body
        },
    ),
    "PROFILE-013 an-update-answers-another-country": reported(op.PROFILE_UPDATE, "", defaultCountry="FR"),
}
