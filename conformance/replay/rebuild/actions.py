"""What a session of the replay asks of the driver, what it gets back, and why a request cannot be rebuilt."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from conformance.target.http1 import WireResponse
from conformance.target.portal.cipher import FoundKey
from conformance.target.portal.secure import Channel
from conformance.target.profile.tables import Factor
from conformance.traffic.capture.bodies import answered
from conformance.traffic.exchange import Exchange, Json, Plain, Request, Response


class Send(msgspec.Struct, frozen=True, gc=False):
    """A request that is ready to be sent; a ``Received`` comes back.

    ``head`` and ``body`` are what goes over the wire; ``due`` is when, in seconds from the first request
    (None: at once). ``channel`` opens the response, where it is encrypted.
    """

    position: int
    request: Request
    head: bytes
    body: bytes
    due: float | None = None
    plain: Plain | None = None
    channel: Channel | None = None
    client: str = ""


class Received(msgspec.Struct, frozen=True, gc=False):
    """A response, undecoded, with when its request was sent and how long it took."""

    response: WireResponse
    started: str
    elapsed_ms: float


@dataclass(frozen=True, slots=True)
class Code:
    """Asks for a code: the authenticator's next, one from the inbox, or a wrong one."""

    account: str
    factor: Factor
    is_right: bool = True
    secret: str | None = None
    """The authenticator's secret, where it is not the profile's any more."""


@dataclass(frozen=True, slots=True)
class MarkInbox:
    """Asks to remember the present mails of an account's inbox: only later codes count. ``is_accepted``: the
    recorded portal accepted the request for a mail that follows."""

    account: str
    is_accepted: bool = True


@dataclass(frozen=True, slots=True)
class OnlyCode:
    """Asks for the one code that came to an account's address after its inbox was marked; None where others
    came too, or the inbox cannot tell."""

    account: str


@dataclass(frozen=True, slots=True)
class Await:
    """The session cannot go on before another exchange has ended, by its position."""

    position: int


@dataclass(frozen=True, slots=True)
class PassTime:
    """Time must pass at the target: it is moved where it can be moved, else waited for."""

    seconds: float
    why: str


@dataclass(frozen=True, slots=True)
class NoteChange:
    """Asks to write down what a request is about to change, and what restores it. ``body`` is the live
    plaintext; ``token`` and ``client_hash`` are those that the request is sent with. ``is_expected``: the
    recorded portal accepted it."""

    position: int
    key: str
    body: Json
    account: str | None
    token: str | None
    client_hash: str | None
    is_expected: bool = True


@dataclass(frozen=True, slots=True)
class FindKey:
    """Asks for the target's present public key, and for the way in which it takes keys: ``take`` gets the
    key, and what wraps an AES key with it."""

    take: Callable[[FoundKey, Callable[[bytes, FoundKey], str]], None]


Lookup: TypeAlias = Code | OnlyCode | MarkInbox | PassTime | NoteChange | FindKey
Action: TypeAlias = Send | Lookup | Await
Reply: TypeAlias = Received | str | None
Actions: TypeAlias = Generator[Action, Reply, None]


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that the replay invented or learned, and that no report may show."""

    value: str | bytes
    kind: str


class LostValue(Exception):
    """A value is needed that the response at this position lacked."""

    def __init__(self, value: str, position: int) -> None:
        super().__init__(value)
        self.value, self.position = value, position


class Pending(Exception):
    """A value is needed that the response at this position has yet to return."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


class CannotRebuild(Exception):
    """Neither the recording nor the profile determines what is to be sent; the text says why."""


def exchange_of(send: Send, received: Received, *, largest_body: int) -> Exchange:
    """The record of a request and its response; its number is still 0. A body of more than ``largest_body``
    bytes is truncated."""
    wire = received.response
    response = None if wire.error else _response(wire, largest_body)
    plain = send.plain
    if send.channel is not None and response is not None and plain is not None:
        plain = Plain(request=plain.request, response=send.channel.decrypt(response.json))
    return Exchange(
        n=0,
        started=received.started,
        elapsed_ms=received.elapsed_ms,
        client=send.client,
        request=send.request,
        response=response,
        error=wire.error,
        plain=plain,
    )


def _response(wire: WireResponse, largest_body: int) -> Response:
    headers = wire.headers
    encoding = next((value for name, value in headers if name.lower() == "content-encoding"), None)
    body, form = answered(wire.body, encoding, is_cut=wire.is_cut, most=largest_body)
    return Response(status=wire.status, headers=headers, body=body, form=form)
