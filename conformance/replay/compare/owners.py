"""What a caller has: its sessions, its authenticator until it is revoked, and the endpoints offered."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field

from conformance.replay.compare.outcome import Difference, ReplayedExchange
from conformance.spec import BY_KEY
from conformance.spec import endpoints as op
from conformance.spec.endpoints import LOGIN_COMPLETE, PROFILE, SESSIONS
from conformance.target.portal.login import METHODS, offered_factors
from conformance.traffic.exchange import ABSENT, Exchange, Json, dig

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
    """Accounts by the authenticator state that recording and replay both show. Accounts whose authenticator
    is verified at the target alone belong to none of the sets."""

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
        """Explains, by requirement or sentence, why a newly offered authenticator must not be offered. None:
        the offer is allowed, or the difference shows no new offer."""
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
    listed = settings if isinstance(settings, list) else []
    own = [each for each in listed if dig(each, ["mfaMethod", "value"]) == METHODS[AUTHENTICATOR]]
    return len(own) == 1 and dig(own[0], ["isEnabled"]) is False


AUTHENTICATOR = "OTP"


OF_EVERY_CALLER = frozenset({PROFILE, SESSIONS})
"""What whoever is signed in surely has: a profile, and the session itself. Limits, factors or a history there
may be none of yet, and how a portal says so is not stated."""
CONSTANTS = "/constants/"
NOT_FOUND = "RESOURCE.NOT_FOUND"
NOT_OFFERED = "the endpoint is no longer offered here"
STATUSES = frozenset({404, 405, 501})
OF_A_REFUSAL = frozenset({"status", "code", "success"})


@dataclass
class ServedCallers:
    """Operations that the target served, by account."""

    operations: dict[str | None, set[str]] = field(default_factory=dict)

    def note(self, pair: ReplayedExchange) -> None:
        if pair.live.success and pair.operation in BY_KEY:
            self.operations.setdefault(pair.account, set()).add(pair.operation)

    def misses(
        self, pair: ReplayedExchange, difference: Difference, stand_ins: Container[str | None]
    ) -> str | None:
        """Names the requirement of an endpoint that a difference shows as no longer offered: the target
        serves the caller elsewhere, and answers "not found" where every caller has a record."""
        if difference.path not in OF_A_REFUSAL or not _is_not_found(pair) or pair.live.code != NOT_FOUND:
            return None
        if pair.operation in OF_EVERY_CALLER:
            is_served = pair.account not in stand_ins and self._is_served(pair)
        else:
            is_served = CONSTANTS in pair.operation and any(
                operations - {pair.operation} for operations in self.operations.values()
            )
        return BY_KEY[pair.operation].requirement if is_served else None

    def _is_served(self, pair: ReplayedExchange) -> bool:
        others = self.operations.get(pair.account, set()) - {pair.operation}
        return pair.account is not None and any(
            key == LOGIN_COMPLETE or not (BY_KEY[key].is_prelogin or CONSTANTS in key) for key in others
        )


def is_not_offered(pair: ReplayedExchange) -> bool:
    """Whether a read that succeeded is now answered as where no endpoint is. Whether it is of a record that
    is missing is told by the ids that it names."""
    return _is_not_found(pair) and pair.live.code in (None, ABSENT, NOT_FOUND, "404", 404, 405, "405")


def _is_not_found(pair: ReplayedExchange) -> bool:
    """Whether a read that names no record succeeded when recorded, and now has such a status."""
    operation, request = BY_KEY.get(pair.operation), pair.recorded.request
    if operation is None or operation.method != "GET" or operation.parameters or request.query:
        return False
    return bool(pair.recorded.success) and pair.live.status in STATUSES
