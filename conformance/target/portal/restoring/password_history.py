"""Learns whether a portal keeps a password history, or has rules that a present password does not meet: then
no old password can be set again."""

from __future__ import annotations

from conformance.errors import Untestable
from conformance.spec.endpoints import PASSWORD_CHANGE
from conformance.spec.tables import ERRORS, INVALID_PARAMETER
from conformance.target.portal.accounts import ProfileAccount
from conformance.target.portal.calls.bodies import Bodies
from conformance.target.portal.changes import ChangeLedger
from conformance.target.portal.secure import SecureChannel
from conformance.target.profile.model import Profile
from conformance.traffic.exchange import Exchange
from conformance.verdicts.comparisons import is_rate_limited

TRIED_PASSWORD_NUMBER, WRONG_PASSWORD_NUMBER = 88, 89
"""Numbers of the run's passwords that no case takes."""

STATED_CODES = frozenset(row.code for row in ERRORS)


class PasswordHistory:
    """Asks once for each account: a change to the present password changes nothing, and its answer tells."""

    def __init__(
        self, profile: Profile, bodies: Bodies, secure: SecureChannel, changes: ChangeLedger
    ) -> None:
        self._operations = profile.operations
        self._bodies, self._secure, self._changes = bodies, secure, changes
        self._answers: dict[str, str | None] = {}

    def check(self, account: ProfileAccount) -> None:
        """Raises Untestable where the portal refuses the present password as a new one: then the password of
        before could not be set again."""
        if account.name not in self._answers and self._is_shown():
            self._ask(account)
        code = self._answers.get(account.name)
        if code is not None:
            raise Untestable(
                f"the portal refuses the present password of [accounts.{account.name}] as a new one "
                f"({code}), so that the old password could not be restored: it is not changed",
                "target",
            )

    def _is_shown(self) -> bool:
        settings = self._operations.get(PASSWORD_CHANGE)
        return settings is not None and "{new_password}" in str(settings.body)

    def _ask(self, account: ProfileAccount) -> None:
        answer = self._changed(account, account.password, account.password)
        if is_rate_limited(answer):
            return
        self._answers[account.name] = None if answer.success or answer.code in STATED_CODES else answer.code
        if answer.success:
            account.password_changed_to(account.password)
        elif answer.code in INVALID_PARAMETER and self._breaks_a_rule(account):
            self._answers[account.name] = answer.code

    def _breaks_a_rule(self, account: ProfileAccount) -> bool:
        """Whether the present password breaks a rule for new ones, and not just the one that a new password
        differs from the present one: beside a wrong present password it is refused as before, and a password
        of the run, which meets the usual rules, is refused otherwise."""
        settings = self._operations[PASSWORD_CHANGE]
        if "{password}" not in str(settings.body):
            return False
        wrong = account.next_password(WRONG_PASSWORD_NUMBER)
        if self._changed(account, wrong, account.password).code not in INVALID_PARAMETER:
            return False
        change = self._changes.changing_password(account.name, TRIED_PASSWORD_NUMBER)
        new = account.next_password(TRIED_PASSWORD_NUMBER)
        answer = self._changed(account, wrong, new)
        if answer.success:  # the end of the run restores it
            account.password_changed_to(new)
            return False
        self._changes.undone(change)
        return answer.code not in INVALID_PARAMETER and not is_rate_limited(answer)

    def _changed(self, account: ProfileAccount, current: str, new: str) -> Exchange:
        values = {"email": account.email, "password": current, "new_password": new}
        body = self._bodies.filled(PASSWORD_CHANGE, values)
        return self._secure.post(PASSWORD_CHANGE, body, token=account.token)
