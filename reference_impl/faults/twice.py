"""What is wrong only the second time, or with somebody else (several chapters)."""

from collections.abc import Callable
from typing import Any

from reference_impl.changes import Change, handled, moved, together
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults.fault import fault, first, then
from reference_impl.faults.operations import (
    BACKUP_CODES,
    CHANNEL_DEACTIVATE,
    CHANNEL_DELETE,
    COMPLETE,
    DISABLE_WHITELIST,
    ENABLE_WHITELIST,
    FORGOT,
    REVOKE,
    SECURE_CLOSE,
    SEND,
    SET_SESSION_CONFIG,
    SET_WHITELIST,
    TERMINATE,
    TYPE_DELETE,
    TYPE_DISABLE,
    TYPE_ENABLE,
    TYPE_UPDATE,
)
from reference_impl.passwords import hashed
from reference_impl.portal import Caller, MfaCode, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body

# The second time.


def _cooldown_begins_anew(portal: Portal, caller: Caller, body: Body) -> None:
    """With a send that is refused for it."""
    last = portal.mfa_codes.get(body["sessionId"])
    if last is not None and portal.now() < last.sent + portal.limits.mfa_cooldown:
        last.sent = portal.now()


def _another_code(portal: Portal, caller: Caller, body: Body) -> None:
    """A send that is refused for the cooldown makes another code, which nobody is mailed."""
    last = portal.mfa_codes.get(body["sessionId"])
    if last is not None and portal.now() < last.sent + portal.limits.mfa_cooldown:
        last.text = "mailed to nobody"


def _cooldown_without_a_code(portal: Portal, caller: Caller, body: Body) -> None:
    """A send by no method begins the cooldown before it is refused."""
    known = {code.value for code in portal.lists["user-mfa-methods"]}
    if body["method"] not in known and body["sessionId"] in portal.login_sessions:
        portal.mfa_codes[body["sessionId"]] = MfaCode("", expires=portal.now(), sent=portal.now())


def _mailed_once(handler: Handler) -> Handler:
    """The second code for a login session is sent nowhere."""
    mailed: set[str] = set()

    def sending(portal: Portal, caller: Caller, body: Body) -> Any:
        boxes = {to: list(mails) for to, mails in portal.outbox.items()}
        data = handler(portal, caller, body)
        if body["sessionId"] in mailed:
            portal.outbox.update(boxes)
        mailed.add(body["sessionId"])
        return data

    return sending


def _of_every_set(handler: Handler) -> Handler:
    """Codes of the sets before remain beside those of the last."""
    sets: dict[str, list[dict[str, Any]]] = {}

    def summing_up(portal: Portal, caller: Caller, body: Body) -> Any:
        data, codes = handler(portal, caller, body), portal.security(caller.account_id)["backupCodes"]
        own = sets.setdefault(caller.account_id, [])
        if codes and codes not in own:
            own.append(codes)
        return data | {"remainingCount": max(data["remainingCount"], sum(map(len, own)))}

    return summing_up


def _toggles(family: str, off: str, on: str, off_by: str, on_by: str) -> Change:
    """What is so already becomes the other by the verb that leads there."""
    return together(moved(family, off, off_by, on), moved(family, on, on_by, off))


# With somebody else.


def _of_everybody(*names: str) -> Callable[[Portal, Caller, Body], None]:
    """Settings of the caller become those of every account."""

    def spreading(portal: Portal, caller: Caller, body: Body) -> None:
        own = portal.security(caller.account_id)
        for security in portal.records["security"].values():
            security.update({name: own[name] for name in names})

    return spreading


def _one_more(handler: Handler) -> Handler:
    """A session more is let live than the account may have."""

    def completing(portal: Portal, caller: Caller, body: Body) -> Any:
        session = portal.login_sessions.get(body["sessionId"])
        security = portal.security(session.account_id) if session else {"maxSessions": 0}
        security["maxSessions"] += 1
        try:
            return handler(portal, caller, body)
        finally:
            security["maxSessions"] -= 1

    return completing


def _locked_until_reset(portal: Portal, caller: Caller, body: Body) -> None:
    account = portal.account_of(body["email"])
    if account is not None:
        portal.passwords[account["bizId"]] = hashed(portal.draw.token(), portal.draw)


