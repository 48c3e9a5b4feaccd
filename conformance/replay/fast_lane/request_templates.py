"""Request templates: a request that a client repeats is rebuilt once, and then gets a new id and time."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec.structs import replace

from conformance.replay.engine.step import Attempt
from conformance.replay.engine.timing import Timing
from conformance.replay.fast_lane.epoch import Epoch
from conformance.replay.fast_lane.models import OWN, ClientValues, Model, Models, with_headers
from conformance.replay.fast_lane.moved_query import MovedQuery, moved_query
from conformance.replay.fast_lane.request_template import RequestTemplate
from conformance.replay.rebuild.actions import Send
from conformance.replay.rebuild.errors import CannotRebuild, Lost, Pending
from conformance.replay.rebuild.rebuild import Rebuilder, Rebuilt
from conformance.replay.rebuild.values import RequestValues
from conformance.replay.recording.plan import ReplayPlan
from conformance.spec import Operation
from conformance.traffic.exchange import Exchange

CACHED_BYTES = 16_000_000
"""Bytes of requests and recorded exchanges that are cached, with about as much of their responses."""

NEVER_REPEATED = ("/web/v1/secure-channel/", "/web/v1/system/auth/")
"""Paths of requests that are never the same: codes, tokens and keys are used once."""

Key = tuple[int, int]


@dataclass(slots=True)
class SessionTemplates:
    """The templates of one session, by the fingerprints of the recorded exchange, and their bytes."""

    templates: dict[Key, RequestTemplate] = field(default_factory=dict)
    size: int = 0
    clients: dict[int, ClientValues] = field(default_factory=dict)
    """By the fingerprint of what is its client's own in recorded requests."""
    proposed: Model | None = None
    """The model of the request that was rebuilt last, until its response is compared."""


