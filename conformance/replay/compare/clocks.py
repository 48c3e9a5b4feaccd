"""Times by the portal's own clock: which fit their response in the recording, and not in the replay."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, TypeGuard

from conformance.replay.compare.outcome import Difference, ReplayedExchange
from conformance.replay.recording.kinds import magnitude
from conformance.spec.endpoints import SESSIONS, SESSIONS_HISTORY
from conformance.traffic.exchange import Exchange, Json, dig
from conformance.traffic.values import is_number

CREATED = "createdAt"
UPDATED = "updatedAt"
ENDS = "expiresAt"
BEGAN = "loginTime"
OF_SIGN_INS = frozenset({SESSIONS, SESSIONS_HISTORY})
"""The lists that each sign-in makes longer."""

LEAST_SECONDS, LEAST_SHARE = 60.0, 0.02
"""By how much a lifetime differs at least: a clock may be off by some seconds."""

JUST_NOW, RECENT = 60.0, 3600.0
SKEW_SECONDS = 900.0
"""How far from the clock of its response a time may be that the portal wrote just then."""

LONGEST_REPLAY = 86_400.0

PAST = frozenset(
    {
        "acceptedAt",
        "completedAt",
        CREATED,
        "lastActivityTime",
        "lastLoginAt",
        BEGAN,
        "passwordChangedAt",
        UPDATED,
        "verifiedAt",
    }
)
"""The specification's times at which something happened. What a time of a portal's own means is not known: it
may be one that passes by itself."""


class Clocks(NamedTuple):
    """When the recorded and the live response were given, in epoch seconds."""

    recorded: float
    live: float


AT_THE_EPOCH = Clocks(0.0, 0.0)


@dataclass
class StampingClock:
    """How far the clock of a portal is ahead of the sender's, by the timestamps of its answers."""

    ahead: float | None = None
    _odd: tuple[str, float] | None = None
    """The operation whose last answer was out of line, and how far ahead its timestamp was."""

    def is_out_of_line(self, operation: str, ahead: float) -> bool:
        """Whether a timestamp is of another clock than those before it. Where two operations agree upon it,
        the clock was set."""
        odd, self._odd = self._odd, None
        if self.ahead is None or abs(ahead - self.ahead) <= SKEW_SECONDS:
            self.ahead = ahead
            return False
        if odd is not None and odd[0] != operation and abs(ahead - odd[1]) <= SKEW_SECONDS:
            self.ahead = ahead
            return False
        self._odd = operation, ahead
        return True


def clocks_of(old: Json, new: Json, pair: ReplayedExchange) -> Clocks:
    """The clocks of two bodies: the portal's own where the envelopes say it in milliseconds, else ours."""
    return Clocks(_answered(old, pair.recorded), _answered(new, pair.live))


def _answered(body: Json, exchange: Exchange) -> float:
    stamp = body.get("timestamp") if isinstance(body, dict) else None
    return stamp / 1000 if is_stamp(stamp) else exchange.time


def is_stamp(value: Json) -> TypeGuard[float]:
    """Whether a value counts milliseconds since the epoch."""
    return is_number(value) and magnitude(value) == "milliseconds"


def is_ahead_now(name: str, old: Json, new: Json, clocks: Clocks) -> bool:
    """Whether a time that had passed when it was recorded is ahead of the live response."""
    return (
        name in PAST
        and epoch_of(new) > clocks.live + SKEW_SECONDS
        and epoch_of(old) <= clocks.recorded + JUST_NOW
    )


def other_lifetime(old: Json, new: Json, clocks: Clocks) -> Difference | None:
    """The end of what a request made, where it lasts longer or shorter than it did when recorded."""
    ends = dig(old, ["data", ENDS]), dig(new, ["data", ENDS])
    lasted, lasts = (epoch_of(end) - clock for end, clock in zip(ends, clocks, strict=True))
    return Difference("value", ("data", ENDS), *ends) if is_other_lifetime(lasted, lasts) else None


def other_span(old: dict[str, Json], new: dict[str, Json], clocks: Clocks) -> Difference | None:
    """Where a record that was made within the hour when recorded ends sooner or later after its creation now:
    its creation, where its end fits, else its end. Older ones are data, and not alike on two portals."""
    if not -JUST_NOW <= clocks.recorded - epoch_of(old.get(CREATED)) < RECENT:
        return None
    lasted, lasts = (epoch_of(each.get(ENDS)) - epoch_of(each.get(CREATED)) for each in (old, new))
    if not is_other_lifetime(lasted, lasts):
        return None
    left, left_now = (epoch_of(each.get(ENDS)) - now for each, now in zip((old, new), clocks, strict=True))
    if is_other_lifetime(left, left_now):
        return Difference("value", (ENDS,), old[ENDS], new[ENDS])
    return Difference("time", (CREATED,), old[CREATED], new[CREATED])


