"""Requests that change or open something, from another ingress (chapter "Authentication", 1).

What is asked for is in order but for the access code, and would change nothing that is not so already.
"""

from __future__ import annotations

from collections.abc import Generator

from cases.authentication.steps import an_account, begun, code_at_hand, factor_for, method_of, right_code
from cases.changing import put_back
from cases.every_endpoint.test_ingress import ACCESS_CODE, foreign_codes, is_rejected
from cases.premises import answered, count, granted, outcome, text
from cases.profile.values import is_shown_whole
from cases.secure_channel.test_sessions import close
from cases.security.test_ip_whitelist import read as read_whitelist
from conformance.cases import ABSENT, Account, Json, Portal, Untestable, Verify, Wait, mark, op


def verify_foreign(portal: Portal, verify: Verify, key: str, body: Json, *, token: str | None = None) -> bool:
    """Asks without an access code, and with other ones. Whether all were rejected."""
    are_rejected = True
    for rule, code in foreign_codes(portal, key):
        exchange = answered(portal.call(key, json=body, token=token, headers={ACCESS_CODE: code}))
        verify(rule, is_rejected(exchange))
        verify.observe("portal-mismatch", exchange, outcome(exchange))
        are_rejected = are_rejected and not exchange.success
    return are_rejected


@mark.requirement("HEADER-001", "HEADER-002", "HEADER-003")
@mark.sign_ins(3)
def test_no_step_of_a_sign_in_is_taken_from_another_ingress(
    portal: Portal, verify: Verify
) -> Generator[Wait, None, None]:
    account = an_account(portal, "limited", "spare", "admin")
    credentials: Json = {"email": account.email, "password": account.password}
    verify_foreign(portal, verify, op.LOGIN_INITIATE, credentials)

    yield from code_at_hand(portal, account)
    session = begun(portal, account)
    factor = factor_for(account, session, preferring="OTP")
    id, method = text(session, "data.sessionId"), method_of(factor)
    if "EMAIL" in account.factors:
        verify_foreign(portal, verify, op.LOGIN_MFA_SEND, {"sessionId": id, "method": method_of("EMAIL")})
    code = yield from right_code(portal, account, session, factor)
    steps: Json = {"sessionId": id, "method": method, "code": code}
    verify_foreign(portal, verify, op.LOGIN_COMPLETE, steps)


@mark.requirement("HEADER-001", "HEADER-002", "HEADER-003")
def test_no_pair_is_refreshed_from_another_ingress(portal: Portal, verify: Verify) -> None:
    account = an_account(portal, "limited", "spare", "admin")
    refresh = account.signed_in().refresh_token
    if refresh is None:
        raise Untestable("the sign-in gave no refresh token", "target")
    if not verify_foreign(portal, verify, op.TOKEN_REFRESH, {"refreshToken": refresh}):
        account.forget()


@mark.requirement("HEADER-001", "HEADER-002", "HEADER-003")
def test_no_channel_is_opened_or_closed_from_another_ingress(portal: Portal, verify: Verify) -> None:
    channel = portal.secure.open()
    verify_foreign(portal, verify, op.SECURE_SESSION, channel.exchange.request.json)

    for rule, code in foreign_codes(portal, op.SECURE_SESSION_CLOSE):
        exchange = answered(close(portal, channel, headers={ACCESS_CODE: code}))
        verify(rule, is_rejected(exchange))


@mark.requirement("HEADER-001", "HEADER-002", "HEADER-003")
@mark.needs("accounts.spare")
@mark.impact("mutating")
def test_nothing_is_changed_from_another_ingress(
    portal: Portal, verify: Verify, admin: Account, spare: Account
) -> None:
    """Each change asks for what is so already: an update may name an account alone."""
    token = spare.token
    profile = granted(portal.call(op.PROFILE, token=token))
    name, alone = profile.at("data.accountName"), {"userBizId": text(profile, "data.bizId")}
    with put_back(portal, op.ACCOUNT_UPDATE, alone, by=admin) as change:
        if change.ask(alone).success:
            verify_foreign(portal, verify, op.ACCOUNT_UPDATE, alone, token=admin.token)
    if is_shown_whole(name):
        verify_foreign(portal, verify, op.PROFILE_UPDATE, {"accountName": name}, token=token)
    most = count(granted(portal.call(op.SESSIONS_CONFIG, token=token)), "data.maxSessions")
    if most > 0:
        verify_foreign(portal, verify, op.SESSIONS_CONFIG_SET, {"maxConcurrentSessions": most}, token=token)
    if read_whitelist(portal, spare).at("data.enabled") is False:
        verify_foreign(portal, verify, op.IP_WHITELIST_DISABLE, ABSENT, token=token)
