"""The live codes and tokens of mails by which passwords are set."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

from conformance.checks.records import sent_fields
from conformance.replay.rebuild.actions import Action, Actions, Await, CannotRebuild, Code, Reply
from conformance.replay.rebuild.context import RebuildContext
from conformance.replay.rebuild.password_mails import PasswordSetting
from conformance.spec.endpoints import PASSWORD_CHANGE
from conformance.spec.tables import WRONG_CODE
from conformance.target.profile.tables import FixedInbox
from conformance.traffic.exchange import Exchange
from conformance.traffic.values import REDACTED

REFUSED = "the request that had its code mailed was refused"
WRONG = "000000"


@dataclass
class PasswordCodes:
    """``sent`` are all live codes by the recorded ones. ``unset`` gets the accounts whose password is not the
    recorded one, and why."""

    context: RebuildContext
    sent: dict[str, str]
    unset: dict[str, str] = field(default_factory=dict)
    _mailed: dict[str, str] = field(default_factory=dict)
    """By account, the code that was mailed last."""
    _missing: dict[str, str] = field(default_factory=dict)
    """By account, why there is none."""

    def expect(self, account: str) -> None:
        self._mailed.pop(account, None)
        self._missing[account] = REFUSED

    def read(self, account: str) -> Actions:
        """Reads the code that an account got, before the next mail comes."""
        if account not in self._missing:
            return
        try:
            code = yield Code(account, "EMAIL")
        except CannotRebuild as problem:
            self._missing[account] = str(problem)
            return
        assert isinstance(code, str)
        self._mailed[account] = code

    def code(self, position: int, recorded: Exchange, value: str) -> Generator[Action, Reply, str]:
        """The live code for a recorded one: that of the mail, the same again, or a wrong one.

        CannotRebuild: nobody knows whose it was, or no mail holds one.
        """
        mails = self.context.mails
        setting = mails.set_at(position)
        if setting is None and value in self.sent:
            return self.sent[value]
        account = mails.owner(recorded)
        if setting is None and recorded.code != WRONG_CODE:
            setting = mails.set_by(value)
        if setting is None:
            return (yield from self._wrong(recorded, value, account))
        if account is None:
            raise CannotRebuild("the recording does not show whose password it sets")
        code = self.sent[value] = yield from self._of_mail(account, setting)
        return code

    def note(self, position: int, account: str | None, *, is_set: bool) -> None:
        """Takes whether the password that a request set when recorded is set here as well. ``account`` is its
        client's."""
        plan, setting = self.context.plan, self.context.mails.set_at(position)
        is_change = plan.changing.get(position) == PASSWORD_CHANGE
        account = account if setting is None else setting.account
        if account is None or (setting is None and not is_change):
            return
        if is_set:
            self.unset.pop(account, None)
            return
        self.unset[account] = (
            f"exchange {plan.number_of(position)} ({plan.changing[position]}) set the password of "
            f"[accounts.{account}] when recorded, and not here"
        )

    def _wrong(self, recorded: Exchange, value: str, account: str | None) -> Generator[Action, Reply, str]:
        """Invalid code or token with the form of the recorded one."""
        if account is not None and recorded.code == WRONG_CODE and "email" in sent_fields(recorded):
            code = yield Code(account, "EMAIL", is_right=False)
            assert isinstance(code, str)
            return code
        if not REDACTED.fullmatch(value):
            return value
        return WRONG if value.startswith("[code-") else self.context.substitute(value)

    def _of_mail(self, account: str, setting: PasswordSetting) -> Generator[Action, Reply, str]:
        profile = self.context.profile
        inbox = profile.accounts[account].inbox
        if inbox is None:
            raise CannotRebuild(f"[accounts.{account}] has no inbox, and its code was mailed")
        if isinstance(profile.inboxes[inbox], FixedInbox):
            self.expect(account)
            yield from self.read(account)
        elif setting.source is not None:
            yield Await(setting.source)
        code = self._mailed.get(account)
        if code is None:
            nothing = f"no request that was replayed had a code mailed to [accounts.{account}]"
            raise CannotRebuild(self._missing.get(account, nothing))
        return code
