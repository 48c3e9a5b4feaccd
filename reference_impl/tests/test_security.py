import pyotp

from reference_impl.tests.client import (
    DENIED,
    NOT_FOUND,
    TOKEN_INVALID,
    WRONG_CODE,
    Client,
    data_of,
    refusal_of,
)

SECURITY = "/web/v1/system/security"
WHITELIST = f"{SECURITY}/ip-whitelist"
SESSIONS = f"{SECURITY}/sessions"
PROFILE = "/web/v1/system/profile"


# IP whitelist.


def test_an_enabled_whitelist_keeps_other_addresses_out(client: Client) -> None:
    home = client.but(CF_Connecting_IP="192.0.2.1").signed_in("spare")
    away = home.but(CF_Connecting_IP="192.0.2.2")
    home.post(WHITELIST, {"ips": ["192.0.2.1", "2001:db8::1"]})

    assert home.get(WHITELIST) == {"enabled": False, "entries": ["192.0.2.1", "2001:db8::1"]}
    assert away.ask("GET", PROFILE).status_code == 200

    home.post(f"{WHITELIST}/enable")

    assert home.get(WHITELIST)["enabled"] is True
    assert refusal_of(away.ask("GET", PROFILE)) == DENIED
    assert refusal_of(client.but(X_Real_IP="192.0.2.2").initiate("spare")) == DENIED
    assert client.signed_in("admin").ask("GET", PROFILE).status_code == 200

    home.post(f"{WHITELIST}/disable")

    assert away.ask("GET", PROFILE).status_code == 200


def test_an_empty_whitelist_locks_nobody_out(admin: Client) -> None:
    admin.post(f"{WHITELIST}/enable")

    assert admin.ask("GET", PROFILE).status_code == 200


def test_a_whitelist_takes_networks(client: Client) -> None:
    home = client.but(CF_Connecting_IP="192.0.2.1").signed_in("spare")
    home.post(WHITELIST, {"ips": ["192.0.2.0/30"]})
    home.post(f"{WHITELIST}/enable")

    for address, status in (("192.0.2.3", 200), ("192.0.2.4", 403), ("nonsense", 403)):
        assert home.but(CF_Connecting_IP=address).ask("GET", PROFILE).status_code == status


# Factors.


def test_an_authenticator_is_set_up_verified_and_revoked(client: Client) -> None:
    spare = client.signed_in("spare")
    secret = spare.post(f"{SECURITY}/mfa/otp/setup")["secret"]

    assert settings(spare)["OTP"] == (False, False)
    assert refusal_of(spare.send(f"{SECURITY}/mfa/otp/verify", {"code": "000000"})) == WRONG_CODE

    code = pyotp.TOTP(secret).at(int(client.portal.now()))
    spare.post(f"{SECURITY}/mfa/otp/verify", {"code": code})

    assert settings(spare) == {"EMAIL": (True, True), "OTP": (True, False)}

    client.advance(31)
    session = data_of(client.initiate("spare"))["sessionId"]
    code = pyotp.TOTP(secret).at(int(client.portal.now()))

    assert client.complete(session, "OTP", code).status_code == 200

    spare.post(f"{SECURITY}/mfa/otp/revoke")

    assert settings(spare) == {"EMAIL": (True, True), "OTP": (False, False)}
    methods = data_of(client.initiate("spare"))["mfaMethods"]
    assert [method["code"] for method in methods] == ["EMAIL"]


def test_generating_backup_codes_resets_their_count(client: Client) -> None:
    spare = client.signed_in("spare")

    assert spare.get(f"{SECURITY}/mfa/backup-codes") == {"remainingCount": 0, "totalGenerated": 0}

    codes = spare.post(f"{SECURITY}/mfa/backup-codes/generate")["codes"]

    assert spare.get(f"{SECURITY}/mfa/backup-codes") == {"remainingCount": 10, "totalGenerated": 10}

    session = data_of(client.initiate("spare"))["sessionId"]
    data_of(client.complete(session, "EMAIL", codes[3]))

    assert spare.get(f"{SECURITY}/mfa/backup-codes") == {"remainingCount": 9, "totalGenerated": 10}

    spare.post(f"{SECURITY}/mfa/backup-codes/generate")

    assert spare.get(f"{SECURITY}/mfa/backup-codes") == {"remainingCount": 10, "totalGenerated": 10}


