"""What a report says of a recording: its sessions with their accounts, and how long its answers took."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from conformance.replay.recording.plan import ReplayPlan
from conformance.report.latency.spread import Spread
from conformance.spec import operation_of
from conformance.spec.endpoints import LOGIN_INITIATE
from conformance.traffic.exchange import Json, split_url

SHOWN_SESSIONS = 200
LINES_OF_SIGN_INS = 20
"""Exchanges of a session that are searched for its sign-in."""

MOST_TIMES = 5_000
"""Exchanges of a recording whose durations are read; of a larger one every second, third and so on."""


class _Request(msgspec.Struct, gc=False):
    method: str
    url: str


class _Duration(msgspec.Struct, gc=False):
    """The part of an exchange that says how long it took."""

    request: _Request
    elapsed_ms: float = 0.0


_decode = msgspec.json.Decoder(_Duration).decode


def session_rows(plan: ReplayPlan, accounts: Mapping[str, str], *, worker: int | None) -> list[Json]:
    """The first sessions: the number of the first exchange of each, how many it has, which accounts of the
    profile sign in, and the worker. ``accounts`` are the profile's by recorded email."""
    sessions: dict[int, list[int]] = {}
    for position in plan.order:
        session = plan.session_of[position]
        if session >= 0 and (session in sessions or len(sessions) < SHOWN_SESSIONS):
            sessions.setdefault(session, []).append(position)
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
    sent = [position for position in plan.order if plan.session_of[position] >= 0]
    spreads: dict[str, Spread] = {}
    for position in sent[:: 1 + len(sent) // MOST_TIMES]:
        duration = _decode(plan.store.line(position))
        operation = operation_of(duration.request.method, split_url(duration.request.url).path)
        if operation is not None and duration.elapsed_ms > 0:
            spreads.setdefault(operation.key, Spread()).note(duration.elapsed_ms)
    return {endpoint: {"counts": spread.as_json()} for endpoint, spread in spreads.items()}
