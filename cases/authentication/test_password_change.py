"""A password that its owner changes."""

from __future__ import annotations

from cases.authentication.passwords import (
    asks_for_the_current_password,
    body_of_change,
    change,
    dated_before,
    replaced_passwords,
    signs_in,
    signs_in_at_last,
    unsealed,
    verify_dated,
)
from cases.authentication.steps import nearly_right
from cases.premises import change_accepted, form
from conformance.cases import (
    HELD,
    LONG_FROM,
    Account,
    Portal,
    Untestable,
    Verify,
    contradicts,
    is_invalid_parameter,
    is_refused,
    is_success,
    mark,
    op,
)

NEVER, NEW, LONG = 51, 52, LONG_FROM
"""Which of the run's passwords are set: ones that no other case takes."""


@mark.requirement(
    "PASSWORD-007",
    "PASSWORD-008",
    "PASSWORD-017",
    "PASSWORD-018",
    "PASSWORD-019",
    "PASSWORD-020",
    "PASSWORD-024",
)
@mark.needs("accounts.spare", op.PASSWORD_CHANGE)
@mark.impact("disruptive")
@mark.sign_ins(3)
def test_a_changed_password_signs_in_and_the_old_one_no_more(
    portal: Portal, spare: Account, verify: Verify
) -> None:
    old = spare.password
    with replaced_passwords(portal, spare, op.PASSWORD_CHANGE, NEVER, NEW, LONG) as (never, new, long):
        _verify_current_is_asked_for(portal, spare, verify, never)
        _verify_sealed_only(portal, spare, verify, new)
        before = dated_before(portal, spare)
        done = change(portal, spare, long)
        if done.success:
            new = long
        else:
            done = change_accepted(change(portal, spare, new))
        verify.observe("password-answers", done, form(done.data))

        with_new = signs_in_at_last(portal, spare, new, expected=True)
        with_old = signs_in_at_last(portal, spare, old, expected=False)
        verify("PASSWORD-008", is_refused(with_old, done, message="the old password still signs in"))
        verify("PASSWORD-007", is_success(with_new, done))
        if with_old.success and not with_new.success:
            spare.password_changed_to(old)
        elif with_new.success:
            verify_dated(portal, spare, verify, before, done)
        if with_new.success and new is long:
            near = signs_in(portal, spare, nearly_right(portal, spare, in_case=False))
            message = "a long password was taken with another last letter"
            verify("PASSWORD-024", is_refused(near, done, message=message))


def _verify_current_is_asked_for(portal: Portal, spare: Account, verify: Verify, never: str) -> None:
    if not asks_for_the_current_password(portal):
        verify.untested(
            "PASSWORD-017", f'[operations."{op.PASSWORD_CHANGE}"] body has no place for the current password'
        )
        return
    own = spare.password
    answer = change(portal, spare, never, current=portal.wrong_password())
    if not answer.success:
        verify("PASSWORD-017", HELD)
        return
    # An answer of success need not mean that anything was changed.
    changed = signs_in(portal, spare, never)
    if changed.success:
        verify(
            "PASSWORD-017", contradicts(changed, "success", False, True, "a wrong current password was taken")
        )
    else:
        spare.password_changed_to(own)
        verify("PASSWORD-017", HELD)


def _verify_sealed_only(portal: Portal, spare: Account, verify: Verify, new: str) -> None:
    plain = unsealed(portal, op.PASSWORD_CHANGE, body_of_change(portal, spare, new), token=spare.token)
    verify("PASSWORD-019", is_invalid_parameter(plain))
    if plain.success:
        spare.password_changed_to(new)
        raise Untestable("the password was changed by a body that was not encrypted", "target")
