"""A password that is set by a mailed code: reset and init."""

from __future__ import annotations

from contextlib import suppress

from cases.authentication.passwords import (
    dated_before,
    replaced_passwords,
    signs_in_at_last,
    unsealed,
    verify_dated,
)
from cases.authentication.steps import WRONG_CREDENTIALS, serves_everywhere
from cases.nobody import unknown_id
from cases.premises import answered, change_accepted, form, granted, outcome
from conformance.cases import (
    Account,
    Json,
    Portal,
    Untestable,
    Verify,
    is_invalid_parameter,
    is_refused,
    is_success,
    mark,
    op,
)

NEVER_MAILED = "a password was set by a code that nobody was mailed"

RESET_TO, INIT_TO = 53, 54
"""Which of the run's passwords are set: ones that no other case takes."""


@mark.requirement(
    "PASSWORD-009", "PASSWORD-010", "PASSWORD-015", "PASSWORD-016", "PASSWORD-018", "PASSWORD-019",
    "PASSWORD-020", "PASSWORD-021", "PASSWORD-022", "PASSWORD-023",
)  # fmt: skip
@mark.needs("accounts.spare", "bot_challenge", op.PASSWORD_RESET, op.PASSWORD_CHANGE)
@mark.impact("disruptive")
@mark.sign_ins(3)
def test_a_reset_password_signs_in_and_the_old_one_no_more(
    portal: Portal, spare: Account, verify: Verify
) -> None:
    old = _proven(spare)
    with replaced_passwords(portal, spare, op.PASSWORD_RESET, RESET_TO) as (new,):
        body = _body(portal, spare, op.PASSWORD_RESET, new)
        still = signs_in_at_last(portal, spare, old, expected=True)
        if still.success or still.code == WRONG_CREDENTIALS:
            verify("PASSWORD-021", is_success(still))
        _verify_refusals(portal, spare, verify, op.PASSWORD_RESET, body=body, new=new)
        before = dated_before(portal, spare)
        done = change_accepted(portal.secure.post(op.PASSWORD_RESET, body))
        spare.password_changed_to(new)
        verify.observe("password-answers", done, form(done.data))

        with_new = signs_in_at_last(portal, spare, new, expected=True)
        with_old = signs_in_at_last(portal, spare, old, expected=False)
        verify("PASSWORD-010", is_refused(with_old, done, message="the old password still signs in"))
        verify("PASSWORD-009", is_success(with_new, done))
        if with_old.success and not with_new.success:
            spare.password_changed_to(old)
        elif with_new.success:
            verify_dated(portal, spare, verify, before, done)
            repeated = answered(portal.secure.post(op.PASSWORD_RESET, body))
            verify.observe("reset-code-again", repeated, outcome(repeated))
            _verify_code(portal, spare, verify, op.PASSWORD_RESET, new)


@mark.requirement(
    "PASSWORD-011", "PASSWORD-015", "PASSWORD-016", "PASSWORD-018", "PASSWORD-019", "PASSWORD-020",
    "PASSWORD-022",
)  # fmt: skip
@mark.needs("accounts.spare", "bot_challenge", op.PASSWORD_INIT, op.PASSWORD_CHANGE)
@mark.impact("disruptive")
@mark.sign_ins(1)
def test_an_initialized_password_signs_in(portal: Portal, spare: Account, verify: Verify) -> None:
    old = _proven(spare)
    with replaced_passwords(portal, spare, op.PASSWORD_INIT, INIT_TO) as (new,):
        body = _body(portal, spare, op.PASSWORD_INIT, new)
        _verify_refusals(portal, spare, verify, op.PASSWORD_INIT, body=body, new=new)
        before = dated_before(portal, spare)
        done = change_accepted(portal.secure.post(op.PASSWORD_INIT, body))
        spare.password_changed_to(new)
        verify.observe("password-answers", done, form(done.data))

        with_new = signs_in_at_last(portal, spare, new, expected=True)
        verify("PASSWORD-011", is_success(with_new, done))
        if not with_new.success:
            spare.password_changed_to(old)
        else:
            verify_dated(portal, spare, verify, before, done)
            _verify_code(portal, spare, verify, op.PASSWORD_INIT, new)


