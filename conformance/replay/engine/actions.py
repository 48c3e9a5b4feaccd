"""What a session of the replay asks of whoever drives it, and what it is given back."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from conformance.replay.fast_lane.answers import Familiar
from conformance.target.portal.secure import Channel
from conformance.target.profile.model import Factor
from conformance.traffic.exchange import Exchange, Json, Plain, Request


class Send(msgspec.Struct, frozen=True):
    """A request that is ready. The Exchange is wanted back, answered or with its error.

    ``head`` and ``body`` are what goes over the wire; ``due`` is when, in seconds from the first request
    (None: at once). ``channel`` opens the answer, where it is encrypted. ``familiar`` is the answer that
    came to the same request before.
    """

    position: int
    request: Request
    head: bytes
    body: bytes
    due: float | None = None
    plain: Plain | None = None
    channel: Channel | None = None
    client: str = ""
    familiar: Familiar | None = None
    is_another: bool = False
    """Whether more than the request's id is other than before."""


@dataclass(frozen=True, slots=True)
class Code:
    """A code is wanted back: the authenticator's next, one from the inbox, or one that is wrong."""

    account: str
    factor: Factor
    is_right: bool = True
    secret: str | None = None
    """The authenticator's secret, where it is not the profile's any more."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What the inbox of an account holds now is to be remembered: only later codes count."""

    account: str


@dataclass(frozen=True, slots=True)
class Await:
    """The session cannot go on before another exchange has ended, by its position."""

    position: int


@dataclass(frozen=True, slots=True)
class AwaitAllBefore:
    """The session cannot go on before every exchange recorded before this one has ended."""

    position: int


@dataclass(frozen=True, slots=True)
class Pass:
    """Time must pass at the target: it is moved where it can be moved, else waited for."""

    seconds: float
    why: str


Action: TypeAlias = Send | Code | Mark | Await | AwaitAllBefore | Pass
Reply: TypeAlias = Exchange | str | None
Steps: TypeAlias = Generator[Action, Reply, None]


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that the replay made or learned, and that no report may show."""

    value: str | bytes
    kind: str


Value: TypeAlias = Json
