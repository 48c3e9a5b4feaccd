"""The public key, and sessions that are opened with it."""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping

import pytest

from cases.authentication.passwords import change, replaced_passwords
from cases.nobody import unknown_id
from cases.premises import answered, change_accepted, form, outcome, text
from conformance.cases import (
    ABSENT,
    HELD,
    INVALID_PARAMETER,
    OTHER_WRAPPINGS,
    Account,
    Channel,
    Comparison,
    Exchange,
    Json,
    Portal,
    Untestable,
    Verify,
    Wrapping,
    blocks,
    contradicts,
    equal,
    find_id,
    holds,
    is_error,
    is_invalid_parameter,
    is_success,
    mark,
    op,
    wrapped,
)


def close(portal: Portal, channel: Channel, *, headers: Mapping[str, str | None] | None = None) -> Exchange:
    """Closes as the profile says, else by the session's id; ``headers`` in place of the usual ones."""
    settings = portal.profile.operations.get(op.SECURE_SESSION_CLOSE)
    has_body = settings is not None and settings.body is not None
    body = (
        portal.operation_body(op.SECURE_SESSION_CLOSE, session_id=channel.session_id) if has_body else ABSENT
    )
    return portal.secure.close(body, channel=channel, headers=headers)


UNREADABLE = "4000"
OUTLIVING = 61
"""Which of the run's passwords is set: one that no other case takes."""


@mark.requirement(
    "SECURE-001", "SECURE-002", "SECURE-003", "SECURE-004", "SECURE-007", "SECURE-008", "SECURE-009",
    "SECURE-014", "SECURE-015", "SECURE-022", "SECURE-024", "VERSION-002",
)  # fmt: skip
def test_two_wrapped_keys_open_a_session_each_time(portal: Portal, verify: Verify) -> None:
    key = answered(portal.secure.public_key())
    verify("SECURE-003", is_success(key))
    _verify_key_id(portal, verify, key)

    channels = (_opened(portal, verify), _opened(portal, verify))
    ids = {
        portal.secure.found_key(answer).id for answer in (key, *(opened.key_exchange for opened in channels))
    }
    verify.observe("public-key-lasts", key, len(ids) == 1)
    for channel in channels:
        verify("SECURE-004", is_success(channel.exchange, channel.key_exchange))
        verify("SECURE-007", _returns_no_key(channel, channel.exchange))
        if (channel.expires_at or 0) > channel.exchange.time:
            # That it does not is judged by the target's own clock, where the answer tells it.
            verify("SECURE-009", HELD)
        verify.observe("rsa-padding", channel.exchange, portal.secure.how("rsa_padding"))


def _verify_key_id(portal: Portal, verify: Verify, key: Exchange) -> None:
    """Where the profile names the field, an id must be there or under a usual name, wherever in the answer;
    the shape is not shown (N2), but for a key and an id, which are no less than two values."""
    settings = portal.profile.secure_channel
    if not settings.is_pinned("key_id_field"):
        verify("SECURE-003", holds(key, "data", _may_hold_an_id(key.data), "a key id beside the key"))
    elif isinstance(key.data, dict | list):
        has_id = find_id(key.data, settings.key_id_field) is not None
        verify("SECURE-003", holds(key, f"data.{settings.key_id_field}", has_id, "a key id"))


OF_THE_KEY = frozenset(
    {"kty", "n", "e", "alg", "use", "key_ops", "ext", "algorithm", "format", "keySize", "size"}
)
"""What describes a key and is the same for many: members of a JWK (RFC 7517), and such."""

LONGEST_ID = 128
"""Characters from which a text is a key and no id."""


def _may_hold_an_id(data: Json, name: str = "") -> bool:
    """Whether some value in an answer may be a key's id: any short text or number, unless its name says
    something else, and a text that stands alone, as it may hold both."""
    if isinstance(data, dict):
        has_ids = any(any(letter.isdigit() for letter in key) for key in data)
        return has_ids or any(_may_hold_an_id(value, key) for key, value in data.items())
    if isinstance(data, list):
        return any(_may_hold_an_id(value, name) for value in data)
    if isinstance(data, bool) or not isinstance(data, str | int):
        return False
    moments = ("time", "expire", "created", "valid")
    is_moment = any(word in name.lower() for word in moments) or name.endswith("At")
    return name == "" or (name not in OF_THE_KEY and not is_moment and 0 < len(str(data)) <= LONGEST_ID)


def _opened(portal: Portal, verify: Verify) -> Channel:
    """A new channel. To refuse keys wrapped as the profile says contradicts the specification, unless keys
    that are wrapped otherwise are taken: then the profile is wrong."""
    try:
        return portal.secure.open()
    except Untestable:
        settings = portal.profile.secure_channel
        if settings.is_pinned("rsa_padding") and settings.is_pinned("mgf1"):
            refused = answered(portal.call(op.SECURE_SESSION, json=_body(portal)))
            for other in OTHER_WRAPPINGS:
                if portal.call(op.SECURE_SESSION, json=_body(portal, wrapping=other)).success:
                    raise Untestable(
                        f"the target takes keys that are wrapped by {other.rsa}, and [secure_channel] names "
                        f"{settings.rsa_padding}: leave rsa_padding and mgf1 out",
                        "configuration",
                    ) from None
            verify("SECURE-004", is_success(refused))
        raise


