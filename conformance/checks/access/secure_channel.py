"""The secure channel, as far as the wire shows it (chapter "Secure channel")."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.checks.envelope import MILLISECONDS
from conformance.checks.registry import Memory, check, reading, successes
from conformance.spec.endpoints import PUBLIC_KEY, SECURE_SESSION
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.values import is_integer
from conformance.verdicts.comparisons import holds
from conformance.verdicts.findings import Comparison


@check(
    "SECURE-008",
    on=successes(SECURE_SESSION).where(lambda exchange: is_integer(exchange.at("data.expiresAt"))),
)
def expires_at_counts_milliseconds(exchange: Exchange) -> Iterator[Comparison]:
    held = int(exchange.at("data.expiresAt")) in MILLISECONDS
    yield holds(exchange, "data.expiresAt", held, "milliseconds since the epoch")


@check(
    "SECURE-009",
    on=successes(SECURE_SESSION)
    .at_its_moment()
    .where(lambda exchange: is_integer(exchange.at("data.expiresAt"))),
)
def expires_at_lies_ahead(exchange: Exchange) -> Iterator[Comparison]:
    stamp = exchange.at("timestamp")
    expires = exchange.at("data.expiresAt")
    if is_integer(stamp) and int(stamp) in MILLISECONDS and int(expires) in MILLISECONDS:
        yield holds(exchange, "data.expiresAt", expires > stamp, f"after {stamp}")


@check("SECURE-022", on=successes(SECURE_SESSION), remembers=True)
def every_session_has_its_own_id(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    session = exchange.at("data.sessionId")
    if isinstance(session, str):
        yield holds(exchange, "data.sessionId", session not in memory, "an id not returned before")
        memory[session] = True


@reading("public-key-form", on=successes(PUBLIC_KEY))
def form_of_the_public_key(exchange: Exchange) -> Iterator[Json]:
    data = exchange.data
    yield sorted(data) if isinstance(data, dict) else type(data).__name__
