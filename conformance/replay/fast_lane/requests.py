"""Requests that a client sends again as it sent them before, as a page does that is looked at twice: they are
made anew once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from msgspec.structs import replace

from conformance.replay.engine.actions import Send
from conformance.replay.fast_lane.answers import Familiar
from conformance.replay.fast_lane.lines import sent_again
from conformance.replay.rebuild.headers import Heads
from conformance.replay.rebuild.rebuild import Renewal
from conformance.replay.recording.plan import Plan
from conformance.traffic.exchange import Exchange

KEPT = 4_000_000
"""Bytes of requests and recorded answers that are remembered, with about as much of what came to them."""

NEVER = ("/web/v1/secure-channel/", "/web/v1/system/auth/")
"""What is not the same twice: codes, tokens and keys are used once."""

Key = tuple[int, int, int]


@dataclass(slots=True)
class Repeat:
    """``recorded`` is an exchange that says the same but for its moment; ``send`` what was sent for it."""

    recorded: Exchange
    send: Send
    turns: int
    unknown: tuple[str, ...]
    """Made of the identities as they were after so many turns, and of texts that stood for nothing."""
    is_shifted: bool
    """Whether its query has times that are moved with the clock."""
    id_at: int | None
    """Where among the headers its own id stands, and what stands before and after that on the wire."""
    before: bytes
    after: bytes
    familiar: Familiar | None = None
    """The answer to it, where that was nothing but the same."""


class Repeats:
    """Remembers what was sent in a session for which recorded request."""

    def __init__(self, plan: Plan, heads: Heads, renewal: Renewal) -> None:
        self._plan = plan
        self._heads = heads
        self._renewal = renewal
        self._identities = renewal.identities
        self._kept: dict[Key, Repeat] = {}
        self._size = 0

    def of(self, position: int) -> Repeat | None:
        """What was sent for one that is the same, if it would be made so now."""
        repeat = self.kept(position)
        if repeat is None or not self.holds(repeat):
            return None
        return repeat if self._identities.live.keys().isdisjoint(repeat.unknown) else None

    def kept(self, position: int) -> Repeat | None:
        """What was sent for one that is the same, whatever became known since."""
        return self._kept.get(self._key(position))

    def holds(self, repeat: Repeat) -> bool:
        """Whether all that was known when it was made stands."""
        return repeat.turns == self._identities.turns

    def again(self, repeat: Repeat, position: int, due: float | None, now: Callable[[], float]) -> Send:
        """The request under an id of its own, where it has one, and with times that are moved by now."""
        send, request, head = repeat.send, repeat.send.request, repeat.send.head
        at = repeat.id_at
        if at is not None:
            headers = request.headers.copy()
            id = self._heads.next_id()
            headers[at] = (headers[at][0], id)
            head = b"%b%b%b" % (repeat.before, id.encode(), repeat.after)
            request = sent_again(request, headers)
        if repeat.is_shifted:
            before = request.parts.query
            shift = now() - self._plan.moments[position]
            query = self._renewal.query(repeat.recorded.request.parts.query, shift)
            head = head.replace(f"?{before} ".encode(), f"?{query} ".encode(), 1)
            request = replace(request, url=f"{request.url.removesuffix(before)}{query}")
        return Send(
            position,
            request,
            head,
            send.body,
            due,
            client=send.client,
            familiar=repeat.familiar,
            is_another=repeat.is_shifted,
        )

    def remember(self, position: int, recorded: Exchange, send: Send) -> None:
        """Takes note of a request that only reads, and that is made in the same way each time."""
        operation, request, renewal = recorded.request.operation, recorded.request, self._renewal
        if (
            (renewal.has_shifted and (send.body or not recorded.request.parts.query))
            or renewal.strange
            or operation is None
            or operation.impact != "read-only"
            or operation.path.startswith(NEVER)
            or (not operation.is_prelogin and request.header("authorization") is None)
            or recorded.plain is not None
            or send.plain is not None
        ):
            return
        size = len(send.head) + len(send.body) + self._plan.store.length(position)
        if self._size + size > KEPT:
            self._kept.clear()
            self._size = 0
        self._size += size
        at, before, after = self._own_id(send)
        self._kept[self._key(position)] = Repeat(
            recorded,
            send,
            self._identities.turns,
            tuple(renewal.unknown),
            renewal.has_shifted,
            at,
            before,
            after,
        )

    def _own_id(self, send: Send) -> tuple[int | None, bytes, bytes]:
        at = send.request.layout.get("x-request-id")
        if at is None or not self._heads.is_own_id(send.request.headers[at][1]):
            return None, send.head, b""
        before, _, after = send.head.partition(send.request.headers[at][1].encode())
        return at, before, after

    def _key(self, position: int) -> Key:
        plan = self._plan
        return plan.session_of[position], plan.requests[position], plan.answers[position]
