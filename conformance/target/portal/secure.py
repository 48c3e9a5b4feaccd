"""The secure channel: opened as the profile says, or as the target turns out to want it, and written to."""

from __future__ import annotations

import base64
import json
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import msgspec

from conformance.errors import Untestable
from conformance.spec.endpoints import PUBLIC_KEY, SECURE_SESSION, SECURE_SESSION_CLOSE
from conformance.spec.tables import INVALID_PARAMETER
from conformance.target.portal.cipher import (
    VERSION,
    FoundKey,
    Scheme,
    find_key,
    seal,
    sealed_payload,
    unseal,
    wrap,
)
from conformance.target.portal.login import refusal, text_at
from conformance.target.portal.transport import Opener
from conformance.traffic.exchange import ABSENT, Exchange, Json, Plain, Response
from conformance.traffic.values import is_number

if TYPE_CHECKING:
    from conformance.target.portal import Portal

SESSION_HEADER = "X-Secure-Channel-Session-Id"
CONTENT_TYPE = "application/json;charset=UTF-8"
NEARLY_OVER = 10.0
"""Seconds before its end from which a shared channel is replaced, or half its lifetime where that is less."""

ASSUMED_LIFETIME = 60.0
"""Seconds for which a channel is shared whose end is not told on a clock that can be read."""

LONGEST_LIFETIME = 7 * 86400.0


@dataclass(frozen=True)
class Wrapping:
    """How an AES key goes into RSA. ``encoding``: the key's bytes, or their base64 text."""

    rsa: str
    mgf1: str
    encoding: str = "raw"


@dataclass(frozen=True)
class Channel:
    """An open channel. ``expires_at`` is on the portal's clock, in epoch seconds; None where the answer had
    none that could be read."""

    session_id: str
    request_key: bytes
    response_key: bytes
    expires_at: float | None
    exchange: Exchange
    key_exchange: Exchange
    key_id: str
    scheme: Scheme
    form: str

    @property
    def ends_at(self) -> float | None:
        """When it ends, on the clock of the suite; None where that cannot be read."""
        return ends_at(self.exchange)

    def encrypt(self, plaintext: Json, *, form: str | None = None) -> bytes:
        """The body that carries a plaintext: the JSON text of ``{"v": 2, "p": …}``, or that object."""
        plain = json.dumps(plaintext, ensure_ascii=False, separators=(",", ":")).encode()
        sealed = json.dumps(
            {"v": VERSION, "p": seal(plain, self.request_key, self.scheme)}, separators=(",", ":")
        )
        return (sealed if (form or self.form) == "object" else json.dumps(sealed)).encode()

    def decrypt(self, body: Json) -> Json:
        """The plaintext of an encrypted answer, or of one whose ``data`` is encrypted; else ABSENT."""
        payload = sealed_payload(body)
        if payload is not None:
            return self._opened(payload)
        inner = sealed_payload(body.get("data")) if isinstance(body, dict) else None
        if inner is None:
            return ABSENT
        data = self._opened(inner)
        return ABSENT if data is ABSENT else {**body, "data": data}

    def _opened(self, payload: str) -> Json:
        try:
            return msgspec.json.decode(unseal(payload, self.response_key, self.scheme))
        except (ValueError, msgspec.MsgspecError):
            return ABSENT