# Sessions.


def test_each_sign_in_is_listed_and_one_is_current(client: Client) -> None:
    first, second = (client.but(User_Agent=agent).signed_in("spare") for agent in ("one", "two"))
    listed = second.get(SESSIONS)

    assert [(session["userAgent"], session["isCurrent"]) for session in listed] == [
        ("two", True),
        ("one", False),
    ]
    assert [session["isCurrent"] for session in first.get(SESSIONS)] == [False, True]


def test_a_terminated_session_is_over(client: Client) -> None:
    one, other = client.signed_in("spare"), client.signed_in("spare")
    ending = next(session["sessionId"] for session in other.get(SESSIONS) if not session["isCurrent"])
    other.post(f"{SESSIONS}/terminate", {"sessionId": ending})

    assert refusal_of(one.ask("GET", PROFILE)) == TOKEN_INVALID
    assert len(other.get(SESSIONS)) == 1
    assert refusal_of(other.send(f"{SESSIONS}/terminate", {"sessionId": ending})) == NOT_FOUND


def test_nobody_terminates_the_session_of_another(client: Client) -> None:
    spare, admin = client.signed_in("spare"), client.signed_in("admin")
    foreign = spare.get(SESSIONS)[0]["sessionId"]

    assert refusal_of(admin.send(f"{SESSIONS}/terminate", {"sessionId": foreign})) == NOT_FOUND
    assert spare.ask("GET", PROFILE).status_code == 200


def test_terminate_all_leaves_the_caller_signed_in(client: Client) -> None:
    others = [client.signed_in("spare") for _ in range(2)]
    last = client.signed_in("spare")
    last.post(f"{SESSIONS}/terminate-all")

    assert [other.ask("GET", PROFILE).status_code for other in others] == [401, 401]
    assert len(last.get(SESSIONS)) == 1


def test_the_oldest_session_ends_where_there_are_too_many(client: Client) -> None:
    first = client.signed_in("spare")
    first.post(f"{SESSIONS}/config", {"maxConcurrentSessions": 2})
    second = client.signed_in("spare")

    assert first.get(f"{SESSIONS}/config")["maxSessions"] == 2

    third = client.signed_in("spare")

    assert first.ask("GET", PROFILE).status_code == 401
    assert second.ask("GET", PROFILE).status_code == third.ask("GET", PROFILE).status_code == 200


def test_the_config_tells_the_last_sign_in(client: Client) -> None:
    spare = client.but(CF_Connecting_IP="192.0.2.7").signed_in("spare")
    config = spare.get(f"{SESSIONS}/config")

    assert config["accountBizId"] == client.account("spare").account_id
    assert config["lastLoginIp"] == "192.0.2.7"
    assert config["lastLoginAt"].endswith("Z")


def test_the_history_tells_failures_and_comes_in_pages(client: Client) -> None:
    client.initiate("admin", "wrong password")
    session = data_of(client.initiate("admin"))["sessionId"]
    client.complete(session, "OTP", "000000")
    first = client.signed_in("admin").get(f"{SESSIONS}/history")

    assert first["items"][0]["loginResult"] == 1
    told = [item["failureReason"] for item in first["items"][:3]]
    assert told == [None, "MFA_CODE_INVALID", "INVALID_CREDENTIALS"]
    assert first["pagination"] == {
        "totalPages": 3,
        "totalRecords": 48,
        "currentPage": 1,
        "pageSize": 20,
        "hasNext": True,
        "empty": False,
        "paginated": True,
    }


def test_history_pages_partition_the_whole(admin: Client) -> None:
    pages = [admin.get(f"{SESSIONS}/history", page=page, pageSize=20) for page in (1, 2, 3)]
    ids = [item["bizId"] for page in pages for item in page["items"]]

    assert len(set(ids)) == len(ids) == pages[0]["pagination"]["totalRecords"]
    assert [page["pagination"]["hasNext"] for page in pages] == [True, True, False]


def settings(client: Client) -> dict[str, tuple[bool, bool]]:
    listed = client.get(f"{SECURITY}/mfa")
    return {item["mfaMethod"]["code"]: (item["isEnabled"], item["isPrimary"]) for item in listed}
