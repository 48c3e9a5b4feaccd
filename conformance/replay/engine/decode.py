"""Decodes a response from the wire into the record of its exchange."""

from __future__ import annotations

from conformance.replay.rebuild.actions import Received, Send, WireResponse
from conformance.traffic.capture.bodies import answered
from conformance.traffic.exchange import Exchange, Plain, Response


def exchange_of(send: Send, received: Received, *, largest_body: int) -> Exchange:
    """The record of a request and its response; its number is still 0. A body of more than ``largest_body``
    bytes is truncated."""
    wire = received.response
    response = None if wire.error else _response(wire, largest_body)
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


def _response(wire: WireResponse, largest_body: int) -> Response:
    headers = wire.headers
    encoding = next((value for name, value in headers if name.lower() == "content-encoding"), None)
    body, form = answered(wire.body, encoding, is_cut=wire.is_cut, most=largest_body)
    return Response(status=wire.status, headers=headers, body=body, form=form)