class SecureChannel:
    """Opens channels, sends encrypted bodies. ``readings`` is what was found other than the profile says."""

    def __init__(self, portal: Portal) -> None:
        self._portal = portal
        self._settings = portal.profile.secure_channel
        self._lock = threading.RLock()
        self._shared: Channel | None = None
        self._wrapping: Wrapping | None = None
        self._form: str | None = self._settings.body if self._settings.is_pinned("body") else None
        self.readings: dict[str, str] = {}

    def public_key(self) -> Exchange:
        return self._portal.call(PUBLIC_KEY)

    def found_key(self, answer: Exchange) -> FoundKey:
        """The key in an answer of public-key. Raises Untestable where none can be read."""
        if not answer.success:
            raise Untestable(f"{PUBLIC_KEY} was refused: {refusal(answer)}", "target")
        settings = self._settings
        found = find_key(answer.data, id_field=settings.key_id_field, key_field=settings.public_key_field)
        if found is None:
            raise Untestable(
                "no RSA key with an id was found in the answer of public-key; [secure_channel] may say where"
            )
        self._note("key_id_field", found.id_field)
        self._note("public_key_field", found.field)
        self._note("public_key_format", found.format)
        return found

    def open(self) -> Channel:
        """A new channel. Raises Untestable where the target refuses every way of wrapping a key."""
        refused: Exchange | None = None
        for wrapping in self._wrappings():
            answer = self.public_key()
            found = self.found_key(answer)
            request_key, response_key = self.new_key(), self.new_key()
            session = self._portal.call(
                SECURE_SESSION,
                json={
                    "keyId": found.id,
                    "encReqKey": wrapped(request_key, found, wrapping),
                    "encRespKey": wrapped(response_key, found, wrapping),
                },
            )
            id = text_at(session, "data.sessionId")
            if id is not None:
                self._take(wrapping)
                return Channel(
                    session_id=id,
                    request_key=request_key,
                    response_key=response_key,
                    expires_at=moment(session.at("data.expiresAt")),
                    exchange=session,
                    key_exchange=answer,
                    key_id=found.id,
                    scheme=Scheme(self._settings.aes_mode, self._settings.payload),
                    form=self._form or self._settings.body,
                )
            refused = session
            if session.status is None or session.status >= 500 or session.success or session.status == 429:
                break
        said = refusal(refused) if refused is not None else "nothing was tried"
        blame = (
            "target"
            if refused is not None and (refused.success or (refused.status or 0) >= 500)
            else "configuration"
        )
        raise Untestable(
            f"no secure channel could be opened: {said}", "target" if blame == "target" else "configuration"
        )

    def shared(self) -> Channel:
        """A channel for whoever needs one, opened again when it nears its end."""
        with self._lock:
            channel = self._shared
            if channel is None or self._is_nearly_over(channel):
                self._shared = channel = self.open()
            return channel

    def _is_nearly_over(self, channel: Channel) -> bool:
        """Whether a channel ends soon. One whose end cannot be read serves for a minute."""
        began = ended(channel.exchange)
        end = began + ASSUMED_LIFETIME if channel.ends_at is None else channel.ends_at
        return self._portal.clock.now() >= end - min(NEARLY_OVER, (end - began) / 2)

    def forget(self) -> None:
        """Drops the shared channel, where a case has ended it."""
        with self._lock:
            self._shared = None

    def encrypt(self, plaintext: Json) -> bytes:
        """A body for the shared channel."""
        return self.shared().encrypt(plaintext, form=self._form)

    def post(
        self,
        key: str,
        plaintext: Json,
        *,
        channel: Channel | None = None,
        token: str | None = None,
        session_id: str | msgspec.UnsetType | None = msgspec.UNSET,
        headers: Mapping[str, str | None] | None = None,
        **options: Any,
    ) -> Exchange:
        """Sends a plaintext encrypted; the record holds it in ``plain``, and the answer's where it is
        encrypted too.

        ``session_id`` stands in the header in place of the channel's; None leaves the header out. Where the
        form of the body is not known yet and the first is refused as malformed, which changes nothing, the
        other is tried.
        """
        chosen = self.shared() if channel is None else channel
        own = {
            SESSION_HEADER: chosen.session_id if session_id is msgspec.UNSET else session_id,
            **(headers or {}),
        }

        def send(form: str) -> Exchange:
            return self._portal.call(
                key,
                raw=chosen.encrypt(plaintext, form=form),
                token=token,
                content_type=CONTENT_TYPE,
                headers=own,
                open_answer=lambda answer: self._opened(chosen, plaintext, answer),
                **options,
            )

        if self._form is not None or session_id is not msgspec.UNSET:
            return send(self._form or self._settings.body)
        first = send(self._settings.body)
        if not _is_malformed(first):
            self._form = self._settings.body
            return first
        other = "object" if self._settings.body == "string" else "string"
        second = send(other)
        if _is_malformed(second):
            return first
        self._form = other
        self._note("body", other)
        return second

    def opener(self, channel: Channel | None = None) -> Opener:
        """Gives the plaintext of an answer that is encrypted, to a request that was sent as it is."""
        chosen = self.shared() if channel is None else channel
        return lambda answer: self._opened(chosen, ABSENT, answer)

    def close(self, body: Json = ABSENT, *, channel: Channel | None = None) -> Exchange:
        """Closes a channel. Its body is not shown (N3): the session's id, where nothing else is given."""
        chosen = self.shared() if channel is None else channel
        return self._portal.call(
            SECURE_SESSION_CLOSE,
            json={"sessionId": chosen.session_id} if body is ABSENT else body,
            headers={SESSION_HEADER: chosen.session_id},
        )

    def wrap(self, key: bytes, found: FoundKey) -> str:
        """An AES key wrapped as it was when a channel could be opened, else as the profile says."""
        settings = self._settings
        return wrapped(key, found, self._wrapping or Wrapping(settings.rsa_padding, settings.mgf1))

    def new_key(self) -> bytes:
        """A random AES-256 key, known as a secret."""
        key = os.urandom(32)
        self._portal.secrets.add(key, "aes-key")
        return key

    def _opened(self, channel: Channel, plaintext: Json, answer: Response) -> Plain:
        plain = channel.decrypt(answer.json)
        if plain is not ABSENT:
            self._note("responses", "encrypted")
        return Plain(request=plaintext, response=plain)

    def _wrappings(self) -> Iterator[Wrapping]:
        """The one that worked, or the profile's and then, where it does not insist, the usual others."""
        if self._wrapping is not None:
            yield self._wrapping
            return
        settings = self._settings
        first = Wrapping(settings.rsa_padding, settings.mgf1)
        yield first
        if settings.is_pinned("rsa_padding") and (
            settings.is_pinned("mgf1") or settings.rsa_padding == "pkcs1v15"
        ):
            return
        for other in OTHER_WRAPPINGS:
            pinned = settings.is_pinned("rsa_padding") and other.rsa != settings.rsa_padding
            if other != first and not pinned:
                yield other

    def _take(self, wrapping: Wrapping) -> None:
        if self._wrapping is None:
            self._wrapping = wrapping
            self._note("rsa_padding", wrapping.rsa)
            if wrapping.rsa != "pkcs1v15":
                self._note("mgf1", wrapping.mgf1)
            if wrapping.encoding != "raw":
                self.readings["key_encoding"] = wrapping.encoding

    def how(self, name: str) -> str:
        """How the target takes something that ``[secure_channel]`` says: as found out, else as said there."""
        return self.readings.get(name) or str(getattr(self._settings, name))

    def _note(self, name: str, found: str) -> None:
        if getattr(self._settings, name) != found:
            self.readings[name] = found


