"""Compares a recorded response with the live one: status, media type, envelope, data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from conformance.replay.compare.account_times import (
    OwnRequests,
    is_miscounted,
    is_no_address,
    is_of_others,
    of_other_records,
    turned_round,
)
from conformance.replay.compare.clocks import (
    AT_THE_EPOCH,
    OF_SIGN_INS,
    Clocks,
    StampingClock,
    clocks_of,
    is_stamp,
    other_lifetime,
    own_session,
    session_begun_long_ago,
    written_long_ago,
)
from conformance.replay.compare.json_comparison import JsonComparison
from conformance.replay.compare.outcome import Difference, Kind, ReplayedExchange
from conformance.replay.compare.repetition import ShownEarlier
from conformance.replay.compare.written import (
    COUNTS,
    LISTINGS,
    has_moved_range,
    is_leftover,
    is_moving_time,
    names_a_record,
    shows_others,
    without_leftovers,
)
from conformance.replay.rebuild.correlation import Correlation
from conformance.report.model.regressions import Place, pattern_of
from conformance.spec.endpoints import BACKUP_CODES, BACKUP_CODES_GENERATE, SESSIONS
from conformance.traffic.exchange import ABSENT, NOT_JSON, Json, Response, dig

MOST = 50
"""Differences of one response that are reported; more of them add nothing."""


WRITTEN_ANEW: Mapping[tuple[str | int, ...], str] = {(BACKUP_CODES, "remainingCount"): BACKUP_CODES_GENERATE}
"""By operation and field, the operation that writes a value whatever it was before. How many codes were ever
generated may be counted on."""


class ResponseComparison(NamedTuple):
    """The differences of two responses. ``is_stable``: there are none, and two responses equal to these will
    have none as long as the correlation's generation lasts."""

    differences: list[Difference]
    is_stable: bool = False


@dataclass(frozen=True, slots=True)
class Comparer:
    """Compares responses, and learns on the way which live identity stands for which recorded one.

    ``drift`` counts differences of state, time or data, which are none, by place.
    """

    correlation: Correlation
    written: Collection[str] = frozenset()
    """The operations by which the recording itself changes something."""
    began: Clocks = AT_THE_EPOCH
    """When the recording began, on its portal's clock, and when the replay did, on ours."""
    own: OwnRequests = field(default_factory=OwnRequests)
    earlier: ShownEarlier = field(default_factory=ShownEarlier)
    stamping: tuple[StampingClock, StampingClock] = field(
        default_factory=lambda: (StampingClock(), StampingClock())
    )
    """The clocks of the recorded and of the live portal."""
    drift: Counter[Place] = field(default_factory=Counter)

    def _without(
        self, drift: Sequence[Difference], operation: str, differences: Sequence[Difference]
    ) -> list[Difference]:
        """The differences without some that are none by the nature of their places, which are counted."""
        self.drift.update((operation, pattern_of(each.path), each.kind) for each in drift)
        return [each for each in differences if each not in drift]

    def compare(self, pair: ReplayedExchange) -> ResponseComparison:
        """Every difference of two answered exchanges, the most telling first."""
        old, new = pair.recorded.response, pair.live.response
        assert old is not None
        assert new is not None
        differences: list[Difference] = []
        if old.status != new.status:
            differences.append(Difference("status", ("status",), old.status, new.status))
        differences.extend(_media_types(old, new))
        before, after = pair.recorded.envelope, pair.live.envelope
        bodies = ResponseComparison([], is_stable=True)
        if (old.state == "json") != (new.state == "json") and not old.is_unknown and not new.is_unknown:
            differences.append(Difference("type", (), pair.recorded_body, pair.live_body))
        elif old.state == new.state == NOT_JSON:
            differences += [Difference("value", (), old.body, new.body)] if old.body != new.body else []
        elif before is None or after is None:
            if not old.is_unknown:
                bodies = self._bodies(pair, pair.recorded_body, pair.live_body)
        elif before.get("success") is not after.get("success") or before.get("code") != after.get("code"):
            differences.extend(_success_and_code(before, after))
        else:
            bodies = self._bodies(pair, before, after)
        differences = [*differences, *bodies.differences][:MOST]
        return ResponseComparison(differences, bodies.is_stable and not differences)

    def _bodies(self, pair: ReplayedExchange, old: Json, new: Json) -> ResponseComparison:
        clocks, stamped = self._clocks(pair, old, new)
        began = self._began(pair, clocks)
        comparison = JsonComparison(self.correlation, pair, self.earlier, clocks, began)
        differences = [*stamped, *comparison.differences(old, new)]
        differences.extend(_of_what_was_made(pair, old, new, clocks))
        lacking = [*self.own.lacking(pair, began), *turned_round(pair)]
        own_session = self._own_session(pair, old, new, differences)
        own = [*lacking, *self.own.stayed(pair, began, clocks), *own_session]
        if not differences and not own:
            return ResponseComparison(differences, comparison.is_stable)
        places = {each.place for each in own}
        differences = [each for each in differences if each.place not in places]
        grows = pair.operation in OF_SIGN_INS or has_moved_range(pair.operation, _moments(pair))
        if grows and (lacking or any(map(_is_of_length, differences))):
            others = [
                each for each in differences if _is_by_growth(each) and not is_miscounted(each, old, new)
            ]
        elif pair.operation in OF_SIGN_INS:
            others = [each for each in differences if is_of_others(each, (old, new), began)]
        else:
            others = list(of_other_records(differences, (old, new), began, self.correlation.live))
        differences = [*self._without(others, pair.operation, differences), *own]
        differences = self._without_leftovers(pair, old, new, differences)
        return ResponseComparison(differences)  # drift is counted each time: nothing here is stable

    def _own_session(
        self, pair: ReplayedExchange, old: Json, new: Json, differences: list[Difference]
    ) -> list[Difference]:
        """The differences of the session that sends the request, where others began or ended beside it."""
        if pair.operation != SESSIONS or not any(each.kind == "length" for each in differences):
            return []
        (_, recorded), (at, live) = (own_session(dig(body, ["data"])) for body in (old, new))
        if not recorded or not live:
            return []
        differing = JsonComparison(self.correlation, pair, self.earlier).differences(recorded, live)
        return [each.within("data", at) for each in differing]

    def _clocks(self, pair: ReplayedExchange, old: Json, new: Json) -> tuple[Clocks, list[Difference]]:
        """The clocks of two bodies, and the live timestamp where another clock than the portal's gave it."""
        clocks = clocks_of(old, new, pair)
        stamps = dig(old, ["timestamp"]), dig(new, ["timestamp"])
        if not all(map(is_stamp, stamps)):
            return clocks, []
        is_odd, is_odd_now = (
            clock.is_out_of_line(pair.operation, answered - exchange.time)
            for clock, answered, exchange in zip(
                self.stamping, clocks, (pair.recorded, pair.live), strict=True
            )
        )
        if is_odd or not is_odd_now:
            return clocks, []
        ahead = self.stamping[1].ahead or 0.0
        return clocks._replace(live=pair.live.time + ahead), [Difference("time", ("timestamp",), *stamps)]

    def _began(self, pair: ReplayedExchange, clocks: Clocks) -> Clocks:
        """When the recording and the replay began, each on the clock of its portal."""
        return Clocks(self.began.recorded, self.began.live + clocks.live - pair.live.time)

    def _without_leftovers(
        self, pair: ReplayedExchange, old: Json, new: Json, differences: list[Difference]
    ) -> list[Difference]:
        """The differences without what an earlier replay of the recording left at the target, and without
        times that move with the clock."""
        operation, moments = pair.operation, _moments(pair)
        is_written = LISTINGS.get(operation) in self.written and not names_a_record(pair.recorded.sent)
        if is_written and any(each.kind == "length" for each in differences):
            shorter = new if shows_others(operation, old, new, pair.email) else without_leftovers(old, new)
            if shorter != new:
                comparison = JsonComparison(self.correlation, pair, self.earlier)
                differences = comparison.differences(old, shorter)
                self._without([Difference("length", ("data",), None, None)], operation, ())
        written = self.written if is_written or operation not in LISTINGS else ()
        left = [
            each
            for each in differences
            if is_moving_time(each, moments)
            or (is_leftover(operation, each, written) and not self._is_written_anew(pair, each))
        ]
        return self._without(left, operation, differences)

    def _is_written_anew(self, pair: ReplayedExchange, difference: Difference) -> bool:
        """Whether the caller has had a value written anew in this replay: no earlier one left it."""
        by = WRITTEN_ANEW.get((pair.operation, *difference.place[-1:]))
        return by is not None and self.own.has_done(pair.account, by)


