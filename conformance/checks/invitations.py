"""The caller's invitations: states and moves (chapters "Invitation", "Moves that are stated")."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from conformance.checks.records import moment, portal_time, records
from conformance.checks.registry import check, successes
from conformance.spec.endpoints import OWN_INVITATIONS
from conformance.spec.tables import STATES
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.facts import called, data_fact
from conformance.verdicts.comparisons import equal, holds
from conformance.verdicts.findings import HELD, Comparison

CLOSED = frozenset({"ACCEPTED", "EXPIRED", "CANCELLED", "CANCELED", "DECLINED"})
NEAR = 60
"""Seconds around an expiry in which two clocks may disagree about it."""


@called
@data_fact
def with_status(exchange: Exchange) -> list[tuple[str, dict[str, Json], str]]:
    """The records that have a status: their place, the record, and the status' code."""
    return [
        (path, record, code)
        for path, record in records(exchange)
        if isinstance(status := record.get("invitationStatus"), dict)
        and isinstance(code := status.get("code"), str)
    ]


def _seconds_left(now: datetime, record: dict[str, Json]) -> float | None:
    """Until the invitation expires; None where that is not known."""
    expires = moment(record.get("expiresAt"))
    return None if expires is None else (expires - now).total_seconds()


@check("INVITATION-021", on=successes(OWN_INVITATIONS))
def a_closed_invitation_cannot_be_accepted(exchange: Exchange) -> Iterator[Comparison]:
    for path, record, status in with_status(exchange):
        if status in CLOSED and isinstance(record.get("canAccept"), bool):
            yield equal(exchange, f"{path}.canAccept", False)


@check("INVITATION-022", on=successes(OWN_INVITATIONS))
def only_the_statuses_asked_for_are_given(exchange: Exchange) -> Iterator[Comparison]:
    wanted = _statuses(exchange)
    for name, entry in exchange.coded:
        if wanted and name == "invitationStatus":
            if entry["value"] in wanted:
                yield HELD
            else:
                place = f"{exchange.path_to(entry)}.value"
                yield holds(exchange, place, False, {"one of": sorted(wanted)})


def _statuses(exchange: Exchange) -> set[int]:
    """The values asked for; none where one is no number, or none that is named: it may be passed over.

    Nor where they are separated by commas: whether that is understood is open (INVITATION-024), and a portal
    that does not understand it may take it for no filter.
    """
    values = [value for name, value in exchange.request.query if name == "statuses"]
    wanted = {int(value) for value in values} if all(map(_is_number, values)) else set()
    return wanted if wanted <= set(STATES["Invitation"].values()) else set()


def _is_number(value: str) -> bool:
    return value.isascii() and value.isdigit()


@check("INVITATION-026", on=successes(OWN_INVITATIONS).at_its_moment())
def a_pending_invitation_can_be_accepted(exchange: Exchange) -> Iterator[Comparison]:
    now = portal_time(exchange)
    for path, record, status in with_status(exchange):
        left = _seconds_left(now, record) if status == "PENDING" else None
        if left is not None and left > NEAR:
            yield equal(exchange, f"{path}.canAccept", True)


@check("INVITATION-027", on=successes(OWN_INVITATIONS))
def accepted_at_goes_with_accepted(exchange: Exchange) -> Iterator[Comparison]:
    for path, record, status in with_status(exchange):
        held = (record.get("acceptedAt") is not None) == (status == "ACCEPTED")
        yield HELD if held else holds(exchange, f"{path}.acceptedAt", held, "set exactly where accepted")


@check("INVITATION-028", on=successes(OWN_INVITATIONS).at_its_moment())
def an_expired_invitation_cannot_be_accepted(exchange: Exchange) -> Iterator[Comparison]:
    now = portal_time(exchange)
    for path, record in records(exchange):
        left = _seconds_left(now, record)
        if left is not None and left < -NEAR and isinstance(record.get("canAccept"), bool):
            yield equal(exchange, f"{path}.canAccept", False)
