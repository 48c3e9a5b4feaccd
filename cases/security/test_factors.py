"""The factors of an account: an authenticator set up, verified, signed in with and revoked."""

from __future__ import annotations

import re
from collections.abc import Generator
from urllib.parse import parse_qs, urlsplit

from cases.authentication.steps import begun, completed
from cases.dating import DATED, dated
from cases.premises import (
    answered,
    change_accepted,
    code_of,
    form,
    granted,
    listed,
    settled,
    texts_within,
    unless_by_own_rule,
)
from cases.surroundings import Surroundings, by_admin
from conformance.cases import (
    HELD,
    NO_SESSION,
    SCHEME,
    STEP,
    Account,
    Comparison,
    Exchange,
    Json,
    Portal,
    Steps,
    Untestable,
    Verify,
    Wait,
    holds,
    is_refused,
    is_success,
    mark,
    normal_secret,
    offered_factors,
    op,
    records,
)

SECRET = re.compile(r"[A-Z2-7]{16,}=*")


@mark.requirement("MFA-005", "MFA-006", "MFA-007", "MFA-008")
def test_the_factor_of_the_sign_in_is_enabled(portal: Portal, verify: Verify, admin: Account) -> None:
    session = admin.signed_in()

    settings = granted(portal.call(op.MFA, token=session.token))
    verify("MFA-006", shows(settings, session.factor, session.completed, enabled=True))


def shows(settings: Exchange, method: str, *also: Exchange, enabled: bool) -> Comparison:
    on = enabled_methods(settings)
    expected = f"{method} {'enabled' if enabled else 'not enabled'}"
    return holds(settings, "data", (method in on) == enabled, expected, *also, actual={"enabled": on})


@mark.requirement(
    "LOGIN-027",
    "LOGIN-059",
    "MFA-009",
    "MFA-010",
    "MFA-011",
    "MFA-012",
    "MFA-013",
    "MFA-014",
    "MFA-015",
    "MFA-016",
    "MFA-017",
    "MODEL-010",
    "MODEL-014",
    DATED,
)
@mark.needs("accounts.spare", "mailed_spare", op.OTP_VERIFY)
@mark.impact("disruptive")
@mark.sign_ins(3)
@mark.waits(STEP)
def test_an_authenticator_through_its_life(portal: Portal, verify: Verify, spare: Account) -> Steps:
    offered = offered_factors(spare.signed_in().initiated)
    in_use = "OTP" in offered and "OTP" in enabled_methods(read(portal, spare))
    if in_use or not spare.can("EMAIL"):
        raise Untestable("[accounts.spare] signs in by an authenticator, which could not be restored")
    change = portal.changes.changed(op.OTP_SETUP, account=spare.name)
    try:
        yield from through_its_life(portal, verify, spare)
    finally:
        left = read(portal, spare)
        is_none = "OTP" not in methods(left) or portal.call(op.OTP_REVOKE, token=spare.token).success
        if is_none or "OTP" not in enabled_methods(left):
            portal.changes.undone(change)


