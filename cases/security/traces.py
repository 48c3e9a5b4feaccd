"""What a sign-in leaves behind: a session, an entry of the history, and the last login of the config."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from datetime import datetime, timedelta

from cases.dating import AROUND, exact_moment, grain
from cases.premises import answered, settled
from cases.surroundings import differ
from conformance.cases import (
    Comparison,
    Exchange,
    Json,
    Portal,
    SignedIn,
    Verify,
    are_different,
    holds,
    op,
    portal_time,
    records,
)

RULE = "SESSION-042"

SETTINGS = ("accountBizId", "ssoEnabled", "maxSessions", "passwordChangedAt")
"""What a sign-in sets nothing of."""

TOGETHER = timedelta(seconds=60)
"""By how much the times of one sign-in may differ: a portal may note each step of it."""


def config_of(portal: Portal, signed_in: SignedIn) -> Exchange:
    return answered(portal.call(op.SESSIONS_CONFIG, token=signed_in.token))


def verify_traces(
    portal: Portal,
    verify: Verify,
    fresh: SignedIn,
    *,
    config: Exchange,
    sessions: Exchange,
    entries: list[dict[str, Json]],
) -> None:
    """``config`` was read before the sign-in, ``sessions`` by it; ``entries`` of the history came since."""
    current = [(path, row) for path, row in records(sessions) if row.get("isCurrent") is True]
    for path, session in current:
        for comparison in _of_the_session(sessions, path, session, fresh, entries):
            verify(RULE, comparison)

    at = "data.lastLoginAt"
    before = exact_moment(config.at(at))
    later = settled(
        portal, lambda: config_of(portal, fresh), lambda answer: exact_moment(answer.at(at)) != before
    )
    after = exact_moment(later.at(at))
    if before is not None and after is not None and _tells(before, grain(config.at(at)), fresh):
        expected = f"another time than {config.at(at)}, as there was a sign-in"
        verify(RULE, holds(later, at, after != before, expected, config, fresh.completed))
    settings = {name: config.at(f"data.{name}") for name in SETTINGS}
    shown = {name: later.at(f"data.{name}") for name in SETTINGS}
    other = {name: value for name, value in shown.items() if differ(settings[name], value)}
    if config.success and later.success:
        right = {name: settings[name] for name in other}
        verify("MODEL-022", holds(later, "data", not other, right, config, fresh.completed, actual=other))
    for _, session in current:
        address, last = session.get("clientIp"), later.at("data.lastLoginIp")
        same = not are_other_addresses(address, last)
        verify(RULE, holds(later, "data.lastLoginIp", same, address, sessions, fresh.completed))


def _tells(before: datetime, grain: timedelta, fresh: SignedIn) -> bool:
    """Whether a sign-in since this time shows another one: two may be of the same second or minute."""
    return bool(before.microsecond) or before + grain < portal_time(fresh.completed)


def _of_the_session(
    sessions: Exchange,
    path: str,
    session: dict[str, Json],
    fresh: SignedIn,
    entries: list[dict[str, Json]],
) -> Iterator[Comparison]:
    time, about = exact_moment(session.get("loginTime")), portal_time(fresh.completed)
    if time is not None:
        at, is_near = f"{path}.loginTime", abs(time - about) <= AROUND
        yield holds(sessions, at, is_near, f"about {about.isoformat()}", fresh.completed)
    dated = [entry for entry in entries if exact_moment(entry.get("loginTime")) is not None]
    if dated:
        # Of an entry for each step of a sign-in the one that agrees best.
        odd = min((_differing(session, entry) for entry in dated), key=len)
        right = {name: dated[-1].get(name) for name in odd}
        yield holds(sessions, path, not odd, right, fresh.completed, actual=odd)


def _differing(session: dict[str, Json], entry: dict[str, Json]) -> dict[str, Json]:
    """What a session and an entry of the history surely show otherwise of one sign-in."""
    names: list[str] = []
    begun, noted = exact_moment(session.get("loginTime")), exact_moment(entry.get("loginTime"))
    if begun is not None and noted is not None and abs(begun - noted) > TOGETHER:
        names.append("loginTime")
    if are_other_addresses(session.get("clientIp"), entry.get("clientIp")):
        names.append("clientIp")
    agents = session.get("userAgent"), entry.get("userAgent")
    if all(isinstance(agent, str) and "/" in agent for agent in agents) and are_different(*agents):
        names.append("userAgent")
    return {name: session.get(name) for name in names}


def are_other_addresses(one: Json, other: Json) -> bool:
    """Whether two texts are addresses of two clients, in whatever form they are written. A client may have
    one of each version."""
    first, second = (_address(text) for text in (one, other))
    return None not in (first, second) and type(first) is type(second) and first != second


def _address(text: Json) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(str(text).strip())
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
