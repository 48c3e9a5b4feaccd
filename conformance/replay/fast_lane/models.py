"""Models: a request that another client has sent as well is not rebuilt for this one.

What differs from client to client is the token and the fingerprint. A request that was recorded as another
client's, but for those and its id, goes out as that one did, with this client's in their places.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.replay.compare.times.repetition import FirstRead, is_remembered
from conformance.replay.engine.progress import Progress
from conformance.replay.fast_lane.cached_response import CachedResponse
from conformance.replay.fast_lane.line_template import CLIENT, TOKEN, Personal, can_be_marked
from conformance.replay.fast_lane.log import Templates
from conformance.replay.fast_lane.moved_query import MovedQuery
from conformance.replay.rebuild.actions import Send
from conformance.replay.rebuild.correlation import Correlation
from conformance.replay.rebuild.rebuild import Rebuilt
from conformance.replay.recording.fingerprint import own_in, personal
from conformance.replay.recording.plan import ReplayPlan
from conformance.traffic.exchange import Exchange, Header, Request
from conformance.traffic.facts import copy_request_facts

OWN = {TOKEN: "authorization", CLIENT: "x-client-hash"}
"""The headers that are a client's own, by their marks."""

CACHED_BYTES = 2_000_000
"""Bytes of requests whose models are kept."""

Key = tuple[int, int, str | None]
"""The fingerprints of the recorded request without what is its client's own, and of the recorded response;
and the account."""


@dataclass(frozen=True, slots=True)
class ClientValues:
    """The headers that are a client's own, by their marks, as they are sent."""

    recorded: int
    """The fingerprint of the recorded ones."""
    sent: Mapping[str, str]
    personal: Personal
    """What stands for the marks in the lines of the log."""
    marks: frozenset[str]
    """The marks that these lines have."""
    name: str
    generation: int
    """The correlation's generation in which they hold."""


@dataclass(slots=True)
class Model:
    """A request with marks in place of what is its client's own: in its head before and after its own id, and
    at ``places`` among its headers. The response is there once one is cached."""

    moved: MovedQuery | None
    """Its query, where that has times that are moved."""
    send: Send
    places: tuple[tuple[int, str], ...]
    marks: frozenset[str]
    id_at: int | None
    """Where among the headers its own id stands; None where it has none, and all of the head is before it."""
    before_id: bytes
    after_id: bytes
    generation: int
    uncorrelated: tuple[str, ...]
    is_settled: bool = False
    """Whether the generation ends once one of its values gets a counterpart."""
    response: CachedResponse | None = None
    lines: Templates | None = None
    fingerprints: tuple[int, int] | None = None
    is_remembered: bool = False
    """Whether the first is remembered, where such reads are repeated."""
    first_read: FirstRead | None = None
    """The first of the reads that the response's was one of, where that was the same."""

    @property
    def size(self) -> int:
        """The bytes of the request."""
        return len(self.before_id) + len(self.after_id) + len(self.send.body)

    def request_of(self, client: ClientValues) -> tuple[Send, bytes, bytes]:
        """The request with a client's own values, without its head; and that before and after its id."""
        before, after, headers = self.before_id, self.after_id, self.send.request.headers.copy()
        for at, mark in self.places:
            value = client.sent[mark]
            headers[at] = (headers[at][0], value)
            marked, wired = mark.encode(), _wired(value)
            before, after = before.replace(marked, wired), after.replace(marked, wired)
        request = with_headers(self.send.request, headers)
        return Send(self.send.position, request, b"", self.send.body, client=client.name), before, after

    def fits(self, client: ClientValues) -> bool:
        """Whether the line of a client's request is that of another one, but for the client's own values."""
        return self.marks == client.marks

    def take(
        self, response: CachedResponse, lines: Templates, pair: ReplayedExchange, first_read: FirstRead | None
    ) -> None:
        """Takes the response to such a request, where its line has marks for all that is its client's own."""
        if {mark for mark, _ in lines.request.personal} == self.marks:
            self.response, self.lines, self.fingerprints = response, lines, pair.fingerprints
            self.is_remembered = is_remembered(pair)
            is_first = first_read is not None and first_read.fingerprints == pair.fingerprints
            self.first_read = first_read if is_first else None


