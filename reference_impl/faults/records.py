"""What holds within a record, and between answers that show it (chapter "Resources and their fields")."""

import zlib
from collections.abc import Callable
from typing import Any

from reference_impl.changes import Change, rewritten
from reference_impl.faults import operations as op
from reference_impl.faults.fault import Call, answered, objects, on_success, reported, served, turned
from reference_impl.faults.verbs import updated_before
from reference_impl.wrappers import Seen


def _where(operation: str, place: str, asks: Callable[[Seen], object], **wrong: Any) -> Change:
    """Successes report other values in these fields, where the request asks for something."""

    def rewriting(seen: Seen, data: Any) -> None:
        if asks(seen):
            for record in objects(data, place):
                record.update(wrong)

    return rewritten(on_success(rewriting), operation)


def _one_id(seen: Seen) -> object:
    return isinstance(seen.body, dict) and seen.body.get("bizId")


def _still_pending(item: dict[str, Any]) -> None:
    if item["invitationStatus"]["code"] == "ACCEPTED":
        item["invitationStatus"] |= {"code": "PENDING", "value": 10050301}


def _on_february_31(time: str) -> str:
    return f"{time[:5]}02-31{time[10:]}"


def _elsewhere(seen: Seen, data: Any) -> None:
    """Each invitation names a workspace beside its own."""
    workspaces = seen.portal.records["workspace"]
    for record in objects(data, "[]"):
        others = [each for id, each in workspaces.items() if id != record["workspaceBizId"]]
        record["workspaceName"] = others[0]["workspaceName"]


def _in_the_language_before(seen: Seen, data: Any) -> None:
    """A label is in the language that was asked for last."""
    language = seen.asked.headers.get("accept-language") or seen.memory.get("language")
    seen.memory["language"] = language
    if language not in (None, "en"):
        for record in objects(data, "[]"):
            record["roleType"] |= {"label": "役割"}


def _for_the_reader_before(call: Call) -> Any:
    """The answer to a second reader is kept, and given to the next."""
    data, id = call.run(), call.caller.account["bizId"]
    first = call.memory.setdefault("first", id)
    kept = call.memory.pop("kept", None)
    if id != first:
        call.memory["kept"] = data
    return kept if kept is not None and id == first else data


def _with_the_filter_before(call: Call) -> Any:
    """A filter that is left out is that of the query before."""
    name = call.body.get("name")
    if name is None:
        name = call.memory.pop("name", None)
    else:
        call.memory["name"] = name
    return call.run(name=name)


def _counted_otherwise_abroad(seen: Seen, data: Any) -> None:
    if seen.asked.headers.get("accept-language", "en") != "en":
        data["totalGenerated"] += 1


ROWS = {
    "AGREE-001 an-account-has-another-phone-for-the-admin": reported(
        op.ACCOUNT, "", accountPhone="+1 555 0199"
    ),
    "AGREE-003 the-current-workspace-is-of-another-zone": reported(
        op.CURRENT_WORKSPACE, "", workspaceTimezone="ASIA_SHANGHAI"
    ),
    "AGREE-004 invitations-by-state-have-another-inviter": _where(
        op.OWN_INVITATIONS, "[]", lambda seen: seen.asked.query.get("statuses"), inviterName="Somebody Else"
    ),
    "AGREE-005 a-channel-asked-for-by-id-has-another-port": _where(
        op.CHANNELS_QUERY, "items[].emailConfig", _one_id, smtpPort=2525
    ),
    "AGREE-006 a-type-asked-for-by-id-stands-elsewhere": _where(
        op.TYPES_QUERY, "items[]", _one_id, displayOrder=77
    ),
    "AGREE-007 orders-on-a-page-of-two-have-another-wallet": _where(
        op.ORDERS,
        "content[]",
        lambda seen: seen.asked.query.get("size") == ["2"],
        toWalletId="wallet-of-another",
    ),
    "AGREE-008 an-institution-has-a-name-for-each-reader": answered(
        op.INSTITUTION,
        lambda call, data: data | {"institutionName": f"Institution of {call.caller.account['accountName']}"},
    ),
    "AGREE-009 an-accepted-invitation-is-still-pending-for-its-sender": turned(
        op.INVITATIONS, "[]", _still_pending
    ),
    "AGREE-011 a-role-is-labelled-as-for-the-request-before": rewritten(
        on_success(_in_the_language_before), op.ROLES
    ),
    "AGREE-011 factors-are-those-of-the-reader-before": served(op.MFA, _for_the_reader_before),
    "AGREE-011 accounts-are-filtered-as-before": served(op.ACCOUNTS_QUERY, _with_the_filter_before),
    "HEADER-007 backup-codes-are-counted-by-language": rewritten(
        on_success(_counted_otherwise_abroad), op.BACKUP_CODES
    ),
    "RESOURCE-007 accounts-live-nowhere": reported(op.ACCOUNTS_QUERY, "accounts[]", defaultCountry="JX"),
    "RESOURCE-008 the-profile-is-of-no-zone": reported(op.PROFILE, "", defaultTimezone="ASIA_ATLANTIS"),
    "RESOURCE-009 the-profile-speaks-no-language": reported(op.PROFILE, "", defaultLanguage="qj"),
    "SESSION-004 a-login-on-february-31": reported(op.SESSIONS, "[]", loginTime=_on_february_31),
    "RESOURCE-002 roles-of-february-31": reported(op.ROLES, "[]", createdAt=_on_february_31),
    "RESOURCE-001 role-without-a-name": reported(op.ROLES, "[]", roleName=None),
    "RESOURCE-001 workspace-without-a-time-zone": reported(op.CURRENT_WORKSPACE, "", workspaceTimezone=None),
    "RESOURCE-003 institution-id-as-number": reported(
        op.INSTITUTION, "", bizId=lambda id: zlib.crc32(id.encode())
    ),
    "RESOURCE-004 workspace-updated-before-it-was-created": turned(op.CURRENT_WORKSPACE, "", updated_before),
    "AGREE-002 listed-roles-have-no-permission-codes": reported(op.ROLES, "[]", permissionCodes=[]),
    "AGREE-010 an-invitation-names-another-workspace": rewritten(
        on_success(_elsewhere), op.OWN_INVITATIONS, op.INVITATIONS
    ),
}
