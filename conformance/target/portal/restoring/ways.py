"""The way back of each change that a run or a replay makes, by operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from conformance.spec import endpoints as op
from conformance.traffic.exchange import Json

RESULT = "{result_id}"

PASSWORDS = frozenset({op.PASSWORD_CHANGE, op.PASSWORD_RESET, op.PASSWORD_INIT})
"""The operations by which an account gets another password of its own."""


@dataclass(frozen=True, slots=True)
class CreationUndo:
    """A record that ``key`` removes again. ``listing`` shows it among its ``items``, and by a name in the
    filter ``named``; ``out_of_use`` is called where none in use may be removed. ``body`` is what a replay
    sends; without one the profile's is sent, else the record's id."""

    key: str
    listing: str
    items: str = "data.items"
    named: str | None = None
    out_of_use: str | None = None
    body: Json = None


@dataclass(frozen=True, slots=True)
class CallUndo:
    """A change that ``key`` takes back, whatever was there before."""

    key: str


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


Undo = CreationUndo | CallUndo | SwitchUndo | FieldsUndo

UNDO: Mapping[str, Undo] = {
    op.CHANNEL_CREATE: CreationUndo(op.CHANNEL_DELETE, op.CHANNELS_QUERY, out_of_use=op.CHANNEL_DEACTIVATE),
    op.CHANNEL_TYPE_CREATE: CreationUndo(
        op.CHANNEL_TYPE_DELETE,
        op.CHANNEL_TYPES_QUERY,
        named="typeCode",
        out_of_use=op.CHANNEL_TYPE_DISABLE,
    ),
    op.INVITE: CreationUndo(
        op.INVITATION_CANCEL,
        op.INVITATIONS,
        "data",
        body={"invitationBizId": RESULT, "reason": "It was sent by a replay, which is over"},
    ),
    op.CURRENCY_GRANT: CreationUndo(op.CURRENCY_GRANT_REVOKE, op.CURRENCY_GRANTS, "data"),
    op.OTP_SETUP: CallUndo(op.OTP_REVOKE),
    op.CHANNEL_ACTIVATE: SwitchUndo(op.CHANNEL_DEACTIVATE, op.CHANNELS_QUERY, "channelStatus", "ACTIVE"),
    op.CHANNEL_DEACTIVATE: SwitchUndo(op.CHANNEL_ACTIVATE, op.CHANNELS_QUERY, "channelStatus", "INACTIVE"),
    op.CHANNEL_COMMAND_DEACTIVATE: SwitchUndo(
        op.CHANNEL_ACTIVATE, op.CHANNELS_QUERY, "channelStatus", "INACTIVE"
    ),
    op.CHANNEL_TYPE_ENABLE: SwitchUndo(
        op.CHANNEL_TYPE_DISABLE, op.CHANNEL_TYPES_QUERY, "typeStatus.code", "ENABLED"
    ),
    op.CHANNEL_TYPE_DISABLE: SwitchUndo(
        op.CHANNEL_TYPE_ENABLE, op.CHANNEL_TYPES_QUERY, "typeStatus.code", "DISABLED"
    ),
    op.IP_WHITELIST_ENABLE: SwitchUndo(op.IP_WHITELIST_DISABLE, op.IP_WHITELIST, "enabled", True),
    op.IP_WHITELIST_DISABLE: SwitchUndo(op.IP_WHITELIST_ENABLE, op.IP_WHITELIST, "enabled", False),
    op.IP_WHITELIST_SET: FieldsUndo(op.IP_WHITELIST, {"ips": "entries"}),
    op.SESSIONS_CONFIG_SET: FieldsUndo(op.SESSIONS_CONFIG, {"maxConcurrentSessions": "maxSessions"}),
    op.PROFILE_UPDATE: FieldsUndo(op.PROFILE),
    op.ACCOUNT_UPDATE: FieldsUndo(op.ACCOUNT),
    op.ACCOUNT_STATUS: FieldsUndo(op.ACCOUNT, {"status": "accountStatus"}),
    op.CHANNEL_UPDATE: FieldsUndo(op.CHANNELS_QUERY),
    op.CHANNEL_TYPE_UPDATE: FieldsUndo(op.CHANNEL_TYPES_QUERY),
}
"""The changes that can be restored. A record that a run or a replay created needs no other way back."""

CREATIONS: Mapping[str, CreationUndo] = {
    key: undo for key, undo in UNDO.items() if isinstance(undo, CreationUndo)
}

OF_THE_CALLER = frozenset({op.PROFILE, op.SESSIONS_CONFIG, op.IP_WHITELIST})
"""The endpoints that show what belongs to the account that asks, without an id."""

SHOWN_AT: Mapping[str, str] = {
    key: undo.read
    for key, undo in UNDO.items()
    if isinstance(undo, FieldsUndo) and undo.read in OF_THE_CALLER
}
"""Where fields of an account's own are read, by the operation that changes them."""


def undo_key(key: str) -> str:
    """The operation that takes a change back; fields are set back by the one that changed them."""
    undo = UNDO[key]
    return key if isinstance(undo, FieldsUndo) else undo.key


REMOVALS = frozenset(undo.key for undo in CREATIONS.values())
"""The operations that remove a record: one of the replay's own is then restored, any other one is lost."""

OF_A_RECORD = REMOVALS | {op.INVITATION_DECLINE}
"""The operations by which a record ends: of one that the replay itself made, nothing is lost."""

NO_WAY_BACK: Mapping[str, str] = {
    op.BACKUP_CODES_GENERATE: "the account's earlier backup codes become invalid",
    op.OTP_SETUP: "the account gets another authenticator",
    op.OTP_VERIFY: "the account gets another authenticator",
    op.OTP_REVOKE: "the account loses its authenticator",
    op.SESSIONS_TERMINATE: "a session ends, and whoever uses it has to sign in again",
    op.SESSIONS_TERMINATE_ALL: "all sessions of the account end, and their users have to sign in again",
    op.INVITATION_ACCEPT: "an accepted invitation cannot be withdrawn",
    op.INVITATION_DECLINE: "a declined invitation cannot be renewed",
    op.ACCOUNT_PASSWORD_RESET: "the account's earlier password is not in the profile",
    **dict.fromkeys(sorted(REMOVALS), "a removed record cannot be created with its id again"),
}
"""The changes of a replay that nothing restores, and what they mean."""
