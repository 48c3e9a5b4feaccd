"""The secure channel and what travels in it (chapters "Secure channel", "Authentication endpoints")."""

import base64
from collections.abc import Callable
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding

from reference_impl import keys, sealing
from reference_impl.changes import Change, handled, limited, moved, refused_with, rewritten, row, together
from reference_impl.errors import INVALID
from reference_impl.faults.fault import (
    GONE,
    asked,
    erring,
    fault,
    first,
    on_success,
    optional,
    refusing,
    renamed,
    reported,
)
from reference_impl.faults.operations import (
    CHANGE,
    FORGOT,
    INIT,
    PUBLIC_KEY,
    RESET,
    SECURE_CLOSE,
    SECURE_SESSION,
)
from reference_impl.passwords import Password
from reference_impl.portal import Caller, Portal, SecureKey
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.wrappers import Seen


def _newest(portal: Portal) -> Any:
    return next(reversed(portal.secure_sessions.values()))


def _keys_returned(coded: Callable[[bytes], str], *names: str) -> Callable[[Seen, Any], None]:
    """The answer holds AES keys under these names: the request key, then the response key."""

    def returning(seen: Seen, data: Any) -> None:
        session = _newest(seen.portal)
        data.update(zip(names, map(coded, (session.request_key, session.response_key)), strict=False))

    return returning


def _base64(octets: bytes) -> str:
    return base64.b64encode(octets).decode()


def _nested(seen: Seen, data: Any) -> None:
    data["keys"] = {"aes": [_base64(_newest(seen.portal).response_key)]}


def _any_key_id(portal: Portal, caller: Caller, body: Body) -> None:
    portal.secure_keys.append(SecureKey(body["keyId"], portal.now()))


def _broken_keys_taken(handler: Handler) -> Handler:
    """What cannot be decrypted is replaced by another key, as who hides a padding error."""

    def opening(portal: Portal, caller: Caller, body: Body) -> Any:
        replaced = dict(body)
        for name in ("encReqKey", "encRespKey"):
            try:
                sealing.unwrap(body[name], keys.rsa_key(), portal.choices)
            except sealing.Unreadable:
                replaced[name] = _wrapped(portal.draw.bytes(32))
        return handler(portal, caller, replaced)

    return opening


def _wrapped(key: bytes) -> str:
    """As the portal unwraps it by default."""
    digest = hashes.SHA256()
    by_default = padding.OAEP(mgf=padding.MGF1(digest), algorithm=digest, label=None)
    return _base64(keys.rsa_key().public_key().encrypt(key, by_default))


def _one_key_for_both(name: str, other: str) -> Change:
    """A session may be opened with one key only."""

    taken = asked(SECURE_SESSION, lambda body: body | {name: body.get(name) or body[other]})
    return together(optional(SECURE_SESSION, name, None), taken)


