"""The login history: what stands in it, and how it gives more (chapter "Security endpoints")."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import pairwise

from cases.authentication.steps import WRONG_CREDENTIALS, begun, completed, factor_for, nearly_right
from cases.dating import grain
from cases.premises import answered, granted, listed, refusal_text
from conformance.cases import (
    Account,
    Exchange,
    Json,
    Portal,
    Untestable,
    Verify,
    holds,
    is_integer,
    is_refused,
    mark,
    moment,
    op,
    portal_time,
)

AROUND = timedelta(seconds=5)
"""How far the time of an entry may lie from the sign-in it tells of, on two clocks."""

WRITTEN, WRITTEN_LATE = 2.0, 6.0
"""Seconds that a portal may take to write its history, and further ones where an entry is wanted: how soon
one is there is not stated."""


def history(portal: Portal, token: str, query: Mapping[str, str] | None = None) -> Exchange:
    return granted(portal.call(op.SESSIONS_HISTORY, query=query, token=token))


def entries(page: Exchange) -> list[dict[str, Json]]:
    return listed(page, "data.items")


def times(page: Exchange) -> list[datetime]:
    return [time for entry in entries(page) if (time := moment(entry.get("loginTime"))) is not None]


def shows_the_latest(page: Exchange) -> bool:
    """Whether what has just happened must stand on this page: the only one, or one with the newest first."""
    moments = times(page)
    is_falling = all(after <= later for later, after in pairwise(moments))
    return page.at("data.pagination.hasNext") is False or (is_falling and len(set(moments)) > 1)


def new_entries(
    portal: Portal,
    token: str,
    earlier: set[Json],
    begun: Exchange,
    wanted: Callable[[dict[str, Json]], bool] | None = None,
) -> Exchange:
    """Reads the history page with entries since a request, and reads again later while no new entry is
    ``wanted``.

    Raises Untestable where there is none, and it need not be on the first page.
    """
    page = history(portal, token)
    for seconds in (WRITTEN, WRITTEN_LATE) if wanted else (WRITTEN,):
        if any(map(wanted or bool, since(page, earlier, begun))):
            return page
        portal.clock.wait(seconds, "the login history to be written")
        page = history(portal, token)
    if not any(map(wanted or bool, since(page, earlier, begun))) and not shows_the_latest(page):
        raise Untestable(
            "the first page of the login history need not show the latest sign-ins", "environment"
        )
    return page


def since(page: Exchange, earlier: set[Json], begun: Exchange) -> list[dict[str, Json]]:
    """The entries that a page did not show earlier, of a time since a request, or of none before the latest
    of those that it did: no clock of an answer need be that of the history."""
    former = [entry.get("loginTime") for entry in entries(page) if entry.get("bizId") in earlier]
    latest = max((time for each in former if (time := moment(each)) is not None), default=None)
    start = portal_time(begun) - AROUND
    if latest is not None:
        start = min(start, latest)
    fresh = [entry for entry in entries(page) if entry.get("bizId") not in earlier]
    return [entry for entry in fresh if _is_since(entry.get("loginTime"), start)]


def of_before(fresh: list[dict[str, Json]], begun: Exchange) -> list[dict[str, Json]]:
    """Those of the entries that show late and tell of an earlier sign-in: they look like one that was
    completed, and are of a time before a request began, by the clock of its answer."""
    if not is_integer(begun.at("timestamp")):
        return []
    start = portal_time(begun) - timedelta(milliseconds=begun.elapsed_ms)
    return [entry for entry in fresh if is_completion(entry) and _is_before(entry.get("loginTime"), start)]


def _is_before(time: Json, start: datetime) -> bool:
    """A time in whole seconds may be up to one later than it says."""
    written = moment(time)
    is_exact = isinstance(time, str) and "." in time and written is not None and written.microsecond > 0
    return written is not None and written + timedelta(seconds=0 if is_exact else 1) <= start


def _is_since(time: Json, start: datetime) -> bool:
    """Whether a time is that late; one that is written to the minute may be later than it says."""
    written = moment(time)
    return written is not None and written >= start - grain(time)


def ids(page: Exchange) -> set[Json]:
    return {entry.get("bizId") for entry in entries(page)}


def ids_by_content(page: Exchange) -> dict[str, Json]:
    """Maps each entry's content to its id, without entries of equal content."""
    rows = [
        (json.dumps({**entry, "bizId": None}, sort_keys=True), entry.get("bizId")) for entry in entries(page)
    ]
    counts = Counter(content for content, _ in rows)
    return {content: id for content, id in rows if counts[content] == 1}


def is_completion(entry: dict[str, Json]) -> bool:
    return not is_refusal(entry)


def is_refusal(entry: dict[str, Json]) -> bool:
    """An empty text says no more than null."""
    return entry.get("failureReason") not in (None, "")


PAGES = ("page", "currentPage", "pageNo", "pageNum", "pageNumber", "pageIndex")
SIZES = ("pageSize", "size", "limit", "perPage")
MOST = 100
"""The largest size of a page that is asked for."""


