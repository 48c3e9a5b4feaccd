import jwt
import pytest

from reference_impl.choices import Choices
from reference_impl.limits import Limits
from reference_impl.tests.client import (
    AUTH,
    INVALID,
    METHODS,
    SESSION_NOT_FOUND,
    TOKEN_INVALID,
    TOKEN_MISSING,
    WRONG_CODE,
    Client,
    data_of,
    refusal_of,
)
from reference_impl.tests.conftest import Portals

PROFILE = "/web/v1/system/profile"
LOGIN = (401, "AUTH.INVALID_CREDENTIALS")
COOLDOWN = (429, "AUTH.MFA_SEND_COOLDOWN")


@pytest.fixture
def session(client: Client) -> str:
    return str(data_of(client.initiate("admin"))["sessionId"])


@pytest.mark.parametrize("method", ["EMAIL", "OTP"])
def test_either_factor_signs_in(client: Client, method: str) -> None:
    signed_in = client.signed_in("admin", method)

    assert signed_in.get(PROFILE)["accountEmail"] == "admin@example.test"


def test_initiate_names_the_factors_and_the_lifetime(client: Client) -> None:
    answer = data_of(client.initiate("admin"))

    assert [(method["code"], method["value"]) for method in answer["mfaMethods"]] == list(METHODS.items())
    assert answer["expiresIn"] == 300
    assert (answer["accountStatus"], answer["pendingApproval"]) == (None, False)


@pytest.mark.parametrize("email", ["admin@example.test", "nobody@example.test", "no address"])
def test_wrong_credentials_are_told_alike(client: Client, email: str) -> None:
    refused = client.send(f"{AUTH}/login/initiate", {"email": email, "password": "wrong password"})

    assert refusal_of(refused) == LOGIN


def test_the_eleventh_initiation_in_a_window_is_refused(client: Client) -> None:
    let_through = [client.initiate("admin").status_code for _ in range(10)]
    refused = client.initiate("admin")

    assert let_through == [200] * 10
    assert refusal_of(refused) == (429, "RATE_LIMIT.EXCEEDED")
    assert 1 <= int(refused.headers["Retry-After"]) <= 60

    client.advance(61)

    assert client.initiate("admin").status_code == 200


def test_each_address_has_a_window_of_its_own(client: Client) -> None:
    first = client.but(CF_Connecting_IP="192.0.2.1")
    second = client.but(CF_Connecting_IP="192.0.2.2")
    for _ in range(11):
        last = first.initiate("admin")

    assert last.status_code == 429
    assert second.initiate("admin").status_code == 200


def test_a_code_cannot_be_sent_again_during_the_cooldown(client: Client, session: str) -> None:
    body = {"sessionId": session, "method": METHODS["EMAIL"]}
    sent = client.post(f"{AUTH}/login/mfa/send", body)
    early = client.send(f"{AUTH}/login/mfa/send", body)

    assert sent == {"sent": True, "cooldownSeconds": 60, "codeExpiresIn": 300}
    assert refusal_of(early) == COOLDOWN

    client.advance(60)

    assert client.send(f"{AUTH}/login/mfa/send", body).status_code == 200


def test_a_code_is_sent_only_by_mail(client: Client, session: str) -> None:
    body = {"sessionId": session, "method": METHODS["OTP"]}

    assert refusal_of(client.send(f"{AUTH}/login/mfa/send", body)) == INVALID


def test_a_wrong_code_leaves_the_session_valid(client: Client, session: str) -> None:
    code = client.code("admin", session, "EMAIL")
    refused = client.complete(session, "EMAIL", f"{(int(code) + 1) % 10**6:06d}")

    assert refusal_of(refused) == WRONG_CODE

    assert client.complete(session, "EMAIL", code).status_code == 200


def test_a_login_session_serves_once(client: Client, session: str) -> None:
    data_of(client.complete(session, "EMAIL", client.code("admin", session, "EMAIL")))
    again = client.complete(session, "OTP", client.code("admin", session, "OTP"))

    assert refusal_of(again) == SESSION_NOT_FOUND


def test_an_authenticator_code_serves_once(client: Client) -> None:
    sessions = [data_of(client.initiate("admin"))["sessionId"] for _ in range(2)]
    code = client.code("admin", sessions[0], "OTP")

    assert client.complete(sessions[0], "OTP", code).status_code == 200
    assert refusal_of(client.complete(sessions[1], "OTP", code)) == WRONG_CODE


def test_a_login_session_ends_with_its_lifetime(client: Client, session: str) -> None:
    client.advance(301)

    assert refusal_of(client.complete(session, "OTP", "000000")) == SESSION_NOT_FOUND


def test_a_code_ends_before_a_longer_session(portal_with: Portals) -> None:
    client = portal_with(limits=Limits(login_session=900))
    session = data_of(client.initiate("admin"))["sessionId"]
    code = client.code("admin", session, "EMAIL")
    client.advance(301)

    assert refusal_of(client.complete(session, "EMAIL", code)) == WRONG_CODE


