"""Times of an account that its own requests move: those that did when recorded, and stay in the replay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from conformance.replay.compare.difference import Difference, Steps
from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.replay.compare.times.clocks import BEGAN, JUST_NOW, Clocks, epoch_of, own_session
from conformance.spec import endpoints as op
from conformance.traffic.exchange import Json, dig

MOVED_BY: Mapping[tuple[str, str], frozenset[str]] = {
    (op.SESSIONS_CONFIG, "lastLoginAt"): frozenset({op.LOGIN_COMPLETE}),
    (op.SESSIONS_CONFIG, "passwordChangedAt"): frozenset(
        {op.PASSWORD_CHANGE, op.PASSWORD_RESET, op.PASSWORD_INIT}
    ),
    (op.MFA, "verifiedAt"): frozenset({op.OTP_VERIFY}),
    (op.SESSIONS, BEGAN): frozenset({op.LOGIN_COMPLETE}),
}
"""By operation and field, the operations that move a time of the caller's."""

MOVING = frozenset({op.BACKUP_CODES_GENERATE}).union(*MOVED_BY.values())
"""The operations that are noted: these, and the one that writes other values of the caller's anew."""


@dataclass
class OwnMoves:
    """What each account did that moves a time of its own: when recorded, and in the replay."""

    _done: set[tuple[str | None, str]] = field(default_factory=set)

    def note(self, pair: ReplayedExchange) -> None:
        if pair.operation in MOVING and pair.account and pair.recorded.success and pair.live.success:
            self._done.add((pair.account, pair.operation))

    def has_done(self, account: str | None, operation: str) -> bool:
        """Whether an account has asked for an operation in this replay."""
        return (account, operation) in self._done

    def stayed(self, pair: ReplayedExchange, began: Clocks, clocks: Clocks) -> Iterator[Difference]:
        """The times that are since the recording began in the recorded answer, and from before the replay
        began in the live one. Null is permitted, and a clock may be slow or count minutes."""
        since = began.recorded + max(0.0, clocks.recorded - pair.recorded.time)
        for (operation, name), by in MOVED_BY.items():
            if pair.operation == operation and any((pair.account, each) in self._done for each in by):
                for place, old, new in _shown(pair, name):
                    if epoch_of(old) >= since and epoch_of(new) < began.live - JUST_NOW:
                        yield Difference("time", place, old, new)


def _shown(pair: ReplayedExchange, name: str) -> Iterator[tuple[Steps, Json, Json]]:
    """The place, the recorded and the live value of a field of the caller's."""
    old, new = pair.recorded.data, pair.live.data
    if pair.operation == op.SESSIONS:
        (_, recorded), (at, live) = own_session(old), own_session(new)
        yield ("data", at, name), recorded.get(name), live.get(name)
    elif isinstance(old, dict) and isinstance(new, dict):
        yield ("data", name), old.get(name), new.get(name)
    elif isinstance(old, list) and isinstance(new, list):
        by_method = {str(dig(each, METHOD)): at for at, each in enumerate(new)}
        for each in old:
            at_now = by_method.get(str(dig(each, METHOD)))
            if at_now is not None:
                yield ("data", at_now, name), dig(each, [name]), dig(new[at_now], [name])


METHOD = ("mfaMethod", "value")
