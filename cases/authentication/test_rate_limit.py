"""How many sign-ins may be begun within a window (chapter "Limits")."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from cases.authentication.steps import SETTLING, WRONG_CREDENTIALS, factor_at_hand, left_until
from cases.premises import outcome, refusal_text
from cases.reading import some_ids
from conformance.cases import (
    BY_KEY,
    HELD,
    LIMITS,
    Account,
    Exchange,
    Portal,
    Untestable,
    Verify,
    Wait,
    contradicts,
    is_rate_limited,
    is_refused,
    is_success,
    mark,
    op,
    speaks_of_a_rate,
    summary,
)

ALLOWED = LIMITS.login_initiations
QUICK = 12
"""So many requests in a row as a person with a browser may well cause."""

IDLE_AT_LEAST, IDLE_FOR_EACH = 1.0, 30.0
"""Seconds in which sign-ins of others would show: at least, and for each that the sign-ins before took."""


@mark.requirement("LIMIT-001", "LIMIT-002", "LIMIT-003", "LIMIT-004", "LIMIT-014", "LIMIT-017")
@mark.needs("accounts.spare", "limits.login_window")
@mark.impact("disruptive")
@mark.sign_ins(ALLOWED + 3, leaves=ALLOWED)
@mark.waits(180)
def test_ten_sign_ins_begin_in_a_window_and_the_eleventh_is_refused(
    portal: Portal, spare: Account, verify: Verify
) -> Generator[Wait, None, None]:
    window = float(portal.profile.limits.login_window or 0)
    begun: list[Exchange] = []
    before: list[Exchange] = []
    counts: list[int] = []
    for least in (0.0, window + SETTLING):
        # Once more where the count is off: somebody else may sign in or have signed in, or a window that is
        # not ours to see may have ended in between.
        yield from _fresh_window(portal, least)
        is_first = not counts
        if is_first:
            yield from factor_at_hand(portal, spare)
        begun = list(_quick(portal, spare, completing=is_first))
        counts.append(len(begun))
        if len(begun) == ALLOWED + 1 and not begun[-1].success:
            _verify_anew(verify, begun, before)
            break
        before = begun
    yield from _verify_count(portal, spare, verify, begun, counts)
    if begun[-1].success:
        return
    refused = begun[-1]
    verify.observe("rate-limit", refused, outcome(refused))
    scope = _scope(portal)

    yield window + SETTLING, "the window of sign-ins to end"
    while (opens := left_until(portal, portal.budget.opens(1))) > 0:
        yield opens, "a place in the window of sign-ins"
    repeated = portal.login.initiate(spare, within_budget=False)
    portal.login.left.put(spare.email, repeated)
    if repeated.success or (outcome(repeated) == outcome(refused) and _may_be_a_rate(repeated)):
        verify("LIMIT-003", is_success(repeated, refused))
    if repeated.success:
        verify.observe("rate-limit-window", repeated, {"seconds": window, "counted for": scope})


def _fresh_window(portal: Portal, least: float) -> Iterator[Wait]:
    """Waits until ten may begin, ``least`` seconds if it waits at all."""
    yield least, "a fresh window of sign-ins"
    while (opens := left_until(portal, portal.budget.opens(ALLOWED))) > 0:
        yield opens, "a fresh window of sign-ins"


def _quick(portal: Portal, account: Account, *, completing: bool) -> Iterator[Exchange]:
    """Eleven sign-ins begun at once, up to the first that is refused; others may go on with them. One in the
    middle is completed, where a code for it is at hand."""
    for number in range(ALLOWED + 1):
        exchange = portal.login.initiate(account, within_budget=False)
        if not (completing and number == ALLOWED // 2 and _completes(portal, account, exchange)):
            portal.login.left.put(account.email, exchange)
        yield exchange
        if not exchange.success:
            return


def _completes(portal: Portal, account: Account, session: Exchange) -> bool:
    """A mail is waited for only where that takes no time of the window."""
    factor = account.ready_factors[0] if session.success and account.ready_factors else None
    if factor is None or (factor == "EMAIL" and not portal.clock.is_simulated):
        return False
    if factor == "EMAIL" and not portal.login.send(session).success:
        return False
    completed = portal.login.complete(session, method=factor, code=account.code(factor))
    token = completed.at("data.accessToken")
    if isinstance(token, str):
        portal.login.logout(token)
    return True


def _verify_anew(verify: Verify, begun: list[Exchange], before: list[Exchange]) -> None:
    """``before``: those of an earlier window, of which one was completed. Where more began than in a window
    in which none was, the sign-in that was completed has set them free."""
    if not before:
        verify("LIMIT-017", HELD)
    elif len(before) == len(begun) and before[-1].success:
        message = "the eleventh sign-in of a window was begun after another was completed in it"
        verify("LIMIT-017", is_refused(before[-1], begun[-1], message=message))


def _verify_count(
    portal: Portal, account: Account, verify: Verify, begun: list[Exchange], counts: list[int]
) -> Iterator[Wait]:
    last, window = begun[-1], float(portal.profile.limits.login_window or 0)
    if not last.success and (
        len(begun) == 1 or last.code == WRONG_CREDENTIALS or _is_an_outage(portal, begun)
    ):
        raise Untestable(f"no sign-in can be begun ({refusal_text(last)})", "environment")
    if len(begun) <= ALLOWED and len(set(counts)) > 1:
        # What is no count of sign-ins may be a rate that something before the portal keeps.
        raise Untestable(f"sign-in {counts[0]}, and then {counts[1]}, of a window was refused", "environment")
    if len(begun) <= ALLOWED:
        yield from _unless_others_count(portal, account, begun, window)
        message = f"sign-in {len(begun)} of a window was refused"
        verify("LIMIT-002", contradicts(last, "success", True, summary(last), message))
        return
    verify("LIMIT-002", HELD)
    if last.time + last.elapsed_ms / 1000 - begun[0].time >= window / ALLOWED:
        # A rate may fill up place by place, and not all at the end of a window.
        raise Untestable("eleven sign-ins take longer than one place of the rate to fill up", "environment")
    if last.envelope is None and (last.status or 0) < 300:
        raise Untestable(
            f"the eleventh sign-in is answered by no portal ({refusal_text(last)})", "environment"
        )
    verify("LIMIT-001", is_refused(last, begun[0], message="the eleventh sign-in of a window was begun"))


def _may_be_a_rate(refused: Exchange) -> bool:
    """Whether a refusal that stands alone may be that of a rate. A server error is one where it says so."""
    return (refused.status or 0) < 500 or speaks_of_a_rate(refused)


def _is_an_outage(portal: Portal, begun: list[Exchange]) -> bool:
    """Whether the last sign-in of a window met a server error that is no rate limit: the status of one is not
    shown. Where ten began, an overload that says when it ends is one, if others are served meanwhile."""
    last = begun[-1]
    if _may_be_a_rate(last):
        return False
    is_one = len(begun) == ALLOWED + 1 and is_rate_limited(last)
    return not is_one or (portal.secure.public_key().status or 500) >= 500


def _unless_others_count(
    portal: Portal, account: Account, begun: list[Exchange], window: float
) -> Iterator[Wait]:
    """Raises Untestable where sign-ins of others may take places of a window that is not the account's: a
    monitor may sign in from the same address at regular times. Beside a clock that is moved others go by
    their own: in a window that is left idle for a while they would take more places than before."""
    number = len(begun)
    reason = f"sign-in {number} of a window was refused twice; who signs in from this address may count"
    if _scope(portal) == "account" and not portal.login.initiate(account, within_budget=False).success:
        return
    if not portal.clock.is_simulated:
        raise Untestable(reason, "environment")
    yield from _fresh_window(portal, window + SETTLING)
    idle = max(IDLE_AT_LEAST, IDLE_FOR_EACH * (begun[-1].time - begun[0].time))
    portal.clock.pause(min(idle, window / 2), "sign-ins of others, if there are any")
    counted = len(list(_quick(portal, account, completing=False)))
    if counted != number:
        raise Untestable(f"{reason}: it was sign-in {counted} once more time had passed", "environment")


def _scope(portal: Portal) -> str:
    """What the sign-ins are counted for, as another account's sign-in from the same address shows."""
    names = [name for name in ("admin", "limited") if portal.has_account(name)]
    if not names:
        return "unknown"
    other = portal.login.initiate(portal.account(names[0]), within_budget=False)
    return "account" if other.success else "address or portal"


@mark.requirement("LIMIT-015")
@mark.impact("disruptive")
def test_reading_a_file_again_and_again_shows_its_rate_limit(
    portal: Portal, admin: Account, verify: Verify
) -> None:
    id = some_ids(BY_KEY[op.FILE])["fileBizId"]
    for number in range(1, QUICK + 1):
        answer = portal.call(op.FILE, token=admin.token, fileBizId=id, within_budget=False)
        if is_rate_limited(answer):
            verify.observe("other-rate-limits", answer, {"after": number - 1, **outcome(answer)})
            return
    verify.observe("other-rate-limits", answer, f"none within {QUICK} quick requests")
