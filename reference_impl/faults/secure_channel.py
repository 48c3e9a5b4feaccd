"""The secure channel (chapter "Secure channel")."""

import base64
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from starlette.types import Scope

from reference_impl import keys, sealing
from reference_impl.changes import Change, chosen, limited, moved, refused_with, together, wrapped
from reference_impl.errors import INVALID
from reference_impl.faults import operations as op
from reference_impl.faults.fault import (
    GONE,
    Call,
    answered,
    asked,
    first,
    optional,
    refusing,
    reported,
    served,
    then,
)
from reference_impl.faults.requests import SESSION_HEADER, AnyChannel, adding, names, rebodied
from reference_impl.portal import Caller, Portal, SecureKey, SecureSession
from reference_impl.shapes import Body


def _closed_by_its_use(portal: Portal, caller: Caller, body: Body) -> None:
    portal.secure_sessions[str(caller.secure_session_id)].state = "CLOSED"


def _opening(change: Callable[[Call, SecureSession], object]) -> Change:
    """A session that was opened is changed by a function, which may give other data to answer."""

    def serve(call: Call, data: Any) -> Any:
        return change(call, call.portal.secure_sessions[data["sessionId"]]) or data

    return answered(op.SECURE_SESSION, serve)


def _keys_swapped(call: Call, session: SecureSession) -> None:
    session.request_key, session.response_key = session.response_key, session.request_key


IV, TAG = 12, 16
Sealed = dict[str, Any]
Turning = Callable[[Sealed, SecureSession], Sealed]


def _opened(octets: bytes) -> Sealed:
    """The object of an encrypted body; nothing, where it is none."""
    with suppress(ValueError, TypeError):
        sealed = json.loads(json.loads(octets))
        return sealed if isinstance(sealed, dict) and isinstance(sealed.get("p"), str) else {}
    return {}


def _sealed_anew(sealed: Sealed, session: SecureSession) -> Sealed:
    """The tag is not looked at."""
    try:
        octets = base64.b64decode(sealed["p"], validate=True)
    except ValueError:
        return sealed
    iv, ciphertext = octets[:IV], octets[IV:-TAG]
    counter = modes.CTR(iv + (2).to_bytes(4, "big"))
    decryptor = Cipher(algorithms.AES(session.request_key), counter).decryptor()
    plain = decryptor.update(ciphertext) + decryptor.finalize()
    anew = iv + AESGCM(session.request_key).encrypt(iv, plain, None)
    return sealed | {"p": base64.b64encode(anew).decode()}


def _turned(turn: Turning) -> Change:
    """What is asked of a password change reaches the portal as its own clients would have sent it."""

    def change(scope: Scope, octets: bytes) -> bytes:
        portal: Portal = scope["app"].state.portal
        session, sealed = portal.secure_sessions.get(names(scope).get(SESSION_HEADER, "")), _opened(octets)
        return json.dumps(json.dumps(turn(sealed, session))).encode() if session and sealed else octets

    return rebodied(op.CHANGE, change)


def _with_its_keys(call: Call, data: Any) -> Any:
    session = call.portal.secure_sessions[data["sessionId"]]
    return data | {"requestKey": _base64(session.request_key), "responseKey": _base64(session.response_key)}


def _base64(octets: bytes) -> str:
    return base64.b64encode(octets).decode()


def _any_key_id(portal: Portal, caller: Caller, body: Body) -> None:
    portal.secure_keys.append(SecureKey(body["keyId"], portal.now()))


def _broken_keys_taken(call: Call) -> Any:
    """What cannot be decrypted is replaced by another key, as who hides a padding error."""
    replaced = dict(call.body)
    for name in ("encReqKey", "encRespKey"):
        try:
            sealing.unwrap(call.body[name], keys.rsa_key(), call.portal.choices)
        except sealing.Unreadable:
            replaced[name] = _wrapped(call.portal.draw.bytes(32))
    return call.run_with(replaced)


def _wrapped(key: bytes) -> str:
    """As the portal unwraps it by default."""
    digest = hashes.SHA256()
    by_default = padding.OAEP(mgf=padding.MGF1(digest), algorithm=digest, label=None)
    return _base64(keys.rsa_key().public_key().encrypt(key, by_default))


def _one_key_for_both(name: str, other: str) -> Change:
    """Opens a session with a single key: the other key replaces a missing key."""
    taken = asked(op.SECURE_SESSION, lambda body: body | {name: body.get(name) or body[other]})
    return together(optional(op.SECURE_SESSION, name, None), taken)


