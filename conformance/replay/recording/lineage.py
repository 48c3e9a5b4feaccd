"""Groups recorded exchanges into sessions: by the tokens and session ids that they pass on."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

from conformance.replay.recording.lines import endpoint_in
from conformance.spec import endpoints as op
from conformance.traffic.exchange import Exchange, Json, dig

SIGN_IN_STEPS = frozenset({op.LOGIN_INITIATE, op.LOGIN_MFA_SEND, op.LOGIN_COMPLETE})

RETURNED = {
    op.LOGIN_INITIATE: ("sessionId",),
    op.LOGIN_COMPLETE: ("accessToken", "refreshToken"),
    op.TOKEN_REFRESH: ("accessToken", "refreshToken"),
    op.SECURE_SESSION: ("sessionId",),
}
"""The fields of ``data`` that later requests of the same client carry."""

SENT = {
    op.LOGIN_MFA_SEND: "sessionId",
    op.LOGIN_COMPLETE: "sessionId",
    op.TOKEN_REFRESH: "refreshToken",
    op.SECURE_SESSION_CLOSE: "sessionId",
}


@dataclass
class Lineage:
    """A sign-in and its later exchanges."""

    group: tuple[str, str]
    first: float
    last: float


@dataclass
class Lineages:
    """Takes exchanges in the order of the recording. A session is an address and client hash; where one of
    these had several sign-ins at the same time, each of them is a session of its own."""

    _of: array[int] = field(default_factory=lambda: array("i"))
    _group_of: array[int] = field(default_factory=lambda: array("i"))
    _group_numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    _by_value: dict[str, int] = field(default_factory=dict)
    _lineages: list[Lineage] = field(default_factory=list)
    _latest: dict[int, int] = field(default_factory=dict)
    """By group, the last sign-in: what follows is its, where the source leaves tokens out."""
    _positions: array[int] = field(default_factory=lambda: array("i"))

    def add(self, position: int, exchange: Exchange) -> None:
        """Takes the next exchange."""
        group, received, began = _group(exchange), list(_received(exchange)), exchange.time
        number = self._group_numbers.setdefault(group, len(self._group_numbers))
        at = -1
        for value in _carried(exchange):
            if value in self._by_value:
                at = self._by_value[value]
                break
        is_sign_in, lacks_token = (
            endpoint_in(exchange) in SIGN_IN_STEPS,
            "authorization" in exchange.request.lacks,
        )
        if at < 0 and lacks_token and not (received and is_sign_in):
            at = self._latest.get(number, -1)
        if received:
            if at < 0:
                at = len(self._lineages)
                self._lineages.append(Lineage(group, began, began))
                self._latest[number] = at
            for value in received:
                self._by_value.setdefault(value, at)
        if at >= 0:
            lineage = self._lineages[at]
            lineage.last = max(lineage.last, began + exchange.elapsed_ms / 1000)
        self._positions.append(position)
        self._of.append(at)
        self._group_of.append(number)

    def sessions(self, count: int) -> array[int]:
        """Session number, from 0, of each position; -1 for positions that were not added."""
        crowded = self._crowded()
        names: dict[tuple[int, int], int] = {}
        sessions = array("i", [-1]) * count
        for position, lineage, group in zip(self._positions, self._of, self._group_of, strict=True):
            name = (group, lineage if group in crowded else -1)
            sessions[position] = names.setdefault(name, len(names))
        return sessions

    def _crowded(self) -> set[int]:
        """The groups in which two lineages overlap."""
        crowded: set[int] = set()
        ends: dict[int, float] = {}
        for lineage in sorted(self._lineages, key=lambda lineage: lineage.first):
            group = self._group_numbers[lineage.group]
            if lineage.first < ends.get(group, float("-inf")):
                crowded.add(group)
            ends[group] = max(ends.get(group, lineage.last), lineage.last)
        return crowded


def _group(exchange: Exchange) -> tuple[str, str]:
    request = exchange.request
    return exchange.client, request.header("x-client-hash") or request.header("user-agent") or ""


def _carried(exchange: Exchange) -> Iterator[str]:
    authorization = exchange.request.header("authorization")
    if authorization is not None:
        yield authorization.partition(" ")[2].strip()
    field_name = SENT.get(endpoint_in(exchange))
    taken: Json = dig(exchange.request.body, [field_name]) if field_name else None
    if isinstance(taken, str):
        yield taken
    channel = exchange.request.header("x-secure-channel-session-id")
    if channel:
        yield channel


def _received(exchange: Exchange) -> Iterator[str]:
    names = RETURNED.get(endpoint_in(exchange), ())
    data: Json = exchange.data if names else None
    for name in names:
        value = dig(data, [name])
        if isinstance(value, str) and value:
            yield value
