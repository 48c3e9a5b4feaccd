"""The channel through which bodies may travel encrypted (chapter "Secure channel")."""

from typing import Any

from reference_impl import keys, sealing
from reference_impl.errors import Refusal
from reference_impl.portal import Caller, Portal, SecureKey, SecureSession
from reference_impl.shapes import Body


def public_key(portal: Portal, caller: Caller, body: Body) -> Any:
    choices = portal.choices
    data: dict[str, Any] = {
        choices.public_key_field: sealing.public_key(keys.rsa_key(), choices.public_key_format),
        "algorithm": "RSA",
        "keySize": keys.rsa_key().key_size,
    }
    *within, name = choices.key_id_field.split(".")
    place = data[within[0]] if within else data
    place[name] = _current_key(portal).id
    return data


def session(portal: Portal, caller: Caller, body: Body) -> Any:
    now = portal.now()
    if not any(key.id == body["keyId"] for key in _valid_keys(portal)):
        raise Refusal("4000")
    try:
        request_key, response_key = (
            sealing.unwrap(body[name], keys.rsa_key(), portal.choices) for name in ("encReqKey", "encRespKey")
        )
    except sealing.Unreadable:
        raise Refusal("4000") from None
    created = SecureSession(
        portal.new_id("secure session"), request_key, response_key, now + portal.limits.secure_session
    )
    portal.secure_sessions[created.id] = created
    return {"sessionId": created.id, "expiresAt": int(created.expires * 1000)}


def close(portal: Portal, caller: Caller, body: Body) -> Any:
    session = open_session(portal, body.get("sessionId") or caller.secure_session_id)
    session.state = portal.next_state("secure session", session.state, "close") or session.state


def open_session(portal: Portal, id: str | None) -> SecureSession:
    """Raises Refusal where it is unknown, expired or closed."""
    session = portal.secure_sessions.get(id or "")
    if session is None or session.expires <= portal.now():
        raise Refusal("SECURE_SESSION_UNKNOWN")
    if portal.next_state("secure session", session.state, "use") is None:
        raise Refusal("SECURE_SESSION_UNKNOWN")
    return session


def _valid_keys(portal: Portal) -> list[SecureKey]:
    oldest = portal.now() - portal.limits.secure_key
    portal.secure_keys[:] = [key for key in portal.secure_keys if key.created > oldest]
    return portal.secure_keys


def _current_key(portal: Portal) -> SecureKey:
    """A key id is handed out for the first half of its life, so that none expires on its way back."""
    valid, now = _valid_keys(portal), portal.now()
    if not valid or valid[-1].created <= now - portal.limits.secure_key / 2:
        valid.append(SecureKey(portal.new_id("key"), now))
    return valid[-1]