class RequestTemplates:
    """The templates by session. What another client has sent is taken from ``models``."""

    def __init__(
        self, plan: ReplayPlan, rebuilder: Rebuilder, timing: Timing, epoch: Epoch, models: Models
    ) -> None:
        self._plan = plan
        self._session_of, self._requests, self._responses = plan.session_of, plan.requests, plan.responses
        self._rebuilder = rebuilder
        self._timing = timing
        self._epoch = epoch
        self._models = models
        self._sessions: dict[int, SessionTemplates] = {}
        self._size = 0
        self._last = {plan.session_of[position]: position for position in plan.order}
        """By session, its last exchange."""
        self._oldest = 0
        """No template is of an earlier generation than this."""

    def find(self, position: int) -> RequestTemplate | None:
        """The template of an exchange, where the request would be rebuilt so in this epoch. With the last one
        of a session its templates are dropped."""
        number = self._session_of[position]
        session = self._sessions.get(number)
        key = self._requests[position], self._responses[position]
        template = None if session is None else session.templates.get(key)
        if template is None:
            template = self._from_model(number, position)
        elif template.model is not None and not self._models.is_valid(template.model):
            template = None
        if self._last[number] == position and number in self._sessions:
            self._size -= self._sessions.pop(number).size
        is_valid = template is not None and template.generation == self._epoch.of_requests
        return template if is_valid else None

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
            request = with_headers(request, headers)
        if template.moved is not None:
            before, query = template.moved.sent, template.moved.at(self._timing.shift(position))
            head = head.replace(f"?{before} ".encode(), f"?{query} ".encode(), 1)
            request = replace(request, url=f"{request.url.removesuffix(before)}{query}")
        return Send(position, request, head, send.body, self._timing.due(position), client=send.client)

    def _moved(self, send: Send, recorded: Exchange) -> MovedQuery | None:
        values = RequestValues(recorded, self._rebuilder.context, shift=self._timing.shift(send.position))
        return moved_query(recorded, send.request.parts.query, values)

    def propose(self, send: Send, recorded: Exchange, rebuilt: Rebuilt) -> None:
        """Takes a request that was rebuilt, and is about to be sent: other clients may send the same before
        its response comes."""
        number = self._plan.session_of[send.position]
        if self._last[number] == send.position or not _is_repeatable(rebuilt, recorded):
            return
        moved = self._moved(send, recorded) if rebuilt.has_shifted else None
        if rebuilt.has_shifted and moved is None:
            return
        client, model = self._models.learn(send, recorded, rebuilt, moved, self._id_at(send))
        session = self._sessions.setdefault(number, SessionTemplates())
        session.proposed = model
        if client is not None:
            session.clients[client.recorded] = client

    def learn(self, attempt: Attempt) -> RequestTemplate | None:
        """The template of a request that was rebuilt, where it only reads and repeats; it is cached."""
        rebuilt, recorded, send = attempt.rebuilt, attempt.recorded, attempt.send
        if rebuilt is None or recorded is None or not _is_repeatable(rebuilt, recorded):
            return None
        session = self._sessions.get(self._plan.session_of[send.position])
        if session is None:
            return None
        model, session.proposed = session.proposed, None
        if model is not None:
            self._models.settle(model)
        correlation = self._rebuilder.context.correlation
        if not correlation.live.keys().isdisjoint(rebuilt.uncorrelated):
            return None
        moved = self._moved(send, recorded) if rebuilt.has_shifted else None
        if rebuilt.has_shifted and moved is None:
            return None
        template = self._template(send, rebuilt.generation, moved)
        template.model = model
        size = len(send.head) + len(send.body) + self._plan.store.length(send.position)
        if not self._keep(template, session, send.position, size):
            return None
        correlation.watch(rebuilt.uncorrelated)
        return template

    def _from_model(self, number: int, position: int) -> RequestTemplate | None:
        """The template of a request that another client has sent as well."""
        model = self._models.find(position)
        if model is None:
            return None
        session = self._sessions.setdefault(number, SessionTemplates())
        client = session.clients.get(self._plan.personal[position])
        if client is None or client.generation != model.generation:
            client = self._client(position)
            if client is None:
                return None
            session.clients[client.recorded] = client
        send, before, after = model.request_of(client)
        template = RequestTemplate(model.moved, send, model.generation, model.id_at, before, after)
        if model.fits(client):
            template.model, template.personal = model, client.personal
        if template.model is not None or model.is_settled:
            self._keep(template, session, position, model.size)
        return template

    def _client(self, position: int) -> ClientValues | None:
        """What is a client's own in its first request with a token, which is not rebuilt; None where that is
        not certain."""
        recorded = self._plan.store.exchange(position)
        if recorded.request.header("authorization") is None:
            return None
        own = [pair for pair in recorded.request.headers if pair[0].lower() in OWN.values()]
        values = RequestValues(recorded, self._rebuilder.context, shift=0)
        try:
            sent = self._rebuilder.headers.headers(own, values, needs_token=True, token=None)
        except (Lost, Pending, CannotRebuild):
            return None
        return self._models.client(position, recorded, replace(recorded.request, headers=sent))

    def _template(self, send: Send, generation: int, moved: MovedQuery | None) -> RequestTemplate:
        at, before, after = self._id_at(send), send.head, b""
        if at is not None:
            before, _, after = send.head.partition(send.request.headers[at][1].encode())
        bare = replace(send, head=b"")  # its head is held in parts
        return RequestTemplate(moved, bare, generation, at, before, after)

    def _keep(self, template: RequestTemplate, session: SessionTemplates, position: int, size: int) -> bool:
        """Caches a template of a session, where there is room."""
        if not self._has_room(size, template.generation):
            return False
        self._size += size
        session.size += size
        session.templates[self._key(position)] = template
        return True

    def _has_room(self, size: int, generation: int) -> bool:
        """Whether there is room for a template; those of an earlier generation give way to it, others stay:
        where sessions take turns, the oldest is the next to be used."""
        if self._size + size > CACHED_BYTES and generation > self._oldest:
            for session in self._sessions.values():
                session.templates.clear()
                session.size = 0
            self._size, self._oldest = 0, generation
        return self._size + size <= CACHED_BYTES

    def _id_at(self, send: Send) -> int | None:
        """Where among the headers of a request an id of its own stands."""
        at = send.request.layout.get("x-request-id")
        return (
            None if at is None or not self._rebuilder.headers.is_own_id(send.request.headers[at][1]) else at
        )

    def _key(self, position: int) -> Key:
        return self._requests[position], self._responses[position]


def _is_repeatable(rebuilt: Rebuilt, recorded: Exchange) -> bool:
    """Whether the same request would be rebuilt alike, but for its id and the times in its query."""
    operation, request = recorded.request.operation, recorded.request
    if operation is None or not _may_repeat(operation):
        return False
    if rebuilt.has_shifted and (rebuilt.body or not request.parts.query):
        return False
    if not operation.is_prelogin and request.header("authorization") is None:
        return False
    is_plain = recorded.plain is None and rebuilt.plain is None
    return not rebuilt.unsourced and not rebuilt.made_up and is_plain


def _may_repeat(operation: Operation) -> bool:
    return operation.impact == "read-only" and not operation.path.startswith(NEVER_REPEATED)
