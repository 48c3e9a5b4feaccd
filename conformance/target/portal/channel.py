"""An open secure channel: its keys, when it ends, and what goes over it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

import msgspec

from conformance.target.portal.cipher import (
    PADDINGS,
    VERSION,
    FoundKey,
    Scheme,
    seal,
    sealed_payload,
    unseal,
    wrap,
)
from conformance.traffic.exchange import ABSENT, Exchange, Json

LONGEST_LIFETIME = 7 * 86400.0
"""Seconds beyond which a lifetime is a sign that two clocks were compared that are not one."""


@dataclass(frozen=True)
class Wrapping:
    """How an AES key goes into RSA. ``encoding``: the key's bytes, or their base64 text."""

    rsa: str
    mgf1: str
    encoding: str = "raw"


@dataclass(frozen=True)
class Channel:
    """An open channel. ``expires_at`` is on the portal's clock, in epoch seconds; None where the answer had
    none that could be read. ``is_moved``: the suite moves that clock, and follows it."""

    session_id: str
    request_key: bytes
    response_key: bytes
    expires_at: float | None
    exchange: Exchange
    key_exchange: Exchange
    scheme: Scheme
    form: str
    is_moved: bool = False

    @property
    def ends_at(self) -> float | None:
        """When it ends, on the clock of the suite; None where that cannot be read."""
        return ends_at(self.exchange, is_moved=self.is_moved)

    def encrypt(self, plaintext: Json, *, form: str | None = None) -> bytes:
        """The body that carries a plaintext: the JSON text of ``{"v": 2, "p": …}``, or that object."""
        plain = json.dumps(plaintext, ensure_ascii=False, separators=(",", ":")).encode()
        sealed = json.dumps(
            {"v": VERSION, "p": seal(plain, self.request_key, self.scheme)}, separators=(",", ":")
        )
        return (sealed if (form or self.form) == "object" else json.dumps(sealed)).encode()

    def decrypt(self, body: Json) -> Json:
        """The plaintext of an encrypted answer, or of one whose ``data`` is encrypted; else ABSENT."""
        return opened_answer(body, self._opened)

    def _opened(self, body: Json) -> Json:
        payload = sealed_payload(body)
        try:
            return msgspec.json.decode(unseal(payload or "", self.response_key, self.scheme))
        except (ValueError, msgspec.MsgspecError):
            return ABSENT


def opened_answer(body: Json, opened: Callable[[Json], Json]) -> Json:
    """The plaintext of an encrypted answer, or of one whose ``data`` is encrypted; else ABSENT."""
    whole = opened(body)
    if whole is not ABSENT or not isinstance(body, dict):
        return whole
    data = opened(body.get("data"))
    return ABSENT if data is ABSENT else {**body, "data": data}


OTHER_WRAPPINGS = tuple(Wrapping(*padding, form) for form in ("raw", "base64") for padding in PADDINGS)


def wrapped(key: bytes, public_key: FoundKey, wrapping: Wrapping) -> str:
    """An AES key as ``encReqKey`` and ``encRespKey`` want it."""
    content = key if wrapping.encoding == "raw" else base64.b64encode(key)
    return wrap(content, public_key.public, rsa=wrapping.rsa, mgf1=wrapping.mgf1)


def ends_at(session: Exchange, *, is_moved: bool = False) -> float | None:
    """When a channel ends, on the clock of the suite: ``expiresAt`` is on the portal's, which may be off.

    The answer's own ``timestamp`` says what time it is there, else its Date header; but where the portal's
    clock ``is_moved``, that is of a web server whose clock is not. None where that gives no lifetime that can
    be.
    """
    expires_at = moment(session.at("data.expiresAt"))
    there = moment(session.at("timestamp")) if is_moved else portal_time(session)
    if expires_at is None:
        return None
    lifetime = expires_at - (session.time if there is None else there)
    return ended(session) + lifetime if 0 < lifetime <= LONGEST_LIFETIME else None


def portal_times(exchange: Exchange) -> Iterator[float]:
    """The portal's time when it answered, in epoch seconds: by the answer's timestamp, then by its Date."""
    stamp, date = moment(exchange.at("timestamp")), exchange.at("headers.date")
    if stamp is not None:
        yield stamp
    if isinstance(date, str):
        with suppress(ValueError, OverflowError):
            yield parsedate_to_datetime(date).timestamp()


def portal_time(exchange: Exchange) -> float | None:
    """The portal's time when it answered; None where the answer does not say."""
    return next(portal_times(exchange), None)


def ended(exchange: Exchange) -> float:
    """The arrival time of an answer, by the suite's clock."""
    return exchange.time + exchange.elapsed_ms / 1000


def moment(value: Json) -> float | None:
    """Epoch milliseconds (or seconds, where only those make sense) as epoch seconds."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 1e8 <= value < 1e15:
        return None
    return value / 1000 if value >= 1e11 else float(value)


SKEW_SECONDS = 20.0
"""Seconds between the clocks here and there from which authenticator codes are in danger."""

YEAR_SECONDS = 365.0 * 86_400
"""A time that is further away is written in another unit, or is none of a clock."""


def clock_offset(answer: Exchange) -> float | None:
    """How many seconds the portal's clock is ahead of this machine's, by the time in an answer; None where it
    has none."""
    offsets = (there - answer.time for there in portal_times(answer))
    return next((offset for offset in offsets if abs(offset) < YEAR_SECONDS), None)


def clock_problem(offset: float) -> str | None:
    """How the clocks differ, in words; None where they agree well enough for authenticator codes."""
    if abs(offset) <= SKEW_SECONDS:
        return None
    return (
        f"the portal's clock is {abs(offset):.0f} s {'ahead of' if offset > 0 else 'behind'} this machine's"
    )
