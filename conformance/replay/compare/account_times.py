"""Times and lists of an account that its own requests, and sign-ins of others, move."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from conformance.replay.compare.clocks import BEGAN, CREATED, JUST_NOW, Clocks, epoch_of, own_session
from conformance.replay.compare.order import content_key
from conformance.replay.compare.outcome import Difference, ReplayedExchange, Steps
from conformance.replay.recording.kinds import is_address
from conformance.spec import endpoints as op
from conformance.traffic.exchange import Json, dig


@dataclass
class OwnRequests:
    """Counts, by account, operation and success, the requests that ended as they did when recorded."""

    _counts: Counter[tuple[str | None, str, bool]] = field(default_factory=Counter)

    def note(self, pair: ReplayedExchange) -> None:
        is_success = bool(pair.recorded.success)
        if is_success is bool(pair.live.success):
            self._counts[pair.account, pair.operation, is_success] += 1

    def has_done(self, account: str | None, operation: str) -> bool:
        return account is not None and self._counts[account, operation, True] > 0

    def sign_ins(self, account: str) -> int:
        """How many sign-ins ended, completed or refused. One that only begins stands in no history yet."""
        ends = ((op.LOGIN_INITIATE, False), (op.LOGIN_COMPLETE, False), (op.LOGIN_COMPLETE, True))
        return sum(self._counts[account, operation, is_success] for operation, is_success in ends)

    def stayed(self, pair: ReplayedExchange, began: Clocks, clocks: Clocks) -> Iterator[Difference]:
        """The times that are since the recording began in the recorded answer, and from before the replay
        began in the live one. Null is permitted, and a clock may be slow or count minutes."""
        since = began.recorded + max(0.0, clocks.recorded - pair.recorded.time)
        for (operation, name), by in MOVED_BY.items():
            if pair.operation == operation and any(self.has_done(pair.account, each) for each in by):
                for place, old, new in _shown(pair, name):
                    if epoch_of(old) >= since and epoch_of(new) < began.live - JUST_NOW:
                        yield Difference("time", place, old, new)

    def lacking(self, pair: ReplayedExchange, began: Clocks) -> list[Difference]:
        """The list of a history that shows fewer of these sign-ins than it did when recorded. That it is
        longer says nothing."""
        if pair.operation != op.SESSIONS_HISTORY or pair.account is None:
            return []
        old, new = (_moments(each) for each in (pair.recorded.data, pair.live.data))
        before = sum(moment >= began.recorded - GRAIN for moment in old)
        after = sum(moment >= began.live - JUST_NOW for moment in new)
        is_lacking = after < min(before, self.sign_ins(pair.account))
        if not is_lacking or not _shows_all_since(new, pair.live.data, began.live):
            return []
        return [Difference("length", ("data", "items"), before, after)]


def turned_round(pair: ReplayedExchange) -> list[Difference]:
    """The list of a history whose newest sign-ins stood first and now stand last, or the other way round: no
    further sign-in makes that."""
    if pair.operation != op.SESSIONS_HISTORY:
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


MOVED_BY: Mapping[tuple[str, str], frozenset[str]] = {
    (op.SESSIONS_CONFIG, "lastLoginAt"): frozenset({op.LOGIN_COMPLETE}),
    (op.SESSIONS_CONFIG, "passwordChangedAt"): frozenset(
        {op.PASSWORD_CHANGE, op.PASSWORD_RESET, op.PASSWORD_INIT}
    ),
    (op.MFA, "verifiedAt"): frozenset({op.OTP_VERIFY}),
    (op.SESSIONS, BEGAN): frozenset({op.LOGIN_COMPLETE}),
}
"""By operation and field, the operations that move a time of the caller's."""


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


GRAIN = 5.0
"""Seconds by which a sign-in may seem to be older than it is."""


def is_of_others(difference: Difference, bodies: tuple[Json, Json], began: Clocks) -> bool:
    """Whether a value differs, or is null on one side, in an entry that others made on either side; or
    entries stand in another order only as others signed in at other times. ``began`` is when the recording
    and the replay did, each on the clock of its portal."""
    place = difference.place
    if difference.kind == "order":
        old, new = (
            _newer_and_own(dig(body, place), moment) for body, moment in zip(bodies, began, strict=True)
        )
        return old == new and len(old[0]) == 1
    at = _entry_of(difference)
    if at is None or is_no_address(difference):
        return False
    entries = [dig(body, place[: at + 1]) for body in bodies]
    return any(_is_older(entry, moment) for entry, moment in zip(entries, began, strict=True))


def of_other_records(
    differences: Sequence[Difference], bodies: tuple[Json, Json], began: Clocks, live: Mapping[Any, str]
) -> Iterator[Difference]:
    """The values that differ in two records with different ids, of which one is older than the recording or
    the replay and none stands elsewhere in the list; ``live`` has live ids by recorded ids. Another record
    of the list has one id on both sides: ids are no reason to pair these two."""
    by_list: dict[Steps, list[frozenset[str]]] = {}
    for difference in differences:
        if (at := _entry_of(difference)) is None:
            continue
        place = difference.place[:at]
        if place not in by_list:
            by_list[place] = [frozenset(filter(None, map(_id_of, dig(body, place)))) for body in bodies]
        recorded, now = by_list[place]
        entries = [dig(body, difference.place[: at + 1]) for body in bodies]
        old, new = map(_id_of, entries)
        is_pair = old == new or new in recorded or now & {live.get(old, old)} - {new}
        pairs = zip(entries, began, strict=True)
        is_older = any(epoch_of(dig(entry, [CREATED])) < moment - GRAIN for entry, moment in pairs)
        if old and new and not is_pair and is_older and not recorded.isdisjoint(now):
            yield difference


def _id_of(entry: Json) -> str:
    id = dig(entry, ["bizId"])
    return id if isinstance(id, str) else ""


def _entry_of(difference: Difference) -> int | None:
    """The step of a value's place that is its entry's in a list; None where no value differs in an entry."""
    is_null = difference.kind == "type" and None in (difference.recorded, difference.replayed)
    if not (is_null or difference.kind == "value"):
        return None
    return next((number for number, step in enumerate(difference.place) if isinstance(step, int)), None)


def is_no_address(difference: Difference) -> bool:
    """Whether an address was recorded where another text is now: that is its form, and no other client's."""
    return is_address(difference.recorded) and isinstance(difference.replayed, str)


def _is_older(entry: Json, began: float) -> bool:
    """Whether the entry of another session shows a sign-in before ``began``."""
    return dig(entry, ["isCurrent"]) is not True and epoch_of(dig(entry, [BEGAN])) < began - GRAIN


def _newer_and_own(entries: Json, began: float) -> tuple[set[bool], list[str]]:
    """Returns the orders in which the entries' times run, and contents of entries since ``began``."""
    listed = entries if isinstance(entries, list) else []
    own = [content_key(entry) for entry in listed if not _is_older(entry, began)]
    return set(_newer(listed)), own


def _newer(entries: list[Json]) -> Iterator[bool]:
    moments = [epoch_of(dig(entry, [BEGAN])) for entry in entries]
    yield from (one < other for one, other in pairwise(moments) if one != other)
