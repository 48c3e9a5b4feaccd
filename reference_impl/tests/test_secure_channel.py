import base64
import json

import pytest

from reference_impl.choices import Choices
from reference_impl.draw import Draw
from reference_impl.limits import Limits
from reference_impl.sealing import Unreadable, open_body, seal
from reference_impl.tests.client import AUTH, INVALID, Client, data_of, refusal_of
from reference_impl.tests.conftest import Portals

SESSION = "/web/v1/secure-channel/session"
RESET = f"{AUTH}/password/reset"
INVALID_4000 = (400, "4000")


def test_a_session_tells_its_id_and_end_and_no_key(client: Client) -> None:
    channel = client.channel()

    assert channel.expires_at > client.portal.now() * 1000


def test_the_session_answers_in_its_own_version(client: Client) -> None:
    assert client.send(SESSION, {}).json()["version"] == "1.3.0"


@pytest.mark.parametrize("key_id", ["unknown", ""])
def test_an_unknown_key_id_is_invalid(client: Client, key_id: str) -> None:
    body = {"keyId": key_id, "encReqKey": "AAAA", "encRespKey": "AAAA"}

    assert refusal_of(client.send(SESSION, body)) == INVALID_4000


def test_an_expired_key_id_is_invalid(client: Client) -> None:
    key_id = client.get("/web/v1/secure-channel/public-key")["keyId"]
    client.advance(86_401)
    body = {"keyId": key_id, "encReqKey": "AAAA", "encRespKey": "AAAA"}

    assert refusal_of(client.send(SESSION, body)) == INVALID_4000
    assert client.get("/web/v1/secure-channel/public-key")["keyId"] != key_id


@pytest.mark.parametrize("wrapped", ["AAAA", "no base64", base64.b64encode(b"x" * 256).decode()])
def test_keys_that_cannot_be_decrypted_are_invalid(client: Client, wrapped: str) -> None:
    key_id = client.get("/web/v1/secure-channel/public-key")["keyId"]
    body = {"keyId": key_id, "encReqKey": wrapped, "encRespKey": wrapped}

    assert refusal_of(client.send(SESSION, body)) == INVALID_4000


@pytest.mark.parametrize("by_header", [True, False])
def test_a_closed_session_opens_nothing(client: Client, by_header: bool) -> None:
    channel = client.channel()
    closing = client.but(X_Secure_Channel_Session_Id=channel.id) if by_header else client
    data_of(closing.send(f"{SESSION}/close", {} if by_header else {"sessionId": channel.id}))

    assert refusal_of(channel.send(client, RESET, {})) == INVALID
    assert refusal_of(closing.send(f"{SESSION}/close", {"sessionId": channel.id})) == INVALID_4000


def test_an_expired_session_opens_nothing(portal_with: Portals) -> None:
    client = portal_with(limits=Limits(secure_session=5))
    channel = client.channel()
    client.advance(6)

    assert refusal_of(channel.send(client, RESET, {})) == INVALID


@pytest.mark.parametrize(
    "body",
    [
        "",
        "no JSON",
        "[]",
        json.dumps({"v": 2}),
        json.dumps({"v": 1, "p": "AAAA"}),
        json.dumps({"v": "2", "p": "AAAA"}),
        json.dumps({"v": 2, "p": 1}),
        json.dumps({"v": 2, "p": ""}),
        json.dumps({"v": 2, "p": "no base64"}),
        json.dumps({"v": 2, "p": base64.b64encode(b"x" * 99).decode()}),
        {"v": 2, "p": "AAAA"},
        [],
        1,
        None,
    ],
)
def test_a_malformed_encrypted_body_is_invalid(client: Client, body: object) -> None:
    channelled = client.but(X_Secure_Channel_Session_Id=client.channel().id)

    assert refusal_of(channelled.ask("POST", RESET, json=body)) == INVALID


def test_another_sessions_key_opens_nothing(client: Client) -> None:
    one, other = client.channel(), client.channel()
    other.id = one.id

    assert refusal_of(other.send(client, RESET, {})) == INVALID


def test_responses_may_be_encrypted(portal_with: Portals) -> None:
    client = portal_with(choices=Choices(responses="encrypted"))
    channel = client.channel()
    told = channel.opened(channel.send(client, RESET, {}).json())

    assert told["code"] == "VALIDATION.INVALID_PARAMETER"


def test_any_body_may_come_encrypted(client: Client) -> None:
    account = client.account("admin")
    body = {"email": account.email, "password": account.password}

    assert client.channel().send(client, f"{AUTH}/login/initiate", body).status_code == 200


@pytest.mark.parametrize("mode", ["gcm", "cbc"])
@pytest.mark.parametrize("payload", ["iv+ciphertext+tag", "tag+iv+ciphertext", "ciphertext+tag+iv"])
@pytest.mark.parametrize("form", ["string", "object"])
def test_what_is_sealed_can_be_opened(mode: str, payload: str, form: str) -> None:
    choices = Choices(aes_mode=mode, payload=payload, encrypted_body=form)  # type: ignore[arg-type]
    draw = Draw(1)
    key = draw.bytes(32)
    sealed = seal(b'{"a":1}', key, draw.bytes(16), choices)

    assert open_body(sealed, key, choices) == {"a": 1}
    with pytest.raises(Unreadable):
        open_body(sealed, draw.bytes(32), choices)
