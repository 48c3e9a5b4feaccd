"""The secure channel: keys, ciphers, bodies and sessions (N2, N3, N6)."""

from base64 import b64decode
from datetime import UTC, datetime
from typing import Any

from reference_impl.changes import chosen, data_rewritten, limited, refused_with, rewritten, row
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults import operations as op
from reference_impl.faults.fault import first, on_success
from reference_impl.portal import Caller, Portal, SecureKey
from reference_impl.shapes import Body
from reference_impl.variants.variant import enveloped, may, permitted
from reference_impl.wrappers import Answer, Seen


def _with_more_about_it(data: Any) -> Any:
    padding = {"hash": "SHA-256"}
    return data | {"algorithm": "RSA-OAEP-256", "expiresAt": 4_102_444_800_000, "padding": padding}


def _moving_fields(seen: Seen, data: Any) -> None:
    """Beside the key stands what is new with every call."""
    now = seen.portal.now()
    issued = datetime.fromtimestamp(now, UTC).isoformat()
    data |= {"serverTime": int(now * 1000), "nonce": seen.portal.draw.token(), "issuedAt": issued}


def _fresh_key_each_time(portal: Portal, caller: Caller, body: Body) -> None:
    portal.secure_keys.append(SecureKey(portal.new_id("key"), portal.now()))


def _keys_are_base64(portal: Portal, caller: Caller, body: Body) -> None:
    """The fields are validated before a key is looked up or decrypted."""
    for name in ("encReqKey", "encRespKey"):
        try:
            b64decode(body[name], validate=True)
        except ValueError:
            raise Refusal(INVALID) from None


def _closed_by_what_is_unreadable(seen: Seen, answer: Answer) -> None:
    session = seen.portal.secure_sessions.get(seen.asked.headers.get("x-secure-channel-session-id", ""))
    if session is not None and answer.body["code"] == INVALID:
        session.state = "CLOSED"


_UNKNOWN_SESSION = refused_with("SECURE_SESSION_UNKNOWN", code="SECURE_CHANNEL.SESSION_UNKNOWN", status=404)
_PASSWORDS = (op.RESET, op.INIT, op.CHANGE)

VARIANTS = permitted(
    "N2 and N6: the key's shape and the cipher are not shown",
    may("key-as-pem: public-key", chosen(public_key_format="pem", public_key_field="pem", key_id_field="id")),
    may(
        "key-as-jwk: public-key",
        chosen(public_key_format="jwk", public_key_field="jwk", key_id_field="jwk.kid"),
    ),
    may("key-with-more-about-it: public-key", data_rewritten(_with_more_about_it, op.PUBLIC_KEY)),
    may("pkcs1-padding: rsa", chosen(rsa_padding="pkcs1v15")),
    may("oaep-sha1: rsa", chosen(rsa_padding="oaep-sha1", mgf1="sha1")),
    may("oaep-sha256-with-mgf1-sha1: rsa", chosen(rsa_padding="oaep-sha256", mgf1="sha1")),
    may("cbc: aes", chosen(aes_mode="cbc", payload="iv+ciphertext")),
    may("cbc-with-the-iv-last: aes", chosen(aes_mode="cbc", payload="ciphertext+iv")),
    may("tag-before-ciphertext: aes", chosen(payload="iv+tag+ciphertext")),
    may("iv-last: aes", chosen(payload="ciphertext+tag+iv")),
    may(
        "sealed-objects: body-form aes public-key rsa responses",
        chosen(
            encrypted_body="object",
            aes_mode="cbc",
            payload="iv+ciphertext",
            public_key_format="jwk",
            responses="encrypted",
            rsa_padding="oaep-sha1",
            mgf1="sha1",
        ),
    ),
    "N2 and N6: whether RSA wraps the bytes of a key or its base64 text is not shown",
    may("keys-wrapped-as-text: rsa", chosen(wrapped_key="base64")),
    may("keys-wrapped-as-text-with-pkcs1: rsa", chosen(wrapped_key="base64", rsa_padding="pkcs1v15")),
    "N2: the shape of the public key is not shown",
    may("public-key-with-moving-fields: public-key", rewritten(on_success(_moving_fields), op.PUBLIC_KEY)),
    "how long a key of the secure channel lasts is not stated",
    may("another-public-key-each-time: public-key-lasts", first(op.PUBLIC_KEY, _fresh_key_each_time)),
    "the body is shown as a string whose content is an object",
    may("encrypted-objects: body-form", chosen(encrypted_body="object")),
    may("encrypted-strings-or-objects: body-form", chosen(encrypted_body="either")),
    "there is a key for responses",
    may("encrypted-answers: responses", chosen(responses="encrypted")),
    "bodies may be sent encrypted",
    may(
        "plain-passwords-too",
        *(row(operation, sealed=False) for operation in _PASSWORDS),
        departs="PASSWORD-019",
    ),
    # Sessions.
    "how long a secure-channel session lasts is not stated",
    may("short-secure-sessions", limited(secure_session=120.0)),
    "status and code are not shown",
    may("unknown-secure-session-404", _UNKNOWN_SESSION),
    "what a malformed body does to its session is not stated",
    may(
        "unreadable-body-closes-the-channel: channel-closed",
        enveloped(_closed_by_what_is_unreadable, *_PASSWORDS),
        _UNKNOWN_SESSION,
    ),
    "two codes are given for a body that breaks its rules",
    may("secure-channel-invalid-by-name: validation-code", chosen(secure_channel_invalid_code=INVALID)),
    "two codes are given for an invalid field",
    may(
        "refused-keys-by-the-general-code: refused-keys",
        refused_with("4000", code=INVALID),
        departs="SECURE-026 SECURE-027",
    ),
    may(
        "key-without-base64-is-an-invalid-field: refused-keys validation-code",
        first(op.SECURE_SESSION, _keys_are_base64),
        chosen(secure_channel_invalid_code=INVALID),
    ),
)
