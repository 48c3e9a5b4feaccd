"""Active sessions: listed, terminated one by one, and all at once (chapter "Security endpoints")."""

from __future__ import annotations

from cases.premises import answered, change_accepted, granted, outcome, settled
from cases.security.history import history, is_refusal, new_entries, since
from cases.security.history import ids as ids_of_entries
from cases.security.sessions import current, ids, sessions, whoever
from conformance.cases import (
    Account,
    Exchange,
    Portal,
    SignedIn,
    Untestable,
    Verify,
    holds,
    impact,
    is_refused,
    needs,
    requirement,
    sign_ins,
)
from conformance.spec.endpoints import PROFILE, SESSIONS, SESSIONS_TERMINATE, SESSIONS_TERMINATE_ALL


@requirement(
    "SESSION-020", "SESSION-021", "SESSION-022", "SESSION-023", "SESSION-024",
    "HISTORY-010", "HISTORY-012", "HISTORY-013", "HISTORY-014",
)  # fmt: skip
@sign_ins(1)
def test_an_account_sees_its_new_sign_in(portal: Portal, verify: Verify) -> None:
    account = whoever(portal)
    before = account.signed_in()
    earlier = ids_of_entries(history(portal, before.token))
    fresh = account.fresh_sign_in()

    is_listed(portal, verify, before, fresh)

    page = new_entries(portal, fresh.token, earlier, fresh.completed)
    new = since(page, earlier, fresh.completed)
    verify("HISTORY-010", holds(page, "data.items", bool(new), "a new entry", fresh.completed))
    if new:
        accepted = not all(is_refusal(entry) for entry in new)
        expected = "a new entry without failureReason"
        verify("HISTORY-013", holds(page, "data.items", accepted, expected, fresh.completed))


def is_listed(portal: Portal, verify: Verify, before: SignedIn, fresh: SignedIn) -> None:
    """By itself as the current one, and by the session before it as another."""
    own = sessions(portal, fresh.token)
    id = current(own)
    other = settled(
        portal,
        lambda: answered(portal.call(SESSIONS, token=before.token)),
        lambda answer: not answer.success or id in ids(answer),
    )
    listing = other if other.success else own
    verify("SESSION-021", holds(listing, "data", id in ids(listing), f"session {id}", fresh.completed, own))

    if not other.success:
        verify.untested("SESSION-022", "the account has no second session at a time", "environment")
        return
    differs = current(other) != id
    verify("SESSION-022", holds(other, "data", differs, f"another current session than {id}", own))


@requirement("SESSION-025", "SESSION-026", "SESSION-027", "SESSION-028")
@needs("accounts.spare")
@impact("disruptive")
@sign_ins(2, reuses=2)
def test_sessions_are_terminated(portal: Portal, verify: Verify, spare: Account) -> None:
    fresh = spare.another_session()
    try:
        terminates_one(portal, verify, spare, by=fresh)
    except Untestable as reason:
        for id in ("SESSION-025", "SESSION-026"):
            verify.untested(id, reason.reason, reason.fault_class)
    terminates_all(portal, verify, spare, other=fresh)


def terminates_one(portal: Portal, verify: Verify, account: Account, *, by: SignedIn) -> None:
    """The shared session is ended by another: whoever needs one next signs in anew."""
    before = account.signed_in()
    id = current(sessions(portal, before.token))
    if id == current(sessions(portal, by.token)):
        raise Untestable("two sessions are listed as the same current one", "target")

    body = portal.operation_body(SESSIONS_TERMINATE, session_id=id)
    terminated = change_accepted(portal.call(SESSIONS_TERMINATE, json=body, token=by.token))
    account.forget()
    refused = _no_longer_served(portal, before)
    verify("SESSION-025", is_refused(refused, terminated, message="a terminated session was served"))

    listing = settled(portal, lambda: sessions(portal, by.token), lambda answer: id not in ids(answer))
    verify("SESSION-026", holds(listing, "data", id not in ids(listing), f"no session {id}", terminated))


def _no_longer_served(portal: Portal, ended: SignedIn) -> Exchange:
    """How the profile is answered by the token of a session that was ended."""
    return settled(
        portal, lambda: answered(portal.call(PROFILE, token=ended.token)), lambda answer: not answer.success
    )


def terminates_all(portal: Portal, verify: Verify, account: Account, *, other: SignedIn) -> None:
    caller = account.signed_in()
    granted(portal.call(PROFILE, token=other.token))

    terminated = granted(portal.call(SESSIONS_TERMINATE_ALL, token=caller.token))
    refused = _no_longer_served(portal, other)
    verify("SESSION-027", is_refused(refused, terminated, message="another session was served"))

    own = answered(portal.call(PROFILE, token=caller.token))
    if not own.success:
        account.forget()
    scope = "spares the caller's own" if own.success else {"ends the caller's own": outcome(own)}
    verify.observe("terminate-all-scope", terminated, scope)
