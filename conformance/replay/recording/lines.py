"""An exchange as the plan of a replay needs it: the request, and the answer as text."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import msgspec

from conformance.replay.recording.values import Found, in_body, in_headers, in_path
from conformance.spec import Impact, Operation, operation_of
from conformance.target.portal.transport import impact_of
from conformance.traffic.exchange import ABSENT, Form, Header, Json, layout_of

_NO_RAW = msgspec.Raw(b"")


class PlanRequest(msgspec.Struct, gc=False):
    method: str
    url: str
    headers: list[Header] = []
    body: Json = ABSENT
    form: Form | None = None
    lacks: list[str] = []

    def header(self, name: str) -> str | None:
        """The first value of a header, its name in lower case."""
        at = layout_of(tuple([known for known, _ in self.headers])).get(name)
        return None if at is None else self.headers[at][1]


class PlanResponse(msgspec.Struct, gc=False):
    """``body`` and ``headers`` stay undecoded: they are looked through as text."""

    status: int
    body: msgspec.Raw = _NO_RAW
    headers: msgspec.Raw = _NO_RAW
    form: Form | None = None


class PlanPlain(msgspec.Struct, gc=False):
    request: Json = ABSENT
    response: msgspec.Raw = _NO_RAW


class PlanLine(msgspec.Struct, gc=False):
    """An exchange as the plan needs it."""

    started: str
    request: PlanRequest
    elapsed_ms: float = 0.0
    client: str = ""
    response: PlanResponse | None = None
    plain: PlanPlain | None = None

    @property
    def path(self) -> str:
        return _place(self.request.method, self.request.url).path

    @property
    def impact(self) -> Impact:
        return _place(self.request.method, self.request.url).impact

    @property
    def operation(self) -> Operation | None:
        return _place(self.request.method, self.request.url).operation

    def handed(self) -> Iterator[Found]:
        """The values of the request that an earlier answer may have given."""
        yield from in_headers(self.request.headers)
        yield from _place(self.request.method, self.request.url).values
        yield from in_body(self.sent)

    @property
    def sent(self) -> Json:
        if self.plain is not None and self.plain.request is not ABSENT:
            return self.plain.request
        return self.request.body

    def answer(self) -> Json:
        """The answer's body, decoded; None where it is not JSON."""
        raw = self.response.body if self.response else _NO_RAW
        try:
            return msgspec.json.decode(raw) if raw else None
        except (ValueError, RecursionError):
            return None


class Where(NamedTuple):
    """What a request asks for, and the values in its URL."""

    path: str
    operation: Operation | None
    impact: Impact
    values: tuple[Found, ...]


@lru_cache(maxsize=4096)
def _place(method: str, url: str) -> Where:
    target = url.split("://", 1)[-1].partition("?")[0]
    path = "/" + target.partition("/")[2]
    operation = operation_of(method, path)
    return Where(path, operation, impact_of(method, path), tuple(in_path(url, operation)))


_DECODE = msgspec.json.Decoder(PlanLine).decode


def line_of(raw: bytes) -> PlanLine:
    """One line of a capture. ValueError, RecursionError: it is none."""
    return _DECODE(raw)
