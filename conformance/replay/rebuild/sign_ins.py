"""The codes of a sign-in, from mails and authenticators, within the limits of the profile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field

from conformance.checks.records import sent_fields
from conformance.replay.rebuild.actions import (
    Action,
    Actions,
    Await,
    CannotRebuild,
    Code,
    MarkInbox,
    OnlyCode,
    PassTime,
    Reply,
)
from conformance.replay.rebuild.context import RebuildContext
from conformance.replay.rebuild.factors import WRONG, Client, OwnFactors, PasswordCodes, is_mailed
from conformance.replay.rebuild.password_mails import MAILED, MAILING
from conformance.spec import endpoints as op
from conformance.spec.tables import WRONG_CODE
from conformance.target.portal.login import METHODS
from conformance.target.profile.tables import Factor
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.values import REDACTED, is_integer

COOLDOWN = 61.0
COOLDOWN_CODE = "AUTH.MFA_SEND_COOLDOWN"


@dataclass
class SignInOrder:
    """Who may ask an inbox or an authenticator: two sign-ins at once would take each other's codes. ``ended``
    says of every position whether it is over."""

    ended: Sequence[int]
    _holders: dict[str, int] = field(default_factory=dict)

    def take(self, what: str, position: int) -> Generator[Await, Reply, None]:
        """Waits until it is free; it is free again when the exchange at ``position`` has ended."""
        while (holder := self._holders.get(what, position)) != position and not self.ended[holder]:
            yield Await(holder)
        self._holders[what] = position


@dataclass
class SignInCodes:
    """The codes of all sign-ins. ``now`` returns the target's time; ``movable``: it can be moved. ``refused``
    are the accounts that cannot sign in, and why: more attempts might lock them. ``unset`` gets those whose
    password is not the recorded one, and why."""

    context: RebuildContext
    order: SignInOrder
    now: Callable[[], float]
    movable: bool = False
    refused: Mapping[str, str] = field(default_factory=dict)
    unset: dict[str, str] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)
    mailed: dict[str, str] = field(default_factory=dict)
    """By recorded login session: the code in the mail that came for it."""
    certain: set[tuple[str, str]] = field(default_factory=set)
    """Accounts, and codes that certainly came for their sign-in."""
    logged_out: set[str] = field(default_factory=set)
    """The accounts that the recording logs out, and the replay did."""
    open_sessions: Counter[str] = field(default_factory=Counter)
    """By account, the sessions that sign-ins began and no logout ended."""
    failures: Counter[str] = field(default_factory=Counter)
    mails: int = 0
    _last_sends: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.passwords = PasswordCodes(self.context, self.codes, self.unset)
        self.factors = OwnFactors(self.context)

    def fields(
        self, position: int, recorded: Exchange, client: Client
    ) -> Generator[Action, Reply, dict[str, Json]]:
        """The fields of the recorded body whose codes must fit the target and the time, with those codes.

        CannotRebuild: the profile, or its limits, do not suffice.
        """
        key, sent = recorded.request.operation_key or "", recorded.sent
        if key == op.LOGIN_INITIATE:
            self._check_sign_in(recorded, sent)
        elif key in (op.LOGIN_MFA_SEND, op.PASSWORD_FORGOT, op.INVITE) or self._is_used_later(position, key):
            yield from self._mail(position, key, recorded, sent)
        self.factors.expect(key, recorded, client)
        for name, value in self.context.mails.code_of(recorded).items():
            if key in MAILED:
                return {name: (yield from self.passwords.code(position, recorded, value))}
            code = yield from self._code(position, key, recorded, value, client)
            return {name: int(code) if self.factors.was_number(recorded, value) and code.isdigit() else code}
        account = self.context.account_for(sent) or client.account
        backup_code = self.factors.backup_code(key, sent)
        if account is not None and backup_code is not None:
            self.certain.add((account, backup_code))
        return {}

    def _is_used_later(self, position: int, key: str) -> bool:
        """Whether the code that an administrator has mailed sets a password later."""
        return key == op.ACCOUNT_PASSWORD_RESET and self.context.mails.recipient(position) is not None

    def _check_sign_in(self, recorded: Exchange, sent: dict[str, Json]) -> None:
        email = sent.get("email")
        account = self.context.account_of(email)
        if recorded.success and account is None:
            raise CannotRebuild(f"the profile has no account that stands for {email}")
        if account is not None and account in self.refused:
            raise CannotRebuild(self.refused[account])
        if account is None or recorded.success:
            return
        password = sent.get("password")
        is_right = isinstance(password, str) and self.context.password(password, None) is not None
        if is_right and account in self.unset:
            raise CannotRebuild(self.unset[account])
        if not is_right:
            most = self.context.profile.limits.max_failed_sign_ins
            if self.failures[account] >= most:
                raise CannotRebuild(
                    f"[accounts.{account}] has had {most} failed sign-ins, all that [limits] allows"
                )
            self.failures[account] += 1

    def _mail(self, position: int, key: str, recorded: Exchange, sent: dict[str, Json]) -> Actions:
        """Before a mail: checks the budget, and marks the present mails of the inbox. A send that was refused
        for the cooldown may be mailed now, where the recording began within one."""
        if not recorded.success and recorded.code != COOLDOWN_CODE:
            return
        if recorded.success and self.mails >= self.context.profile.limits.max_mails:
            raise CannotRebuild(f"{self.mails} mails were sent, all that [limits] max_mails allows")
        self.mails += recorded.success
        account = self.context.mails.recipient(position) or self.context.account_for(sent)
        if account is None:
            return
        if key == op.LOGIN_MFA_SEND and recorded.success:
            yield from self._sit_out_cooldown(str(sent.get("sessionId")))
        if self.context.profile.accounts[account].inbox is not None:
            yield from self.order.take(f"the inbox of {account}", position)
            login = str(sent.get("sessionId"))
            if not recorded.success and login in self._last_sends and login not in self.mailed:
                yield from self._read_code(account, login)
            yield MarkInbox(account, recorded.success)
            if key in MAILING:
                self.passwords.expect(account)

    def is_mailed_anew(self, position: int, recorded: Exchange) -> bool:
        """Whether a mail that has come, by a send that was refused when recorded, or after one of these, or
        for a password that is set later, has to be read now: the next send leaves another one."""
        key = recorded.request.operation_key
        if key in MAILING:
            return self.context.mails.recipient(position) is not None
        if key != op.LOGIN_MFA_SEND or not isinstance(recorded.sent, dict):
            return False
        return not recorded.success or str(recorded.sent.get("sessionId")) in self.mailed

    def read_mail(self, position: int, recorded: Exchange) -> Actions:
        """Where several clients sign in, a mail is read before the next is sent to the same account."""
        key = recorded.request.operation_key
        if key not in MAILING | {op.LOGIN_MFA_SEND}:
            return
        account = self.context.mails.recipient(position) or self.context.account_for(recorded.sent)
        if account is None or self.context.profile.accounts[account].inbox is None:
            return
        if key in MAILING:
            yield from self.passwords.read(account)
            return
        login = str(recorded.sent.get("sessionId"))
        yield from self._read_code(account, login)
        if not recorded.success and login in self.mailed:
            self._last_sends[login] = self.now()

    def _read_code(self, account: str, login: str) -> Actions:
        try:
            code = yield Code(account, "EMAIL")
        except CannotRebuild:
            return  # the exchange that needs the code reports it
        assert isinstance(code, str)
        self.mailed[login] = code

    def _sit_out_cooldown(self, login: str) -> Actions:
        """Waits for the resend cooldown before a resend that the recorded portal accepted."""
        last = self._last_sends.get(login)
        left = 0.0 if last is None else last + COOLDOWN - self.now()
        if left > 0:
            yield PassTime(left, "the resend cooldown")
        self._last_sends[login] = self.now()

    def _code(
        self, position: int, key: str, recorded: Exchange, value: str, client: Client
    ) -> Generator[Action, Reply, str]:
        """Chooses a live code that is right, wrong or reused like the recorded code."""
        sent: dict[str, Json] = recorded.sent
        account = self.context.account_for(sent) or client.account
        is_wrong = recorded.code == WRONG_CODE
        if not recorded.success and not is_wrong:
            return self.codes.get(value, WRONG if REDACTED.fullmatch(value) else value)
        if account is None:
            raise CannotRebuild("the recording does not show whose code it was")
        secret = self.factors.secret_of(key, account, client, is_right=not is_wrong)
        if is_wrong and is_mailed(self.context.plan, position, recorded, value):
            factor, is_wrong = self._factor(key, {"method": METHODS["EMAIL"]}, account), False
        else:
            factor = self._factor(key, sent, account)
        code: Reply = None
        if factor == "OTP":
            # Time that is moved for the next code makes the others old.
            owner = "everybody" if self.movable else account
            yield from self.order.take(f"the authenticator of {owner}", position)
        elif not is_wrong:
            code = self.mailed.get(str(sent.get("sessionId")))
        if code is None:
            code = yield Code(account, factor, not is_wrong, secret)
        assert isinstance(code, str)
        self.codes[value] = code
        if factor == "OTP" and not is_wrong and account in self.factors.authenticators:
            self.certain.add((account, code))
        return code

    def _factor(self, key: str, sent: dict[str, Json], account: str) -> Factor:
        is_otp = key == op.OTP_VERIFY or sent.get("method") == METHODS["OTP"]
        factor: Factor = "OTP" if is_otp else "EMAIL"
        settings = self.context.profile.accounts[account]
        if factor == "OTP" and key != op.OTP_VERIFY and account not in self.factors.authenticators:
            self.factors.check(account)
            if settings.otp_secret is None:
                raise CannotRebuild(
                    f"[accounts.{account}] has no otp_secret, and signed in with an authenticator"
                )
        if factor == "EMAIL" and settings.inbox is None:
            raise CannotRebuild(f"[accounts.{account}] has no inbox, and its code was mailed")
        return factor

    def check_mail(self, recorded: Exchange, live: Exchange) -> Actions:
        """Where a mailed code is refused that was accepted when recorded: notes one that certainly came for
        this request."""
        account = self._mailed_account(recorded, live)
        if account is None or self.context.profile.accounts[account].inbox is None:
            return
        try:
            code = yield OnlyCode(account)
        except CannotRebuild:
            return
        if isinstance(code, str):
            self.certain.add((account, code))

    def _mailed_account(self, recorded: Exchange, live: Exchange) -> str | None:
        """Whose mailed code is refused that was accepted when recorded; None where none is."""
        if recorded.request.operation_key in MAILED:
            is_refused = recorded.success and not live.success
            return self.context.mails.owner(recorded) if is_refused else None
        if self._is_refused_now(recorded, live) and recorded.sent.get("method") == METHODS["EMAIL"]:
            return self.context.account_for(recorded.sent)
        return None

    def may_be_spent(self, recorded: Exchange, live: Exchange) -> bool:
        """Whether an authenticator's code was refused that another client, an earlier replay say, may have
        used within its time step: then the next code decides."""
        return self._is_refused_now(recorded, live) and recorded.sent.get("method") == METHODS["OTP"]

    def _is_refused_now(self, recorded: Exchange, live: Exchange) -> bool:
        is_complete = recorded.request.operation_key == op.LOGIN_COMPLETE and isinstance(recorded.sent, dict)
        return is_complete and recorded.success and live.code == WRONG_CODE

    def learn(self, key: str, recorded: Exchange, live: Exchange, client: Client) -> None:
        """Takes from a successful response of a sign-in: its account, its token, a new authenticator."""
        if key == op.LOGIN_INITIATE:
            account = self.context.account_of(sent_fields(recorded).get("email"))
            session = recorded.at("data.sessionId")
            if account is not None and isinstance(session, str):
                self.context.logins[session] = account
        elif key in (op.LOGIN_COMPLETE, op.TOKEN_REFRESH):
            token = live.at("data.accessToken")
            client.token = token if isinstance(token, str) else client.token
            client.signed_out = False
            session = sent_fields(recorded).get("sessionId") if key == op.LOGIN_COMPLETE else None
            client.account = (
                self.context.logins.get(session, client.account)
                if isinstance(session, str)
                else client.account
            )
            if key == op.LOGIN_COMPLETE and client.account:
                self.open_sessions[client.account] += 1
        elif key == op.LOGOUT:
            client.signed_out = True
            if client.account:
                self.logged_out.add(client.account)
                ended = live.at("data.terminatedSessions")
                self.open_sessions[client.account] -= int(ended) if is_integer(ended) else 1
        else:
            self.factors.learn(key, recorded, live, client)
