"""Finds the record that a change made: its creation may not have returned its id, or a crash came first."""

from __future__ import annotations

from collections.abc import Container, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.errors import NoAnswer, Untestable
from conformance.spec.endpoints import (
    CHANNEL_CREATE,
    CHANNEL_TYPE_CREATE,
    CHANNEL_TYPES_QUERY,
    CHANNELS_QUERY,
    CURRENCY_GRANT,
    CURRENCY_GRANTS,
    INVITATIONS,
    INVITE,
    OWN_INVITATIONS,
)
from conformance.spec.requests import UNFILTERED
from conformance.spec.tables import STATES
from conformance.target.portal.changes import TargetChange
from conformance.target.portal.login import refusal
from conformance.target.portal.records import own_id, own_ids, records_in
from conformance.traffic.exchange import ABSENT, Exchange, Json, dig, steps

if TYPE_CHECKING:
    from conformance.target.portal import Portal

LISTED_BY = {
    CHANNEL_CREATE: (CHANNELS_QUERY, "data.items"),
    CHANNEL_TYPE_CREATE: (CHANNEL_TYPES_QUERY, "data.items"),
    INVITE: (INVITATIONS, "data"),
    CURRENCY_GRANT: (CURRENCY_GRANTS, "data"),
}
"""The listing of a record whose id is unknown: its creation did not return it, or a crash came first."""

WAITING = "PENDING"
"""The state of an invitation that nobody has answered yet."""

ANSWERED = frozenset({"ACCEPTED", "EXPIRED", "CANCELLED", "DECLINED"})
"""The states of an invitation that there is nothing to cancel of."""


BY_NAME = {CHANNEL_TYPES_QUERY: "typeCode"}
"""The listings with a filter by a name that the run gives."""


@dataclass(frozen=True)
class Made:
    """What is known of a record that may have been made. ``ids`` are those that it may have, the surest
    first; ``is_shown``: a listing shows it; ``problem``: why nobody could look."""

    ids: tuple[str, ...]
    is_shown: bool
    problem: str | None = None

    @classmethod
    def found(cls, portal: Portal, change: TargetChange, *, others: Container[str] = ()) -> Made:
        """``others`` are the ids of other changes, which may have the same name."""
        shown: list[dict[str, Json]] = []
        problem = None
        try:
            shown += _shown(portal, change)
        except (NoAnswer, Untestable) as reason:
            problem = reason.reason
        if change.key == INVITE and not shown:
            shown += _among_own(portal, change)
        of_shown = [id for record in shown if (id := own_id(record, name=change.name)) is not None]
        ids = [id for id in dict.fromkeys([*of_shown, *change.ids]) if id not in others]
        is_shown = any(id not in others for id in of_shown) or (bool(shown) and not of_shown)
        return cls(tuple(ids), is_shown, problem)


def no_id(change: TargetChange) -> str:
    """That a record shows no id by which it could be taken away, and what may help."""
    return (
        f"no answer and no listing shows an id by which {change.undo_key} could name it; "
        f'write where the answer has it as [operations."{change.key}"] result_id'
    )


def told_id(portal: Portal, key: str, exchange: Exchange) -> str | None:
    """The new record's id where the answer has it: at the profile's place, or as ``bizId``."""
    settings = portal.profile.operations.get(key)
    id = exchange.at(settings.result_id if settings and settings.result_id else "data.bizId")
    return id if isinstance(id, str) and id else None


def listed_id(portal: Portal, key: str, exchange: Exchange, record: dict[str, Json] | None) -> str | None:
    """The id of a record that was made just now and is listed: as the answer tells it, as ``bizId``, or a
    text in both."""
    by_answer = told_id(portal, key, exchange)
    shown = (record or {}).get("bizId")
    if by_answer is not None or (isinstance(shown, str) and shown):
        return by_answer or str(shown)
    in_answer = own_ids(exchange.data)
    return next((id for id in own_ids(record) if id in in_answer), None)


def is_answered(portal: Portal, change: TargetChange, result: str | None) -> bool:
    """Whether an invitation was answered, or its time is over: there is nothing to cancel."""
    if change.key != INVITE or change.kind != "creating":
        return False
    with suppress(Untestable):
        return any(not _is_waiting(record) for record in _listed_as(portal, change, result))
    return False


def is_open(portal: Portal, change: TargetChange, result: str | None) -> bool:
    """Whether a listing still shows a record, and not as one that was taken away."""
    with suppress(Untestable):
        return any(
            change.key != INVITE or _is_waiting(record) for record in _listed_as(portal, change, result)
        )
    return False


def _is_waiting(record: dict[str, Json]) -> bool:
    state = dig(record, ["invitationStatus", "code"])
    if isinstance(state, str):
        return state == WAITING
    return not any(isinstance(value, str) and value in ANSWERED for value in record.values())


def _listed_as(portal: Portal, change: TargetChange, result: str | None) -> list[dict[str, Json]]:
    """The records that the listing shows by an id."""
    if change.key not in LISTED_BY:
        return []
    token = portal.account(change.account).token
    return [record for record in _listed(portal, change.key, token) if result in own_ids(record)]


def _shown(portal: Portal, change: TargetChange) -> list[dict[str, Json]]:
    """The records of the listing that show the name of what was made, or an id of its answer. Raises
    Untestable where no listing shows them."""
    if change.key not in LISTED_BY or (change.name is None and not change.ids):
        raise Untestable("no listing shows whether it was created")
    token = portal.account(change.account).token
    records = list(_listed(portal, change.key, token))
    by_id = [record for record in records if own_id(record) in change.ids]
    shown = by_id or [record for record in records if _shows(record, change.name)]
    named = BY_NAME.get(LISTED_BY[change.key][0])
    if not shown and named is not None and change.name is not None:
        # It may stand on another page.
        named_so = _listed(portal, change.key, token, named=(named, change.name))
        shown = [record for record in named_so if _shows(record, change.name)]
    return shown


def _among_own(portal: Portal, change: TargetChange) -> Iterator[dict[str, Json]]:
    """The invitation among those of the invitee, where that is an account of the profile."""
    for name in sorted({"spare", *portal.token_holders} - {change.account}):
        if not portal.has_account(name):
            continue
        with suppress(NoAnswer, Untestable):
            token = portal.account(name).token
            answer = portal.call(OWN_INVITATIONS, token=token)
            if not answer.success:
                query = {"statuses": str(STATES["Invitation"][WAITING])}
                answer = portal.call(OWN_INVITATIONS, query=query, token=token)
            yield from (each for each in records_in(answer.data) if _shows(each, change.name))


def _shows(record: dict[str, Json], name: str | None) -> bool:
    return name is not None and any(isinstance(value, str) and name in value for value in record.values())


def _listed(
    portal: Portal, key: str, token: str, *, named: tuple[str, str] | None = None
) -> Iterator[dict[str, Json]]:
    """The records that the listing of what an operation creates shows; of those ``named`` by a field alone,
    where that is given. Untestable: it is refused."""
    listing, items = LISTED_BY[key]
    body = UNFILTERED.get(listing, ABSENT)
    if named is not None and isinstance(body, dict):
        body = {**body, named[0]: named[1]}
    answer = portal.call(listing, json=body, token=token)
    if not answer.success:
        raise Untestable(f"{listing} was refused: {refusal(answer)}", "target")
    yield from records_in(dig(answer.envelope, steps(items)))