def _verify_code(portal: Portal, spare: Account, verify: Verify, key: str, new: str) -> None:
    """The body that was accepted, but with another code than the one that was mailed."""
    body = str(portal.profile.operations[key].body)
    if "{code}" not in body:
        verify.untested("PASSWORD-022", f'[operations."{key}"] body has no place for the mailed code')
        return
    if key == op.PASSWORD_RESET and "{email}" in body:
        with suppress(Untestable):
            _verify_code_of_another(portal, spare, verify, *_code_of_another(portal, spare))
            return
    body = _with_code(portal, spare, key, spare.wrong_code("EMAIL"), new)
    taken = answered(portal.secure.post(key, body))
    verify("PASSWORD-022", is_refused(taken, message=NEVER_MAILED))


def _verify_code_of_another(
    portal: Portal, spare: Account, verify: Verify, other: Account, code: str
) -> None:
    """A portal may look for the account by its code, and pass over the email: what is set then is the
    password that the other account has."""
    body = _with_code(portal, spare, op.PASSWORD_RESET, code, other.password)
    taken = answered(portal.secure.post(op.PASSWORD_RESET, body))
    if not taken.success:
        verify("PASSWORD-022", is_refused(taken))
        return
    other.doubt()
    if signs_in_at_last(portal, spare, other.password, expected=True).success:
        spare.password_changed_to(other.password)
        verify("PASSWORD-022", is_refused(taken, message=NEVER_MAILED))
    else:
        reason = "the target finds the account by its mailed code, whatever email stands beside it"
        verify.untested("PASSWORD-022", reason, "target")


def _with_code(portal: Portal, spare: Account, key: str, code: str, new: str) -> Json:
    return portal.operation_body(key, email=spare.email, password=spare.password, new_password=new, code=code)


def _code_of_another(portal: Portal, spare: Account) -> tuple[Account, str]:
    """A code mailed to another account with mails of its own. Raises Untestable where there is none."""
    for name in ("limited", "admin"):
        if portal.has_account(name) and portal.account(name).can("EMAIL"):
            other = portal.account(name)
            if not serves_everywhere(portal, other, "EMAIL"):
                with suppress(Untestable):
                    return other, _mailed(portal, other)
    raise Untestable("no other account is mailed a code")


def _mailed(portal: Portal, account: Account) -> str:
    """The code that who forgot a password is mailed. Raises Untestable where none is."""
    account.mark_inbox()
    body = {"email": account.email, "turnstileToken": portal.bot_token}
    granted(portal.call(op.PASSWORD_FORGOT, json=body))
    return account.code("EMAIL")


def _proven(spare: Account) -> str:
    """Its password, once it has signed in: what never did could not be restored."""
    spare.signed_in()
    return spare.password


def _body(portal: Portal, spare: Account, key: str, new: str) -> Json:
    """The profile's body with a code that was just mailed. Raises Untestable where none is."""
    return _with_code(portal, spare, key, _mailed(portal, spare), new)


def _verify_refusals(
    portal: Portal, spare: Account, verify: Verify, key: str, *, body: Json, new: str
) -> None:
    """The very body that will be accepted, but not encrypted, and encrypted for a session that is none."""
    plain = unsealed(portal, key, body)
    verify("PASSWORD-019", is_invalid_parameter(plain))

    channel = portal.secure.shared()
    unknown = answered(
        portal.secure.post(key, body, channel=channel, session_id=unknown_id(channel.session_id))
    )
    verify("PASSWORD-015", is_refused(unknown, message="a body for an unknown secure channel was opened"))
    verify.observe("unknown-channel-session", unknown, outcome(unknown))
    if plain.success or unknown.success:
        spare.password_changed_to(new)
        raise Untestable("the password was set by a body that could not be opened", "target")
