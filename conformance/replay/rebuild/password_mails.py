"""Whose passwords are set by mailed codes, and which requests of a recording have these mailed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from conformance.checks.records import sent_fields
from conformance.replay.recording.needs import signing_in
from conformance.replay.recording.plan import ReplayPlan
from conformance.replay.recording.values import leaves
from conformance.spec import endpoints as op
from conformance.target.profile.model import Profile
from conformance.traffic.exchange import Exchange, Json, dig

MAILED = frozenset({op.PASSWORD_RESET, op.PASSWORD_INIT})
MAILING = frozenset({op.PASSWORD_FORGOT, op.ACCOUNT_PASSWORD_RESET})
TAKING_CODES = MAILED | {op.LOGIN_COMPLETE, op.OTP_VERIFY}
CODE_FIELDS = ("code", "otp", "otpCode", "totp", "verificationCode")
CODE = "{code}"
"""What stands in the body of the profile where the code of a mail is sent."""

BOT_TOKEN = "turnstileToken"


class PasswordSetting(NamedTuple):
    """A request that set a password by a mailed code: the profile's account, and the position of the request
    that had the code mailed; None where the recording does not show it."""

    account: str | None
    source: int | None


class _Settings(NamedTuple):
    by_position: dict[int, PasswordSetting]
    by_code: dict[str, PasswordSetting]
    recipients: dict[int, str]
    """By the position of a request that has a code mailed which is used later: to whom."""


@dataclass
class PasswordMails:
    """``account_of`` tells the profile's account for a recorded email."""

    plan: ReplayPlan
    profile: Profile
    account_of: Callable[[Json], str | None]

    def code_of(self, recorded: Exchange) -> dict[str, str]:
        """The code that a request sends, by the name of its field; none where it sends none, or one that an
        earlier response returned."""
        key, sent = recorded.request.operation_key, recorded.sent
        if key not in TAKING_CODES or not isinstance(sent, dict):
            return {}
        names = (*self._names(key, sent), *CODE_FIELDS)
        codes = ((name, sent[name]) for name in names if isinstance(sent.get(name), str))
        return {name: value for name, value in islice(codes, 1) if not self._is_returned(key, value)}

    def owner(self, recorded: Exchange) -> str | None:
        """The profile's account whose password a request sets by a mailed code, or was to set."""
        sent = sent_fields(recorded)
        account = self.account_of(sent.get("email"))
        code = next(iter(self.code_of(recorded).values()), "")
        setting = None if account is not None else self._settings.by_code.get(code)
        return account if setting is None else setting.account

    def set_at(self, position: int) -> PasswordSetting | None:
        return self._settings.by_position.get(position)

    def set_by(self, code: str) -> PasswordSetting | None:
        return self._settings.by_code.get(code)

    def recipient(self, position: int) -> str | None:
        """The account that gets a code by the request at a position which the recording uses later."""
        return self._settings.recipients.get(position)

    def _names(self, key: str, sent: dict[str, Json]) -> list[str]:
        """The fields of a code that was mailed for a password: those of the profile's body, else by name."""
        if key not in MAILED:
            return []
        settings = self.profile.operations.get(key)
        body = settings.body if settings is not None and isinstance(settings.body, dict) else {}
        named = [name for name, value in body.items() if value == CODE]
        alike = (name for name in sent if name.lower().endswith(("token", "code")) and name != BOT_TOKEN)
        return [*named, *alike]

    def _is_returned(self, key: str, code: str) -> bool:
        """Whether an earlier response returned a code, which is then no mail's and no authenticator's."""
        plan, source = self.plan, self.plan.sources.get(code)
        if source is None or key == op.OTP_VERIFY:
            return False
        return plan.changing.get(source) == op.BACKUP_CODES_GENERATE or (
            key in MAILED and code in plan.handles
        )

    @cached_property
    def _settings(self) -> _Settings:
        plan, settings = self.plan, _Settings({}, {}, {})
        last: dict[str | None, int] = {}
        """By account, the request that had its last code mailed; None: nobody knows to whom."""
        for position in self._positions():
            key, exchange = plan.changing[position], plan.store.exchange(position)
            if key in MAILING:
                account = self._recipient(key, exchange)
                if account is not None or key == op.ACCOUNT_PASSWORD_RESET:
                    last.pop(account, None)
                    last[account] = position
                continue
            setting = self._setting(position, exchange, last)
            settings.by_position[position] = setting
            for code in self.code_of(exchange).values():
                settings.by_code.setdefault(code, setting)
            if setting.source is not None and setting.account is not None:
                settings.recipients[setting.source] = setting.account
        return settings

    def _positions(self) -> list[int]:
        """Positions of requests that had a code mailed or set a password by mailed code, in replay order."""
        return [at for at in self.plan.wanted() if self.plan.changing.get(at) in MAILED | MAILING]

    def _setting(self, position: int, exchange: Exchange, last: dict[str | None, int]) -> PasswordSetting:
        sent = sent_fields(exchange)
        account = self.account_of(sent.get("email") or signing_in(self.plan, position))
        if account is None:
            account = next(reversed(last), None)
        sources = [last[name] for name in (account, None) if name in last]
        return PasswordSetting(account, max(sources, key=self.plan.number_of, default=None))

    def _recipient(self, key: str, exchange: Exchange) -> str | None:
        """Finds the account that gets a request's mailed code: by the request's email, or by the email beside
        the request's id in the response that returned the id."""
        sent = exchange.sent
        if key == op.PASSWORD_FORGOT:
            return self.account_of(dig(sent, ["email"]))
        for _, text in leaves(sent, ""):
            source = self.plan.sources.get(text)
            body = None if source is None else self.plan.exchange(source).envelope
            accounts = (self.account_of(email) for email in _beside(body, text))
            account = next((each for each in accounts if each is not None), None)
            if account is not None:
                return account
        return None


def _beside(value: Json, text: str) -> list[str]:
    if isinstance(value, list):
        return [inner for item in value for inner in _beside(item, text)]
    if not isinstance(value, dict):
        return []
    if text in value.values():
        return [inner for inner in value.values() if isinstance(inner, str)]
    return [inner for item in value.values() for inner in _beside(item, text)]
