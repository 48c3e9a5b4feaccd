"""Leaves out the bodies in which a secret stands, or may stand, in a form that cannot be redacted."""

from __future__ import annotations

import re
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from conformance.traffic.exchange import ABSENT, Exchange, Request, Response
from conformance.traffic.redaction.loose.views import is_loose, texts_in
from conformance.traffic.redaction.places import in_loose_body, receives_secrets, takes_secrets
from conformance.traffic.redaction.redact import Secrets
from conformance.traffic.redaction.words import is_common
from conformance.traffic.values import REDACTED

SIGNS = re.compile(r"[\W_]+")
KNOWN_SYNTAX = re.compile(
    r"[\w\]\"'`]\s*[:=]|<[\w!?/]|^[^\n]{0,2000}[,;\t][^\n]*\n|\[[a-z-]+-\d+\]|^\s*[\[{]"
)
"""What a text holds whose names and values are found: some name with a value, an element, a table."""

AnyMessage = TypeVar("AnyMessage", Request, Response)


def without_unreadable(exchange: Exchange, secrets: Secrets) -> tuple[Exchange, int]:
    """The exchange with the bodies left out that would keep a secret, and how many they are."""
    request, response = exchange.request, exchange.response
    takes_code = takes_secrets(request.path)
    hides = is_loose(request) and (
        (receives_secrets(request.path) and not _is_understood(request, takes_code=takes_code))
        or _keeps_a_secret(request, secrets, takes_code=takes_code)
    )
    shows = (
        response is not None and is_loose(response) and _keeps_a_secret(response, secrets, takes_code=False)
    )
    if not hides and not shows:
        return exchange, 0
    clean = replace(
        exchange,
        request=_left_out(request) if hides else request,
        response=_left_out(response) if shows and response is not None else response,
    )
    return clean, hides + shows


def _left_out(message: AnyMessage) -> AnyMessage:
    return replace(message, body=ABSENT, form="sanitized")


def _is_understood(request: Request, *, takes_code: bool) -> bool:
    """Whether names and values are found in the body of a request, or it is blank."""
    texts = texts_in(request)
    if any(KNOWN_SYNTAX.search(text) or not text.strip() for text in texts):
        return True
    return next(in_loose_body(request, takes_code=takes_code), None) is not None


def _keeps_a_secret(message: AnyMessage, secrets: Secrets, *, takes_code: bool) -> bool:
    """Whether a secret is found in the body also where all that is known is redacted."""
    if next(in_loose_body(message, takes_code=takes_code), None) is None:
        return False
    clean = msgspec.json.decode(secrets.redact_line(msgspec.json.encode(message.body).decode()))
    left = in_loose_body(replace(message, body=clean), takes_code=takes_code)
    return any(not is_common(SIGNS.sub("", REDACTED.sub("", value))) for value, _ in left)
