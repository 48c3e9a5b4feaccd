"""A request template: a request that was sent, and how it is sent anew."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.replay.compare.times.repetition import FirstRead
from conformance.replay.fast_lane.cached_response import CachedResponse
from conformance.replay.fast_lane.line_template import Personal
from conformance.replay.fast_lane.log import Templates
from conformance.replay.fast_lane.models import Model
from conformance.replay.fast_lane.moved_query import MovedQuery
from conformance.replay.rebuild.actions import Send


@dataclass(slots=True)
class RequestTemplate:
    """A request that was sent, without its head, and how it is sent anew. ``moved`` is its query, where that
    has times that are moved."""

    moved: MovedQuery | None
    send: Send
    generation: int
    """The correlation's generation in which it was rebuilt: it holds no longer than that."""
    id_at: int | None
    """Where among the headers its own id stands; None where it has none."""
    before_id: bytes
    after_id: bytes
    """The head on the wire before and after that id; all of it is before where there is none."""
    response: CachedResponse | None = None
    lines: Templates | None = None
    """The templates of its line in the log, where the response is cached."""
    model: Model | None = None
    """The request without what is its client's own: where this has no response yet, that may have one."""
    personal: Personal = ()
    """What is its client's own."""
    first_read: FirstRead | None = None
    """The first of repeated reads, where it is still to be remembered that this request's was the same."""

    def request_id(self, send: Send) -> str:
        """The id of a request that was sent from the template; empty where it has none."""
        if self.id_at is None:
            return send.request.header("x-request-id") or ""
        return send.request.headers[self.id_at][1]