def _every_second_is_deaf(handler: Handler) -> Handler:
    """Of every second session the request key is lost."""
    opened: list[str] = []

    def opening(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        opened.append(data["sessionId"])
        if len(opened) % 2 == 0:
            portal.secure_sessions[data["sessionId"]].request_key = portal.draw.bytes(32)
        return data

    return opening


def _one_session(handler: Handler) -> Handler:
    """The second session has the id of the first."""
    first_id: list[str] = []

    def opening(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        session = portal.secure_sessions.pop(data["sessionId"])
        first_id.append(session.id)
        session.id = first_id[0]
        portal.secure_sessions[session.id] = session
        return data | {"sessionId": session.id}

    return opening


def _kept(handler: Handler) -> Handler:
    """The passwords are as they were before."""

    def pretending(portal: Portal, caller: Caller, body: Body) -> Any:
        before: dict[str, Password] = dict(portal.passwords)
        data = handler(portal, caller, body)
        portal.passwords.clear()
        portal.passwords.update(before)
        return data

    return pretending


class _Both:
    """The old password and the new one."""

    def __init__(self, *passwords: Any) -> None:
        self.passwords = passwords

    def matches(self, plain: str) -> bool:
        return any(password.matches(plain) for password in self.passwords)


def _added(handler: Handler) -> Handler:
    """The new password is accepted beside the old one."""

    def adding(portal: Portal, caller: Caller, body: Body) -> Any:
        before = dict(portal.passwords)
        data = handler(portal, caller, body)
        for account, new in portal.passwords.items():
            if before.get(account) is not new and account in before:
                portal.passwords[account] = _Both(before[account], new)  # type: ignore[assignment]
        return data

    return adding


def _unchecked(portal: Portal, caller: Caller, body: Body) -> None:
    """The current password is taken for right, whatever it is."""
    portal.passwords[caller.account_id] = _Anything()  # type: ignore[assignment]


class _Anything:
    def matches(self, plain: str) -> bool:
        return True


def _known_addresses_told(seen: Seen, data: Any) -> None:
    if seen.portal.account_of(seen.body["email"]) is None:
        data["message"] = "No account has this address."


def _known_addresses_succeed(seen: Seen, data: Any) -> None:
    data["success"] = seen.portal.account_of(seen.body["email"]) is not None


FAULTS = (
    # The session.
    fault("SECURE-003", "public-key-without-an-id", reported(PUBLIC_KEY, "", keyId=GONE)),
    fault("SECURE-004", "session-is-refused", refusing(SECURE_SESSION, "4000")),
    fault("SECURE-005", "any-key-id-opens-a-session", first(SECURE_SESSION, _any_key_id)),
    fault(
        "SECURE-005",
        "unknown-key-id-is-404",
        refused_with("4000", code="4040", status=404),
        SECURE_SESSION,
        also="SECURE-006",
    ),
    fault(
        "SECURE-026 SECURE-027",
        "refused-keys-have-the-general-code",
        refused_with("4000", code=INVALID),
        SECURE_SESSION,
    ),
    fault("SECURE-006", "broken-keys-open-a-session", handled(SECURE_SESSION, _broken_keys_taken)),
    fault(
        "ERROR-008",
        "code-4000-is-422",
        refused_with("4000", status=422),
        SECURE_SESSION,
        also="SECURE-005 SECURE-006",
    ),
    fault(
        "SECURE-007",
        "session-returns-the-keys-in-base64",
        rewritten(on_success(_keys_returned(_base64, "requestKey", "responseKey")), SECURE_SESSION),
    ),
    fault(
        "SECURE-007",
        "session-returns-the-response-key-in-hex",
        rewritten(on_success(_keys_returned(bytes.hex, "k")), SECURE_SESSION),
    ),
    fault("SECURE-007", "session-returns-a-key-in-a-list", rewritten(on_success(_nested), SECURE_SESSION)),
    fault(
        "SECURE-008",
        "secure-session-expires-in-seconds",
        reported(SECURE_SESSION, "", expiresAt=lambda value: value // 1000),
    ),
    fault(
        "SECURE-009",
        "secure-session-told-as-expired",
        reported(SECURE_SESSION, "", expiresAt=lambda value: value - 86_400_000),
    ),
    fault(
        "SECURE-010",
        "session-without-key-id-is-taken",
        together(first(SECURE_SESSION, _any_key_id), optional(SECURE_SESSION, "keyId", "current")),
        also="SECURE-005",
    ),
    fault("SECURE-011", "session-without-request-key-is-taken", _one_key_for_both("encReqKey", "encRespKey")),
    fault(
        "SECURE-012", "session-without-response-key-is-taken", _one_key_for_both("encRespKey", "encReqKey")
    ),
    fault("SECURE-013", "every-second-session-opens-no-body", handled(SECURE_SESSION, _every_second_is_deaf)),
    fault(
        "SECURE-020",
        "closed-session-still-opens-bodies",
        moved("secure session", "OPEN", "close", "OPEN"),
        SECURE_CLOSE,
    ),
    fault(
        "SECURE-021",
        "secure-session-never-expires",
        together(
            limited(secure_session=1e8),
            reported(SECURE_SESSION, "", expiresAt=lambda value: value - int(1e11) + 1_800_000),
        ),
    ),
    fault("SECURE-022", "one-secure-session-for-all", handled(SECURE_SESSION, _one_session)),
    # Passwords.
    fault(
        "PASSWORD-003", "forgot-tells-unknown-addresses", rewritten(on_success(_known_addresses_told), FORGOT)
    ),
    fault(
        "PASSWORD-003",
        "forgot-succeeds-for-known-addresses-only",
        rewritten(on_success(_known_addresses_succeed), FORGOT),
    ),
    fault("PASSWORD-004", "forgot-asks-for-no-challenge", row(FORGOT, bot="")),
    fault(
        "PASSWORD-006", "forgot-without-email-is-answered", optional(FORGOT, "email", "nobody@example.test")
    ),
    fault("PASSWORD-007 PASSWORD-008", "changed-password-does-not-stick", handled(CHANGE, _kept)),
    fault("PASSWORD-008", "old-password-outlives-its-change", handled(CHANGE, _added)),
    fault("PASSWORD-009 PASSWORD-010", "reset-password-does-not-stick", handled(RESET, _kept)),
    fault("PASSWORD-010", "old-password-outlives-its-reset", handled(RESET, _added)),
    fault("PASSWORD-011", "initialized-password-does-not-stick", handled(INIT, _kept)),
    fault("PASSWORD-019", "reset-takes-plain-bodies", row(RESET, sealed=False)),
    fault(
        "PASSWORD-012",
        "reset-refuses-a-malformed-body-as-unknown",
        renamed(RESET, INVALID, "RESOURCE.NOT_FOUND"),
        also="PASSWORD-019",
    ),
    fault(
        "PASSWORD-013",
        "init-refuses-a-malformed-body-as-unknown",
        renamed(INIT, INVALID, "RESOURCE.NOT_FOUND"),
        also="PASSWORD-019",
    ),
    fault(
        "PASSWORD-014",
        "change-refuses-a-malformed-body-with-422",
        together(erring("UNREADABLE", "BODY.UNREADABLE", 422), renamed(CHANGE, INVALID, "UNREADABLE")),
        also="PASSWORD-019",
    ),
    fault("PASSWORD-017", "current-password-is-not-checked", first(CHANGE, _unchecked)),
)