def _all_closed(portal: Portal, caller: Caller, body: Body) -> None:
    for session in portal.secure_sessions.values():
        session.state = "CLOSED"


def _done_to_nobody(kind: str) -> Callable[[Handler], Handler]:
    """What is done to a record that nobody has succeeds."""

    def around(handler: Handler) -> Handler:
        def changing(portal: Portal, caller: Caller, body: Body) -> Any:
            return handler(portal, caller, body) if body["bizId"] in portal.records[kind] else None

        return changing

    return around


def _unknown_is_invalid(kind: str) -> Callable[[Portal, Caller, Body], None]:
    def refusing(portal: Portal, caller: Caller, body: Body) -> None:
        if body["bizId"] not in portal.records[kind]:
            raise Refusal(INVALID)

    return refusing


def _nobodys_session_ends(handler: Handler) -> Handler:
    def terminating(portal: Portal, caller: Caller, body: Body) -> Any:
        return handler(portal, caller, body) if body["sessionId"] in portal.sessions else None

    return terminating


FAULTS = (
    fault("LOGIN-083", "a-refused-send-begins-the-cooldown-anew", first(SEND, _cooldown_begins_anew)),
    fault("MODEL-014", "a-refused-send-makes-another-code", first(SEND, _another_code)),
    fault("LOGIN-087", "a-send-by-no-method-begins-the-cooldown", first(SEND, _cooldown_without_a_code)),
    fault("LOGIN-024", "a-second-code-is-not-mailed", handled(SEND, _mailed_once)),
    fault("BACKUP-003", "backup-codes-of-earlier-sets-remain", handled(BACKUP_CODES, _of_every_set)),
    fault(
        "CHANNELTYPE-028 CHANNELTYPE-029",
        "disabling-a-type-twice-enables-it",
        _toggles("channel type", "DISABLED", "ENABLED", "disable", "enable"),
        TYPE_DISABLE,
        TYPE_ENABLE,
    ),
    fault(
        "CHANNEL-049",
        "deactivating-a-channel-twice-activates-it",
        moved("channel", "INACTIVE", "deactivate", "ACTIVE"),
        CHANNEL_DEACTIVATE,
        also="CHANNEL-030 CHANNEL-031",
    ),
    fault(
        "IPWHITELIST-004",
        "enabling-the-whitelist-twice-disables-it",
        moved("ip whitelist", "ENABLED", "enable", "DISABLED"),
        ENABLE_WHITELIST,
    ),
    fault(
        "IPWHITELIST-005",
        "disabling-the-whitelist-twice-enables-it",
        moved("ip whitelist", "DISABLED", "disable", "ENABLED"),
        DISABLE_WHITELIST,
    ),
    fault("MODEL-010", "a-whitelist-is-everybodys", then(SET_WHITELIST, _of_everybody("whitelist"))),
    fault(
        "MODEL-010",
        "a-whitelist-is-enabled-for-everybody",
        then(ENABLE_WHITELIST, _of_everybody("whitelistState")),
    ),
    fault(
        "MODEL-010",
        "sessions-are-limited-for-everybody",
        then(SET_SESSION_CONFIG, _of_everybody("maxSessions")),
    ),
    fault("SESSION-041", "a-session-more-than-allowed", handled(COMPLETE, _one_more)),
    fault("PASSWORD-021", "a-forgotten-password-signs-in-no-more", then(FORGOT, _locked_until_reset)),
    fault("SECURE-035", "closing-one-channel-closes-all", then(SECURE_CLOSE, _all_closed)),
    fault("ERROR-022", "a-type-of-nobody-is-deleted", handled(TYPE_DELETE, _done_to_nobody("channel type"))),
    fault("ERROR-022", "a-channel-of-nobody-is-deleted", handled(CHANNEL_DELETE, _done_to_nobody("channel"))),
    fault("ERROR-022", "a-grant-of-nobody-is-revoked", handled(REVOKE, _done_to_nobody("currency grant"))),
    fault(
        "ERROR-022", "a-type-of-nobody-is-invalid", first(TYPE_UPDATE, _unknown_is_invalid("channel type"))
    ),
    fault("ERROR-022", "a-session-of-nobody-is-terminated", handled(TERMINATE, _nobodys_session_ends)),
)
