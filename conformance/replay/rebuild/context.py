"""What all sessions of a replay share when they rebuild requests: correlation, accounts, passwords."""

from __future__ import annotations

import secrets as random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from conformance.replay.rebuild.actions import LostValue, Pending, Secret
from conformance.replay.rebuild.correlation import Correlation
from conformance.replay.rebuild.password_mails import MAILED, PasswordMails
from conformance.replay.recording.needs import NO_ACCOUNT
from conformance.replay.recording.plan import ReplayPlan
from conformance.target.profile.model import Profile
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.hidden import FORM, LENGTH, MISTAKE, OF, mistake_of, mistaken, password_of
from conformance.traffic.values import REDACTED


@dataclass
class RebuildContext:
    """``accounts`` are the profile's by recorded email.

    ``keep`` registers a secret. ``is_over`` says whether the exchange at a position has ended.
    ``chosen`` are the accounts that the user names for recorded emails. ``new_password`` makes a password
    for an account, which can be restored; ``present_password`` is the one that it has now.
    """

    plan: ReplayPlan
    profile: Profile
    correlation: Correlation
    chosen: Mapping[str, str] = field(default_factory=dict)
    keep: Callable[[Secret], None] = lambda secret: None
    is_over: Callable[[int], bool] = lambda position: True
    new_password: Callable[[str], str] = lambda account: f"Made-{random.token_hex(8)}"
    present_password: Callable[[str], str | None] = lambda account: None
    accounts: dict[str, str] = field(default_factory=dict)
    assumed: dict[str, str] = field(default_factory=dict)
    """Of these, the account that neither the user nor its email names: it changes nothing."""
    logins: dict[str, str] = field(default_factory=dict)
    """By recorded login session, the account that signs in with it."""
    notes: dict[str, None] = field(default_factory=dict)
    replaced: dict[str, None] = field(default_factory=dict)
    """Which records of the profile are asked for in place of recorded ones, as sentences."""
    _own_passwords: dict[tuple[str, str], str] = field(default_factory=dict)
    """By account and recorded value: accounts may share a recorded password."""
    _substitutes: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.mails = PasswordMails(self.plan, self.profile, self.account_mailed)
        for email in self.plan.emails:
            self._assign_account(email)

    def _assign_account(self, email: str) -> None:
        """Decides which account of the profile stands for a recorded email that signed in."""
        name = self._named(email)
        if name == NO_ACCOUNT:
            return
        if name is None and email in self.plan.passwords:
            name = self._only_account_left()
            if name is not None:
                self.assumed[email] = name
                self.notes[f"{email} was recorded; [accounts.{name}] signs in instead."] = None
        if name is None:
            return
        self.accounts[email] = name
        account = self.profile.accounts[name]
        self.correlation.set(email, account.email)
        password = self.plan.passwords.get(email)
        if password is not None:
            self._own_passwords[name, password] = account.password

    def _named(self, email: str) -> str | None:
        """Account of the profile for an email: the user's choice, else the account with that email."""
        by_email = {account.email.lower(): name for name, account in self.profile.accounts.items()}
        return self.chosen.get(email) or by_email.get(email.lower())

    def _only_account_left(self) -> str | None:
        """The account to sign in with where one person was recorded, with an unknown address."""
        return "admin" if len(self.plan.passwords) == 1 and "admin" in self.profile.accounts else None

    @property
    def stand_ins(self) -> Mapping[str, str]:
        """The accounts that stand for recorded ones with another email, and that email."""
        pairs = ((name, email) for email, name in self.accounts.items())
        return {
            name: email for name, email in pairs if email.lower() != self.profile.accounts[name].email.lower()
        }

    def account_of(self, email: Json) -> str | None:
        return self.accounts.get(email) if isinstance(email, str) else None

    def account_for(self, sent: Json) -> str | None:
        """Whose login session, or whose email, a body names."""
        if not isinstance(sent, dict):
            return None
        login = sent.get("sessionId")
        account = self.logins.get(login) if isinstance(login, str) else None
        return account or self.account_of(sent.get("email"))

    def owner(self, recorded: Exchange, client: str | None) -> str | None:
        """Returns the account of a request; ``client`` is the account of its session."""
        if recorded.request.operation_key in MAILED:
            return self.mails.owner(recorded)
        return self.account_for(recorded.sent) or client

    def account_mailed(self, email: Json) -> str | None:
        """The account that gets the mails to a recorded email, also where nobody signs in with that."""
        if not isinstance(email, str) or email in self.plan.emails:
            return self.account_of(email)
        name = self._named(email)
        return None if name == NO_ACCOUNT else name

    def password(self, recorded: str, account: str | None) -> str | None:
        """The live password for a recorded one of an account; None where there is none."""
        own = None if account is None else self.own_password(recorded, account)
        of_any = (live for (_, value), live in self._own_passwords.items() if value == recorded)
        return own or next(of_any, None)

    def mistaken_password(self, recorded: str, account: str | None) -> str | None:
        """The live password of an account with the mistake of a recorded one; None where none is known."""
        for (owner, meant), live in self._own_passwords.items() if account else ():
            mistake = self._mistake(recorded, meant) if owner == account else None
            changed = None if mistake is None else mistaken(live, mistake)
            if changed is not None:
                self.keep(Secret(changed, "password"))
                return changed
        return None

    def _mistake(self, recorded: str, meant: str) -> str | None:
        """The mistake in a recorded password, where another one was meant."""
        hint = self.plan.hidden.get(recorded)
        if isinstance(hint, dict):
            mistake = hint.get(MISTAKE) if hint.get(OF) == meant else None
            return mistake if isinstance(mistake, str) else None
        return None if REDACTED.search(recorded + meant) else mistake_of(recorded, meant)

    def own_password(self, recorded: str, account: str) -> str | None:
        """Returns the account's live password for a recorded password: other accounts may have a different
        live password."""
        return self._own_passwords.get((account, recorded))

    def set_password(self, recorded: str, account: str) -> str:
        """A new live password for a recorded one that an account is about to get."""
        live = self.own_password(recorded, account)
        if live is None or live == self.present_password(account):
            live = self.new_password(account)
        self._own_passwords[account, recorded] = live
        return live

    def counterpart(self, value: str) -> str | None:
        """The live value for a recorded one; None where there is none. Raises LostValue, Pending."""
        live = self.correlation.live.get(value)
        if live is not None or value not in self.plan.handles:
            return live
        position = self.plan.sources[value]
        raise LostValue(value, position) if self.is_over(position) else Pending(position)

    def form(self, placeholder: str) -> dict[str, Json] | None:
        """The form of a refused password or code, where the recorder says it."""
        hint = self.plan.hidden.get(placeholder)
        form = hint.get(FORM) if isinstance(hint, dict) else None
        return form if isinstance(form, dict) else None

    def is_made_up(self, placeholder: str) -> bool:
        """Whether a value was invented in place of a redacted one."""
        return placeholder in self._substitutes

    def substitute(self, placeholder: str) -> str:
        """A value in place of a redacted one, the same each time; invented where no live one is paired."""
        live = self.correlation.live.get(placeholder) or self.password(placeholder, None)
        if live is not None:
            return live
        if placeholder not in self._substitutes:
            invented = password_of(self.form(placeholder) or {LENGTH: 0}) or f"Made-{random.token_hex(8)}"
            self._substitutes[placeholder] = invented
            self.keep(Secret(invented, placeholder.strip("[]").rpartition("-")[0]))
        return self._substitutes[placeholder]


def unique_name(name: str) -> str:
    """A name like this one that nobody has used."""
    local, at, host = name.partition("@")
    return f"{local}-{random.token_hex(3)}{at}{host}"
