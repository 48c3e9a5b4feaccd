"""Premises: what must hold of an answer before a case may compare it; without it the case is UNTESTED."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from conformance.cases import (
    ABSENT,
    INVALID_PARAMETER,
    KNOWN_CODES,
    TOKEN_REFUSED,
    Exchange,
    Json,
    OutOfTime,
    Portal,
    Untestable,
    endpoint_of,
    is_held_back,
    may_keep_a_rate,
)

WRITTEN = 5.0
"""Seconds in which a change shows wherever it is read: the document does not say that it does so at once."""

BEHIND = 2.5
"""Seconds that a replica may be behind, beside a clock that can be moved."""

OF_ITS_OWN = (403, 409, 423, 429)
"""Statuses of a portal that refuses by a rule of its own, such as a limit on sessions."""

A_WHILE = 2.0
"""Seconds after which a time that is set is surely another: times may be shown in whole seconds."""


Read = TypeVar("Read")


def settled(
    portal: Portal,
    read: Callable[[], Read],
    shows: Callable[[Read], bool],
    *,
    why: str = "a change to be seen",
) -> Read:
    """Reads the target after a change, and reads again while the change does not show: a little later, and
    once as much time has passed as ``[limits]`` gives a change."""
    after = read()
    if shows(after):
        return after
    settle(portal, why=why)
    after = read()
    left = portal.profile.limits.change_shows - WRITTEN
    if shows(after) or left <= 0:
        return after
    portal.clock.wait(left, why)
    return read()


def settle(portal: Portal, *, why: str = "a change to be seen") -> None:
    """Lets a change come to wherever it is read: to what goes by the portal's clock, and to a replica that
    follows by a clock that nobody moves."""
    if portal.clock.is_simulated:
        portal.clock.pause(BEHIND, why)
    portal.clock.wait(WRITTEN, why)


def time_to_settle(portal: Portal) -> None:
    """Raises OutOfTime where the time budget leaves no time to wait for a change that shows late: what is
    made then, and known by a listing alone, could not be taken away."""
    left, longest = portal.clock.remaining(), max(WRITTEN, portal.profile.limits.change_shows)
    if left is not None and left < longest and not portal.clock.is_simulated:
        remaining = f"the time budget leaves {max(0.0, left):.0f} s"
        raise OutOfTime(f"waiting for a change to be seen may take {longest:.0f} s, and {remaining}")


def answered(exchange: Exchange) -> Exchange:
    """An answer to this very request, success or not. Raises Untestable where it was held back."""
    if is_held_back(exchange):
        raise Untestable(f"{endpoint_of(exchange)} was held back (HTTP {exchange.status})", "environment")
    return exchange


def unchallenged(exchange: Exchange) -> Exchange:
    """An answer to a request that was let through: which endpoints want a bot challenge is not shown. Raises
    Untestable."""
    if answered(exchange).code == "4030":
        place, token = endpoint_of(exchange), "the token of [bot_challenge] is missing, wrong or used up"
        raise Untestable(f"{place} asks for a bot challenge: {token}", "configuration")
    return exchange


def unless_paced(exchange: Exchange) -> Exchange:
    """An answer that is neither that of a bot challenge nor of a rate limit, whose code is not shown. Raises
    Untestable."""
    unchallenged(exchange)
    if may_keep_a_rate(exchange):
        raise Untestable(f"{endpoint_of(exchange)} may keep a rate ({refusal_text(exchange)})", "environment")
    return exchange


def may_be_own_rule(exchange: Exchange) -> bool:
    """Whether a sign-in may be refused by a rule of the portal's own. It may limit an account's sessions,
    say, and refuse more by a code that the specification does not list."""
    is_own = exchange.code is not None and exchange.code not in KNOWN_CODES - {"ACCESS.PERMISSION_DENIED"}
    return not exchange.success and is_own and exchange.status in OF_ITS_OWN


def unless_by_own_rule(exchange: Exchange) -> Exchange:
    """An answer to a sign-in that the specification explains. Raises Untestable."""
    if may_be_own_rule(exchange):
        place = endpoint_of(exchange)
        raise Untestable(f"{place} may refuse by a rule of its own ({refusal_text(exchange)})", "target")
    return exchange


def authorized(exchange: Exchange) -> Exchange:
    """An answer to a caller who may call. Raises Untestable where the caller was refused, not the request."""
    place = endpoint_of(unchallenged(exchange))
    if exchange.status == 401 or exchange.code in TOKEN_REFUSED:
        raise Untestable(f"{place} did not take the session's access token", "target")
    if exchange.status == 403 or exchange.code == "ACCESS.PERMISSION_DENIED":
        raise Untestable(f"the account may not call {place} ({refusal_text(exchange)})", "credentials")
    return exchange


def granted(exchange: Exchange) -> Exchange:
    """A success, for what cannot go on without one. Raises Untestable."""
    if not authorized(exchange).success:
        raise Untestable(f"{endpoint_of(exchange)} was refused ({refusal_text(exchange)})", "target")
    return exchange


def change_accepted(exchange: Exchange) -> Exchange:
    """A change made with a body of the profile's ``[operations]``. Raises Untestable where it was refused."""
    if not authorized(exchange).success:
        place = endpoint_of(exchange)
        raise Untestable(
            f'{place} was refused ({refusal_text(exchange)}); see [operations."{place}"]', "configuration"
        )
    return exchange


