"""A login history that lacks sign-ins of the replay. That such a list is longer says nothing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from conformance.replay.compare.difference import Difference
from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.replay.compare.times.clocks import BEGAN, JUST_NOW, Clocks, epoch_of
from conformance.replay.compare.times.others import GRAIN
from conformance.spec.endpoints import LOGIN_COMPLETE, LOGIN_INITIATE, SESSIONS_HISTORY
from conformance.traffic.exchange import Json, dig


@dataclass
class ReplayedSignIns:
    """Counts, by account, the sign-ins that ended as they did when recorded: completed or refused."""

    _counts: Counter[str] = field(default_factory=Counter)

    def note(self, pair: ReplayedExchange) -> None:
        """Takes one step of a sign-in. One that only begins stands in no history yet."""
        if pair.operation not in (LOGIN_INITIATE, LOGIN_COMPLETE) or pair.account is None:
            return
        is_ended = pair.operation == LOGIN_COMPLETE or not pair.recorded.success
        if is_ended and bool(pair.recorded.success) is bool(pair.live.success):
            self._counts[pair.account] += 1

    def lacking(self, pair: ReplayedExchange, began: Clocks) -> list[Difference]:
        """The list of a history that shows fewer of these sign-ins than it did when recorded."""
        if pair.operation != SESSIONS_HISTORY or pair.account is None:
            return []
        old, new = (_moments(each) for each in (pair.recorded.data, pair.live.data))
        before = sum(moment >= began.recorded - GRAIN for moment in old)
        after = sum(moment >= began.live - JUST_NOW for moment in new)
        is_lacking = after < min(before, self._counts[pair.account])
        if not is_lacking or not _shows_all_since(new, pair.live.data, began.live):
            return []
        return [Difference("length", ("data", "items"), before, after)]


def turned_round(pair: ReplayedExchange) -> list[Difference]:
    """The list of a history whose newest sign-ins stood first and now stand last, or the other way round: no
    further sign-in makes that."""
    if pair.operation != SESSIONS_HISTORY:
        return []
    before, after = (_direction(_moments(each)) for each in (pair.recorded.data, pair.live.data))
    if before is None or after is None or before == after:
        return []
    return [Difference("order", ("data", "items"), before, after)]


FEWEST = 3
"""Entries that show an order: two may stand so by chance."""


def _direction(moments: Sequence[float]) -> str | None:
    """Which entries stand first; None where they are in no order of time, or too few to show one."""
    if len(set(moments)) < FEWEST or any(map(math.isnan, moments)):
        return None
    if all(newer >= older for newer, older in pairwise(moments)):
        return "newest first"
    return "oldest first" if all(older <= newer for older, newer in pairwise(moments)) else None


def is_miscounted(difference: Difference, old: Json, new: Json) -> bool:
    """Whether a history says that it holds more or fewer sign-ins than its only page shows, as it did not
    when recorded: no further sign-in makes that."""
    if difference.place != ("data", "pagination", "totalRecords"):
        return False
    (shown, counted, _), (shown_now, counted_now, size) = _counted(old), _counted(new)
    return shown == counted and shown_now != counted_now and isinstance(size, int) and 0 < shown_now < size


def _counted(history: Json) -> tuple[int, Json, Json]:
    """How many entries a page shows, how many it says that there are, and how many it has room for."""
    items = dig(history, ["data", "items"])
    pagination = dig(history, ["data", "pagination"])
    is_first = dig(pagination, ["currentPage"]) == 1
    shown = len(items) if isinstance(items, list) and is_first else 0
    return shown, dig(pagination, ["totalRecords"]), dig(pagination, ["pageSize"])


def _moments(history: Json) -> list[float]:
    items = dig(history, ["items"])
    return [epoch_of(dig(item, [BEGAN])) for item in items] if isinstance(items, list) else []


def _shows_all_since(moments: Sequence[float], history: Json, began: float) -> bool:
    """Whether a page shows all sign-ins since then: it is the only one, or goes back to earlier ones."""
    if any(map(math.isnan, moments)):
        return False
    is_newest_first = all(newer >= older for newer, older in pairwise(moments))
    is_whole = dig(history, ["pagination", "totalRecords"]) == len(moments)
    return is_whole or (is_newest_first and bool(moments) and moments[-1] < began - JUST_NOW)
