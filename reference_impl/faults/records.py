"""What holds between the fields of a record, and of all records (chapter "Resources and their fields")."""

import zlib
from typing import Any

from reference_impl.faults.fault import of, reported, reported_in_last, turned
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
        of(
            breaks,
            f"{breaks.lower()}-on-february-31",
            operation,
            apply=reported(operation, place, **{field: _no_day}),
            also=also,
        )
        for breaks, operation, place, field, also in _NO_DAYS
    ),
    of(
        "ACCOUNT-014",
        "account-times-of-another-zone",
        PROFILE,
        apply=reported(PROFILE, "", createdAt=_in_the_far_east),
    ),
    of(
        "ACCOUNT-014",
        "last-account-of-another-zone",
        ACCOUNTS_QUERY,
        apply=reported_in_last(ACCOUNTS_QUERY, "accounts[]", updatedAt=_in_the_far_east),
    ),
    of(
        "ACCOUNT-043",
        "account-times-without-a-zone",
        PROFILE,
        apply=reported(PROFILE, "", createdAt=lambda value: value[:-1]),
    ),
    of(
        "ACCOUNT-015",
        "account-times-in-whole-seconds",
        PROFILE,
        apply=reported(PROFILE, "", createdAt=_whole_seconds, updatedAt=_whole_seconds),
    ),
    of(
        "ACCOUNT-016",
        "account-updated-before-it-was-created",
        ACCOUNTS_QUERY,
        apply=turned(ACCOUNTS_QUERY, "accounts[]", _updated_before),
    ),
    of("RESOURCE-001", "role-without-a-name", ROLES, apply=reported(ROLES, "[]", roleName=None)),
    of(
        "RESOURCE-001",
        "workspace-without-a-time-zone",
        CURRENT_WORKSPACE,
        apply=reported(CURRENT_WORKSPACE, "", workspaceTimezone=None),
    ),
    of(
        "RESOURCE-002",
        "workspace-created-in-epoch-seconds",
        CURRENT_WORKSPACE,
        apply=reported(CURRENT_WORKSPACE, "", createdAt=1767225600),
    ),
    of(
        "RESOURCE-002",
        "type-updated-day-first",
        TYPES_QUERY,
        apply=reported(TYPES_QUERY, "items[]", updatedAt="31/12/2026 10:00"),
    ),
    of(
        "RESOURCE-003",
        "institution-id-as-number",
        INSTITUTION,
        apply=reported(INSTITUTION, "", bizId=lambda id: zlib.crc32(id.encode())),
    ),
    of(
        "RESOURCE-003",
        "workspace-of-a-role-as-number",
        ROLE,
        apply=reported(ROLE, "", workspaceBizId=lambda id: zlib.crc32(id.encode())),
    ),
    of(
        "RESOURCE-004",
        "channel-updated-before-it-was-created",
        CHANNELS_QUERY,
        apply=turned(CHANNELS_QUERY, "items[]", _updated_before),
    ),
    of(
        "RESOURCE-004",
        "workspace-updated-before-it-was-created",
        CURRENT_WORKSPACE,
        apply=turned(CURRENT_WORKSPACE, "", _updated_before),
    ),
)