def _every_second_is_deaf(call: Call, session: SecureSession) -> None:
    """Of every second session the request key is lost."""
    call.memory["opened"] = call.memory.get("opened", 0) + 1
    if call.memory["opened"] % 2 == 0:
        session.request_key = call.portal.draw.bytes(32)


def _one_session(call: Call, session: SecureSession) -> Any:
    """The second session has the id of the first."""
    del call.portal.secure_sessions[session.id]
    session.id = call.memory.setdefault("id", session.id)
    call.portal.secure_sessions[session.id] = session
    return {"sessionId": session.id, "expiresAt": int(session.expires * 1000)}


def _others_closed(call: Call, session: SecureSession) -> None:
    for other in call.portal.secure_sessions.values():
        other.expires = session.expires if other is session else 0


def _all_closed(portal: Portal, caller: Caller, body: Body) -> None:
    for session in portal.secure_sessions.values():
        session.state = "CLOSED"


ROWS = {
    "SECURE-033 an-encrypted-channel-ends-a-minute-before-it-says": reported(
        op.SECURE_SESSION, "", expiresAt=lambda end: end + 60_000
    ),
    "SECURE-025 any-secure-session-opens-a-body": wrapped(
        lambda app: AnyChannel(app, exists=True), op.CHANGE
    ),
    "SECURE-036 a-used-secure-session-is-called-expired": together(
        chosen(secure_session_unknown_code="SECURE_CHANNEL.SESSION_EXPIRED"),
        then(op.CHANGE, _closed_by_its_use),
    ),
    "SECURE-034 the-two-keys-are-swapped": _opening(_keys_swapped),
    "SECURE-028 a-body-without-a-session-is-of-the-newest": adding(
        lambda scope, names: (
            {SESSION_HEADER: next(reversed(scope["app"].state.portal.secure_sessions), "")} | names
        ),
        op.CHANGE,
    ),
    "SECURE-029 a-body-without-a-version-is-opened": _turned(lambda sealed, session: {"v": 2} | sealed),
    "SECURE-030 a-body-of-any-version-is-opened": _turned(
        lambda sealed, session: sealed | ({"v": 2} if "v" in sealed else {})
    ),
    "SECURE-031 the-tag-is-not-looked-at": _turned(_sealed_anew),
    "SECURE-003 public-key-without-an-id": reported(op.PUBLIC_KEY, "", keyId=GONE),
    "SECURE-004 session-is-refused": refusing(op.SECURE_SESSION, "4000"),
    "SECURE-005 any-key-id-opens-a-session": first(op.SECURE_SESSION, _any_key_id),
    "SECURE-005 unknown-key-id-is-404": refused_with("4000", code="4040", status=404).at(op.SECURE_SESSION),
    "SECURE-026 SECURE-027 refused-keys-have-the-general-code": refused_with("4000", code=INVALID).at(
        op.SECURE_SESSION
    ),
    "SECURE-006 broken-keys-open-a-session": served(op.SECURE_SESSION, _broken_keys_taken),
    "SECURE-007 session-returns-the-keys-in-base64": answered(op.SECURE_SESSION, _with_its_keys),
    "SECURE-008 secure-session-expires-in-seconds": reported(
        op.SECURE_SESSION, "", expiresAt=lambda value: value // 1000
    ),
    "SECURE-009 secure-session-told-as-expired": reported(
        op.SECURE_SESSION, "", expiresAt=lambda value: value - 86_400_000
    ),
    "SECURE-010 session-without-key-id-is-taken": together(
        first(op.SECURE_SESSION, _any_key_id), optional(op.SECURE_SESSION, "keyId", "current")
    ),
    "SECURE-011 session-without-request-key-is-taken": _one_key_for_both("encReqKey", "encRespKey"),
    "SECURE-012 session-without-response-key-is-taken": _one_key_for_both("encRespKey", "encReqKey"),
    "SECURE-013 every-second-session-opens-no-body": _opening(_every_second_is_deaf),
    "SECURE-020 closed-session-still-opens-bodies": moved("secure session", "OPEN", "close", "OPEN").at(
        op.SECURE_CLOSE
    ),
    "SECURE-021 secure-session-never-expires": together(
        limited(secure_session=1e8),
        reported(op.SECURE_SESSION, "", expiresAt=lambda value: value - int(1e11) + 1_800_000),
    ),
    "SECURE-022 one-secure-session-for-all": _opening(_one_session),
    "SECURE-032 a-session-ends-with-the-next-one": _opening(_others_closed),
    "SECURE-035 closing-one-channel-closes-all": then(op.SECURE_CLOSE, _all_closed),
}
