"""Answers that are right each by itself and contradict another one (several chapters)."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from reference_impl.changes import Change, rewritten
from reference_impl.faults.fault import objects, of, on_success, reported, turned
from reference_impl.faults.operations import (
    ACCOUNT,
    ACCOUNTS_QUERY,
    CHANNELS_QUERY,
    CURRENT_WORKSPACE,
    INSTITUTION,
    MY_WORKSPACES,
    ORDERS,
    OWN_INVITATIONS,
    PUBLIC_KEY,
    ROLE,
    ROLES,
    TYPES_QUERY,
    constants,
)
from reference_impl.wrappers import Answer, Rewriting, Seen


TYPE_STATUSES = constants("notification-channel-type-statuses")


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


def _in_service(workspace: dict[str, Any]) -> None:
    if workspace["workspaceStatus"]["code"] == "PENDING_REVIEW":
        workspace["workspaceStatus"]["code"] = "IN_REVIEW"


def _one_less_at_the_end(data: dict[str, Any]) -> None:
    if data["totalPages"] == 1 and len(data["accounts"]) > 1:
        del data["accounts"][-1]


def _older(seen: Seen, institution: dict[str, Any]) -> None:
    """With every minute that passes the record was updated two minutes earlier."""
    began = seen.memory.setdefault("began", seen.portal.now())
    updated = datetime.fromisoformat(institution["updatedAt"]) - timedelta(seconds=seen.portal.now() - began)
    institution["updatedAt"] = f"{updated:%Y-%m-%dT%H:%M:%S}.000Z"


def _first_stamp(seen: Seen, answer: Answer) -> None:
    answer.body["timestamp"] = seen.memory.setdefault("timestamp", answer.body["timestamp"])


FAULTS = (
    of(
        "AGREE-001",
        "an-account-has-another-phone-for-the-admin",
        ACCOUNT,
        apply=reported(ACCOUNT, "", accountPhone="+1 555 0199"),
    ),
    of(
        "AGREE-001",
        "the-query-shows-another-zone-of-an-account",
        ACCOUNTS_QUERY,
        apply=reported(ACCOUNTS_QUERY, "accounts[]", defaultTimezone="ASIA_SHANGHAI"),
    ),
    of(
        "AGREE-002",
        "a-role-read-by-its-id-was-created-at-another-time",
        ROLE,
        apply=reported(ROLE, "", createdAt="2021-03-04T05:06:07.000Z"),
    ),
    of(
        "AGREE-002",
        "listed-roles-were-updated-at-another-time",
        ROLES,
        apply=reported(ROLES, "[]", updatedAt="2026-01-02T03:04:05.000Z"),
    ),
    of(
        "AGREE-003",
        "the-current-workspace-is-of-another-zone",
        CURRENT_WORKSPACE,
        apply=reported(CURRENT_WORKSPACE, "", workspaceTimezone="ASIA_SHANGHAI"),
    ),
    of(
        "AGREE-003",
        "my-workspaces-were-updated-at-another-time",
        MY_WORKSPACES,
        apply=reported(MY_WORKSPACES, "[]", updatedAt="2026-01-02T03:04:05.000Z"),
    ),
    of(
        "AGREE-004",
        "invitations-by-state-have-another-inviter",
        OWN_INVITATIONS,
        apply=_where(OWN_INVITATIONS, "[]", _some_states, inviterName="Somebody Else"),
    ),
    of(
        "AGREE-005",
        "a-channel-asked-for-by-id-has-another-host",
        CHANNELS_QUERY,
        apply=_where(CHANNELS_QUERY, "items[]", _one_id, channelHost="mx.example.test"),
    ),
    of(
        "AGREE-006",
        "a-type-asked-for-by-id-stands-elsewhere",
        TYPES_QUERY,
        apply=_where(TYPES_QUERY, "items[]", _one_id, displayOrder=77),
    ),
    of(
        "AGREE-007",
        "orders-on-a-page-of-two-have-another-wallet",
        ORDERS,
        apply=_where(ORDERS, "content[]", _two, toWalletId="wallet-of-another"),
    ),
    # Versions, codes, counts and times.
    of(
        "MODEL-001",
        "the-public-key-is-of-another-version",
        PUBLIC_KEY,
        apply=rewritten(_enveloped(version="2.4.0"), PUBLIC_KEY),
    ),
    of(
        "MODEL-001",
        "refused-orders-are-of-another-version",
        ORDERS,
        apply=rewritten(_enveloped(version="1.0.0"), ORDERS),
    ),
    of(
        "MODEL-002",
        "one-workspace-is-called-active-otherwise",
        MY_WORKSPACES,
        apply=turned(MY_WORKSPACES, "[]", _in_service),
    ),
    of(
        "MODEL-003",
        "listed-types-of-channels-have-values-of-their-own",
        TYPE_STATUSES,
        apply=reported(TYPE_STATUSES, "[]", value=lambda value: value + 4000),
    ),
    of(
        "MODEL-004",
        "channels-count-one-more",
        CHANNELS_QUERY,
        apply=reported(CHANNELS_QUERY, "pagination", totalRecords=lambda total: total + 1),
    ),
    of(
        "MODEL-004",
        "the-last-page-of-accounts-lacks-one",
        ACCOUNTS_QUERY,
        apply=turned(ACCOUNTS_QUERY, "", _one_less_at_the_end),
    ),
    of(
        "MODEL-005",
        "the-institution-grows-older",
        INSTITUTION,
        apply=rewritten(on_success(_older), INSTITUTION),
    ),
    of(
        "MODEL-006",
        "the-account-query-is-stamped-with-its-first-answer",
        ACCOUNTS_QUERY,
        apply=rewritten(_first_stamp, ACCOUNTS_QUERY),
    ),
)
