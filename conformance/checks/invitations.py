"""The caller's invitations: states and moves (chapters "Invitation", "Moves that are stated")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from conformance.checks.model.places import viewer_of
from conformance.checks.notifications import WRITTEN_SECONDS
from conformance.checks.records import moment, portal_time, records, sent_fields
from conformance.checks.registry import Memory, answers, check, key_of, successes
from conformance.spec import endpoints as op
from conformance.spec.tables import STATES
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.facts import called, fact
from conformance.verdicts.comparisons import equal, holds, is_granted, is_refused
from conformance.verdicts.findings import HELD, Comparison

CLOSED = frozenset({"ACCEPTED", "EXPIRED", "CANCELLED", "CANCELED", "DECLINED"})
SKEW_SECONDS = 60
"""Seconds around an expiry in which two clocks may disagree about it."""


@called
@fact
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


@check("INVITATION-021", on=successes(op.OWN_INVITATIONS))
def a_closed_invitation_cannot_be_accepted(exchange: Exchange) -> Iterator[Comparison]:
    for path, record, status in with_status(exchange):
        if status in CLOSED and isinstance(record.get("canAccept"), bool):
            yield equal(exchange, f"{path}.canAccept", False)


@check("INVITATION-022", on=successes(op.OWN_INVITATIONS))
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
    """Requested statuses; empty if one is no number or undefined, as the portal may ignore it.

    Comma-separated values count as empty too: their meaning is open (INVITATION-024), and a portal that does
    not understand them may take them for no filter.
    """
    values = [value for name, value in exchange.request.query if name == "statuses"]
    wanted = {int(value) for value in values} if all(map(_is_number, values)) else set()
    return wanted if wanted <= set(STATES["Invitation"].values()) else set()


def _is_number(value: str) -> bool:
    return value.isascii() and value.isdigit()


@check("INVITATION-026", on=successes(op.OWN_INVITATIONS).at_its_moment())
def a_pending_invitation_can_be_accepted(exchange: Exchange) -> Iterator[Comparison]:
    now = portal_time(exchange)
    for path, record, status in with_status(exchange):
        left = _seconds_left(now, record) if status == "PENDING" else None
        if left is not None and left > SKEW_SECONDS:
            yield equal(exchange, f"{path}.canAccept", True)


@check("INVITATION-027", on=successes(op.OWN_INVITATIONS))
def accepted_at_goes_with_accepted(exchange: Exchange) -> Iterator[Comparison]:
    for path, record, status in with_status(exchange):
        held = (record.get("acceptedAt") is not None) == (status == "ACCEPTED")
        yield holds(exchange, f"{path}.acceptedAt", held, "a time where it is accepted, else null")


@check("INVITATION-028", on=successes(op.OWN_INVITATIONS).at_its_moment())
def an_expired_invitation_cannot_be_accepted(exchange: Exchange) -> Iterator[Comparison]:
    now = portal_time(exchange)
    for path, record in records(exchange):
        left = _seconds_left(now, record)
        if left is not None and left < -SKEW_SECONDS and isinstance(record.get("canAccept"), bool):
            yield equal(exchange, f"{path}.canAccept", False)


RECENT_SECONDS = 600.0
"""Seconds in which a closed invitation is taken to be as it was shown."""

OF_A_STATE = frozenset({400, 404, 409, 410, 422})
"""Statuses by which what is asked for is refused, and not who asks or how often."""


@called
@fact
def shown_closed(exchange: Exchange) -> dict[str, str]:
    """By id the status of each invitation that is shown closed; an empty text of one that is not."""
    return {
        str(record.get("bizId")): status if status in CLOSED and record.get("canAccept") is False else ""
        for _, record, status in with_status(exchange)
    }


def _acceptance_rule(requirement: str, statuses: frozenset[str]) -> None:
    """By the last two lists. An accepted one is left out: to accept it again may well change nothing."""

    @check(
        requirement,
        on=answers(op.OWN_INVITATIONS, op.INVITATION_ACCEPT).at_its_moment(),
        remembers=True,
        compares=True,
    )
    def what_is_closed_is_not_accepted(exchange: Exchange, memory: Memory) -> Iterable[Comparison]:
        viewer = viewer_of(exchange)
        if viewer is None:
            return ()
        listings = memory.get(viewer, ())
        if exchange.request.method == "GET":
            if exchange.success:
                memory[viewer] = (shown_closed(exchange), exchange.time), *listings[:1]
            return ()
        id = str(sent_fields(exchange).get("invitationBizId"))
        status, moment = next(((shown[id], at) for shown, at in listings if id in shown), ("", 0.0))
        is_recent = status in statuses and exchange.time < moment + RECENT_SECONDS
        return _not_accepted(exchange, status) if is_recent else ()


def _not_accepted(exchange: Exchange, status: str) -> Iterator[Comparison]:
    if is_granted(exchange) and not _denies(exchange.data):
        message = f"an invitation that was shown {status}, with canAccept false, was accepted"
        yield is_refused(exchange, message=message)
    elif exchange.status in OF_A_STATE and not exchange.success:
        yield HELD


def _denies(data: Json) -> bool:
    """Whether an answer, whose form is not shown, may say that nothing was done."""
    return data is False or (isinstance(data, dict) and any(value is False for value in data.values()))


_acceptance_rule("INVITATION-029", frozenset({"EXPIRED", "CANCELLED", "CANCELED"}))
_acceptance_rule("INVITATION-030", frozenset({"DECLINED"}))


@check(
    "INVITE-003",
    on=answers(op.INVITATION_CANCEL, op.INVITE, op.OWN_INVITATIONS, op.INVITATIONS).at_its_moment(),
    remembers=True,
    compares=True,
)
def what_was_cancelled_is_not_pending(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """In anybody's list, until somebody is invited again."""
    key = key_of(exchange)
    if key == op.INVITE:
        memory.clear()
    elif key == op.INVITATION_CANCEL:
        id = sent_fields(exchange).get("invitationBizId")
        if isinstance(id, str) and is_granted(exchange) and not _denies(exchange.data):
            memory[id] = exchange.time
    elif exchange.success and memory:
        for path, record, status in with_status(exchange):
            moment = memory.get(str(record.get("bizId")), exchange.time)
            passed, is_pending = exchange.time - moment, status == "PENDING"
            if passed and (not is_pending or WRITTEN_SECONDS < passed < RECENT_SECONDS):
                place = f"{path}.invitationStatus.code"
                yield holds(exchange, place, not is_pending, "another state: it was cancelled")
