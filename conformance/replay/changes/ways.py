"""The way back of each change that a recording may contain, by operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from conformance.spec.endpoints import (
    ACCOUNT,
    ACCOUNT_PASSWORD_RESET,
    ACCOUNT_STATUS,
    ACCOUNT_UPDATE,
    BACKUP_CODES_GENERATE,
    CHANNEL_ACTIVATE,
    CHANNEL_COMMAND_DEACTIVATE,
    CHANNEL_CREATE,
    CHANNEL_DEACTIVATE,
    CHANNEL_DELETE,
    CHANNEL_TYPE_CREATE,
    CHANNEL_TYPE_DELETE,
    CHANNEL_TYPE_DISABLE,
    CHANNEL_TYPE_ENABLE,
    CHANNEL_TYPE_UPDATE,
    CHANNEL_TYPES_QUERY,
    CHANNEL_UPDATE,
    CHANNELS_QUERY,
    CURRENCY_GRANT,
    CURRENCY_GRANT_REVOKE,
    INVITATION_ACCEPT,
    INVITATION_CANCEL,
    INVITATION_DECLINE,
    INVITE,
    IP_WHITELIST,
    IP_WHITELIST_DISABLE,
    IP_WHITELIST_ENABLE,
    IP_WHITELIST_SET,
    OTP_REVOKE,
    OTP_SETUP,
    OTP_VERIFY,
    PASSWORD_CHANGE,
    PASSWORD_INIT,
    PASSWORD_RESET,
    PROFILE,
    PROFILE_UPDATE,
    SESSIONS_CONFIG,
    SESSIONS_CONFIG_SET,
    SESSIONS_TERMINATE,
    SESSIONS_TERMINATE_ALL,
)
from conformance.traffic.exchange import Json

RESULT = "{result_id}"

PASSWORDS = frozenset({PASSWORD_CHANGE, PASSWORD_RESET, PASSWORD_INIT})
"""The operations by which an account gets another password of its own."""


@dataclass(frozen=True, slots=True)
class CreationUndo:
    """A record that ``key`` removes again; without a body the profile's is sent, else the record's id."""

    key: str
    body: Json = None


@dataclass(frozen=True, slots=True)
class SwitchUndo:
    """A state that ``key`` sets back. ``read`` shows it, at ``place`` of its record, as ``value`` once it is
    set: where it is so before, nothing changes."""

    key: str
    read: str
    place: str
    value: Json


@dataclass(frozen=True, slots=True)
class FieldsUndo:
    """Fields that the same operation sets back to what ``read`` shows; ``names`` are those that it shows
    under another name."""

    read: str
    names: Mapping[str, str] = field(default_factory=dict)


Undo = CreationUndo | SwitchUndo | FieldsUndo

UNDO: Mapping[str, Undo] = {
    CHANNEL_CREATE: CreationUndo(CHANNEL_DELETE),
    CHANNEL_TYPE_CREATE: CreationUndo(CHANNEL_TYPE_DELETE),
    INVITE: CreationUndo(
        INVITATION_CANCEL, {"invitationBizId": RESULT, "reason": "It was sent by a replay, which is over"}
    ),
    CURRENCY_GRANT: CreationUndo(CURRENCY_GRANT_REVOKE),
    CHANNEL_ACTIVATE: SwitchUndo(CHANNEL_DEACTIVATE, CHANNELS_QUERY, "channelStatus", "ACTIVE"),
    CHANNEL_DEACTIVATE: SwitchUndo(CHANNEL_ACTIVATE, CHANNELS_QUERY, "channelStatus", "INACTIVE"),
    CHANNEL_COMMAND_DEACTIVATE: SwitchUndo(CHANNEL_ACTIVATE, CHANNELS_QUERY, "channelStatus", "INACTIVE"),
    CHANNEL_TYPE_ENABLE: SwitchUndo(CHANNEL_TYPE_DISABLE, CHANNEL_TYPES_QUERY, "typeStatus.code", "ENABLED"),
    CHANNEL_TYPE_DISABLE: SwitchUndo(CHANNEL_TYPE_ENABLE, CHANNEL_TYPES_QUERY, "typeStatus.code", "DISABLED"),
    IP_WHITELIST_ENABLE: SwitchUndo(IP_WHITELIST_DISABLE, IP_WHITELIST, "enabled", True),
    IP_WHITELIST_DISABLE: SwitchUndo(IP_WHITELIST_ENABLE, IP_WHITELIST, "enabled", False),
    IP_WHITELIST_SET: FieldsUndo(IP_WHITELIST, {"ips": "entries"}),
    SESSIONS_CONFIG_SET: FieldsUndo(SESSIONS_CONFIG, {"maxConcurrentSessions": "maxSessions"}),
    PROFILE_UPDATE: FieldsUndo(PROFILE),
    ACCOUNT_UPDATE: FieldsUndo(ACCOUNT),
    ACCOUNT_STATUS: FieldsUndo(ACCOUNT, {"status": "accountStatus"}),
    CHANNEL_UPDATE: FieldsUndo(CHANNELS_QUERY),
    CHANNEL_TYPE_UPDATE: FieldsUndo(CHANNEL_TYPES_QUERY),
}
"""The changes that can be restored. A record that the replay itself created needs no other way back."""

REMOVALS = frozenset({CHANNEL_DELETE, CHANNEL_TYPE_DELETE, INVITATION_CANCEL, CURRENCY_GRANT_REVOKE})
"""The operations that remove a record: one of the replay's own is then restored, any other one is lost."""

OF_A_RECORD = REMOVALS | {INVITATION_DECLINE}
"""The operations by which a record ends: of one that the replay itself made, nothing is lost."""

NO_WAY_BACK: Mapping[str, str] = {
    BACKUP_CODES_GENERATE: "the account's earlier backup codes become invalid",
    OTP_SETUP: "the account gets another authenticator",
    OTP_VERIFY: "the account gets another authenticator",
    OTP_REVOKE: "the account loses its authenticator",
    SESSIONS_TERMINATE: "a session ends, and whoever uses it has to sign in again",
    SESSIONS_TERMINATE_ALL: "all sessions of the account end, and their users have to sign in again",
    INVITATION_ACCEPT: "an accepted invitation cannot be withdrawn",
    INVITATION_DECLINE: "a declined invitation cannot be renewed",
    ACCOUNT_PASSWORD_RESET: "the account's earlier password is not in the profile",
    **dict.fromkeys(sorted(REMOVALS), "a removed record cannot be created with its id again"),
}
"""The changes that nothing restores, and what they mean."""