def is_other_lifetime(lasted: float, lasts: float) -> bool:
    return lasted > 0 and abs(lasts - lasted) > max(LEAST_SECONDS, lasted * LEAST_SHARE)


def written_long_ago(old: Json, new: Json, clocks: Clocks) -> Iterator[Difference]:
    """The times that a request wrote just then when recorded, and that are long past in the live response."""
    made, now = dig(old, ["data"]), dig(new, ["data"])
    for name in made if isinstance(made, dict) and isinstance(now, dict) else ():
        if name == UPDATED:
            continue  # whether an update is answered with the record before or after it is not stated
        if _is_long_ago(made[name], now.get(name), clocks, within=JUST_NOW, skew=SKEW_SECONDS):
            yield Difference("time", ("data", name), made[name], now[name])


def session_begun_long_ago(old: Json, new: Json, clocks: Clocks) -> Iterator[Difference]:
    """The begin of the session that sends the request, long before the replay made it."""
    (_, made), (at, now) = (own_session(dig(body, ["data"])) for body in (old, new))
    if _is_long_ago(made.get(BEGAN), now.get(BEGAN), clocks, within=clocks.recorded, skew=LONGEST_REPLAY):
        yield Difference("time", ("data", at, BEGAN), made[BEGAN], now[BEGAN])


def own_session(sessions: Json) -> tuple[int, dict[str, Json]]:
    """Current session of the caller, with its index; an empty object where the list lacks it."""
    listed = enumerate(sessions if isinstance(sessions, list) else ())
    own = ((at, each) for at, each in listed if isinstance(each, dict) and each.get("isCurrent") is True)
    return next(own, (0, {}))


class LastChange(NamedTuple):
    """When the recording and the replay last changed a record, by the portals' clocks, and when the replay
    asked for it; ``first``: when it changed the record first, which existed from then on."""

    recorded: float
    live: float
    asked: float
    first: float


def is_not_dated(
    times: tuple[str, str], created: tuple[str, str] | None, since: float | None, change: LastChange
) -> bool:
    """Whether the last change of a record dated it when recorded, and now its time is long past, the one that
    was shown before the change (``since`` then), or still that of its creation."""
    recorded, live = times
    if epoch_of(recorded) >= change.recorded - JUST_NOW and epoch_of(live) < change.live - SKEW_SECONDS:
        return True
    if since is not None:
        return _is_kept(live, since, change)
    is_as_created = created is not None and recorded != created[0] and live == created[1]
    is_of_before = epoch_of(live) <= change.first + resolution_of(live)  # else a change moved the creation
    return is_as_created and is_of_before and _is_kept(live, change.first, change)


def _is_kept(time: str, shown: float, change: LastChange) -> bool:
    """Whether a time that a change of a record did not move was written so long before it that another one
    could be written. ``shown`` is when it was shown first."""
    grain = max(resolution_of(time), FINEST)
    return change.asked - shown > grain or change.asked - epoch_of(time) > grain + JUST_NOW


FINEST = 0.02
"""The seconds between two steps of a coarse clock, whatever fractions it shows."""

_FRACTION = re.compile(r"[.,](\d*[1-9]\d*)(?:Z|z|[+-].*)?\Z")
_SECONDS = re.compile(r"[Tt ]\d\d:?\d\d:?\d\d")


def resolution_of(text: str) -> float:
    """Resolution of the notation of a time, in seconds."""
    fraction = _FRACTION.search(text)
    if fraction is not None:
        return float(10.0 ** -len(fraction[1]))
    return 1.0 if _SECONDS.search(text) else 60.0


def _is_long_ago(old: Json, new: Json, clocks: Clocks, *, within: float, skew: float) -> bool:
    if not isinstance(old, str) or not isinstance(new, str) or old == new:
        return False
    age = clocks.recorded - epoch_of(old)
    return -JUST_NOW <= age <= within and clocks.live - epoch_of(new) > age + skew


def epoch_of(text: Json) -> float:
    """Seconds since the epoch; not a number where a value is no time with a zone."""
    if not isinstance(text, str):
        return math.nan
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return math.nan
    return moment.timestamp() if moment.tzinfo is not None else math.nan
