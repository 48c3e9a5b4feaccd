"""What is an account's own: its sessions, and its authenticator from its verification until it is revoked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from conformance.replay.compare.difference import Difference
from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.spec import endpoints as op
from conformance.target.portal.login import METHODS, offered_factors
from conformance.traffic.exchange import Exchange, Json, dig

IDS = {op.SESSIONS: "sessionId", op.SESSIONS_HISTORY: "bizId"}
"""The lists, and the field that identifies an entry."""

SHORTEST_ID = 16
"""A shorter id may be counted for each account, and says nothing of another one's."""

BASIS = "a list of the caller's own sessions shows one that another account was shown"


@dataclass
class SessionOwners:
    """By id of a listed session, the account that was shown it first."""

    _owners: dict[str, str] = field(default_factory=dict)

    def foreign(self, pair: ReplayedExchange) -> Iterator[Difference]:
        """The entries of a live list that belong to another account."""
        name = IDS.get(pair.operation)
        if name is None or pair.account is None or not pair.live.success:
            return
        data: Json = pair.live.data
        place: tuple[str, ...] = ("data",)
        if isinstance(data, dict):
            data, place = data.get("items"), ("data", "items")
        for at, entry in enumerate(data if isinstance(data, list) else ()):
            id = dig(entry, [name])
            is_telling = isinstance(id, str) and len(id) >= SHORTEST_ID
            if is_telling and self._owners.setdefault(id, pair.account) != pair.account:
                yield Difference("value", (*place, at, name), None, id)


NOT_OFFERED_ANY_MORE = "MFA-012"
NOT_OFFERED_YET = "MFA-015"
NOT_ENABLED = "initiate gives the methods that are available, and this authenticator is shown as not enabled"


@dataclass
class Authenticators:
    """The accounts, by what the recording and the replay both show of their authenticator. One that has a
    verified one at the target alone is none of these."""

    _revoked: set[str] = field(default_factory=set)
    """They revoked it, and have no other one since."""
    _without: set[str] = field(default_factory=set)
    """None was offered at their last sign-in."""
    _set_up: set[str] = field(default_factory=set)
    """They had none, and set one up that they did not verify."""
    _off: set[str] = field(default_factory=set)
    """Theirs was listed as not enabled."""

    def note(self, pair: ReplayedExchange) -> None:
        account = pair.account
        if account is None or not (pair.recorded.success and pair.live.success):
            return
        if pair.operation == op.OTP_REVOKE:
            self._revoked.add(account)
            self._set_up.discard(account)
        elif pair.operation == op.OTP_SETUP and account in self._without:
            self._set_up.add(account)
        elif pair.operation == op.OTP_VERIFY:
            for accounts in (self._revoked, self._set_up, self._off):
                accounts.discard(account)
        elif pair.operation == op.MFA:
            _keep(self._off, account, _is_off(pair.recorded.data) and _is_off(pair.live.data))
        elif pair.operation == op.LOGIN_INITIATE:
            _keep(self._without, account, not (_is_offered(pair.recorded) or _is_offered(pair.live)))

    def offered(self, pair: ReplayedExchange, difference: Difference) -> str | None:
        """Why the authenticator may not be offered, where a difference says that it is, as it was not when
        recorded: the id of a requirement, or a sentence. None where it may, or no difference says so."""
        if pair.operation != op.LOGIN_INITIATE or not difference.path.startswith("data.mfaMethods"):
            return None
        if _is_offered(pair.recorded) or not _is_offered(pair.live):
            return None
        reasons = (
            (self._revoked, NOT_OFFERED_ANY_MORE),
            (self._set_up, NOT_OFFERED_YET),
            (self._off, NOT_ENABLED),
        )
        return next((why for accounts, why in reasons if pair.account in accounts), None)


def _keep(accounts: set[str], account: str, belongs: bool) -> None:
    (accounts.add if belongs else accounts.discard)(account)


def _is_offered(initiated: Exchange) -> bool:
    return AUTHENTICATOR in offered_factors(initiated)


def _is_off(settings: Json) -> bool:
    """Whether the authenticator is listed, and as not enabled."""
    listed = settings if isinstance(settings, list) else []
    own = [each for each in listed if dig(each, ["mfaMethod", "value"]) == METHODS[AUTHENTICATOR]]
    return len(own) == 1 and dig(own[0], ["isEnabled"]) is False


AUTHENTICATOR = "OTP"
