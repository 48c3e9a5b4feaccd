"""Request templates: a request that a client repeats is rebuilt once, and then gets a new id and time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from msgspec.structs import replace

from conformance.replay.engine.step import Attempt
from conformance.replay.engine.timing import Timing
from conformance.replay.fast_lane.cached_response import CachedResponse
from conformance.replay.fast_lane.epoch import Epoch
from conformance.replay.rebuild.actions import Send
from conformance.replay.rebuild.rebuild import Rebuilder, Rebuilt
from conformance.replay.rebuild.values import RequestValues
from conformance.replay.recording.plan import ReplayPlan
from conformance.spec import Operation
from conformance.traffic.exchange import Exchange, Request
from conformance.traffic.facts import copy_request_facts

CACHED_BYTES = 16_000_000
"""Bytes of requests and recorded exchanges that are cached, with about as much of their responses."""

NEVER_REPEATED = ("/web/v1/secure-channel/", "/web/v1/system/auth/")
"""Paths of requests that are never the same: codes, tokens and keys are used once."""

Key = tuple[int, int]


@dataclass(slots=True)
class RequestTemplate:
    """A request that was sent, without its head, and how it is sent anew. ``recorded`` is what it was for,
    where the query has times that are moved."""

    recorded: Exchange | None
    send: Send
    generation: int
    """The correlation's generation in which it was rebuilt: it holds no longer than that."""
    id_at: int | None
    """Where among the headers its own id stands; None where it has none."""
    before_id: bytes
    after_id: bytes
    """The head on the wire before and after that id; all of it is before where there is none."""
    response: CachedResponse | None = None

    def request_id(self, send: Send) -> str:
        """The id of a request that was sent from the template; empty where it has none."""
        if self.id_at is None:
            return send.request.header("x-request-id") or ""
        return send.request.headers[self.id_at][1]


class RequestTemplates:
    """The templates by session and fingerprints of the recorded exchange."""

    def __init__(self, plan: ReplayPlan, rebuilder: Rebuilder, timing: Timing, epoch: Epoch) -> None:
        self._plan = plan
        self._rebuilder = rebuilder
        self._timing = timing
        self._epoch = epoch
        self._templates: dict[int, dict[Key, RequestTemplate]] = {}
        """By session, and by the fingerprints of the recorded exchange."""
        self._sizes: Counter[int] = Counter()
        """By session, the bytes of its templates."""
        self._size = 0
        self._last = {plan.session_of[position]: position for position in plan.order}
        """By session, its last exchange."""
        self._oldest = 0
        """No template is of an earlier generation than this."""

    def find(self, position: int) -> RequestTemplate | None:
        """The template of an exchange, where the request would be rebuilt so in this epoch. With the last one
        of a session its templates are dropped."""
        session = self._plan.session_of[position]
        templates = self._templates.get(session)
        if templates is None:
            return None
        if self._last[session] == position:
            del self._templates[session]
            self._size -= self._sizes.pop(session)
        template = templates.get(self._key(position))
        return template if template is not None and self.is_valid(template) else None

    def is_valid(self, template: RequestTemplate) -> bool:
        return template.generation == self._epoch.of_requests

    def send(self, template: RequestTemplate, position: int) -> Send:
        """The request under a new id, where it has one, and with times moved by the present shift."""
        send, request, head = template.send, template.send.request, template.before_id
        at = template.id_at
        if at is not None:
            headers = request.headers.copy()
            id = self._rebuilder.headers.next_id()
            headers[at] = (headers[at][0], id)
            head = b"%b%b%b" % (template.before_id, id.encode(), template.after_id)
            request = _with_headers(request, headers)
        if template.recorded is not None:
            before, query = request.parts.query, self._shifted_query(template.recorded, position)
            head = head.replace(f"?{before} ".encode(), f"?{query} ".encode(), 1)
            request = replace(request, url=f"{request.url.removesuffix(before)}{query}")
        return Send(position, request, head, send.body, self._timing.due(position), client=send.client)

    def _shifted_query(self, recorded: Exchange, position: int) -> str:
        values = RequestValues(recorded, self._rebuilder.context, shift=self._timing.shift(position))
        return values.query(recorded.request.parts.query)

    def learn(self, attempt: Attempt) -> RequestTemplate | None:
        """The template of a request that was rebuilt, where it only reads and repeats; it is cached."""
        rebuilt, recorded, send = attempt.rebuilt, attempt.recorded, attempt.send
        if rebuilt is None or recorded is None or not _is_repeatable(rebuilt, recorded):
            return None
        session = self._plan.session_of[send.position]
        if self._last[session] == send.position:
            return None
        live = self._rebuilder.context.correlation.live
        if not live.keys().isdisjoint(rebuilt.uncorrelated):
            return None
        size = len(send.head) + len(send.body) + self._plan.store.length(send.position)
        if not self._has_room(size, rebuilt.generation):
            return None
        self._size += size
        self._sizes[session] += size
        self._rebuilder.context.correlation.watch(rebuilt.uncorrelated)
        at, before, after = self._around_id(send)
        shifted = recorded if rebuilt.has_shifted else None
        bare = replace(send, head=b"")  # its head is held in parts
        template = RequestTemplate(shifted, bare, rebuilt.generation, at, before, after)
        self._templates.setdefault(session, {})[self._key(send.position)] = template
        return template

    def _has_room(self, size: int, generation: int) -> bool:
        """Whether there is room for a template; those of an earlier generation give way to it, others stay:
        where sessions take turns, the oldest is the next to be used."""
        if self._size + size > CACHED_BYTES and generation > self._oldest:
            self._templates.clear()
            self._sizes.clear()
            self._size, self._oldest = 0, generation
        return self._size + size <= CACHED_BYTES

    def _around_id(self, send: Send) -> tuple[int | None, bytes, bytes]:
        at = send.request.layout.get("x-request-id")
        if at is None or not self._rebuilder.headers.is_own_id(send.request.headers[at][1]):
            return None, send.head, b""
        before, _, after = send.head.partition(send.request.headers[at][1].encode())
        return at, before, after

    def _key(self, position: int) -> Key:
        return self._plan.requests[position], self._plan.responses[position]


def _is_repeatable(rebuilt: Rebuilt, recorded: Exchange) -> bool:
    """Whether the same request would be rebuilt alike, but for its id and the times in its query."""
    operation, request = recorded.request.operation, recorded.request
    if operation is None or not _may_repeat(operation):
        return False
    if rebuilt.has_shifted and (rebuilt.body or not request.parts.query):
        return False
    if not operation.is_prelogin and request.header("authorization") is None:
        return False
    return not rebuilt.unsourced and recorded.plain is None and rebuilt.plain is None


def _may_repeat(operation: Operation) -> bool:
    return operation.impact == "read-only" and not operation.path.startswith(NEVER_REPEATED)


def _with_headers(request: Request, headers: list[tuple[str, str]]) -> Request:
    """The request with other values of the same headers. It shares the facts of the first."""
    repeated = Request(
        headers=headers,
        body=request.body,
        form=request.form,
        lacks=request.lacks,
        method=request.method,
        url=request.url,
    )
    copy_request_facts(request, repeated)
    return repeated