def refusal_text(exchange: Exchange) -> str:
    """Status and code of an answer, in a reason."""
    return f"HTTP {exchange.status}" + (f", {exchange.code}" if exchange.code else "")


def outcome(exchange: Exchange) -> Json:
    """How something open was taken: ``served``, or the refusal's status and code."""
    if exchange.success:
        return "served"
    return {"status": exchange.status, "code": exchange.code}


def is_invalid(exchange: Exchange) -> bool:
    """Whether the request's form was refused, under either code."""
    return not exchange.success and (exchange.code in INVALID_PARAMETER or exchange.status in (400, 422))


def text(exchange: Exchange, path: str) -> str:
    """A text that the case cannot go on without. Raises Untestable: the shape check reports it."""
    value = exchange.at(path)
    if not isinstance(value, str) or not value:
        raise Untestable(f"the answer of {endpoint_of(exchange)} has no text at {path}", "target")
    return value


def count(exchange: Exchange, path: str) -> int:
    """A whole number that the case cannot go on without. Raises Untestable."""
    value = exchange.at(path)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise Untestable(f"the answer of {endpoint_of(exchange)} has no whole number at {path}", "target")
    return int(value)


def with_ids(records: Sequence[dict[str, Json]]) -> list[dict[str, Json]]:
    """The records that show their id as a text. Raises Untestable where some are listed and none does."""
    shown = [record for record in records if isinstance(record.get("bizId"), str)]
    if records and not shown:
        raise Untestable("the listing does not show an id of each record as a text", "target")
    return shown


def listed(exchange: Exchange, path: str = "data") -> list[dict[str, Json]]:
    """The records of a listing. Raises Untestable where there is no array."""
    value = exchange.at(path)
    if not isinstance(value, list):
        raise Untestable(f"the answer of {endpoint_of(exchange)} has no array at {path}", "target")
    return [record for record in value if isinstance(record, dict)]


def code_of(record: dict[str, Json], field: str) -> str | None:
    """The symbolic code of a coded field; None where there is none."""
    entry = record.get(field)
    code = entry.get("code") if isinstance(entry, dict) else None
    return code if isinstance(code, str) else None


def without(record: dict[str, Json], *names: str) -> dict[str, Json]:
    return {name: value for name, value in record.items() if name not in names}


def texts_within(value: Json) -> Iterator[str]:
    """Every text, at whatever depth."""
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts_within(inner)


def form(data: Json) -> Json:
    """Reduces an answer's data to field names, where the specification shows no values."""
    if isinstance(data, dict):
        return sorted(data)
    if isinstance(data, list):
        return [form(data[0])] if data else []
    return "null" if data is None or data is ABSENT else type(data).__name__


MOST_SKEW = 20.0
"""Seconds between the clocks here and there from which authenticator codes are in danger."""


def clocks_agree(portal: Portal, answer: Exchange) -> bool:
    """Whether the target's clock shows our time, as far as its answer tells; one that can be moved is set."""
    stamp = answer.at("timestamp")
    if portal.clock.is_simulated or not isinstance(stamp, int) or isinstance(stamp, bool):
        return True
    return abs(stamp / 1000 - answer.time) <= MOST_SKEW