def _success_and_code(before: dict[str, Json], after: dict[str, Json]) -> Iterator[Difference]:
    """Yields differences of code and success, from which all other differences follow. Another code already
    implies whether the request succeeded."""
    is_other_code = before.get("code") != after.get("code")
    if is_other_code:
        yield Difference("code", ("code",), before.get("code"), after.get("code"))
    is_flag = isinstance(after.get("success"), bool)
    if before.get("success") is not after.get("success") and not (is_other_code and is_flag):
        kind: Kind = "value" if is_flag else "type"
        yield Difference(kind, ("success",), before.get("success"), after.get("success"))


def _moments(pair: ReplayedExchange) -> tuple[float, float]:
    return pair.recorded.time, pair.live.time


def _of_what_was_made(pair: ReplayedExchange, old: Json, new: Json, clocks: Clocks) -> Iterator[Difference]:
    """Differences in times of the record that a request created, or of the caller's session."""
    if pair.operation == SESSIONS:
        yield from session_begun_long_ago(old, new, clocks)
    elif pair.recorded.request.method == "POST":
        yield from written_long_ago(old, new, clocks)
        lifetime = other_lifetime(old, new, clocks)
        if lifetime is not None:
            yield lifetime


def _is_of_length(difference: Difference) -> bool:
    """Whether only the length of such a list differs; an empty one is another matter."""
    if difference.kind == "length":
        return bool(difference.replayed)
    is_count = difference.kind == "value" and bool(difference.place) and difference.place[-1] in COUNTS
    return is_count and (isinstance(difference.replayed, bool) or bool(difference.replayed))


def _is_by_growth(difference: Difference) -> bool:
    """Whether a list that every sign-in makes longer has more or fewer entries, or other ones."""
    is_null = difference.kind == "type" and (difference.recorded is None or difference.replayed is None)
    is_of_another = (
        (difference.kind in ("value", "time") or is_null)
        and not is_no_address(difference)
        and any(isinstance(step, int) for step in difference.place)
    )
    return is_of_another or _is_of_length(difference)


def _media_types(old: Response, new: Response) -> Iterator[Difference]:
    before, after = old.header("content-type"), new.header("content-type")
    if before is None or old.body is ABSENT:
        return
    kinds = [(label or "").partition(";")[0].strip().lower() for label in (before, after)]
    if kinds[0] != kinds[1]:
        yield Difference("value" if after else "missing", ("headers", "content-type"), before, after)
