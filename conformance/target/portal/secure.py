"""The secure channel: opened as the profile says, or as the target turns out to want it, and written to."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Unpack

import msgspec

from conformance.errors import Untestable
from conformance.spec.endpoints import PUBLIC_KEY, SECURE_SESSION, SECURE_SESSION_CLOSE
from conformance.spec.tables import INVALID_PARAMETER
from conformance.target.clock import Clock
from conformance.target.portal.calls.caller import CallOptions
from conformance.target.portal.channel import OTHER_WRAPPINGS, Channel, Wrapping, ended, moment, wrapped
from conformance.target.portal.cipher import FoundKey, Scheme, find_key
from conformance.target.portal.login import refusal, text_at
from conformance.target.portal.transport import Opener
from conformance.target.profile.tables import SecureChannelSettings
from conformance.traffic.exchange import ABSENT, Exchange, Json, Plain, Response
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.comparisons import KNOWN_CODES, is_rate_limited
from conformance.verdicts.findings import shown

__all__ = ["CONTENT_TYPE", "SESSION_HEADER", "Channel", "SecureChannel", "Wrapping", "ended", "wrapped"]

SESSION_HEADER = "X-Secure-Channel-Session-Id"
CONTENT_TYPE = "application/json;charset=UTF-8"
NEARLY_OVER = 10.0
"""Seconds before its end from which a shared channel is replaced, or half its lifetime where that is less."""

ASSUMED_LIFETIME = 60.0
"""Seconds for which a channel is shared whose end is not told on a clock that can be read."""


class SecureChannel:
    """Opens channels, sends encrypted bodies. ``readings`` is what was found other than the profile says."""

    def __init__(
        self,
        settings: SecureChannelSettings,
        call: Callable[..., Exchange],
        *,
        clock: Clock,
        secrets: Secrets,
    ) -> None:
        self._settings, self._call = settings, call
        self._clock, self._secrets = clock, secrets
        self._lock = threading.RLock()
        self._shared: Channel | None = None
        self._wrapping: Wrapping | None = None
        self._form: str | None = self._settings.body if self._settings.is_pinned("body") else None
        self._used: Channel | None = None
        """The shared channel by which a body was sent last."""
        self._serves_again: bool | None = None
        """Whether a channel opens more than one body; None where that does not show yet."""
        self.readings: dict[str, str] = {}

    def public_key(self) -> Exchange:
        return self._call(PUBLIC_KEY)

    def found_key(self, answer: Exchange) -> FoundKey:
        """The key in an answer of public-key. Raises Untestable where none can be read."""
        if not answer.success:
            raise Untestable(f"{PUBLIC_KEY} was refused: {refusal(answer)}", "target")
        if not isinstance(answer.data, dict | list | str):
            raise Untestable(f"{PUBLIC_KEY} shows no key: its data is {shown(answer.data)}", "target")
        settings = self._settings
        key = find_key(answer.data, id_field=settings.key_id_field, key_field=settings.public_key_field)
        if key is None:
            raise Untestable(
                "no RSA key with an id was found in the answer of public-key; write [secure_channel] "
                "key_id_field and public_key_field"
            )
        if not f".{key.id_field}".endswith(f".{settings.key_id_field}"):
            self._note("key_id_field", key.id_field)
        self._note("public_key_field", key.field)
        self._note("public_key_format", key.format)
        return key

    def open(self) -> Channel:
        """A new channel. Raises Untestable where the target refuses every way of wrapping a key."""
        refused: Exchange | None = None
        for wrapping in self._wrappings():
            answer = self.public_key()
            key = self.found_key(answer)
            request_key, response_key = self.new_key(), self.new_key()
            session = self._call(
                SECURE_SESSION,
                json={
                    "keyId": key.id,
                    "encReqKey": wrapped(request_key, key, wrapping),
                    "encRespKey": wrapped(response_key, key, wrapping),
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
                    scheme=Scheme(self._settings.aes_mode, self._settings.payload),
                    form=self._form or self._settings.body,
                    is_moved=self._clock.is_simulated,
                )
            refused = session
            if session.status is None or session.status >= 500 or session.success or session.status == 429:
                break
        reason = refusal(refused) if refused is not None else "nothing was tried"
        is_the_targets = refused is not None and (refused.success or (refused.status or 0) >= 500)
        raise Untestable(
            f"no secure channel could be opened: {reason}", "target" if is_the_targets else "configuration"
        )

    def shared(self) -> Channel:
        """A channel for whoever needs one, opened again when it nears its end."""
        with self._lock:
            channel = self._shared
            is_used_up = self._serves_again is False and channel is self._used
            if channel is None or is_used_up or self._is_nearly_over(channel):
                self._shared = channel = self.open()
            return channel

    def _is_nearly_over(self, channel: Channel) -> bool:
        """Whether a channel ends soon. One whose end cannot be read serves for a minute."""
        began = ended(channel.exchange)
        end = began + ASSUMED_LIFETIME if channel.ends_at is None else channel.ends_at
        return self._clock.now() >= end - min(NEARLY_OVER, (end - began) / 2)

    def forget(self) -> None:
        """Drops the shared channel, where a case has ended it."""
        with self._lock:
            self._shared = None

    def encrypt(self, plaintext: Json) -> bytes:
        return self.shared().encrypt(plaintext, form=self._form)

    def post(
        self,
        key: str,
        plaintext: Json,
        *,
        channel: Channel | None = None,
        session_id: str | msgspec.UnsetType | None = msgspec.UNSET,
        **options: Unpack[CallOptions],
    ) -> Exchange:
        """Sends a plaintext encrypted; the record holds it in ``plain``, and the answer's where it is
        encrypted too.

        ``session_id`` stands in the header in place of the channel's; None leaves the header out. Where the
        form of the body is not known yet and the first is refused as malformed, which changes nothing, the
        other is tried. Where a shared channel that was used before is refused in the portal's own way, and a
        new one is not, each channel serves once from then on.
        """
        chosen = self.shared() if channel is None else channel
        if session_id is not msgspec.UNSET:
            headers = {SESSION_HEADER: session_id, **(options.get("headers") or {})}
            return self._sent(key, plaintext, chosen, self._form or self._settings.body, options, headers)
        is_used = channel is None and self._used is chosen
        self._used = chosen if channel is None else self._used
        if self._form is None:
            return self._sent_in_either_form(key, plaintext, chosen, options)
        if is_used:
            return self._sent_by_a_used(key, plaintext, chosen, self._form, options)
        return self._sent(key, plaintext, chosen, self._form, options)

    def _sent_by_a_used(
        self, key: str, plaintext: Json, channel: Channel, form: str, options: CallOptions
    ) -> Exchange:
        """Sends by a channel that has brought a body before. Where that is refused in the portal's own way, a
        new channel shows whether it was the channel."""
        answer = self._sent(key, plaintext, channel, form, options)
        if answer.success:
            self._serves_again = True
        is_of_its_own = not answer.success and answer.code not in KNOWN_CODES and not is_rate_limited(answer)
        if self._serves_again or not is_of_its_own:
            return answer
        anew = self._sent(key, plaintext, self.open(), form, options)
        self._serves_again = (anew.status, anew.code) == (answer.status, answer.code)
        return anew

    def _sent(
        self,
        key: str,
        plaintext: Json,
        channel: Channel,
        form: str,
        options: CallOptions,
        headers: Mapping[str, str | None] | None = None,
    ) -> Exchange:
        sealed: CallOptions = {
            **options,
            "headers": headers or {SESSION_HEADER: channel.session_id, **(options.get("headers") or {})},
            "raw": channel.encrypt(plaintext, form=form),
            "content_type": CONTENT_TYPE,
            "open_answer": lambda answer: self._opened(channel, plaintext, answer),
        }
        return self._call(key, **sealed)

    def _sent_in_either_form(
        self, key: str, plaintext: Json, channel: Channel, options: CallOptions
    ) -> Exchange:
        """Sends the profile's form of a body first. The form that is not malformed is the target's."""
        first = self._sent(key, plaintext, channel, self._settings.body, options)
        if not _is_malformed(first):
            self._form = self._settings.body
            return first
        other = "object" if self._settings.body == "string" else "string"
        second = self._sent_by_a_used(key, plaintext, channel, other, options)
        if _is_malformed(second):
            return first
        self._form = other
        self._note("body", other)
        return second

    def opener(self, channel: Channel | None = None) -> Opener:
        """Returns a function that decrypts encrypted answers to plain requests."""
        chosen = self.shared() if channel is None else channel
        return lambda answer: self._opened(chosen, ABSENT, answer)

    def close(
        self,
        body: Json = ABSENT,
        *,
        channel: Channel | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> Exchange:
        """Closes a channel. Its body is not shown (N3): the session's id, where nothing else is given."""
        chosen = self.shared() if channel is None else channel
        return self._call(
            SECURE_SESSION_CLOSE,
            json={"sessionId": chosen.session_id} if body is ABSENT else body,
            headers={SESSION_HEADER: chosen.session_id, **(headers or {})},
        )

    def wrap(self, key: bytes, public_key: FoundKey) -> str:
        """An AES key wrapped as it was when a channel could be opened, else as the profile says."""
        settings = self._settings
        return wrapped(key, public_key, self._wrapping or Wrapping(settings.rsa_padding, settings.mgf1))

    def new_key(self) -> bytes:
        """A random AES-256 key, known as a secret."""
        key = os.urandom(32)
        self._secrets.add(key, "aes-key")
        return key

    def _opened(self, channel: Channel, plaintext: Json, answer: Response) -> Plain:
        plain = channel.decrypt(answer.json)
        if plain is not ABSENT:
            self._note("responses", "encrypted")
        return Plain(request=plaintext, response=plain)

    def _wrappings(self) -> Iterator[Wrapping]:
        """The proven key wrapping; else the profile's and, unless the profile insists, the usual others."""
        if self._wrapping is not None:
            yield self._wrapping
            return
        settings = self._settings
        first = Wrapping(settings.rsa_padding, settings.mgf1)
        yield first
        for other in OTHER_WRAPPINGS:
            is_padded_so = not settings.is_pinned("rsa_padding") or other.rsa == first.rsa
            is_masked_so = not settings.is_pinned("mgf1") or other.mgf1 == first.mgf1
            if other != first and is_padded_so and (is_masked_so or other.rsa == "pkcs1v15"):
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

    def _note(self, name: str, reading: str) -> None:
        if getattr(self._settings, name) != reading:
            self.readings[name] = reading


def _is_malformed(answer: Exchange) -> bool:
    """Whether the portal rejected a body before parsing its contents."""
    return not answer.success and answer.code in INVALID_PARAMETER
