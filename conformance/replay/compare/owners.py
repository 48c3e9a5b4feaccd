"""Whose sessions the lists of sessions show: an account sees its own, and nobody else's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from conformance.replay.compare.difference import Difference
from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.spec.endpoints import SESSIONS, SESSIONS_HISTORY
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