class Models:
    """The models, by what was recorded."""

    def __init__(self, plan: ReplayPlan, progress: Progress, correlation: Correlation) -> None:
        self._plan = plan
        self._progress = progress
        self._correlation = correlation
        self._models: dict[Key, Model] = {}
        self._size = 0

    def find(self, position: int) -> Model | None:
        """The model of a request, where another client's was recorded alike."""
        model = self._models.get(self._key(position))
        return model if model is not None and self.is_valid(model) else None

    def is_valid(self, model: Model) -> bool:
        """Whether a model's request would be rebuilt so now."""
        correlation = self._correlation
        if model.generation != correlation.generation:
            return False
        return model.is_settled or correlation.live.keys().isdisjoint(model.uncorrelated)

    def learn(
        self, send: Send, recorded: Exchange, rebuilt: Rebuilt, moved: MovedQuery | None, id_at: int | None
    ) -> tuple[ClientValues | None, Model | None]:
        """What is a client's own in a request that is about to be sent, and the request's model."""
        client = self.client(send.position, recorded, send.request)
        if client is None:
            return None, None
        model = _model_of(send, client, rebuilt, moved, id_at)
        if model is not None:
            self._add(self._key(send.position), model)
        return client, model

    def settle(self, model: Model) -> None:
        """Once the response to a model's request is compared: it holds for the generation, or not at all."""
        if self._correlation.live.keys().isdisjoint(model.uncorrelated):
            self._correlation.watch(model.uncorrelated)
            model.is_settled = True

    def _key(self, position: int) -> Key:
        plan, account = self._plan, self._progress.client(position).account
        return plan.alike[position], plan.responses[position], account

    def _add(self, key: Key, model: Model) -> None:
        self._size += model.size
        if self._size > CACHED_BYTES:
            self._models.clear()
            self._size = model.size
        self._models[key] = model

    def client(self, position: int, recorded: Exchange, request: Request) -> ClientValues | None:
        """What is the client's own in a request; None where that is not certain."""
        own = self._plan.personal[position]
        if own != personal(recorded.client, own_in(recorded.request.header)):
            return None
        new = {}
        for mark, name in OWN.items():
            before, sent = recorded.request.header(name), request.header(name)
            if before is None and sent is None:
                continue
            if before is None or sent is None or not self._is_steady(mark, before, sent):
                return None
            new[mark] = sent
        lines = _personal(request)
        marks = frozenset(mark for mark, value in lines if can_be_marked(value))
        return ClientValues(own, new, lines, marks, recorded.client, self._correlation.generation)

    def _is_steady(self, mark: str, recorded: str, sent: str) -> bool:
        """Whether a header is sent so in all requests of its client: a token has its live one everywhere."""
        if not recorded.isprintable() or not recorded.isascii() or '"' in recorded or "\\" in recorded:
            return False
        if mark != TOKEN:
            return True
        token, live = (value.partition(" ")[2] for value in (recorded, sent))
        return bool(live) and self._correlation.live.get(token) == live


def _model_of(
    send: Send, client: ClientValues, rebuilt: Rebuilt, moved: MovedQuery | None, id_at: int | None
) -> Model | None:
    """The model of a request; None where a value of its client's own stands at further places."""
    places, head = [], send.head
    for mark, value in client.sent.items():
        raw, marked = _wired(value), mark.encode()
        if head.count(raw) != 1 or marked in head or raw in send.body:
            return None
        head = head.replace(raw, marked)
        places.append((send.request.layout[OWN[mark]], mark))
    before, _, after = (
        (head, b"", b"") if id_at is None else head.partition(_wired(send.request.headers[id_at][1]))
    )
    return Model(
        moved=moved,
        send=send,
        places=tuple(places),
        marks=frozenset(client.sent),
        id_at=id_at,
        before_id=before,
        after_id=after,
        generation=rebuilt.generation,
        uncorrelated=rebuilt.uncorrelated,
    )


def _personal(request: Request) -> Personal:
    values = (TOKEN, request.bearer), (CLIENT, request.header(OWN[CLIENT]))
    return tuple((mark, value) for mark, value in values if value is not None)


def _wired(value: str) -> bytes:
    """The value of a header as it goes over the wire."""
    return value.encode("latin-1", errors="replace")


def with_headers(request: Request, headers: list[Header]) -> Request:
    """The request with other values of the same headers. It shares the facts of the first."""
    repeated = replace(request, headers=headers)
    copy_request_facts(request, repeated)
    return repeated
