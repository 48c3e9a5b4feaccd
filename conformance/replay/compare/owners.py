"""What is an account's own: its sessions, and its authenticator until it is revoked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from conformance.replay.compare.difference import Difference
from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.spec.endpoints import LOGIN_INITIATE, OTP_REVOKE, OTP_VERIFY, SESSIONS, SESSIONS_HISTORY
from conformance.target.portal.login import offered_factors
from conformance.traffic.exchange import Json, dig

IDS = {SESSIONS: "sessionId", SESSIONS_HISTORY: "bizId"}
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


@dataclass
class RevokedAuthenticators:
    """The accounts that revoked their authenticator, when recorded and now, and have no other one since."""

    _accounts: set[str] = field(default_factory=set)

    def note(self, pair: ReplayedExchange) -> None:
        if pair.account is None or not (pair.recorded.success and pair.live.success):
            return
        if pair.operation == OTP_REVOKE:
            self._accounts.add(pair.account)
        elif pair.operation == OTP_VERIFY:
            self._accounts.discard(pair.account)

    def is_offered(self, pair: ReplayedExchange, difference: Difference) -> bool:
        """Whether a difference says that the authenticator is offered, as it was not when recorded."""
        if pair.operation != LOGIN_INITIATE or pair.account not in self._accounts:
            return False
        if difference.path != "data.mfaMethods":
            return False
        return "OTP" in offered_factors(pair.live) and "OTP" not in offered_factors(pair.recorded)
