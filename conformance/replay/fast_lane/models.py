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
from conformance.replay.fast_lane.line_template import CLIENT, TOKEN, Personal
from conformance.replay.fast_lane.log import Templates
from conformance.replay.fast_lane.moved_query import MovedQuery
from conformance.replay.rebuild.actions import Send
from conformance.replay.rebuild.correlation import Correlation
from conformance.replay.rebuild.rebuild import Rebuilt
from conformance.replay.recording.fingerprint import impersonal
from conformance.replay.recording.plan import ReplayPlan
from conformance.traffic.exchange import Exchange, Header, Request
from conformance.traffic.facts import copy_request_facts

OWN = {TOKEN: "authorization", CLIENT: "x-client-hash"}
"""The headers that are a client's own, by their marks."""

CACHED_BYTES = 2_000_000
"""Bytes of requests whose models are kept."""

Key = tuple[int, int, str | None]
"""A hash of the recorded request without what is its client's own, the fingerprint of the recorded response,
and the account."""


@dataclass(frozen=True, slots=True)
class ClientValues:
    """The headers that are a client's own: as they stand in recorded lines, with their marks, and by their
    marks as they are sent."""

    recorded: tuple[tuple[bytes, bytes], ...]
    sent: Mapping[str, str]
    personal: Personal
    """What stands for the marks in the lines of the log."""
    name: str
    label: bytes
    """What the lines of the recording say of the client."""
    generation: int
    """The correlation's generation in which they hold."""

    def impersonal(self, raw: bytes) -> bytes | None:
        """A recorded request with marks in place of them; None where a line is not of this client."""
        label, request = impersonal(raw, self.recorded)
        return request if label == self.label else None

    def tells_more_than(self, other: ClientValues | None) -> bool:
        """Whether it is newer than another one, and tells as much at least."""
        return other is None or other.generation != self.generation or len(other.sent) <= len(self.sent)


@dataclass(slots=True)
class Model:
    """A request with marks in place of what is its client's own: in its head, and at ``places`` among its
    headers. The response is there once one is cached."""

    moved: MovedQuery | None
    """Its query, where that has times that are moved."""
    send: Send
    places: tuple[tuple[int, str], ...]
    head: bytes
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
        return len(self.head) + len(self.send.body)

    def send_of(self, client: ClientValues) -> Send:
        """The request with a client's own values."""
        head, headers = self.head, self.send.request.headers.copy()
        for at, mark in self.places:
            value = client.sent[mark]
            headers[at] = (headers[at][0], value)
            head = head.replace(mark.encode(), _wired(value))
        request = with_headers(self.send.request, headers)
        return Send(self.send.position, request, head, self.send.body, client=client.name)

    def take(
        self, response: CachedResponse, lines: Templates, pair: ReplayedExchange, first_read: FirstRead | None
    ) -> None:
        """Takes the response to such a request, where its line has marks for all that is its client's own."""
        if {mark for mark, _ in lines.request.personal} == {mark for _, mark in self.places}:
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

    def find(self, client: ClientValues, position: int) -> Model | None:
        """The model of a client's request, where another client's was recorded alike."""
        correlation = self._correlation
        if client.generation != correlation.generation:
            return None
        request = client.impersonal(self._plan.store.line(position))
        model = None if request is None else self._models.get(self._key(request, position))
        if model is None or model.generation != client.generation:
            return None
        is_valid = model.is_settled or correlation.live.keys().isdisjoint(model.uncorrelated)
        return model if is_valid else None

    def learn(
        self, send: Send, recorded: Exchange, rebuilt: Rebuilt, moved: MovedQuery | None
    ) -> tuple[ClientValues | None, Model | None]:
        """What is a client's own in a request that is about to be sent, and the request's model."""
        raw = self._plan.store.line(send.position)
        client = self._client(send, recorded, raw)
        request = None if client is None else client.impersonal(raw)
        if client is None or request is None:
            return None, None
        model = _model_of(send, client, rebuilt, moved, request)
        if model is not None:
            self._add(self._key(request, send.position), model)
        return client, model

    def settle(self, model: Model) -> None:
        """Once the response to a model's request is compared: it holds for the generation, or not at all."""
        if self._correlation.live.keys().isdisjoint(model.uncorrelated):
            self._correlation.watch(model.uncorrelated)
            model.is_settled = True

    def _key(self, request: bytes, position: int) -> Key:
        account = self._progress.client(position).account
        return hash(request), self._plan.responses[position], account

    def _add(self, key: Key, model: Model) -> None:
        self._size += model.size
        if self._size > CACHED_BYTES:
            self._models.clear()
            self._size = model.size
        self._models[key] = model

    def _client(self, send: Send, recorded: Exchange, raw: bytes) -> ClientValues | None:
        """What is the client's own in a request; None where that is not certain."""
        old, new, request = [], {}, send.request
        for mark, name in OWN.items():
            before, sent = recorded.request.header(name), request.header(name)
            if before is None and sent is None:
                continue
            if before is None or sent is None or not self._is_steady(mark, before, sent):
                return None
            old.append((_quoted(before), _quoted(mark)))
            new[mark] = sent
        label, _ = impersonal(raw, ())
        return ClientValues(
            tuple(old), new, _personal(request), recorded.client, label, self._correlation.generation
        )

    def _is_steady(self, mark: str, recorded: str, sent: str) -> bool:
        """Whether a header is sent so in all requests of its client: a token has its live one everywhere."""
        if not recorded.isprintable() or not recorded.isascii() or '"' in recorded or "\\" in recorded:
            return False
        if mark != TOKEN:
            return True
        token, live = (value.partition(" ")[2] for value in (recorded, sent))
        return bool(live) and self._correlation.live.get(token) == live


def _model_of(
    send: Send, client: ClientValues, rebuilt: Rebuilt, moved: MovedQuery | None, request: bytes
) -> Model | None:
    """The model of a request; None where a value of its client's own stands at further places. ``request`` is
    the recorded one with marks."""
    places, head = [], send.head
    for mark, value in client.sent.items():
        raw, marked = _wired(value), mark.encode()
        if request.count(_quoted(mark)) != 1 or head.count(raw) != 1 or marked in head or raw in send.body:
            return None
        head = head.replace(raw, marked)
        places.append((send.request.layout[OWN[mark]], mark))
    return Model(
        moved=moved,
        send=send,
        places=tuple(places),
        head=head,
        generation=rebuilt.generation,
        uncorrelated=rebuilt.uncorrelated,
    )


def _personal(request: Request) -> Personal:
    values = (TOKEN, request.bearer), (CLIENT, request.header(OWN[CLIENT]))
    return tuple((mark, value) for mark, value in values if value is not None)


def _quoted(text: str) -> bytes:
    return f'"{text}"'.encode()


def _wired(value: str) -> bytes:
    """The value of a header as it goes over the wire."""
    return value.encode("latin-1", errors="replace")


def with_headers(request: Request, headers: list[Header]) -> Request:
    """The request with other values of the same headers. It shares the facts of the first."""
    repeated = replace(request, headers=headers)
    copy_request_facts(request, repeated)
    return repeated