OTHER_WRAPPINGS = (
    Wrapping("oaep-sha256", "sha256"),
    Wrapping("oaep-sha256", "sha1"),
    Wrapping("oaep-sha1", "sha1"),
    Wrapping("pkcs1v15", "sha256"),
    Wrapping("oaep-sha256", "sha256", "base64"),
    Wrapping("oaep-sha256", "sha1", "base64"),
    Wrapping("pkcs1v15", "sha256", "base64"),
)


def wrapped(key: bytes, found: FoundKey, wrapping: Wrapping) -> str:
    """An AES key as ``encReqKey`` and ``encRespKey`` want it."""
    content = key if wrapping.encoding == "raw" else base64.b64encode(key)
    return wrap(content, found.public, rsa=wrapping.rsa, mgf1=wrapping.mgf1)


def _is_malformed(answer: Exchange) -> bool:
    """Whether a body was refused before anything in it was looked at."""
    return not answer.success and answer.code in INVALID_PARAMETER


def ends_at(session: Exchange) -> float | None:
    """When a channel ends, on the clock of the suite: ``expiresAt`` is on the portal's, which may be off.

    The answer's own ``timestamp`` says what time it is there, else its Date header. None where that gives no
    lifetime that can be.
    """
    expires_at, there = moment(session.at("data.expiresAt")), portal_time(session)
    if expires_at is None:
        return None
    lifetime = expires_at - (session.time if there is None else there)
    return ended(session) + lifetime if 0 < lifetime <= LONGEST_LIFETIME else None


def portal_time(exchange: Exchange) -> float | None:
    """The portal's time when it answered, in epoch seconds; None where the answer does not say."""
    stamp = moment(exchange.at("timestamp"))
    date = exchange.at("headers.date")
    if stamp is not None or not isinstance(date, str):
        return stamp
    try:
        return parsedate_to_datetime(date).timestamp()
    except ValueError:
        return None


def ended(exchange: Exchange) -> float:
    """When an answer was there, on the clock of the suite."""
    return exchange.time + exchange.elapsed_ms / 1000


def moment(value: Json) -> float | None:
    """Epoch milliseconds (or seconds, where only those make sense) as epoch seconds."""
    if not is_number(value) or not 1e8 <= value < 1e15:
        return None
    return value / 1000 if value >= 1e11 else float(value)