@mark.requirement("HISTORY-009", "HISTORY-011", "HISTORY-013", "LOGIN-084")
@mark.needs("accounts.spare")
@mark.sign_ins(1)
def test_a_refused_sign_in_stands_in_the_history(portal: Portal, verify: Verify, spare: Account) -> None:
    earlier = ids(history(portal, spare.token))

    refused = portal.login.initiate(spare, nearly_right(portal, spare, in_case=True))
    if refused.success or refused.code == WRONG_CREDENTIALS:
        message = "a password was taken in another case"
        verify("LOGIN-084", is_refused(refused, message=message))
    if refused.code != WRONG_CREDENTIALS:
        raise Untestable(
            f"a wrong password is not refused as such ({refusal_text(answered(refused))})", "target"
        )
    page = new_entries(portal, spare.token, earlier, refused, is_refusal)
    new = since(page, earlier, refused)
    late = of_before(new, refused)
    new = [entry for entry in new if entry not in late]
    verify("HISTORY-009", holds(page, "data.items", bool(new), "a new entry", refused))
    if not new:
        return
    refusals = [entry for entry in new if is_refusal(entry)]
    verify(
        "HISTORY-013", holds(page, "data.items", bool(refusals), "a new entry with failureReason", refused)
    )
    others = [entry for entry in entries(page) if not is_refusal(entry)]
    if refusals and others:
        results = {"refused": refusals[0].get("loginResult"), "completed": others[0].get("loginResult")}
        verify.observe("login-result", page, results)


@mark.requirement("HISTORY-017")
@mark.needs("accounts.spare")
@mark.sign_ins(1)
def test_a_wrong_code_is_no_sign_in_of_the_history(portal: Portal, verify: Verify, spare: Account) -> None:
    """What the first step, and a sign-in before it, may write is written before the wrong code is sent."""
    token = spare.token
    session = begun(portal, spare)
    factor = factor_for(spare, session)
    portal.clock.wait(WRITTEN, "the login history to be written")
    earlier = history(portal, token)

    wrong = completed(portal, session, factor, spare.wrong_code(factor))
    if wrong.success:
        raise Untestable("a wrong code completed the login session", "target")
    page = new_entries(portal, token, ids(earlier), wrong)
    portal.login.left.put(spare.email, session)
    others = [entry for entry in since(page, ids(earlier), wrong) if not is_refusal(entry)]
    completions = {entry.get("loginResult") for entry in entries(earlier) if not is_refusal(entry)}
    late = of_before(others, wrong)
    alike = [entry for entry in others if entry.get("loginResult") in completions and entry not in late]
    expected = "no entry like that of a sign-in"
    verify("HISTORY-017", holds(page, "data.items", not alike, expected, wrong, earlier, actual=alike))


@mark.requirement("HISTORY-016")
def test_the_history_shows_who_signed_in_whoever_reads_it(
    portal: Portal, verify: Verify, admin: Account
) -> None:
    """Read by a client of another name, an entry shows the client of the sign-in still."""
    first = history(portal, admin.token)
    headers = {"User-Agent": f"another-client/{portal.unique()}"}
    other = granted(portal.call(op.SESSIONS_HISTORY, token=admin.token, headers=headers))
    shown = {entry.get("bizId"): entry.get("userAgent") for entry in entries(other)}
    before = {entry.get("bizId"): entry.get("userAgent") for entry in entries(first)}
    moved = [id for id in before.keys() & shown.keys() if id and before[id] != shown[id]]
    if not before.keys() & shown.keys():
        raise Untestable("the account is shown no login history", "environment")
    verify("HISTORY-016", holds(other, "data.items", not moved, "the clients that signed in", first))


@mark.requirement("HISTORY-019")
def test_an_entry_of_the_history_keeps_its_id(portal: Portal, verify: Verify, admin: Account) -> None:
    """Entries are known by all else that they show, where no other shows the same."""
    first = ids_by_content(history(portal, admin.token))
    page = history(portal, admin.token)
    both = [(first[content], id) for content, id in ids_by_content(page).items() if content in first]
    if not both:
        raise Untestable("no entry of the login history is listed twice", "environment")
    others = [id for earlier, id in both if id != earlier]
    verify(
        "HISTORY-019", holds(page, "data.items", not others, "entries with the ids they had", actual=others)
    )


@mark.requirement("HISTORY-014", "HISTORY-015", "PAGE-008", "PAGE-010")
def test_how_the_history_gives_another_page(portal: Portal, verify: Verify, admin: Account) -> None:
    """Tried under the usual names; what is not understood may be passed over or refused."""
    first = history(portal, admin.token)
    sized = next((name for name in SIZES if page_by(portal, admin, {name: "1"}, "pageSize", 1)), None)
    few = {sized: "1"} if sized else {}
    paged, second = next(_second_pages(portal, admin, few), (None, None))
    verify.observe("history-page-parameters", first, {"page": paged, "size": sized})
    if sized and paged and second is not None and entries(second):
        # Read after it, so that a sign-in meanwhile makes them no more alike.
        newest = granted(portal.call(op.SESSIONS_HISTORY, query={**few, paged: "1"}, token=admin.token))
        same = ids(second) == ids(newest) and times(second) == times(newest)
        verify("HISTORY-014", holds(second, "data.items", not same, "another entry", newest))
    total = first.at("data.pagination.totalRecords")
    if sized and paged and isinstance(total, int) and total > 2:
        # The last of many: whether its numbers fit is judged on the wire.
        page_by(portal, admin, {**few, paged: str(total)}, "currentPage", total)
    if sized and isinstance(total, int) and 0 < total <= MOST:
        # The last page, and full: whether it says so is judged on the wire.
        page_by(portal, admin, {sized: str(total)}, "pageSize", total)


def _second_pages(portal: Portal, admin: Account, few: Mapping[str, str]) -> Iterator[tuple[str, Exchange]]:
    for name in PAGES:
        page = page_by(portal, admin, {**few, name: "2"}, "currentPage", 2)
        if page is not None:
            yield name, page


def page_by(
    portal: Portal, account: Account, query: Mapping[str, str], field: str, value: int
) -> Exchange | None:
    """The page that a query gives; None where it gives another one than it asks for."""
    page = answered(portal.call(op.SESSIONS_HISTORY, query=query, token=account.token))
    return page if page.success and page.at(f"data.pagination.{field}") == value else None
