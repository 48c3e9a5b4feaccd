"""Describes a recording to users: planned requests before a replay, and sessions in its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from conformance.replay.changes.sent import changes_foreseen
from conformance.replay.recording.plan import ReplayPlan
from conformance.report.latency.spread import Spread
from conformance.report.model.words import plural
from conformance.spec import Operation
from conformance.spec.endpoints import LOGIN_INITIATE
from conformance.target.profile.model import Profile
from conformance.traffic.exchange import Json


def foreseen(plan: ReplayPlan, profile: Profile, accounts: Mapping[str, str]) -> Iterator[str]:
    """What a replay would send, and what it would omit. ``accounts`` are the profile's by recorded email."""
    wanted = [position for position in plan.order if plan.session_of[position] >= 0]
    sent = [position for position in wanted if position not in plan.refused]
    url = profile.portal.url
    yield f"{len(sent)} of {len(wanted)} requests of {plural(plan.sessions, 'client')} would go to {url}."
    operations: Counter[str] = Counter()
    for position in sent:
        operations[plan.line(position).endpoint] += 1
    for key, times in sorted(operations.items(), key=lambda pair: (-pair[1], pair[0])):
        yield f"{times:7} {key}"
    for why, times in Counter(
        plan.refused[position] for position in wanted if position in plan.refused
    ).most_common():
        yield f"{times:7} would not be sent: {why}."
    yield from changes_foreseen(plan)
    for email in plan.emails:
        name = f"[accounts.{accounts[email]}]" if email in accounts else "no account of the profile"
        yield f"        {email} signs in as {name}."


SHOWN_SESSIONS = 200
LINES_OF_SIGN_INS = 20
"""Exchanges of a session that are searched for its sign-in."""

MOST_TIMES = 5_000
"""Exchanges of a recording whose durations count; of a larger one every second, third and so on."""


def session_rows(plan: ReplayPlan, accounts: Mapping[str, str], *, worker: int | None) -> list[Json]:
    """The first sessions: the number of the first exchange of each, how many it has, which accounts of the
    profile sign in, and the worker. ``accounts`` are the profile's by recorded email."""
    sessions: dict[int, list[int]] = {}
    session_of = plan.session_of
    for position in plan.order:
        session = session_of[position]
        positions = sessions.get(session)
        if positions is not None:
            positions.append(position)
        elif session >= 0 and len(sessions) < SHOWN_SESSIONS:
            sessions[session] = [position]
    return [
        {
            "first": plan.number_of(positions[0]),
            "exchanges": len(positions),
            "accounts": _accounts(plan, positions[:LINES_OF_SIGN_INS], accounts),
            "worker": worker,
        }
        for positions in sessions.values()
    ]


def _accounts(plan: ReplayPlan, positions: list[int], accounts: Mapping[str, str]) -> list[Json]:
    names: dict[str, None] = {}
    for position in positions:
        line = plan.line(position)
        sent = line.request.body
        if line.operation is not None and line.operation.key == LOGIN_INITIATE and isinstance(sent, dict):
            name = accounts.get(str(sent.get("email")))
            if name is not None:
                names[name] = None
    return list(names)


def recorded_latencies(plan: ReplayPlan) -> dict[str, Json]:
    """The spread of the recorded durations by endpoint, of the exchanges that a replay sends."""
    session_of = plan.session_of
    sent = [position for position in plan.order if session_of[position] >= 0]
    spreads: dict[str, Spread] = {}
    operations: dict[int, Operation | None] = {}
    """By the fingerprint of a request."""
    for position in sent[:: 1 + len(sent) // MOST_TIMES]:
        request, seconds = plan.requests[position], plan.elapsed[position]
        if request not in operations:
            operations[request] = plan.line(position).operation
        operation = operations[request]
        if operation is not None and seconds > 0:
            spreads.setdefault(operation.key, Spread()).note(seconds * 1000)
    return {endpoint: {"counts": spread.as_json()} for endpoint, spread in spreads.items()}
