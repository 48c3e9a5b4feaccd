"""Rebuilds a recorded request for the target of the replay, with live values in place of recorded ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from conformance.replay.rebuild.actions import CannotRebuild
from conformance.replay.rebuild.channels import Channels
from conformance.replay.rebuild.context import RebuildContext
from conformance.replay.rebuild.factors import Client
from conformance.replay.rebuild.headers import HeaderRebuild, framed
from conformance.replay.rebuild.values import RequestValues
from conformance.spec import Operation
from conformance.spec.endpoints import SECURE_SESSION
from conformance.target.portal.cipher import sealed_payload
from conformance.target.portal.secure import Channel
from conformance.traffic.exchange import ABSENT, Exchange, Form, Json, Plain, Request

TOKEN_MISSING = "ACCESS.TOKEN_MISSING"

NO_FIELDS: Mapping[str, Json] = MappingProxyType({})


class Rebuilt(msgspec.Struct, frozen=True):
    """A request for the target: as a record, and as the bytes of its head and body.

    ``plain`` and ``channel`` are there where the body is encrypted.
    """

    request: Request
    head: bytes
    body: bytes
    plain: Plain | None
    channel: Channel | None
    has_shifted: bool
    """Whether a time in it was moved by the clocks' difference."""
    uncorrelated: tuple[str, ...]
    """The values without a live counterpart: they are sent as recorded."""
    unsourced: tuple[str, ...]
    """The ids that worked when recorded, and that neither a response nor the profile contains."""
    generation: int
    """The correlation's generation in which it was rebuilt."""
    account: str | None = None
    """The profile's account that it is sent for."""
    made_up: tuple[str, ...] = ()
    """The kinds of redacted secrets in whose place a made-up one is sent."""


class _Body(NamedTuple):
    """A request's body as JSON and as bytes, with its plaintext where it is encrypted."""

    json: Json
    raw: bytes
    form: Form | None
    plain: Plain | None = None
    channel: Channel | None = None


@dataclass
class Rebuilder:
    """Rebuilds requests with the state that all sessions share."""

    context: RebuildContext
    headers: HeaderRebuild
    channels: Channels

    def rebuild(
        self, recorded: Exchange, client: Client, *, shift: float, fields: Mapping[str, Json] = NO_FIELDS
    ) -> Rebuilt:
        """The live request. ``shift``, in seconds, is added to recorded times; ``fields`` replace those of
        the body. Raises LostValue, Pending, CannotRebuild."""
        request, operation = recorded.request, recorded.request.operation
        account = self.context.owner(recorded, client.account)
        values = RequestValues(recorded, self.context, shift, account)
        target = values.target(request, operation)
        headers = self.headers.headers(
            request.headers,
            values,
            needs_token=recorded.status != 401 and (operation is None or not operation.is_prelogin),
            token=_missing_token(recorded, operation, client),
        )
        body = self._body(recorded, values, fields)
        return Rebuilt(
            request=Request(
                method=request.method,
                url=self.context.profile.portal.url + target,
                headers=headers,
                body=body.json,
                form=body.form,
            ),
            head=framed(request.method, self.headers.base_path + target, headers, body.raw),
            body=body.raw,
            plain=body.plain,
            channel=body.channel,
            has_shifted=values.has_shifted,
            uncorrelated=tuple(values.uncorrelated),
            unsourced=tuple(values.unsourced),
            generation=self.context.correlation.generation,
            account=account,
            made_up=tuple(values.made_up),
        )

    def _body(self, recorded: Exchange, values: RequestValues, fields: Mapping[str, Json]) -> _Body:
        request = recorded.request
        if not has_json_body(recorded):
            return _Body(ABSENT, b"", None)
        live = _live_body(recorded.sent, values, fields)
        is_session = request.operation_key == SECURE_SESSION
        if is_session and isinstance(live, dict):
            live = self.channels.keys_for(recorded, live)
        if sealed_payload(request.body) is None or recorded.plain is None:
            return _Body(live, msgspec.json.encode(live), request.form)
        channel = self.channels.for_request(recorded)
        raw = channel.encrypt(live, form=self.channels.form(request.body))
        return _Body(msgspec.json.decode(raw), raw, request.form, Plain(request=live), channel)


def _live_body(sent: Json, values: RequestValues, fields: Mapping[str, Json]) -> Json:
    """The body with live values; what ``fields`` replaces is not rebuilt."""
    if not fields or not isinstance(sent, dict):
        return values.value("", sent)
    return {
        name: fields[name] if name in fields else values.value(name, value) for name, value in sent.items()
    }


def has_json_body(recorded: Exchange) -> bool:
    return recorded.sent is not ABSENT and recorded.request.state == "json"


def _missing_token(recorded: Exchange, operation: Operation | None, client: Client) -> str | None:
    """The session's token, where the source of the recording leaves Authorization out."""
    request = recorded.request
    if request.header("authorization") is not None or request.is_without("authorization"):
        return None
    if operation is None or operation.is_prelogin or recorded.code == TOKEN_MISSING:
        return None
    if recorded.status == 401 and not client.signed_out:
        raise CannotRebuild("the recording leaves Authorization out, and the token was refused or missing")
    if client.token is None:
        raise CannotRebuild("the recording leaves Authorization out, and no earlier sign-in returned a token")
    return client.token