def _body(portal: Portal, *, length: int = 32, wrapping: Wrapping | None = None) -> dict[str, Json]:
    """A session asked for with keys of so many bytes, wrapped as before if not by this wrapping."""
    public_key = portal.secure.found_key(portal.secure.public_key())
    keys = [os.urandom(length), os.urandom(length)]
    request, response = (
        portal.secure.wrap(key, public_key) if wrapping is None else wrapped(key, public_key, wrapping)
        for key in keys
    )
    return {"keyId": public_key.id, "encReqKey": request, "encRespKey": response}


def _returns_no_key(channel: Channel, answer: Exchange) -> Comparison:
    """No AES key stands in an answer, in whatever encoding; a wrapped one is no key to anybody else."""
    shown = json.dumps(answer.envelope)
    for name, key in (("encReqKey", channel.request_key), ("encRespKey", channel.response_key)):
        if any(code in shown for code in blocks(key)):
            return contradicts(answer, "data", "no key", f"the key sent as {name}", "a key is returned")
    return HELD


REFUSED_FOR = [
    pytest.param("keyId", id="no-key-id", marks=mark.requirement("SECURE-010")),
    pytest.param("encReqKey", id="no-request-key", marks=mark.requirement("SECURE-011")),
    pytest.param("encRespKey", id="no-response-key", marks=mark.requirement("SECURE-012")),
]


@pytest.mark.parametrize("missing", REFUSED_FOR)
def test_a_session_is_not_opened_without_each_of_its_fields(
    portal: Portal, verify: Verify, missing: str
) -> None:
    body = _body_that_opened(portal)
    del body[missing]

    verify(verify.declared[0], equal(answered(portal.call(op.SECURE_SESSION, json=body)), "status", 400))


@mark.requirement("SECURE-005", "SECURE-026")
def test_an_unknown_key_id_opens_no_session(portal: Portal, verify: Verify) -> None:
    body = _body_that_opened(portal)
    refused = answered(portal.call(op.SECURE_SESSION, json=body | {"keyId": unknown_id(str(body["keyId"]))}))

    _verify_refusal(verify, refused, "SECURE-005", "SECURE-026")


def _wrapping_of_nothing(wrapped: str) -> str:
    """Bytes of the same number."""
    return b64encode(b"\0" + os.urandom(len(b64decode(wrapped)) - 1)).decode()


_DECRYPTED = mark.requirement("SECURE-006", "SECURE-027")
_VALIDATED = mark.requirement("SECURE-006")
UNREADABLE_KEYS = [
    pytest.param(_wrapping_of_nothing, id="wrapping-of-nothing", marks=_DECRYPTED),
    # The endpoint names its code for what cannot be decrypted; what is no base64 may be an invalid field.
    pytest.param(lambda wrapped: "%" + wrapped[1:], id="no-base64", marks=_VALIDATED),
    pytest.param(lambda wrapped: b64encode(b64decode(wrapped)[:16]).decode(), id="cut-off", marks=_DECRYPTED),
]


@pytest.mark.parametrize("name", ["encReqKey", "encRespKey"])
@pytest.mark.parametrize("changed", UNREADABLE_KEYS)
def test_a_key_that_cannot_be_decrypted_opens_no_session(
    portal: Portal, verify: Verify, name: str, changed: Callable[[str], str]
) -> None:
    """With the older padding a library may give random bytes for what is no key, so that an attacker learns
    nothing: now and then they have the length of a key. Hardly ever twice."""
    body = _body_that_opened(portal)
    refused = answered(portal.call(op.SECURE_SESSION, json=body | {name: changed(str(body[name]))}))
    if refused.success and portal.secure.how("rsa_padding") == "pkcs1v15":
        refused = answered(portal.call(op.SECURE_SESSION, json=body | {name: changed(str(body[name]))}))

    _verify_refusal(verify, refused, *verify.declared)


def _verify_refusal(verify: Verify, refused: Exchange, must: str, of_code: str | None = None) -> None:
    """Either code of an invalid field is a refusal; ``of_code`` is the rule that names one of them."""
    verify(must, is_invalid_parameter(refused))
    if of_code is not None and refused.code in INVALID_PARAMETER:
        verify(of_code, is_error(refused, UNREADABLE))


@mark.requirement("SECURE-032")
@mark.needs("accounts.spare", op.PASSWORD_CHANGE)
@mark.impact("disruptive")
def test_a_session_outlives_the_next_one(portal: Portal, verify: Verify, spare: Account) -> None:
    """Until it ends by its own time: a portal serves more than one client."""
    first = portal.secure.open()
    portal.secure.open()
    with replaced_passwords(portal, spare, op.PASSWORD_CHANGE, OUTLIVING) as (new,):
        done = change(portal, spare, new, channel=first)
        if done.success:
            verify("SECURE-032", HELD)
            return
        last = portal.secure.open()
        change_accepted(change(portal, spare, new, channel=last))
        verify("SECURE-032", is_success(done, first.exchange, last.exchange))


@mark.requirement("SECURE-023")
def test_keys_of_128_bits_are_answered_in_one_way(portal: Portal, verify: Verify) -> None:
    portal.secure.shared()
    answer = answered(portal.call(op.SECURE_SESSION, json=_body(portal, length=16)))

    verify.observe("short-aes-key", answer, outcome(answer))


@mark.requirement("SECURE-019")
def test_a_session_is_closed_in_one_way(portal: Portal, verify: Verify) -> None:
    closed = answered(close(portal, portal.secure.open()))

    verify.observe("session-close-answer", closed, form(closed.data) if closed.success else outcome(closed))


def _body_that_opened(portal: Portal) -> dict[str, Json]:
    """What opened a session before, so that nothing but what is changed in it can be refused."""
    channel = portal.secure.shared()
    text(channel.exchange, "data.sessionId")
    return dict(channel.exchange.request.json)