def through_its_life(portal: Portal, verify: Verify, spare: Account) -> Steps:
    around = Surroundings(portal, spare.token, beside=by_admin(portal, op.MFA, op.BACKUP_CODES))
    setup = granted(portal.call(op.OTP_SETUP, token=spare.token))
    verify.observe("otp-setup-answer", setup, form(setup.data))
    secret = secret_in(portal, setup)
    for shown in (secret, *parse_qs(urlsplit(secret).query).get("secret", [])):
        portal.secrets.add(shown, "otp-secret")

    was_on = "OTP" in enabled_methods(read(portal, spare))
    wrong = body(portal, portal.codes.wrong_totp(secret))
    around_refusal = Surroundings(portal, spare.token)
    refused = answered(portal.call(op.OTP_VERIFY, json=wrong, token=spare.token))
    if not refused.success:
        around_refusal.judged(verify, "MODEL-014", refused)
    if refused.success:
        verify("MFA-010", is_refused(refused, setup, message="a wrong code was accepted"))
    unverified = read(portal, spare)
    _verify_not_offered(portal, verify, spare, setup, secret)
    verified = change_accepted(
        portal.call(op.OTP_VERIFY, json=body(portal, portal.codes.totp(secret)), token=spare.token)
    )
    verify("MFA-010", is_refused(refused, setup, message="a wrong code was accepted"))
    if not was_on:
        verify("MFA-010", shows(unverified, "OTP", setup, refused, enabled=False))
    after = settled(portal, lambda: read(portal, spare), lambda answer: "OTP" in enabled_methods(answer))
    if "OTP" not in methods(after):
        raise Untestable("the target lists no authenticator among the factors of an account", "environment")
    enabled = shows(after, "OTP", setup, verified, enabled=True)
    verify("MFA-009", enabled)
    _verify_dated(verify, after, verified)
    around.judged(verify, "MODEL-010", verified, *NAMED)
    if not was_on and "EMAIL" in enabled_methods(unverified):
        stays = "EMAIL" in enabled_methods(after)
        verify.observe("email-beside-otp", after, "stays enabled" if stays else "is replaced")

    session, signed_in = yield from signed_in_with(portal, verify, spare, secret)
    unless_by_own_rule(signed_in)
    if enabled is HELD and "OTP" in offered_factors(session):
        verify("LOGIN-027", is_success(signed_in, setup, verified, session))
    verify("MFA-013", is_success(signed_in, setup, verified, session))

    _is_revoked(portal, verify, spare, secret, verified)


def _verify_dated(verify: Verify, settings: Exchange, verified: Exchange) -> None:
    for path, setting in records(settings):
        if code_of(setting, "mfaMethod") == "OTP":
            for comparison in dated(settings, f"{path}.verifiedAt", setting.get("verifiedAt"), verified):
                verify(DATED, comparison)


def _is_revoked(portal: Portal, verify: Verify, spare: Account, secret: str, verified: Exchange) -> None:
    around = Surroundings(portal, spare.token, beside=by_admin(portal, op.MFA, op.BACKUP_CODES))
    revoked = granted(portal.call(op.OTP_REVOKE, token=spare.token))
    after = settled(portal, lambda: read(portal, spare), lambda answer: "OTP" not in enabled_methods(answer))
    verify("MFA-011", shows(after, "OTP", verified, revoked, enabled=False))
    around.judged(verify, "MODEL-010", revoked, *NAMED)

    session = begun(portal, spare)
    offered = offered_factors(session)
    verify("MFA-012", holds(session, "data.mfaMethods", "OTP" not in offered, "no OTP", verified, revoked))
    if "OTP" not in offered:
        _verify_not_taken(portal, verify, session, portal.codes.early_totp(secret), revoked)


NAMED = (
    (op.MFA, "OTP"),
    (op.MFA, "EMAIL", "isPrimary"),
    (op.MFA, "EMAIL", "isEnabled"),
    (op.BACKUP_CODES,),
    (op.SESSIONS,),
)
"""What an authenticator that is verified or revoked may change: it may take the place of mailed codes, as its
effects are not shown (N5), backup codes may come with it, and other sessions may end."""


def _verify_not_offered(portal: Portal, verify: Verify, spare: Account, setup: Exchange, secret: str) -> None:
    """A sign-in neither offers an authenticator that was set up and not verified, nor takes its code."""
    if "OTP" in offered_factors(spare.signed_in().initiated):
        return
    session = begun(portal, spare)
    offered = offered_factors(session)
    verify("MFA-015", holds(session, "data.mfaMethods", "OTP" not in offered, "no OTP", setup))
    if "OTP" not in offered:
        # Of the step before: the current one is to verify the authenticator.
        _verify_not_taken(portal, verify, session, portal.codes.adjacent_totp(secret, 2), setup)
    portal.login.left.put(spare.email, session)