def test_an_unknown_session_is_not_found(client: Client) -> None:
    assert refusal_of(client.complete("unknown", "OTP", "000000")) == SESSION_NOT_FOUND


def test_a_method_the_account_lacks_is_invalid(client: Client) -> None:
    session = data_of(client.initiate("spare"))["sessionId"]

    assert refusal_of(client.complete(session, "OTP", "000000")) == INVALID


def test_the_access_token_carries_no_profile(client: Client) -> None:
    token = client.signed_in().headers["Authorization"].removeprefix("Bearer ")
    claims = jwt.decode(token, options={"verify_signature": False})

    assert set(claims) == {"sub", "jti", "sid", "iat", "exp", "portal"}
    assert claims["exp"] - claims["iat"] == 3600


def test_a_pending_account_is_told_so_and_may_do_nothing(client: Client) -> None:
    answer = data_of(client.initiate("pending"))

    assert answer["pendingApproval"] is True
    assert answer["accountStatus"]["code"] == "REGISTERED"

    signed_in = client.signed_in("pending")

    assert signed_in.ask("GET", "/web/v1/system/constants/countries").status_code == 403


def test_a_pending_account_may_be_told_by_code(portal_with: Portals) -> None:
    answer = portal_with(choices=Choices(pending_at_initiate="code")).initiate("pending").json()

    assert answer["code"] == "ACCOUNT_PENDING_APPROVAL"
    assert answer["data"]["isPendingApproval"] is True


def test_the_access_token_expires_and_is_refreshed(client: Client) -> None:
    session = data_of(client.initiate("admin"))["sessionId"]
    first = data_of(client.complete(session, "EMAIL", client.code("admin", session, "EMAIL")))
    client.advance(3600)
    late = client.but(Authorization=f"Bearer {first['accessToken']}")

    assert refusal_of(late.ask("GET", PROFILE)) == TOKEN_INVALID

    second = client.post(f"{AUTH}/token/refresh", {"refreshToken": first["refreshToken"]})
    fresh = client.but(Authorization=f"Bearer {second['accessToken']}")

    assert fresh.get(PROFILE)["accountName"] == "Admin"
    assert set(second) == {"accessToken", "refreshToken", "expiresIn"}

    reused = client.send(f"{AUTH}/token/refresh", {"refreshToken": first["refreshToken"]})

    assert refusal_of(reused) == SESSION_NOT_FOUND


def test_logout_ends_the_session_and_its_tokens(client: Client) -> None:
    session = data_of(client.initiate("admin"))["sessionId"]
    tokens = data_of(client.complete(session, "EMAIL", client.code("admin", session, "EMAIL")))
    signed_in = client.but(Authorization=f"Bearer {tokens['accessToken']}")

    assert signed_in.post(f"{AUTH}/logout") == {"success": True, "terminatedSessions": 1}
    assert refusal_of(signed_in.ask("GET", PROFILE)) == TOKEN_INVALID
    refused = client.send(f"{AUTH}/token/refresh", {"refreshToken": tokens["refreshToken"]})
    assert refusal_of(refused) == SESSION_NOT_FOUND


@pytest.mark.parametrize(
    ("header", "told"),
    [
        (None, TOKEN_MISSING),
        ("Basic abc", TOKEN_MISSING),
        ("Bearer", TOKEN_MISSING),
        ("ApiKey abc", TOKEN_MISSING),
        ("Bearer abc", TOKEN_INVALID),
        ("Bearer a.b.c", TOKEN_INVALID),
        ("Bearer eyJhbGciOiJub25lIn0.e30.", TOKEN_INVALID),
    ],
)
def test_no_token_and_no_valid_token_are_told_apart(
    client: Client, header: str | None, told: tuple[int, str]
) -> None:
    assert refusal_of(client.but(Authorization=header).ask("GET", PROFILE)) == told


def test_a_token_of_another_portal_is_invalid(portal_with: Portals) -> None:
    foreign = portal_with().signed_in().headers["Authorization"]
    client = portal_with().but(Authorization=foreign)

    assert refusal_of(client.ask("GET", PROFILE)) == TOKEN_INVALID


def test_a_backup_code_signs_in_once(client: Client) -> None:
    codes = client.signed_in().post("/web/v1/system/security/mfa/backup-codes/generate")["codes"]
    sessions = [data_of(client.initiate("admin"))["sessionId"] for _ in range(2)]

    assert client.complete(sessions[0], "OTP", codes[0]).status_code == 200
    assert refusal_of(client.complete(sessions[1], "OTP", codes[0])) == WRONG_CODE


def test_the_client_hash_may_be_enforced(portal_with: Portals) -> None:
    client = portal_with(choices=Choices(client_hash_enforced=True)).but(X_Client_Hash="one")
    session = data_of(client.initiate("admin"))["sessionId"]
    other = client.but(X_Client_Hash="two")

    assert refusal_of(other.complete(session, "OTP", "000000")) == SESSION_NOT_FOUND
