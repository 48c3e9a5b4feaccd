"""Rows about bodies: what is no JSON, what is JSON and cannot be held, and values that a client goes by."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.tests.hostile.plays import (
    at,
    body,
    changed,
    data,
    envelope_of,
    everywhere,
    signed_in,
)
from conformance.tests.hostile.wire import Answer, Play, Row

COMPLETE = at("/auth/login/complete")
INITIATE = at("/auth/login/initiate")


def number(text: bytes) -> bytes:
    """An envelope in which a number stands as it is written here."""
    return b'{"code":"2000","success":true,"message":"OK","data":{"n":%s,"total":%s,"page":%s}}' % (
        (text,) * 3
    )


def with_data(content: bytes) -> Play:
    """The envelope of the portal with these bytes for its data."""

    def change(answer: Answer) -> Answer:
        value = {**envelope_of(answer), "data": "HERE"}
        return replace(answer, body=json.dumps(value).encode().replace(b'"HERE"', content))

    return changed(change)


def token_with(expiry: bytes) -> Callable[[Any], Any]:
    """The sign-in's data with a token that ends so, and no word of its lifetime beside it."""

    def part(text: bytes) -> str:
        return base64.urlsafe_b64encode(text).rstrip(b"=").decode()

    def change(value: Any) -> Any:
        if not isinstance(value, dict) or "accessToken" not in value:
            return value
        claims = part(b'{"sub":"1","iat":1700000000,"exp":%s}' % expiry)
        token = ".".join((part(b'{"alg":"HS256","typ":"JWT"}'), claims, part(b"signature")))
        kept = {name: item for name, item in value.items() if not name.startswith("expires")}
        return {**kept, "accessToken": token}

    return change


def with_value(**values: Any) -> Callable[[Any], Any]:
    """Data with these fields."""
    return lambda value: {**value, **values} if isinstance(value, dict) else value


def in_utf_16(answer: Answer) -> Answer:
    return replace(answer, body=answer.body.decode().encode("utf-16"))


DEEP = 100_000
LISTED = json.dumps([{"bizId": f"{n:08}", "name": "x" * 40} for n in range(20_000)]).encode()

ROWS = (
    Row("body-empty-everywhere", "Sends only empty bodies.", body(b""), everywhere),
    Row("deep-lists", "Nests 100,000 lists.", body(b"[" * DEEP + b"]" * DEEP)),
    Row("deep-data", "Nests 100,000 objects in data.", with_data(b'{"a":' * DEEP + b"1" + b"}" * DEEP)),
    Row("deep-900", "Nests 900 lists in data.", with_data(b"[" * 900 + b"]" * 900), signed_in),
    Row("number-infinite", "Gives 1e999 for numbers.", body(number(b"1e999")), signed_in),
    Row("number-of-5000-digits", "Gives numbers of 5,000 digits.", body(number(b"9" * 5000)), signed_in),
    Row(
        "duplicate-keys", "Says success twice.", body(b'{"success":true,"success":false,"data":{},"data":1}')
    ),
    Row(
        "lone-surrogates", "Sends halves of surrogate pairs.", with_data(b'{"\\ud800":"\\udfff"}'), signed_in
    ),
    Row("utf-16", "Sends UTF-16.", changed(in_utf_16)),
    Row("list-of-20000", "Lists 20,000 records.", with_data(LISTED), signed_in),
    Row(
        "list-of-20000-secrets",
        "Gives 20,000 backup codes.",
        data(lambda value: {"backupCodes": [f"code{n:08}" for n in range(20_000)]}),
    ),
    Row(
        "object-of-20000",
        "Gives 20,000 fields.",
        data(lambda value: {f"field{n}": n for n in range(20_000)}),
        signed_in,
    ),
    Row("long-text", "Gives a text of 10 MB.", data(lambda value: "long " * 2_000_000)),
    Row("token-infinite", "Issues a token that ends at 1e999.", data(token_with(b"1e999")), COMPLETE),
    Row(
        "token-of-10-mb", "Issues a token of 10 MB.", data(with_value(accessToken="a" * 10_000_000)), COMPLETE
    ),
    Row(
        "token-of-lines",
        "Issues a token with a header in it.",
        data(with_value(accessToken="abcdefgh\r\nX-Injected: 1")),
        COMPLETE,
    ),
    Row(
        "lifetime-infinite",
        "Gives a token's lifetime as 10^300.",
        data(with_value(expiresIn=10**300, expiresAt=10**300)),
        COMPLETE,
    ),
    Row(
        "session-expires-never",
        "Gives a login session 10^300 seconds.",
        data(with_value(expiresIn=10**300, expiresAt=10**300, resendCooldown=10**300, cooldown=10**300)),
        INITIATE,
    ),
)
