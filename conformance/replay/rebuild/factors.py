"""The factors of a recording's sign-ins whose live ones are in replayed responses or mails: authenticators,
backup codes, and codes by which passwords are set."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

from conformance.checks.records import sent_fields
from conformance.replay.rebuild.actions import Action, Actions, Await, CannotRebuild, Code, Reply
from conformance.replay.rebuild.context import RebuildContext
from conformance.replay.rebuild.password_mails import PasswordSetting
from conformance.replay.recording.plan import ReplayPlan
from conformance.replay.recording.values import leaves
from conformance.spec import endpoints as op
from conformance.spec.tables import INVALID_PARAMETER, WRONG_CODE
from conformance.target.portal.login import METHODS
from conformance.target.profile.tables import FixedInbox
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.hidden import KIND, NUMBER
from conformance.traffic.values import REDACTED

MOST_STEPS = 20
"""How many exchanges after it a refused code is sought for in."""


@dataclass
class Client:
    """The state of one session: the account that signed in, its token, an authenticator that was set up."""

    account: str | None = None
    token: str | None = None
    setup_secret: str | None = None
    has_setup: bool = False
    last: int | None = None
    signed_out: bool = False


@dataclass
class OwnFactors:
    """``authenticators`` are the secrets of those that the replay set up, by account."""

    context: RebuildContext
    authenticators: dict[str, str] = field(default_factory=dict)
    _expected: set[str] = field(default_factory=set)
    """The accounts of which the recording sets an authenticator up."""

    def expect(self, key: str, recorded: Exchange, client: Client) -> None:
        """Takes a request that sets an authenticator up, before it is sent."""
        if key in (op.OTP_SETUP, op.OTP_VERIFY) and recorded.success and client.account is not None:
            self._expected.add(client.account)

    def check(self, account: str) -> None:
        """CannotRebuild: the recording set up the account's authenticator, and the replay did not."""
        if account in self._expected:
            raise CannotRebuild(
                f"the authenticator of [accounts.{account}] was set up when recorded, not here"
            )

    def secret_of(self, key: str, account: str, client: Client, *, is_right: bool) -> str | None:
        """The secret of the authenticator whose code a request sends; None where it is the profile's.

        CannotRebuild: a right code is needed of one whose secret the setup did not show.
        """
        if key != op.OTP_VERIFY:
            return self.authenticators.get(account)
        lacks_own = client.has_setup or self.context.profile.accounts[account].otp_secret is None
        if client.setup_secret is None and lacks_own and is_right:
            raise CannotRebuild(
                "the replayed setup of the authenticator shows no secret: name its place as secret of "
                f'[operations."{op.OTP_SETUP}"]'
            )
        return client.setup_secret

    def was_number(self, recorded: Exchange, value: str) -> bool:
        form = self.context.form(value) if recorded.code in INVALID_PARAMETER else None
        return form is not None and form.get(KIND) == NUMBER

    def backup_code(self, key: str, sent: dict[str, Json]) -> str | None:
        """The live code that the target returned for the backup code of a sign-in."""
        code = sent.get("code") if key == op.LOGIN_COMPLETE else None
        return self.context.correlation.live.get(code) if isinstance(code, str) else None

    def learn(self, key: str, recorded: Exchange, live: Exchange, client: Client) -> None:
        """Takes secrets and codes from a successful response."""
        if key == op.OTP_SETUP:
            client.setup_secret, client.has_setup = self._setup_secret(live), True
        elif key == op.OTP_VERIFY and client.account and client.setup_secret:
            self.authenticators[client.account] = client.setup_secret
        elif key == op.OTP_REVOKE and client.account:
            self.authenticators.pop(client.account, None)
            self._expected.discard(client.account)
        elif key == op.BACKUP_CODES_GENERATE:
            self._pair_backup_codes(recorded, live)

    def _setup_secret(self, live: Exchange) -> str | None:
        settings = self.context.profile.operations.get(op.OTP_SETUP)
        path = (settings.secret if settings else None) or "data.secret"
        secret = live.at(path)
        if isinstance(secret, str):
            return secret
        texts = (text for _, text in leaves(live.data, ""))
        return next((text for text in texts if text.startswith("otpauth://totp/")), None)

    def _pair_backup_codes(self, recorded: Exchange, live: Exchange) -> None:
        returned = dict(leaves(live.data, ""))
        for place, code in leaves(recorded.data, ""):
            if code in self.context.plan.sources and place in returned:
                self.context.correlation.set(code, returned[place])


def is_mailed(plan: ReplayPlan, position: int, recorded: Exchange, value: str) -> bool:
    """Whether a code that was refused for another method is the mailed one: the client sent it as that
    afterwards, and it was accepted."""
    if recorded.sent.get("method") == METHODS["EMAIL"]:
        return False
    login, after = recorded.sent.get("sessionId"), plan.number_of(position)
    for later in plan.order[after : after + MOST_STEPS]:
        exchange = plan.store.exchange(later)
        sent = sent_fields(exchange)
        if exchange.success and sent.get("code") == value and sent.get("sessionId") == login:
            return bool(sent.get("method") == METHODS["EMAIL"])
    return False


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
        """Finds the live code for a recorded code: the mailed code, the code sent before, or a wrong code.

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
        is_change = plan.changing.get(position) == op.PASSWORD_CHANGE
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
