"""A password that an administrator resets (chapter "Admin accounts")."""

from __future__ import annotations

from cases.accounts.queries import by_email
from cases.authentication.passwords import signs_in_at_last
from cases.premises import change_accepted, form
from cases.surroundings import Surroundings
from conformance.cases import Account, Portal, Untestable, Verify, is_refused, mark, offered, op

NUMBER = 37
"""Which of the run's passwords is set: one that no other case takes."""


@mark.requirement("ACCOUNT-037", "ACCOUNT-038", "MODEL-012", offered(op.ACCOUNT_PASSWORD_RESET))
@mark.needs("accounts.spare", op.ACCOUNT_PASSWORD_RESET)
@mark.impact("disruptive")
@mark.sign_ins(2)
def test_a_reset_password_replaces_the_old_one(
    portal: Portal, verify: Verify, admin: Account, spare: Account
) -> None:
    settings = portal.profile.operations[op.ACCOUNT_PASSWORD_RESET]
    if "{new_password}" not in str(settings.body):
        raise Untestable(
            f'[operations."{op.ACCOUNT_PASSWORD_RESET}"] sets no {{new_password}}, '
            "so that the old one could not be restored"
        )
    id = by_email(portal, admin, spare.email)["bizId"]
    old, new = spare.password, spare.next_password(NUMBER)

    change = portal.changes.changing_password(spare.name, NUMBER, op.ACCOUNT_PASSWORD_RESET)
    body = portal.operation_body(op.ACCOUNT_PASSWORD_RESET, account=id, new_password=new)
    around = Surroundings(portal, admin.token)
    reset = portal.call(op.ACCOUNT_PASSWORD_RESET, json=body, token=admin.token)
    if not reset.success:
        portal.changes.undone(change)
    change_accepted(reset)
    spare.password_changed_to(new)
    verify.observe("account-answers", reset, form(reset.data))
    around.judged(verify, "MODEL-012", reset)
    try:
        refused = signs_in_at_last(portal, spare, old, expected=False)
        verify(
            "ACCOUNT-037",
            is_refused(refused, reset, message="the password from before the reset was accepted"),
        )
    finally:
        body = portal.operation_body(op.ACCOUNT_PASSWORD_RESET, account=id, new_password=old)
        if portal.call(op.ACCOUNT_PASSWORD_RESET, json=body, token=admin.token).success:
            spare.password_changed_to(old)
            portal.changes.undone(change)
