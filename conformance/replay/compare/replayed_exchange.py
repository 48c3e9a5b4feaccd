"""A recorded exchange beside the live one, with what matters for their comparison."""

from __future__ import annotations

import msgspec

from conformance.replay.recording.plan import UNREPEATED
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.verdicts.findings import endpoint_of


class ReplayedExchange(msgspec.Struct, frozen=True):
    """``number`` is the exchange's place in the replay, from 1."""

    number: int
    recorded: Exchange
    live: Exchange
    idle_seconds: float = 0.0
    """How long the client waited before it when it was recorded, where the replay did not wait."""
    unsourced: tuple[str, ...] = ()
    """Ids in the request that neither a response nor the profile contains."""
    made_up: tuple[str, ...] = ()
    """The kinds of redacted secrets in the request in whose place a made-up one was sent."""
    omitted_change: str | None = None
    """A change that was recorded before it, may show in it, and is not replayed."""

    shows_another: bool = False
    """Whether it asks for a record of the profile in place of a recorded one."""

    account: str | None = None
    """The profile's account that it was sent for."""

    email: str | None = None
    """The email of that account."""

    repeats: int = UNREPEATED
    """The number of the reads that repeat one another, where it is one of them (``repeats_of``)."""

    @property
    def endpoint(self) -> str:
        return endpoint_of(self.recorded)

    @property
    def operation(self) -> str:
        operation = self.recorded.request.operation
        return operation.key if operation else self.recorded.request.path

    @property
    def recorded_body(self) -> Json:
        return _body(self.recorded)

    @property
    def live_body(self) -> Json:
        return _body(self.live)


def _body(exchange: Exchange) -> Json:
    response = exchange.response
    return None if response is None or response.body is ABSENT else response.body
