"""The account query as the cases ask it, and what they take from its answer."""

from __future__ import annotations

from cases.premises import (
    answered,
    authorized,
    code_of,
    count,
    granted,
    is_invalid,
    listed,
    settle,
    settled,
    without,
)
from cases.reading import NO_FILTER
from cases.surroundings import WATCHED, stated
from conformance.cases import (
    Account,
    Comparison,
    Exchange,
    Json,
    Portal,
    Untestable,
    Verify,
    are_different,
    holds,
    op,
)

LISTING = "data.accounts"


def asked(portal: Portal, caller: Account, **fields: Json) -> Exchange:
    """The query's answer, whatever it is: every filter null but those given, first page of 20."""
    return authorized(
        portal.call(
            op.ACCOUNTS_QUERY, json={**NO_FILTER, "page": 0, "size": 20, **fields}, token=caller.token
        )
    )


def matching(portal: Portal, caller: Account, **fields: Json) -> Exchange:
    return granted(asked(portal, caller, **fields))


def accounts(exchange: Exchange) -> list[dict[str, Json]]:
    return listed(exchange, LISTING)


def total(exchange: Exchange) -> int:
    return count(exchange, "data.totalElements")


def several_pages(
    portal: Portal, caller: Account, most: int = 5
) -> tuple[Exchange, dict[str, dict[str, Json]]]:
    """The last answer, and the accounts of so many pages at most, by id, without the time of their change."""
    pages = [matching(portal, caller)]
    while len(pages) < most and len(pages) * 20 < total(pages[0]):
        pages.append(matching(portal, caller, page=len(pages)))
    records = [record for page in pages for record in accounts(page)]
    return pages[-1], {str(record.get("bizId")): without(record, "updatedAt") for record in records}


def changed_but(id: Json, before: dict[str, dict[str, Json]], after: dict[str, dict[str, Json]]) -> list[str]:
    """Lists the other accounts whose documented fields changed between two listings."""
    return [
        other
        for other, record in before.items()
        if other != id and stated(after.get(other, record)) != stated(record)
    ]


def verify_others(
    portal: Portal,
    verify: Verify,
    requirement: str,
    caller: Account,
    before: dict[str, dict[str, Json]],
    *,
    but: Json,
    done: Exchange,
) -> None:
    """The accounts other than one are listed as they were before ``done``. What differs counts where it
    stays, and no account is listed otherwise while nothing is done: somebody else may be at work."""
    pages = max(1, -(-len(before) // 20))
    listing, now = several_pages(portal, caller, pages)
    others = changed_but(but, before, now)
    if others:
        settle(portal)
        listing, later = several_pages(portal, caller, pages)
        others = [id for id in changed_but(but, before, later) if id in others]
        is_busy = bool(changed_but(but, now, later))
        if others and not is_busy:
            portal.clock.wait(WATCHED, "what changes by itself")
            is_busy = bool(changed_but(but, later, several_pages(portal, caller, pages)[1]))
        if others and is_busy:
            verify.doubt(requirement, "accounts are changed by somebody else as well", "environment")
            return
    verify(
        requirement,
        holds(listing, "data.accounts", not others, "the other accounts as they were", done, actual=others),
    )


def verify_seen_by_id(
    portal: Portal, verify: Verify, caller: Account, id: Json, new: dict[str, Json], done: Exchange
) -> None:
    """What was changed shows where the account is read by its id, where the answer has such fields (N5)."""
    if not isinstance(id, str):
        return
    read = settled(
        portal,
        lambda: authorized(portal.call(op.ACCOUNT, token=caller.token, userBizId=id)),
        lambda answer: not differing(answer, new),
    )
    if read.success:
        verify("MODEL-021", shows_all(read, new, done))


def differing(answer: Exchange, new: dict[str, Json]) -> dict[str, Json]:
    """The new values that an answer surely shows otherwise."""
    shown = {name: answer.at(f"data.{name}") for name in new}
    return {name: value for name, value in shown.items() if are_different(value, new[name])}


def shows_all(answer: Exchange, new: dict[str, Json], done: Exchange) -> Comparison:
    other = differing(answer, new)
    return holds(answer, "data", not other, new, done, actual=other)


def has_email(record: dict[str, Json], email: str) -> bool:
    return str(record.get("accountEmail", "")).casefold() == email.casefold()


def by_email(portal: Portal, caller: Account, email: str) -> dict[str, Json]:
    """An account as the query lists it. Raises Untestable where its address does not find it."""
    for record in accounts(matching(portal, caller, email=email)):
        if has_email(record, email):
            return record
    raise Untestable("the account query does not find the account by its address", "target")


def own(portal: Portal, caller: Account) -> dict[str, Json]:
    """The caller's own account: of it every coded field has a value that surely occurs."""
    profile = granted(portal.call(op.PROFILE, token=caller.token)).data
    if not isinstance(profile, dict):
        raise Untestable("the profile shows no fields", "target")
    return profile


def form_of_filter(portal: Portal, caller: Account, field: str, entry: Json = None) -> str:
    """Whether a coded filter takes ``code`` or ``value``: what finds something, and nothing beside it.
    ``entry``: the caller's own, where that was read before.

    A portal may pass over the form that it does not take. Raises Untestable.
    """
    entry = own(portal, caller).get(field) if entry is None else entry
    for form in ("code", "value"):
        wanted = entry.get(form) if isinstance(entry, dict) else None
        if wanted is None:
            continue
        exchange = answered(asked(portal, caller, **{field: wanted}))
        if not exchange.success and not is_invalid(exchange):
            granted(exchange)
        found_there = [record.get(field) for record in accounts(exchange)] if exchange.success else []
        if found_there and all(
            isinstance(entry, dict) and entry.get(form) == wanted for entry in found_there
        ):
            return form
    raise Untestable(
        f"the filter {field} takes neither the code nor the number of the caller's own", "target"
    )


def entry_as(form: str, record: dict[str, Json], field: str) -> Json:
    entry = record.get(field)
    if not isinstance(entry, dict) or form not in entry or code_of(record, field) is None:
        raise Untestable(f"{field} shows no {form}", "target")
    return entry[form]
