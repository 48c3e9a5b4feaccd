"""Secure channels of a replay: opened with fresh keys, looked up by the recorded session's id."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import msgspec

from conformance.replay.rebuild.actions import CannotRebuild, Secret
from conformance.spec.endpoints import PUBLIC_KEY, SECURE_SESSION
from conformance.spec.tables import INVALID_PARAMETER
from conformance.target.portal.cipher import FoundKey, Scheme, find_key, sealed_payload
from conformance.target.portal.secure import Channel, Wrapping, wrapped
from conformance.target.profile.tables import SecureChannelSettings
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.redaction.encodings import blocks

SESSION_HEADER = "x-secure-channel-session-id"
MOST_OPEN = 10_000


@dataclass
class Channels:
    """Public keys of the target, by id, and the channels that were opened with them."""

    settings: SecureChannelSettings
    keep: Callable[[Secret], None] = lambda secret: None
    wrap_otherwise: Callable[[bytes, FoundKey], str] | None = None
    """Wraps a key in the way that was found to open a channel."""
    public: dict[str, FoundKey] = field(default_factory=dict)
    opened: dict[str, Channel] = field(default_factory=dict)
    fresh: FoundKey | None = None
    """A key that was fetched for the next session alone."""
    _requested: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    _is_other_form: bool = False

    def wrap(self, key: bytes, public: FoundKey) -> str:
        """An AES key as the target takes it: as the profile says, else as was found out."""
        if self.wrap_otherwise is not None:
            return self.wrap_otherwise(key, public)
        return wrapped(key, public, Wrapping(self.settings.rsa_padding, self.settings.mgf1))

    def needs_key(self, recorded: Exchange, live: Exchange) -> bool:
        """Whether a session was refused that could be opened when recorded: the key may have been replaced,
        or be wrapped in another way here."""
        is_refused = recorded.success and live.status in range(400, 500) and live.status != 429
        return is_refused and recorded.request.operation_key == SECURE_SESSION

    def take_fresh(self, key: FoundKey, wrap: Callable[[bytes, FoundKey], str]) -> None:
        """Takes the target's present key for the next session, and how it takes keys."""
        self.fresh, self.wrap_otherwise = key, wrap

    def try_other_form(self, recorded: Exchange, live: Exchange) -> bool:
        """Whether an encrypted body was refused as malformed whose form the profile leaves open: from now on
        the other form is sent."""
        if sealed_payload(recorded.request.body) is None or recorded.plain is None:
            return False
        is_malformed = recorded.success and not live.success and live.code in INVALID_PARAMETER
        if not is_malformed or self._is_other_form or self.settings.is_pinned("body"):
            return False
        self._is_other_form = True
        return True

    def keys_for(self, recorded: Exchange, body: dict[str, Json]) -> dict[str, Json]:
        """The body of a session's creation with keys of our own; as recorded where it was refused."""
        if not recorded.success:
            return body
        public = (
            self.fresh
            or self.public.get(str(body.get("keyId")))
            or next(reversed(self.public.values()), None)
        )
        self.fresh = None
        if public is None:
            raise CannotRebuild("the target returned no RSA key with an id to open this session with")
        keys = (os.urandom(32), os.urandom(32))
        for key in keys:
            self.keep(Secret(key, "aes-key"))
        self._requested[str(recorded.at("data.sessionId"))] = keys
        return {
            **body,
            "keyId": public.id,
            "encReqKey": self.wrap(keys[0], public),
            "encRespKey": self.wrap(keys[1], public),
        }

    def learn(self, key: str, recorded: Exchange, live: Exchange) -> Iterator[tuple[str, str]]:
        """Takes the target's public key, or the new session, from a response. Yields the recorded id of a key
        with the live one, wherever they stand."""
        if key == PUBLIC_KEY:
            names = (self.settings.key_id_field, self.settings.public_key_field)
            before, public = (
                find_key(each.data, id_field=names[0], key_field=names[1]) for each in (recorded, live)
            )
            if public is not None:
                self.public[public.id] = public
            id = before.id if before is not None else recorded.at(f"data.{names[0]}")
            if public is not None and isinstance(id, str):
                yield id, public.id
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
        is_object = isinstance(recorded_body, dict) is not self._is_other_form
        return "object" if is_object else "string"

    def _channel(self, id: str, keys: tuple[bytes, bytes], exchange: Exchange) -> Channel:
        return Channel(
            session_id=id,
            request_key=keys[0],
            response_key=keys[1],
            expires_at=None,
            exchange=exchange,
            key_exchange=exchange,
            scheme=Scheme(self.settings.aes_mode, self.settings.payload),
            form=self.settings.body,
        )
