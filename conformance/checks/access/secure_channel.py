"""The secure channel, as far as the wire shows it (chapter "Secure channel")."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.checks.envelope import MILLISECONDS
from conformance.checks.records import sent_fields
from conformance.checks.registry import Memory, answers, check, has, reading, successes
from conformance.spec import endpoints as op
from conformance.spec.tables import RECORD_UNKNOWN
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.values import is_integer, placed_texts
from conformance.verdicts.comparisons import contradicts, holds, is_invalid_parameter, refused_or_silent
from conformance.verdicts.findings import HELD, Comparison


@check("SECURE-008", on=successes(op.SECURE_SESSION).where(has("data.expiresAt", is_integer)))
def expires_at_counts_milliseconds(exchange: Exchange) -> Iterator[Comparison]:
    held = int(exchange.at("data.expiresAt")) in MILLISECONDS
    yield holds(exchange, "data.expiresAt", held, "milliseconds since the epoch")


@check("SECURE-009", on=successes(op.SECURE_SESSION).at_its_moment().where(has("data.expiresAt", is_integer)))
def expires_at_lies_ahead(exchange: Exchange) -> Iterator[Comparison]:
    stamp = exchange.at("timestamp")
    expires = exchange.at("data.expiresAt")
    if is_integer(stamp) and int(stamp) in MILLISECONDS and int(expires) in MILLISECONDS:
        yield holds(exchange, "data.expiresAt", expires > stamp, f"after {stamp}")


@check("SECURE-005", on=answers(op.PUBLIC_KEY, op.SECURE_SESSION), remembers=True)
def an_unknown_key_id_is_no_unknown_record(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """Where the portal offers the channel: a session names nothing else that could be unknown."""
    host, id = exchange.request.parts.netloc, sent_fields(exchange).get("keyId")
    if exchange.success:
        if exchange.request.method == "GET":  # the public key's answer
            for text in (host, *(text for _, text in placed_texts(exchange.data, "data"))):
                memory[text] = True
    elif exchange.code in RECORD_UNKNOWN and host in memory and isinstance(id, str) and id not in memory:
        yield is_invalid_parameter(exchange)


AES_KEY = re.compile(r"\[aes-key-\d+\]")
"""What a recorder that knows the keys writes in the place of one, in whatever form it stands."""


@check("SECURE-007", on=successes(op.SECURE_SESSION))
def no_key_is_returned(exchange: Exchange) -> Iterator[Comparison]:
    for path, text in placed_texts(exchange.data, "data"):
        if AES_KEY.search(text):
            yield contradicts(exchange, path, "neither of the AES keys", text)


def _is_in_the_clear(exchange: Exchange) -> bool:
    """Whether a body was surely sent in the clear: a tool that decrypts leaves the header of the session."""
    is_plain = exchange.plain is None and exchange.request.is_without("x-secure-channel-session-id")
    sent = sent_fields(exchange)
    return is_plain and bool(sent) and sent.keys().isdisjoint(("v", "p"))


@check(
    "PASSWORD-019",
    on=answers(op.PASSWORD_RESET, op.PASSWORD_INIT, op.PASSWORD_CHANGE).where(_is_in_the_clear),
)
def a_body_in_the_clear_is_refused(exchange: Exchange) -> Iterator[Comparison]:
    message = "a body that is not encrypted was accepted"
    yield from refused_or_silent(exchange, message, is_right=is_invalid_parameter(exchange) is HELD)


@check("SECURE-022", on=successes(op.SECURE_SESSION), remembers=True)
def every_session_has_its_own_id(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    session = exchange.at("data.sessionId")
    if isinstance(session, str):
        yield holds(exchange, "data.sessionId", session not in memory, "an id not returned before")
        memory[session] = True


@reading("public-key-form", on=successes(op.PUBLIC_KEY))
def form_of_the_public_key(exchange: Exchange) -> Iterator[Json]:
    data = exchange.data
    yield sorted(data) if isinstance(data, dict) else type(data).__name__
