import pytest

from reference_impl.draw import Draw
from reference_impl.passwords import hashed
from reference_impl.tests.client import AUTH, INVALID, TOKEN_MISSING, Client, refusal_of

NEW = "A new password"


def test_a_hash_matches_its_password_only() -> None:
    kept = hashed("right password", Draw())

    assert kept.matches("right password")
    assert not kept.matches("wrong password")
    assert "right" not in repr(kept)


def test_forgot_answers_alike_for_known_and_unknown(client: Client) -> None:
    answers = [
        client.post(f"{AUTH}/password/forgot", {"email": email, "turnstileToken": client.portal.bot_token})
        for email in ("admin@example.test", "nobody@example.test")
    ]

    assert answers[0] == answers[1]
    assert answers[0]["success"] is True


@pytest.mark.parametrize(
    ("token", "told"), [("wrong", (403, "4030")), (None, INVALID), (1, INVALID), ("", (403, "4030"))]
)
def test_forgot_asks_for_the_bot_challenge(client: Client, token: object, told: tuple[int, str]) -> None:
    body = {"email": "admin@example.test", "turnstileToken": token}

    assert refusal_of(client.send(f"{AUTH}/password/forgot", body)) == told


@pytest.mark.parametrize("step", ["reset", "init"])
def test_a_mailed_code_sets_the_password(client: Client, step: str) -> None:
    body = {"email": "spare@example.test", "turnstileToken": client.portal.bot_token}
    client.post(f"{AUTH}/password/forgot", body)
    body = {
        "email": "spare@example.test",
        "code": client.newest_code("spare@example.test"),
        "newPassword": NEW,
    }
    channel = client.channel()

    assert channel.send(client, f"{AUTH}/password/{step}", body).status_code == 200
    assert client.initiate("spare").status_code == 401
    assert client.signed_in("spare", password=NEW).get("/web/v1/system/profile")["accountName"] == "Spare"
    assert refusal_of(channel.send(client, f"{AUTH}/password/{step}", body)) == INVALID


def test_a_wrong_code_sets_nothing(client: Client) -> None:
    body = {"email": "spare@example.test", "code": "000000", "newPassword": NEW}

    assert refusal_of(client.channel().send(client, f"{AUTH}/password/reset", body)) == INVALID
    assert client.initiate("spare").status_code == 200


def test_change_asks_for_the_old_password(client: Client) -> None:
    spare, channel, path = client.signed_in("spare"), client.channel(), f"{AUTH}/password/change"
    refused = channel.send(spare, path, {"oldPassword": "wrong password", "newPassword": NEW})

    assert refusal_of(refused) == INVALID
    assert client.initiate("spare").status_code == 200

    old = client.account("spare").password
    accepted = channel.send(spare, path, {"oldPassword": old, "newPassword": NEW})

    assert accepted.status_code == 200
    assert client.initiate("spare").status_code == 401
    assert client.initiate("spare", NEW).status_code == 200
    assert spare.get("/web/v1/system/security/sessions/config")["passwordChangedAt"] is not None


def test_change_needs_a_token(client: Client) -> None:
    refused = client.channel().send(client, f"{AUTH}/password/change", {})

    assert refusal_of(refused) == TOKEN_MISSING


def test_a_plain_body_is_refused_where_an_encrypted_one_is_due(client: Client) -> None:
    body = {"email": "spare@example.test", "code": "000000", "newPassword": NEW}
    channelled = client.but(X_Secure_Channel_Session_Id=client.channel().id)

    assert refusal_of(client.send(f"{AUTH}/password/reset", body)) == INVALID
    assert refusal_of(channelled.send(f"{AUTH}/password/reset", body)) == INVALID
