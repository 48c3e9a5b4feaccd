"""The limit on concurrent sessions: read, set, and gone beyond (chapter "Security endpoints")."""

from __future__ import annotations

from cases.authentication.steps import an_account
from cases.changing import put_back
from cases.premises import (
    answered,
    authorized,
    count,
    granted,
    is_invalid,
    listed,
    refusal_text,
    settled,
    text,
)
from cases.surroundings import Surroundings, by_admin
from conformance.cases import (
    Account,
    CannotSignIn,
    Exchange,
    Json,
    Portal,
    SignedIn,
    Untestable,
    Verify,
    equal,
    holds,
    is_invalid_parameter,
    mark,
    op,
)


def whoever(portal: Portal) -> Account:
    """Picks the account for a further sign-in: the spare account, or else the administrator."""
    return an_account(portal, "spare", "admin")


def sessions(portal: Portal, token: str) -> Exchange:
    return granted(portal.call(op.SESSIONS, token=token))


def ids(listing: Exchange) -> list[Json]:
    return [session.get("sessionId") for session in listed(listing)]


def current(listing: Exchange) -> str:
    """The id of the session that asked. Raises Untestable where it cannot be told."""
    own = [session for session in listed(listing) if session.get("isCurrent") is True]
    if len(own) != 1 or not isinstance(own[0].get("sessionId"), str):
        raise Untestable("the listing does not tell which session is the current one", "target")
    return str(own[0]["sessionId"])


@mark.requirement("SESSION-030", "SESSION-033")
def test_the_config_is_the_callers(portal: Portal, verify: Verify, admin: Account) -> None:
    profile = granted(portal.call(op.PROFILE, token=admin.token))

    config = granted(portal.call(op.SESSIONS_CONFIG, token=admin.token))
    verify("SESSION-030", equal(config, "data.accountBizId", text(profile, "data.bizId"), profile))


def limit(value: Json) -> dict[str, Json]:
    return {"maxConcurrentSessions": value}


def most_of(portal: Portal, account: Account) -> int:
    """How many sessions the account may have. Raises Untestable where that could not be restored."""
    most = count(granted(portal.call(op.SESSIONS_CONFIG, token=account.token)), "data.maxSessions")
    if most < 1:
        raise Untestable(f"maxSessions is {most}, which may not be settable again", "environment")
    return most


@mark.requirement("SESSION-029", "MODEL-010")
@mark.needs("accounts.spare")
@mark.impact("mutating")
def test_the_number_of_sessions_is_read_back(portal: Portal, verify: Verify, spare: Account) -> None:
    most = most_of(portal, spare)
    wanted = [most + 1, *([most - 1] if most > 5 else [])]

    around = Surroundings(portal, spare.token, beside=by_admin(portal, op.SESSIONS_CONFIG))
    with put_back(portal, op.SESSIONS_CONFIG_SET, limit(most), by=spare):
        for number in wanted:
            changed = authorized(portal.call(op.SESSIONS_CONFIG_SET, json=limit(number), token=spare.token))
            if changed.success:
                after = _config_with(portal, spare, number)
                verify("SESSION-029", equal(after, "data.maxSessions", number, changed))
                around.judged(
                    verify, "MODEL-010", changed, (op.SESSIONS_CONFIG, "", "maxSessions"), (op.SESSIONS,)
                )
                return
            if not is_invalid(changed):
                granted(changed)
        raise Untestable(f"no other number than {most} is accepted ({refusal_text(changed)})", "environment")


def _config_with(portal: Portal, account: Account, number: int) -> Exchange:
    return settled(
        portal,
        lambda: granted(portal.call(op.SESSIONS_CONFIG, token=account.token)),
        lambda config: bool(config.at("data.maxSessions") == number),
    )


@mark.requirement("SESSION-032", "MODEL-014")
@mark.needs("accounts.spare")
@mark.impact("mutating")
def test_a_number_of_sessions_is_an_integer(portal: Portal, verify: Verify, spare: Account) -> None:
    with put_back(portal, op.SESSIONS_CONFIG_SET, limit(most_of(portal, spare)), by=spare):
        around = Surroundings(portal, spare.token)
        refused = authorized(portal.call(op.SESSIONS_CONFIG_SET, json=limit("many"), token=spare.token))
        if not refused.success:
            around.judged(verify, "MODEL-014", refused)
        verify("SESSION-032", is_invalid_parameter(refused))


@mark.requirement("SESSION-031", "SESSION-034", "SESSION-041")
@mark.needs("accounts.spare")
@mark.impact("disruptive")
@mark.sign_ins(2, reuses=2)
def test_one_session_more_than_allowed(portal: Portal, verify: Verify, spare: Account) -> None:
    """The limit is lowered to what there is, and one more signs in; then that one leaves the list."""
    before = spare.signed_in()
    listing = sessions(portal, before.token)
    most = most_of(portal, spare)
    with put_back(portal, op.SESSIONS_CONFIG_SET, limit(most), by=spare):
        lowered = granted(
            portal.call(op.SESSIONS_CONFIG_SET, json=limit(len(ids(listing))), token=before.token)
        )
        try:
            fresh = spare.another_session()
        except CannotSignIn:
            verify.observe("session-overflow", lowered, "the new sign-in is refused")
            raise
        allowed = len(ids(listing))

        def fits(answer: Exchange) -> bool:
            return not answer.success or len(ids(answer)) <= allowed

        own = settled(portal, lambda: answered(portal.call(op.SESSIONS, token=fresh.token)), fits)
        if own.success:
            expected = f"at most {allowed}, as maxSessions allows"
            steps = (lowered, fresh.completed)
            verify("SESSION-041", holds(own, "data", fits(own), expected, *steps, actual=f"{len(ids(own))}"))
        gone = [id for id in ids(listing) if own.success and id not in ids(own)]
        effect = "an older session ends" if gone else "none ends" if own.success else "the new session ends"
        verify.observe("session-overflow", fresh.completed, effect)
        granted(
            portal.call(
                op.SESSIONS_CONFIG_SET, json=limit(most), token=(fresh if own.success else before).token
            )
        )
        if current(listing) in gone:
            spare.forget()

    leaves_the_list(portal, verify, spare, fresh)


def leaves_the_list(portal: Portal, verify: Verify, account: Account, fresh: SignedIn) -> None:
    id = current(sessions(portal, fresh.token))
    if id == current(sessions(portal, account.token)):
        raise Untestable("two sessions are listed as the same current one", "target")
    left = granted(portal.login.logout(fresh.token))
    # A logout may end all of the account's sessions: the next token is then of a new one.
    if portal.call(op.SESSIONS, token=account.token).status == 401:
        account.forget()
    listing = settled(portal, lambda: sessions(portal, account.token), lambda answer: id not in ids(answer))
    verify("SESSION-031", holds(listing, "data", id not in ids(listing), f"no session {id}", left))
