"""Exchanges from the responses of HTTP clients: httpx, requests, and Starlette's test client."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from conformance.errors import UsageError
from conformance.traffic.capture.bodies import body_of
from conformance.traffic.exchange import ABSENT, Exchange, Form, Header, Json, Request, Response


def exchange_of(response: Any, n: int = 1) -> Exchange:
    """The exchange that a response ends; the request is the one that the response holds.

    A body that is still to be read is recorded as omitted, and nothing is concluded from it. ``n`` is the
    number of the exchange. UsageError: it is no response of these clients.
    """
    request = getattr(response, "request", None)
    if request is None or not hasattr(response, "status_code"):
        raise UsageError(
            "A response of httpx, requests or Starlette's test client is needed, "
            f"and this is {type(response).__name__}."
        )
    sent, sent_form = _body(request, "content", "body")
    received, form = _body(response, "content")
    elapsed = _elapsed(response)
    return Exchange(
        n=n,
        started=(datetime.now(UTC) - elapsed).isoformat(),
        elapsed_ms=round(elapsed.total_seconds() * 1000, 3),
        request=Request(
            method=str(request.method).upper(),
            url=str(request.url),
            headers=_headers(request.headers),
            body=sent,
            form=sent_form,
        ),
        response=Response(
            status=response.status_code, headers=_headers(response.headers), body=received, form=form
        ),
    )


def _body(message: Any, *names: str) -> tuple[Json, Form | None]:
    """The body of a request or a response: httpx calls both ``content``, requests the request's ``body``."""
    for name in names:
        try:
            raw = getattr(message, name)
        except AttributeError:
            continue
        except RuntimeError:  # httpx: a stream that nobody has read, or that is used up
            return ABSENT, "omitted"
        if raw is None or isinstance(raw, str | bytes):
            return body_of(raw or b"")
        return ABSENT, "omitted"
    return ABSENT, "omitted"


def _headers(headers: Any) -> list[Header]:
    pairs: Iterable[tuple[Any, Any]] = (
        headers.multi_items() if hasattr(headers, "multi_items") else headers.items()
    )
    return [(_text(name), _text(value)) for name, value in pairs]


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _elapsed(response: Any) -> timedelta:
    with suppress(RuntimeError):  # httpx knows it once the response is closed
        elapsed = getattr(response, "elapsed", None)
        if isinstance(elapsed, timedelta):
            return elapsed
    return timedelta()
