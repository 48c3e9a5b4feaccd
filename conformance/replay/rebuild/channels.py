"""Secure channels of a replay: opened with fresh keys, looked up by the recorded session's id."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from conformance.replay.rebuild.actions import Secret
from conformance.replay.rebuild.errors import CannotRebuild
from conformance.spec.endpoints import PUBLIC_KEY
from conformance.target.portal.cipher import FoundKey, Scheme, find_key
from conformance.target.portal.secure import Channel, Wrapping, wrapped
from conformance.target.profile.model import SecureChannelSettings
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.redaction.encodings import blocks

SESSION_HEADER = "x-secure-channel-session-id"
MOST_OPEN = 10_000


@dataclass
class Channels:
    """Public keys of the target, by id, and the channels that were opened with them."""

    settings: SecureChannelSettings
    keep: Callable[[Secret], None] = lambda secret: None
    public: dict[str, FoundKey] = field(default_factory=dict)
    opened: dict[str, Channel] = field(default_factory=dict)
    _requested: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)

    def keys_for(self, recorded: Exchange, body: dict[str, Json]) -> dict[str, Json]:
        """The body of a session's creation with keys of our own; as recorded where it was refused."""
        if not recorded.success:
            return body
        public = self.public.get(str(body.get("keyId")))
        if public is None:
            raise CannotRebuild(
                "the target returned no RSA key under the id that this session is opened with"
            )
        keys = (os.urandom(32), os.urandom(32))
        for key in keys:
            self.keep(Secret(key, "aes-key"))
        wrapping = Wrapping(self.settings.rsa_padding, self.settings.mgf1)
        self._requested[str(recorded.at("data.sessionId"))] = keys
        return {
            **body,
            "encReqKey": wrapped(keys[0], public, wrapping),
            "encRespKey": wrapped(keys[1], public, wrapping),
        }

    def learn(self, key: str, recorded: Exchange, live: Exchange) -> None:
        """Takes the target's public key, or the new session, from a response."""
        if key == PUBLIC_KEY:
            public = find_key(
                live.data, id_field=self.settings.key_id_field, key_field=self.settings.public_key_field
            )
            if public is not None:
                self.public[public.id] = public
            return
        session = str(recorded.at("data.sessionId"))
        keys, id = self._requested.pop(session, None), live.at("data.sessionId")
        if keys is not None and isinstance(id, str):
            self.opened[session] = self._channel(id, keys, live)
            if len(self.opened) > MOST_OPEN:
                del self.opened[next(iter(self.opened))]

    def reveals(self, value: Json) -> bool:
        """Whether one of our keys stands in a value, in whatever encoding: nobody may send it back."""
        text = msgspec.json.encode(value).decode()
        opened = [key for each in self.opened.values() for key in (each.request_key, each.response_key)]
        keys = [*opened, *(key for pair in self._requested.values() for key in pair)]
        return any(form in text for key in keys for form in blocks(key))

    def for_request(self, recorded: Exchange) -> Channel:
        """The channel of an encrypted request; one that was never opened, when recorded, has its own keys."""
        session = recorded.request.header(SESSION_HEADER) or ""
        opened = self.opened.get(session)
        return opened or self._channel(session, (os.urandom(32), os.urandom(32)), recorded)

    def form(self, recorded_body: Json) -> str:
        """How the body is sent: as the profile says, else as it was recorded."""
        if self.settings.is_pinned("body"):
            return self.settings.body
        return "object" if isinstance(recorded_body, dict) else "string"

    def _channel(self, id: str, keys: tuple[bytes, bytes], exchange: Exchange) -> Channel:
        return Channel(
            session_id=id,
            request_key=keys[0],
            response_key=keys[1],
            expires_at=None,
            exchange=exchange,
            key_exchange=exchange,
            key_id="",
            scheme=Scheme(self.settings.aes_mode, self.settings.payload),
            form=self.settings.body,
        )
