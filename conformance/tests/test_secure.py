"""The secure channel opens as the profile says, and otherwise finds out what the target wants."""

from __future__ import annotations

import base64
import re
from datetime import timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from conformance.errors import Untestable
from conformance.spec.endpoints import PASSWORD_CHANGE, SECURE_SESSION
from conformance.target.portal import Portal
from conformance.target.portal.channel import ends_at
from conformance.target.portal.secure import SESSION_HEADER
from conformance.tests.reached import Played, answer, answering, connected, without
from conformance.tests.traffic import NOW, envelope
from conformance.tests.traffic import answer as answered
from conformance.traffic.exchange import ABSENT, Exchange
from reference_impl.choices import Choices

DEFAULT = without("secure_channel")


def test_a_channel_opens_and_tells_its_session_and_end_and_its_keys_are_secrets() -> None:
    with connected() as (portal, _, _running):
        channel = portal.secure.open()

        assert channel.session_id == channel.exchange.data["sessionId"]
        assert channel.expires_at is not None
        assert channel.expires_at > portal.clock.now()
        assert len(channel.request_key) == len(channel.response_key) == 32
        assert portal.secure.readings == {}
        for form in (base64.b64encode(channel.request_key).decode(), channel.response_key.hex()):
            assert re.fullmatch(r"\[aes-key-\d\]", portal.secrets.redact(form))


def change_password(portal: Portal, number: int = 1, *, old: str = "") -> Exchange:
    """The answer to a change of the spare account's password over the channel."""
    spare = portal.account("spare")
    body = {"oldPassword": old or spare.password, "newPassword": spare.next_password(number)}
    return portal.secure.post(PASSWORD_CHANGE, body, token=spare.token)


def test_a_password_is_changed_over_the_channel() -> None:
    with connected() as (portal, _, _running):
        spare = portal.account("spare")
        old, new = spare.password, spare.next_password(1)

        changed = change_password(portal)
        assert changed.success
        assert changed.plain is not None
        assert changed.plain.request == {"oldPassword": old, "newPassword": new}
        assert changed.request.header(SESSION_HEADER) is not None
        assert old not in str(changed.request.body)

        spare.password_changed_to(new)
        assert spare.fresh_sign_in().token


@pytest.mark.parametrize(
    "choices, readings",
    [
        ({}, {}),
        ({"key_id_field": "kid", "public_key_field": "key"}, ...),
        ({"public_key_format": "pem"}, ...),
        ({"public_key_format": "jwk"}, ...),
        ({"rsa_padding": "oaep-sha256", "mgf1": "sha1"}, {"mgf1": "sha1"}),
        ({"rsa_padding": "oaep-sha1", "mgf1": "sha1"}, ...),
        ({"rsa_padding": "pkcs1v15"}, ...),
        ({"encrypted_body": "object"}, {"body": "object"}),
        ({"responses": "encrypted"}, ...),
    ],
)
def test_what_the_profile_leaves_out_is_found_out(choices: dict[str, Any], readings: Any) -> None:
    """...: the readings are those choices."""
    with connected(edit=DEFAULT, choices=Choices(**choices)) as (portal, _, _running):
        changed = change_password(portal)

        assert changed.success
        assert portal.secure.readings == (choices if readings is ... else readings)


def test_what_the_profile_says_is_all_that_is_tried() -> None:
    pinned = '[secure_channel]\nrsa_padding = "pkcs1v15"\n\n'
    with connected(edit=lambda text: DEFAULT(text) + pinned) as (portal, exchanges, _):
        with pytest.raises(Untestable, match="no secure channel could be opened: HTTP 400, 4000") as caught:
            portal.secure.open()

        assert caught.value.fault_class == "configuration"
        assert (
            len([exchange for exchange in exchanges if exchange.request.method == "POST"]) == 2
        )  # its bytes, and their text


def test_a_refusal_of_what_the_body_says_is_not_taken_for_one_of_its_form() -> None:
    with connected(edit=DEFAULT) as (portal, exchanges, _):
        wrong = change_password(portal, old="not the password")

        assert not wrong.success
        assert portal.secure.readings == {}
        assert 1 <= len([exchange for exchange in exchanges if exchange.request.path.endswith("change")]) <= 2


def test_a_channel_is_shared_until_it_nears_its_end() -> None:
    with connected() as (portal, _, _running):
        first = portal.secure.shared()
        assert portal.secure.shared() is first

        portal.clock.wait(1795, "the channel to end")
        assert portal.secure.shared() is not first


def test_a_channel_that_serves_once_is_replaced_after_each_body() -> None:
    """As the portal calls it expired, in words of its own, only a new one tells that it was the channel."""
    with connected(faults=["a-used-secure-session-is-called-expired"]) as (portal, exchanges, _):
        spare = portal.account("spare")
        for number in (1, 2, 3):
            assert change_password(portal, number).success
            spare.password_changed_to(spare.next_password(number))

        refused = [each for each in exchanges if each.code == "SECURE_CHANNEL.SESSION_EXPIRED"]
        assert len(refused) == 1


def test_an_answer_without_a_key_says_where_to_say_it() -> None:
    portal = answering(Played(answer({"something": "else"})))

    with pytest.raises(Untestable, match=r"write \[secure_channel\] key_id_field"):
        portal.secure.open()


def test_a_failing_target_is_not_tried_with_every_padding() -> None:
    with connected() as (real, _, _running):
        key = answer(real.secure.public_key().data)
    played = Played(answer(status=500, code="5000"), **{"public-key": key})

    with pytest.raises(Untestable) as caught:
        answering(played).secure.open()

    assert caught.value.fault_class == "target"
    assert [request.method for request in played.asked].count("POST") == 1


@pytest.mark.parametrize(("is_moved", "lasts"), [(True, 1800.0), (False, 3 * 3600 + 1800.0)])
def test_the_date_of_a_web_server_says_nothing_of_a_clock_that_is_moved(is_moved: bool, lasts: float) -> None:
    """Where an answer shows no timestamp, its Date may be of a server that did not move its clock."""
    data = {"sessionId": "s", "expiresAt": int(NOW.timestamp() + 1800) * 1000}
    dated = {"Date": format_datetime(NOW - timedelta(hours=3), usegmt=True)}
    session = answered(SECURE_SESSION, body=envelope(data=data, timestamp=ABSENT), answered=dated)

    end = ends_at(session, is_moved=is_moved)

    assert end is not None
    assert abs(end - NOW.timestamp() - lasts) < 1
    with connected() as (portal, _, _running):
        assert portal.secure.open().is_moved
