"""Finds the record that a change made: its creation may not have returned its id, or a crash came first."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from conformance.errors import NoAnswer, Untestable
from conformance.spec import endpoints as op
from conformance.spec.requests import UNFILTERED
from conformance.spec.tables import STATES
from conformance.target.portal import Portal
from conformance.target.portal.changes import TargetChange
from conformance.target.portal.login import refusal
from conformance.target.portal.records import own_id, own_ids, records_in, shows
from conformance.target.portal.restoring.ways import CREATIONS
from conformance.traffic.exchange import ABSENT, Exchange, Json, dig, steps
from conformance.traffic.values import is_integer

WAITING = "PENDING"
"""The state of an invitation that nobody has answered yet."""

ANSWERED = frozenset({"ACCEPTED", "EXPIRED", "CANCELLED", "DECLINED"})
"""The states of an invitation that there is nothing to cancel of."""


SIZES, PAGES = ("pageSize", "size"), ("page", "currentPage")
"""By which fields a listing may take a size and a page: how it does so is not shown."""


@dataclass(frozen=True)
class Made:
    """What is known of a record that may have been made. ``ids`` are those that it may have, the surest
    first; ``is_shown``: a listing shows it; ``problem``: why nobody could look."""

    ids: tuple[str, ...]
    is_shown: bool
    problem: str | None = None

    @classmethod
    def found(cls, portal: Portal, change: TargetChange, *, others: Container[str] = ()) -> Made:
        """Looks for the record of a change. ``others`` are ids of other changes, whose records may share the
        name."""
        shown: list[dict[str, Json]] = []
        problem = None
        try:
            shown += _shown(portal, change)
        except (NoAnswer, Untestable) as reason:
            problem = reason.reason
        if change.key == op.INVITE and not shown:
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
    """Whether an invitation is answered or expired, so that nothing needs cancelling."""
    if change.key != op.INVITE or change.kind != "creating":
        return False
    with suppress(Untestable):
        return any(not _is_waiting(record) for record in _listed_as(portal, change, result))
    return False


def is_open(portal: Portal, change: TargetChange, result: str | None) -> bool:
    """Whether a listing still shows a record, and not as one that was taken away."""
    with suppress(Untestable):
        return any(
            change.key != op.INVITE or _is_waiting(record) for record in _listed_as(portal, change, result)
        )
    return False


def _is_waiting(record: dict[str, Json]) -> bool:
    state = dig(record, ["invitationStatus", "code"])
    if isinstance(state, str):
        return state == WAITING
    return not any(isinstance(value, str) and value in ANSWERED for value in record.values())


def _listed_as(portal: Portal, change: TargetChange, result: str | None) -> list[dict[str, Json]]:
    if change.key not in CREATIONS:
        return []
    token = portal.account(change.account).token
    records = _records(change.key, _asked(portal, change.key, token))
    return [record for record in records if result in own_ids(record)]


def _shown(portal: Portal, change: TargetChange) -> list[dict[str, Json]]:
    """The records of the listing that show the name of what was made, or an id of its answer. Raises
    Untestable where no listing shows them."""
    if change.key not in CREATIONS or (change.name is None and not change.ids):
        raise Untestable("no listing shows whether it was created")
    token = portal.account(change.account).token
    listing = _asked(portal, change.key, token)
    records = _records(change.key, listing)
    by_id = [record for record in records if own_id(record) in change.ids]
    shown = by_id or [record for record in records if shows(record, change.name)]
    if shown or change.name is None:
        return shown
    return shown_elsewhere(portal, change.key, token, change.name, listing)


def shown_elsewhere(
    portal: Portal, key: str, token: str, name: str, listing: Exchange
) -> list[dict[str, Json]]:
    """The records of a name on other pages than the first ``listing`` of what an operation creates. How a
    page is asked for is not shown: by a filter for the name, by the size of all, by the last one's number."""
    named = CREATIONS[key].named
    bodies: list[dict[str, Json]] = [] if named is None else [{named: name}]
    records, pages = (listing.at(f"data.pagination.{count}") for count in ("totalRecords", "totalPages"))
    if is_integer(records) and is_integer(pages) and pages > 1:
        bodies += [{size: records} for size in SIZES]
        bodies += [{page: number} for page in PAGES for number in (pages, pages - 1)]
    for body in bodies:
        with suppress(Untestable):
            records_so = _records(key, _asked(portal, key, token, body))
            if shown := [record for record in records_so if shows(record, name)]:
                return shown
    return []


def _among_own(portal: Portal, change: TargetChange) -> Iterator[dict[str, Json]]:
    """Finds the invitation in the listings of invited profile accounts."""
    for name in sorted({"spare", *portal.calls.token_holders} - {change.account}):
        if not portal.has_account(name):
            continue
        with suppress(NoAnswer, Untestable):
            token = portal.account(name).token
            answer = portal.call(op.OWN_INVITATIONS, token=token)
            if not answer.success:
                query = {"statuses": str(STATES["Invitation"][WAITING])}
                answer = portal.call(op.OWN_INVITATIONS, query=query, token=token)
            yield from (each for each in records_in(answer.data) if shows(each, change.name))


def _asked(portal: Portal, key: str, token: str, further: Mapping[str, Json] | None = None) -> Exchange:
    """The listing of what an operation creates, asked for by ``further`` fields as well. Untestable: it is
    refused."""
    listing = CREATIONS[key].listing
    body = UNFILTERED.get(listing, ABSENT)
    if further is not None and isinstance(body, Mapping):
        body = {**body, **further}
    answer = portal.call(listing, json=body, token=token)
    if not answer.success:
        raise Untestable(f"{listing} was refused: {refusal(answer)}", "target")
    return answer


def _records(key: str, listing: Exchange) -> list[dict[str, Json]]:
    return list(records_in(dig(listing.envelope, steps(CREATIONS[key].items))))
