"""What holds between the fields of a record, and of all records (chapter "Resources and their fields")."""

import zlib
from typing import Any

from reference_impl.faults.fault import fault, reported, reported_in_last, turned
from reference_impl.faults.operations import (
    ACCOUNTS_QUERY,
    CHANNELS_QUERY,
    CURRENT_WORKSPACE,
    HISTORY,
    INSTITUTION,
    ORDERS,
    OWN_INVITATIONS,
    PROFILE,
    ROLE,
    ROLES,
    SESSIONS,
    TYPES_QUERY,
)


def _in_the_far_east(value: str) -> str:
    """The time of day is UTC's, and the offset that of another zone."""
    return f"{value[:-1]}+08:00"


def _whole_seconds(value: str) -> str:
    return f"{value[:19]}Z"


def _updated_before(record: dict[str, Any]) -> None:
    record["updatedAt"] = "2019-01-01T00:00:00.000Z"


def _no_day(value: Any) -> Any:
    return value if value is None else f"{value[:5]}02-31{value[10:]}"


_NO_DAYS = (
    ("ACCOUNT-009", PROFILE, "", "createdAt", ""),
    ("SESSION-004", SESSIONS, "[]", "loginTime", ""),
    ("HISTORY-002", HISTORY, "items[]", "loginTime", "HISTORY-009 HISTORY-010"),
    ("INVITATION-011", OWN_INVITATIONS, "[]", "expiresAt", ""),
    ("CHANNEL-010", CHANNELS_QUERY, "items[]", "updatedAt", ""),
    ("ORDER-013", ORDERS, "content[]", "completedAt", ""),
    ("RESOURCE-002", ROLES, "[]", "createdAt", ""),
)
"""Times on a day that no year has."""

FAULTS = (
    *(
        fault(
            breaks,
            f"{breaks.lower()}-on-february-31",
            reported(operation, place, **{field: _no_day}),
            also=also,
        )
        for breaks, operation, place, field, also in _NO_DAYS
    ),
    fault("ACCOUNT-014", "account-times-of-another-zone", reported(PROFILE, "", createdAt=_in_the_far_east)),
    fault(
        "ACCOUNT-014",
        "last-account-of-another-zone",
        reported_in_last(ACCOUNTS_QUERY, "accounts[]", updatedAt=_in_the_far_east),
    ),
    fault(
        "ACCOUNT-043",
        "account-times-without-a-zone",
        reported(PROFILE, "", createdAt=lambda value: value[:-1]),
    ),
    fault(
        "ACCOUNT-015",
        "account-times-in-whole-seconds",
        reported(PROFILE, "", createdAt=_whole_seconds, updatedAt=_whole_seconds),
    ),
    fault(
        "ACCOUNT-016",
        "account-updated-before-it-was-created",
        turned(ACCOUNTS_QUERY, "accounts[]", _updated_before),
    ),
    fault("RESOURCE-001", "role-without-a-name", reported(ROLES, "[]", roleName=None)),
    fault(
        "RESOURCE-001",
        "workspace-without-a-time-zone",
        reported(CURRENT_WORKSPACE, "", workspaceTimezone=None),
    ),
    fault(
        "RESOURCE-002",
        "workspace-created-in-epoch-seconds",
        reported(CURRENT_WORKSPACE, "", createdAt=1767225600),
    ),
    fault(
        "RESOURCE-002",
        "type-updated-day-first",
        reported(TYPES_QUERY, "items[]", updatedAt="31/12/2026 10:00"),
    ),
    fault(
        "RESOURCE-003",
        "institution-id-as-number",
        reported(INSTITUTION, "", bizId=lambda id: zlib.crc32(id.encode())),
    ),
    fault(
        "RESOURCE-003",
        "workspace-of-a-role-as-number",
        reported(ROLE, "", workspaceBizId=lambda id: zlib.crc32(id.encode())),
    ),
    fault(
        "RESOURCE-004",
        "channel-updated-before-it-was-created",
        turned(CHANNELS_QUERY, "items[]", _updated_before),
    ),
    fault(
        "RESOURCE-004",
        "workspace-updated-before-it-was-created",
        turned(CURRENT_WORKSPACE, "", _updated_before),
    ),
)