def _verify_not_taken(portal: Portal, verify: Verify, session: Exchange, code: str, *steps: Exchange) -> None:
    """Whether the code of an authenticator that an account does not have completes no sign-in."""
    taken = completed(portal, session, "OTP", code)
    message = "a sign-in was completed by an authenticator that is not in use"
    verify("MFA-016", is_refused(taken, session, *steps, message=message))
    if taken.success:
        raise Untestable("a code completed the login session under another method", "target")


def signed_in_with(
    portal: Portal, verify: Verify, account: Account, secret: str
) -> Generator[Wait, None, tuple[Exchange, Exchange]]:
    """A sign-in by an authenticator that was verified just now: by a code a step ahead, which many take,
    before the step itself is waited for."""
    if not portal.clock.is_simulated:
        session = begun(portal, account)
        early = _completed_by_otp_alone(portal, verify, session, portal.codes.early_totp(secret))
        if early.success:
            return session, early
    yield portal.codes.wait_for_totp(secret), "the new authenticator's next code"
    session, code = begun(portal, account), portal.codes.totp(secret)
    done = _completed_by_otp_alone(portal, verify, session, code)
    if done.code == NO_SESSION:  # what was tried before has ended it, which is another rule's
        session = begun(portal, account)
        done = completed(portal, session, "OTP", code)
    return session, done


def _completed_by_otp_alone(portal: Portal, verify: Verify, session: Exchange, code: str) -> Exchange:
    """The answer to an authenticator's code, which was tried under the method of mailed codes before."""
    elsewhere = completed(portal, session, "EMAIL", code)
    accepted = elsewhere if elsewhere.success else completed(portal, session, "OTP", code)
    if accepted.success:
        message = "a code of the authenticator was accepted under the method of mailed codes"
        verify("LOGIN-059", is_refused(elsewhere, session, accepted, message=message))
    return accepted


def read(portal: Portal, account: Account) -> Exchange:
    return granted(portal.call(op.MFA, token=account.token))


def enabled_methods(settings: Exchange) -> list[str]:
    """The codes of the methods that are on. Raises Untestable where a setting cannot be read: the shape check
    reports that."""
    enabled = []
    for setting in listed(settings):
        code, on = code_of(setting, "mfaMethod"), setting.get("isEnabled")
        if code is None or not isinstance(on, bool):
            raise Untestable("an MFA setting shows neither its method nor whether it is enabled", "target")
        enabled += [code] if on else []
    return enabled


def methods(settings: Exchange) -> list[str | None]:
    """The codes of the methods that are listed, on or not."""
    return [code_of(setting, "mfaMethod") for setting in listed(settings)]


def body(portal: Portal, code: str) -> Json:
    return portal.operation_body(op.OTP_VERIFY, otp=code, code=code)


def secret_in(portal: Portal, setup: Exchange) -> str:
    """The new authenticator's secret: at the profile's place, else whatever in the answer can be one.

    Raises Untestable where there is none.
    """
    settings = portal.profile.operations.get(op.OTP_SETUP)
    shown = setup.at(settings.secret) if settings and settings.secret else None
    for text in texts_within(shown if isinstance(shown, str) else setup.data):
        for part in [*parse_qs(urlsplit(text).query).get("secret", []), text]:
            plain = re.sub(r"[\s-]", "", part).upper()
            if SECRET.fullmatch(plain):
                return _with_its_making(plain, setup)
    raise Untestable(
        f'no secret was found in the answer; [operations."{op.OTP_SETUP}"] secret may say where it is'
    )


def _with_its_making(secret: str, setup: Exchange) -> str:
    """A secret, with what a URI of it in the answer says of how its codes are made."""
    for text in texts_within(setup.data):
        of_the_uri = parse_qs(urlsplit(text).query).get("secret", [""])[0]
        if text.lower().startswith(SCHEME) and of_the_uri.upper() == secret:
            normal = normal_secret(text)
            if normal is None:
                raise Untestable(
                    "the codes of the new authenticator are made in a way that is not known", "target"
                )
            return normal
    return secret
