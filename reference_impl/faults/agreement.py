"""Answers that are right each by itself and contradict another one (several chapters)."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from reference_impl.changes import Change, rewritten
from reference_impl.faults.fault import fault, objects, on_success, reported, turned
from reference_impl.faults.operations import (
    ACCOUNT,
    ACCOUNTS_QUERY,
    CHANNELS_QUERY,
    CURRENT_WORKSPACE,
    HISTORY,
    MY_WORKSPACES,
    ORDERS,
    OWN_INVITATIONS,
    PROFILE,
    PUBLIC_KEY,
    ROLE,
    ROLES,
    SESSIONS,
    TYPES_QUERY,
    constants,
)
from reference_impl.wrappers import Answer, Rewriting, Seen

INVITATION_STATUSES = constants("user-invitation-statuses")


def _where(operation: str, place: str, asks: Callable[[Seen], object], **wrong: Any) -> Change:
    """Successes report other values in these fields, where the request asks for something."""

    def rewriting(seen: Seen, data: Any) -> None:
        if asks(seen):
            for record in objects(data, place):
                record.update(wrong)

    return rewritten(on_success(rewriting), operation)


def _one_id(seen: Seen) -> object:
    return isinstance(seen.body, dict) and seen.body.get("bizId")


def _some_states(seen: Seen) -> object:
    return seen.asked.query.get("statuses")


def _two(seen: Seen) -> object:
    return seen.asked.query.get("size") == ["2"]


def _enveloped(**fields: Any) -> Rewriting:
    return lambda seen, answer: answer.body.update(fields)


def _created_by_its_update(record: dict[str, Any]) -> None:
    record["createdAt"] = record["updatedAt"]


def _newest_is_current(seen: Seen, data: Any) -> None:
    newest = max(data, key=lambda session: str(session["loginTime"]))
    for session in data:
        session["isCurrent"] = session is newest


def _value_of_declined(invitation: dict[str, Any]) -> None:
    status = invitation["invitationStatus"]
    if status["code"] == "CANCELLED":
        status["value"] = 10050303


def _another_value(item: dict[str, Any]) -> None:
    if item["code"] == "CANCELLED":
        item["value"] = 10050309


def _one_more(page: dict[str, Any]) -> None:
    if 0 < page["totalRecords"] < page["pageSize"]:
        page["totalRecords"] += 1


def _one_less_at_the_end(data: dict[str, Any]) -> None:
    if data["totalPages"] == 1 and len(data["accounts"]) > 1:
        del data["accounts"][-1]


def _older(seen: Seen, profile: dict[str, Any]) -> None:
    """The more time passes the longer ago the account was updated."""
    began = seen.memory.setdefault("began", seen.portal.now())
    updated = datetime.fromtimestamp(2 * began - seen.portal.now() - 3600, UTC)
    profile["updatedAt"] = f"{updated:%Y-%m-%dT%H:%M:%S}.000Z"


def _stamped_yesterday(seen: Seen, answer: Answer) -> None:
    answer.body["timestamp"] -= 86_400_000


FAULTS = (
    fault(
        "AGREE-001",
        "an-account-has-another-phone-for-the-admin",
        reported(ACCOUNT, "", accountPhone="+1 555 0199"),
    ),
    fault(
        "AGREE-001",
        "the-query-shows-another-zone-of-an-account",
        reported(ACCOUNTS_QUERY, "accounts[]", defaultTimezone="ASIA_SHANGHAI"),
    ),
    fault(
        "AGREE-002",
        "a-role-read-by-its-id-was-created-at-another-time",
        reported(ROLE, "", createdAt="2021-03-04T05:06:07.000Z"),
    ),
    fault(
        "AGREE-002",
        "listed-roles-were-updated-at-another-time",
        reported(ROLES, "[]", updatedAt="2026-01-02T03:04:05.000Z"),
    ),
    fault(
        "AGREE-003",
        "the-current-workspace-is-of-another-zone",
        reported(CURRENT_WORKSPACE, "", workspaceTimezone="ASIA_SHANGHAI"),
    ),
    fault(
        "AGREE-003",
        "my-workspaces-were-updated-at-another-time",
        reported(MY_WORKSPACES, "[]", updatedAt="2026-01-02T03:04:05.000Z"),
    ),
    fault(
        "AGREE-004",
        "invitations-by-state-have-another-inviter",
        _where(OWN_INVITATIONS, "[]", _some_states, inviterName="Somebody Else"),
    ),
    fault(
        "AGREE-005",
        "a-channel-asked-for-by-id-has-another-host",
        _where(CHANNELS_QUERY, "items[]", _one_id, channelHost="mx.example.test"),
    ),
    fault(
        "AGREE-005",
        "a-channel-asked-for-by-id-has-another-port",
        _where(CHANNELS_QUERY, "items[].emailConfig", _one_id, smtpPort=2525),
        also="CHANNEL-063 CHANNEL-064",
    ),
    fault(
        "AGREE-005",
        "a-channel-asked-for-by-id-shows-its-password",
        _where(CHANNELS_QUERY, "items[].emailConfig", _one_id, password="hunter-2-hunter"),
        also="CHANNEL-046 CHANNEL-064",
    ),
    fault(
        "AGREE-006",
        "a-type-asked-for-by-id-stands-elsewhere",
        _where(TYPES_QUERY, "items[]", _one_id, displayOrder=77),
    ),
    fault(
        "AGREE-007",
        "orders-on-a-page-of-two-have-another-wallet",
        _where(ORDERS, "content[]", _two, toWalletId="wallet-of-another"),
    ),
    # Versions, codes, counts and times.
    fault(
        "MODEL-001",
        "the-public-key-is-of-another-version",
        rewritten(_enveloped(version="2.4.0"), PUBLIC_KEY),
    ),
    fault(
        "MODEL-001", "refused-orders-are-of-another-version", rewritten(_enveloped(version="1.0.0"), ORDERS)
    ),
    fault(
        "MODEL-002",
        "cancelled-carries-the-value-of-declined",
        turned(OWN_INVITATIONS, "[]", _value_of_declined),
        also="MODEL-003 ENUM-009",
    ),
    fault(
        "MODEL-003",
        "listed-cancelled-has-a-value-of-its-own",
        turned(INVITATION_STATUSES, "[]", _another_value),
    ),
    fault("MODEL-004", "the-history-counts-one-more", turned(HISTORY, "pagination", _one_more)),
    fault(
        "MODEL-004", "the-last-page-of-accounts-lacks-one", turned(ACCOUNTS_QUERY, "", _one_less_at_the_end)
    ),
    fault(
        "MODEL-005",
        "the-profile-grows-older",
        rewritten(on_success(_older), PROFILE),
        also="AGREE-001 PROFILE-008",
    ),
    fault(
        "MODEL-009",
        "the-profile-is-created-by-its-update",
        turned(PROFILE, "", _created_by_its_update),
        also="AGREE-001 PROFILE-008 PROFILE-011",
    ),
    fault(
        "SESSION-035",
        "the-newest-session-is-the-current-one",
        rewritten(on_success(_newest_is_current), SESSIONS),
        also="SESSION-022",
    ),
    fault(
        "MODEL-006",
        "the-account-query-is-stamped-a-day-before",
        rewritten(_stamped_yesterday, ACCOUNTS_QUERY),
    ),
)
