"""Exchanges with nothing in them but what a check says that it reads: it has to decide the same on both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from conformance.checks import registry
from conformance.checks.registry import Check, Memory, OpenReading, Sight, kind_of
from conformance.traffic.exchange import ABSENT, Exchange, Header, Json
from conformance.verdicts.findings import HELD

ANOTHER: Mapping[type, Json] = {dict: {}, list: [], str: "another", int: 7, float: 7.5, bool: True}

SENT_AS_THEY_WERE = ("accept-language", "x-locale", "content-type")
NAMES_READ = (
    "x-portal-access-code", "authorization", "cookie", "x-api-key", "api-key", "x-client-hash",
    "x-request-id", "x-secure-channel-session-id", *SENT_AS_THEY_WERE,
)  # fmt: skip


def another_moment(exchange: Exchange) -> Exchange:
    """The same at another time, of another client, with other tokens."""
    assert exchange.response is not None
    body = exchange.response.body
    if (
        isinstance(body, dict)
        and type(body.get("timestamp")) is int
        and 10**12 < body["timestamp"] < 9 * 10**12
    ):
        body = {**body, "timestamp": body["timestamp"] + 86_400_000 * 3650}
    return replace(
        exchange,
        n=exchange.n + 1000,
        started="2045-02-03T04:05:06Z",
        elapsed_ms=exchange.elapsed_ms + 5000,
        client="198.51.100.1",
        request=replace(exchange.request, headers=_with_other_values(exchange.request.headers)),
        response=replace(exchange.response, headers=_with_other_values(exchange.response.headers), body=body),
    )


def metadata_alone(exchange: Exchange) -> Exchange:
    """The status, the envelope with data of the same type, and the names of headers."""
    other = another_moment(exchange)
    assert other.response is not None
    request = replace(
        other.request,
        url=f"{other.request.url.partition('?')[0]}?another=query",
        headers=[header for header in other.request.headers if header[0].lower() in NAMES_READ],
        body=ABSENT if other.request.body is ABSENT else {"another": "body"},
    )
    body = other.response.body
    if isinstance(body, dict) and "data" in body:
        body = {**body, "data": ANOTHER.get(type(body["data"]))}
    headers = [header for header in other.response.headers if header[0].lower() == "content-type"]
    return replace(other, request=request, response=replace(other.response, headers=headers, body=body))


REDUCED: Mapping[Sight, Callable[[Exchange], Exchange]] = {
    "metadata": metadata_alone,
    "answer": another_moment,
}


def decided(check: Check, exchange: Exchange) -> Json:
    """How often a check holds and is contradicted."""
    if not check.on.takes(exchange):
        return "not selected"
    return Counter(comparison is HELD for comparison in check(exchange, Memory()))


def read(reading: OpenReading, exchange: Exchange) -> Json:
    return list(reading.read(exchange)) if reading.on.takes(exchange) else "not selected"


def overreaching(exchange: Exchange) -> list[str]:
    """The checks and readings that read more of an exchange than they say, so that it shows."""
    operation, kind = exchange.request.operation, kind_of(exchange)
    if operation is None:
        return []
    reduced = {sight: reduce(exchange) for sight, reduce in REDUCED.items()}
    checks = [
        check
        for check in registry.CHECKS
        # A check that remembers sees every exchange, unless it does so steadily.
        if operation.key in check.on.keys and kind in check.on.kinds and check.remembers is not True
    ]
    readings = [reading for reading in registry.READINGS if operation.key in reading.on.keys]
    return [
        *(
            check.name
            for check in checks
            if check.on.sight in reduced
            and decided(check, exchange) != decided(check, reduced[check.on.sight])
        ),
        *(
            reading.name
            for reading in readings
            if reading.on.sight in reduced
            and read(reading, exchange) != read(reading, reduced[reading.on.sight])
        ),
    ]


def _with_other_values(headers: list[Header]) -> list[Header]:
    return [
        (name, value if name.lower() in SENT_AS_THEY_WERE else _another_value(value))
        for name, value in headers
    ]


def _another_value(value: str) -> str:
    scheme, blank, token = value.partition(" ")
    return f"{scheme} another-{token}" if blank else f"another-{value}"
