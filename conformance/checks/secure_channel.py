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


@check("SECURE-024", on=successes(PUBLIC_KEY), remembers=True)
def the_public_key_stays(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """Keys may be rotated in the long run: only calls within five minutes are compared. What stands beside
    the key (N2) may be new each time."""
    key = dict(_key_fields(exchange.data))
    if key and "key" in memory and exchange.time - memory["time"] < ROTATED_SECONDS:
        yield holds(exchange, "data", memory["key"] == key, "the key of the previous call")
    if key:
        memory["key"], memory["time"] = key, exchange.time


ROTATED_SECONDS = 300.0
KEY_LENGTH = 150
"""Characters that an RSA key has at least, in whatever encoding: of 1024 bits the modulus alone has 171."""


def _key_fields(value: Json, path: str = "data") -> Iterator[tuple[str, str]]:
    """The texts that are the key or its id, by name or by length, with their places."""
    name = path.rpartition(".")[2].lower()
    if isinstance(value, str) and ("key" in name or name in KEY_IDS or len(value) >= KEY_LENGTH):
        yield path, value
    if isinstance(value, dict):
        for field, inner in value.items():
            yield from _key_fields(inner, f"{path}.{field}")


KEY_IDS = frozenset({"id", "kid"})


@reading("public-key-form", on=successes(PUBLIC_KEY))
def form_of_the_public_key(exchange: Exchange) -> Iterator[Json]:
    data = exchange.data
    yield sorted(data) if isinstance(data, dict) else type(data).__name__
