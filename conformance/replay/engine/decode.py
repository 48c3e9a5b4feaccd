"""Decodes a response from the wire into the record of its exchange."""

from __future__ import annotations

from conformance.replay.rebuild.actions import Received, Send, WireResponse
from conformance.traffic.capture.bodies import body_of, text_of, unpacked
from conformance.traffic.exchange import ABSENT, Exchange, Plain, Response

CUT_BYTES = 100_000
"""Bytes that are kept of a response that was too large."""


def exchange_of(send: Send, received: Received) -> Exchange:
    """The record of a request and its response; its number is still 0."""
    wire = received.response
    response = None if wire.error else _response(wire)
    plain = send.plain
    if send.channel is not None and response is not None and plain is not None:
        plain = Plain(request=plain.request, response=send.channel.decrypt(response.json))
    return Exchange(
        n=0,
        started=received.started,
        elapsed_ms=received.elapsed_ms,
        client=send.client,
        request=send.request,
        response=response,
        error=wire.error,
        plain=plain,
    )


def _response(wire: WireResponse) -> Response:
    headers = wire.headers
    if wire.is_cut:
        return Response(
            status=wire.status, headers=headers, body=text_of(wire.body[:CUT_BYTES]), form="truncated"
        )
    encoding = next((value for name, value in headers if name.lower() == "content-encoding"), None)
    raw = wire.body if encoding is None else unpacked(wire.body, encoding)
    if raw is None:
        return Response(status=wire.status, headers=headers, body=ABSENT, form="undecodable")
    body, form = body_of(raw)
    return Response(status=wire.status, headers=headers, body=body, form=form)
