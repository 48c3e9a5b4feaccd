"""Endpoints that were offered when recorded, and at the target are not."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from conformance.replay.compare.difference import Difference
from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.spec import BY_KEY
from conformance.spec.endpoints import LOGIN_COMPLETE, PROFILE, SESSIONS
from conformance.traffic.exchange import ABSENT

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
    """The accounts of which the target has served a request, and with what."""

    operations: dict[str | None, set[str]] = field(default_factory=dict)

    def note(self, pair: ReplayedExchange) -> None:
        if pair.live.success and pair.operation in BY_KEY:
            self.operations.setdefault(pair.account, set()).add(pair.operation)

    def misses(
        self, pair: ReplayedExchange, difference: Difference, stand_ins: Container[str | None]
    ) -> str | None:
        """The requirement that an endpoint is offered, where a difference says that it is not any more: a
        caller who is served otherwise is told that nothing is there, where every caller has something."""
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
        """Whether the caller signed in, or was served where a token is needed."""
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
