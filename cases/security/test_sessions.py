"""Active sessions: listed, terminated one by one, and all at once (chapter "Security endpoints")."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from cases.authentication.steps import refreshed_after_the_end
from cases.every_endpoint.test_ended_tokens import is_refused_everywhere
from cases.premises import A_WHILE, answered, change_accepted, granted, listed, outcome, settled, text
from cases.security.test_history import history, is_completion, new_entries, since
from cases.security.test_history import ids as ids_of_entries
from cases.security.test_ip_whitelist import EDGE, ELSEWHERE
from cases.security.test_session_config import current, ids, sessions, whoever
from cases.security.traces import config_of, verify_traces
from cases.surroundings import SERVED, Surroundings
from conformance.cases import (
    IN_USE,
    UNFILTERED,
    Account,
    Exchange,
    Portal,
    SignedIn,
    Untestable,
    Verify,
    are_different,
    holds,
    is_refused,
    is_success,
    mark,
    moment,
    op,
    portal_time,
)


@mark.requirement(
    "SESSION-020", "SESSION-021", "SESSION-022", "SESSION-023", "SESSION-024",
    "SESSION-038", "SESSION-042", "SESSION-043", "SESSION-044", "MODEL-022",
    "HISTORY-010", "HISTORY-012", "HISTORY-013", "HISTORY-014",
)  # fmt: skip
@mark.sign_ins(1)
def test_an_account_sees_its_new_sign_in(portal: Portal, verify: Verify) -> None:
    account = whoever(portal)
    before = account.signed_in()
    earlier, config = ids_of_entries(history(portal, before.token)), config_of(portal, before)
    fresh = account.fresh_sign_in()

    own = is_listed(portal, verify, before, fresh)
    _verify_clients(portal, verify, fresh)

    page = new_entries(portal, fresh.token, earlier, fresh.completed, is_completion)
    new = since(page, earlier, fresh.completed)
    verify("HISTORY-010", holds(page, "data.items", bool(new), "a new entry", fresh.completed))
    if new:
        accepted = any(map(is_completion, new))
        expected = "a new entry without failureReason"
        verify("HISTORY-013", holds(page, "data.items", accepted, expected, fresh.completed))
    verify_traces(portal, verify, fresh, config=config, sessions=own, entries=new)
    rests(portal, verify, before, fresh)


CLIENT = ("clientIp", "userAgent")


def _verify_clients(portal: Portal, verify: Verify, fresh: SignedIn) -> None:
    """Listed by a client of another name and address, the sessions beside its own show theirs still."""
    headers = {"User-Agent": f"another-client/{portal.unique()}"}
    if portal.profile.portal.edge_headers:
        headers |= dict.fromkeys(EDGE, ELSEWHERE)
    first = sessions(portal, fresh.token)
    other = answered(portal.call(op.SESSIONS, token=fresh.token, headers=headers))
    again = sessions(portal, fresh.token)
    if not other.success:
        verify.untested("SESSION-044", f"another client is refused ({other.code})", "target")
        return
    shown, still = ({row.get("sessionId"): row for row in listed(each)} for each in (first, again))
    for index, row in enumerate(listed(other)):
        id = row.get("sessionId")
        was = shown.get(id, {})
        if row.get("isCurrent") is True or any(
            was.get(name) != still.get(id, {}).get(name) for name in CLIENT
        ):
            continue
        moved = {name: row.get(name) for name in CLIENT if are_different(was.get(name), row.get(name))}
        right = {name: was[name] for name in moved}
        verify("SESSION-044", holds(other, f"data[{index}]", not moved, right, first, actual=moved))


def rests(portal: Portal, verify: Verify, idle: SignedIn, busy: SignedIn) -> None:
    """A session that sends nothing while another one of its account does."""
    id = current(sessions(portal, idle.token))
    last = sessions(portal, busy.token)
    if id == current(last):
        raise Untestable("two sessions are listed as the same current one", "target")
    portal.clock.wait(A_WHILE, "a time that the use of a session sets")
    granted(portal.call(op.PROFILE, token=busy.token))
    later = sessions(portal, busy.token)
    before = {session.get("sessionId"): session.get("lastActivityTime") for session in listed(last)}
    for index, session in enumerate(listed(later)):
        active = moment(session.get("lastActivityTime"))
        if session.get("sessionId") == id and active is not None:
            at = f"data[{index}].lastActivityTime"
            # Another server, whose clock is ahead, may have noted its last request.
            rested = session["lastActivityTime"] == before.get(id) or active <= portal_time(last) + CLOSE
            verify("SESSION-038", holds(later, at, rested, f"no time after {portal_time(last)}", last))


@mark.requirement("SESSION-043")
def test_a_session_in_use_is_active(portal: Portal) -> None:
    """Later than a portal may note each request: compared on the wire. Where time cannot be moved a longer
    run shows the same, and none waits for this alone."""
    account = whoever(portal)
    token = account.signed_in().token
    if not portal.clock.is_simulated:
        raise Untestable("half an hour has to pass, and no run waits for this alone", "configuration")
    portal.clock.wait(IN_USE.total_seconds() + A_WHILE, "the login to be long ago")
    granted(portal.call(op.PROFILE, token=token))
    sessions(portal, token)


CLOSE = timedelta(seconds=1)
"""By how much times of a portal that are shown with and without fractions may differ."""


def is_listed(portal: Portal, verify: Verify, before: SignedIn, fresh: SignedIn) -> Exchange:
    """By itself as the current one, and by the session before it as another: the listing by itself."""
    own = sessions(portal, fresh.token)
    id = current(own)
    other = settled(
        portal,
        lambda: answered(portal.call(op.SESSIONS, token=before.token)),
        lambda answer: not answer.success or id in ids(answer),
    )
    listing = other if other.success else own
    verify("SESSION-021", holds(listing, "data", id in ids(listing), f"session {id}", fresh.completed, own))

    if not other.success:
        verify.untested("SESSION-022", "the account has no second session at a time", "environment")
        return own
    differs = current(other) != id
    verify("SESSION-022", holds(other, "data", differs, f"another current session than {id}", own))
    return own


@mark.requirement(
    "SESSION-025", "SESSION-026", "SESSION-027", "SESSION-028", "SESSION-036", "SESSION-037", "SESSION-039",
    "SESSION-040", "MODEL-011", "MODEL-012", "AUTHN-024",
)  # fmt: skip
@mark.needs("accounts.spare")
@mark.impact("disruptive")
@mark.sign_ins(2, reuses=2)
def test_sessions_are_terminated(portal: Portal, verify: Verify, admin: Account, spare: Account) -> None:
    fresh = spare.another_session()
    try:
        terminates_one(portal, verify, spare, admin, by=fresh)
    except Untestable as reason:
        for id in ("SESSION-025", "SESSION-026", "SESSION-040"):
            verify.untested(id, reason.reason, reason.fault_class)
    fresh = is_refreshed(portal, verify, spare, fresh)
    terminates_all(portal, verify, spare, admin, other=fresh)


def terminates_one(
    portal: Portal, verify: Verify, account: Account, another: Account, *, by: SignedIn
) -> None:
    """The shared session is ended by another: whoever needs one next signs in anew."""
    before = account.signed_in()
    id = current(sessions(portal, before.token))
    if id == current(sessions(portal, by.token)):
        raise Untestable("two sessions are listed as the same current one", "target")

    body = portal.operation_body(op.SESSIONS_TERMINATE, session_id=id)
    if id not in ids(sessions(portal, another.token)):
        # Else sessions are numbered anew for each account.
        tried = answered(portal.call(op.SESSIONS_TERMINATE, json=body, token=another.token))
        is_out_of_reach(portal, verify, account, before, tried)

    around = Surroundings(portal, by.token, another.token)
    terminated = change_accepted(portal.call(op.SESSIONS_TERMINATE, json=body, token=by.token))
    account.forget()
    refused = _no_longer_served(portal, before)
    verify("SESSION-025", is_refused(refused, terminated, message="a terminated session was served"))
    if not refused.success:
        asking = answered(
            portal.call(op.ACCOUNTS_QUERY, json=UNFILTERED[op.ACCOUNTS_QUERY], token=before.token)
        )
        verify("SESSION-025", is_refused(asking, terminated, message="a terminated session was served"))
        is_refused_everywhere(portal, verify, before.token, refused)
    if before.refresh_token is not None:
        refreshed = refreshed_after_the_end(portal, before.refresh_token)
        message = "a terminated session was refreshed"
        verify("SESSION-040", is_refused(refreshed, terminated, message=message))

    around.judged(verify, "MODEL-012", terminated, (op.SESSIONS, id))
    listing = settled(portal, lambda: sessions(portal, by.token), lambda answer: id not in ids(answer))
    verify("SESSION-026", holds(listing, "data", id not in ids(listing), f"no session {id}", terminated))


def is_out_of_reach(
    portal: Portal, verify: Verify, account: Account, session: SignedIn, tried: Exchange
) -> None:
    """The session lives on after another account tried to terminate it, however that was answered."""
    served = answered(portal.call(op.SESSIONS, token=session.token))
    verify("SESSION-037", is_success(served, tried, session.completed))
    if not served.success:
        account.forget()
        raise Untestable("another account has ended the session", "target")


def is_refreshed(portal: Portal, verify: Verify, account: Account, older: SignedIn) -> SignedIn:
    """The older of two sessions with the pair that replaces its own: it is the same session still, and
    nothing else has changed. As it was where it is not refreshed."""
    newer = account.signed_in()
    before = sessions(portal, older.token)
    if older.refresh_token is None or newer.token == older.token or len(ids(before)) < 2:
        return older
    around = Surroundings(portal, newer.token)
    portal.clock.wait(A_WHILE, "times that a refresh may set")
    refreshed = answered(portal.login.refresh(older.refresh_token))
    if not refreshed.success:
        return older
    own = current(before)
    pair = replace(older, token=text(refreshed, "data.accessToken"), refresh_token=None)
    after = sessions(portal, pair.token)
    if own in ids(after):
        # A portal may give a refreshed session a new id; not that of another one.
        verify(
            "SESSION-036", holds(after, "data", current(after) == own, f"session {own}", before, refreshed)
        )
    around.judged(verify, "MODEL-011", refreshed, (op.SESSIONS, own, SERVED))
    return pair


def _no_longer_served(portal: Portal, ended: SignedIn) -> Exchange:
    return settled(
        portal,
        lambda: answered(portal.call(op.PROFILE, token=ended.token)),
        lambda answer: not answer.success,
    )


def terminates_all(
    portal: Portal, verify: Verify, account: Account, another: Account, *, other: SignedIn
) -> None:
    caller = account.signed_in()
    around = Surroundings(portal, another.token)
    granted(portal.call(op.PROFILE, token=other.token))
    before = answered(portal.call(op.SESSIONS, token=caller.token))

    terminated = granted(portal.call(op.SESSIONS_TERMINATE_ALL, token=caller.token))
    refused = _no_longer_served(portal, other)
    verify("SESSION-027", is_refused(refused, terminated, message="another session was served"))

    around.judged(verify, "MODEL-012", terminated)
    own = answered(portal.call(op.PROFILE, token=caller.token))
    scope = "spares the caller's own" if own.success else {"ends the caller's own": outcome(own)}
    verify.observe("terminate-all-scope", terminated, scope)
    if own.success:
        _verify_none_left(portal, verify, caller, before, terminated)
    else:
        account.forget()


def _verify_none_left(
    portal: Portal, verify: Verify, caller: SignedIn, before: Exchange, terminated: Exchange
) -> None:
    """Not even those that were signed in before this case."""
    others = set(ids(before)) - {current(before)}
    listing = settled(
        portal, lambda: sessions(portal, caller.token), lambda answer: others.isdisjoint(ids(answer))
    )
    left = [id for id in ids(listing) if id in others]
    verify("SESSION-039", holds(listing, "data", not left, "none of them", before, terminated, actual=left))
