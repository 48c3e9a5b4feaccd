"""Learns whether a portal keeps a password history, under which no old password can be set again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.errors import Untestable
from conformance.spec.endpoints import PASSWORD_CHANGE
from conformance.spec.tables import ERRORS
from conformance.verdicts.comparisons import is_rate_limited

if TYPE_CHECKING:
    from conformance.target.portal import Portal
    from conformance.target.portal.accounts import ProfileAccount

STATED_CODES = frozenset(row.code for row in ERRORS)


class PasswordHistory:
    """Asks once for each account: a change to the present password changes nothing, and its answer tells."""

    def __init__(self, portal: Portal) -> None:
        self._portal = portal
        self._answers: dict[str, str | None] = {}

    def check(self, account: ProfileAccount) -> None:
        """Raises Untestable where the portal refuses the present password as a new one, by a code of its own:
        then the password of before could not be set again."""
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
        """Whether the profile has a body by which a password can be set to a certain one."""
        settings = self._portal.profile.operations.get(PASSWORD_CHANGE)
        return settings is not None and "{new_password}" in str(settings.body)

    def _ask(self, account: ProfileAccount) -> None:
        portal, present = self._portal, account.password
        token = account.token
        body = portal.operation_body(
            PASSWORD_CHANGE, email=account.email, password=present, new_password=present
        )
        answer = portal.secure.post(PASSWORD_CHANGE, body, token=token)
        if is_rate_limited(answer):
            return
        self._answers[account.name] = None if answer.success or answer.code in STATED_CODES else answer.code
        if answer.success:
            account.password_changed_to(present)
