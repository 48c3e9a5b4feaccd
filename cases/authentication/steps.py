"""Sign-in steps for the stories in this folder, and the conditions under which a step is judged."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from cases.premises import answered, clocks_agree, count, refusal_text, unless_paced
from conformance.cases import (
    COOLDOWN,
    HEARD_OF,
    LIMITS,
    MAILED_BEFORE,
    METHODS,
    NO_SESSION,
    WRONG_CODE,
    Account,
    Exchange,
    Factor,
    FixedInbox,
    Portal,
    Untestable,
    Verify,
    Wait,
    chosen_factor,
    offered_factors,
    op,
    text_at,
)

WRONG_CREDENTIALS = "AUTH.INVALID_CREDENTIALS"
PENDING = "ACCOUNT_PENDING_APPROVAL"

SETTLING = 3.0
"""Seconds more than a time-out or a cooldown: a portal may count in whole seconds, and by the clocks of
several servers."""

ARRIVAL = 1.0
"""Seconds in which a mail is waited for that should not come, where mails may be slow."""

TURNS = 2
"""How often a cooldown is waited for: another sign-in of the account may have begun it anew meanwhile."""

LEEWAY_SECONDS = 300.0 + SETTLING
"""How long after its end a token may be taken: libraries allow clocks to differ by up to five minutes."""


def an_account(portal: Portal, *names: str, factor: Factor | None = None) -> Account:
    """The first of these accounts that the profile has and that can do a factor. Raises Untestable."""
    accounts = [portal.account(name) for name in names if portal.has_account(name)]
    able = [account for account in accounts if account.factors and (factor is None or account.can(factor))]
    if not able:
        raise Untestable(f"no account of the profile can sign in by {factor or 'any factor'}")
    return able[0]


def nearly_right(portal: Portal, account: Account, *, in_case: bool) -> str:
    """A password that differs from the account's in the case of its letters, or else in its last letter. It
    is kept as secret as the right one. Raises Untestable where no letter has another case."""
    right = account.password
    near = right.swapcase() if in_case else right[:-1] + ("x" if right[-1] != "x" else "y")
    if near == right or len(near) != len(right):
        raise Untestable(f"the password of [accounts.{account.name}] has no letters")
    by = "letters in the other case" if in_case else "another last letter"
    return portal.secrets.altered(near, "password", of=right, by=by)


LOCAL_PART = "l" * 63 + "@"
LABEL = "d" * 59 + "."


def address_of(length: int) -> str:
    """An address of so many characters, each part of it no longer than mail allows."""
    domain = (LABEL * 9)[: length - len(LOCAL_PART) - len("a.test")]
    return f"{LOCAL_PART}{domain}a.test"


def nobody(portal: Portal) -> str:
    """A well-formed address that no account has."""
    return f"{portal.unique()}@example.test"


def begun(portal: Portal, account: Account) -> Exchange:
    """A login session of its own. Raises Untestable where none begins."""
    session = answered(portal.login.initiate(account))
    if text_at(session, "data.sessionId") is None:
        raise Untestable(
            f"no login session begins for [accounts.{account.name}] ({refusal_text(session)})", "target"
        )
    return session


def begun_or_left(portal: Portal, account: Account) -> Exchange:
    """Takes a young login session that another case left unused, or begins a new session."""
    return portal.login.left.young(account.email) or begun(portal, account)


def factor_for(account: Account, session: Exchange, *, preferring: Factor | None = None) -> Factor:
    """A factor that the account can do and the session offers. Raises Untestable where there is none."""
    factors = tuple(sorted(account.factors, key=lambda factor: factor != preferring))
    return chosen_factor(session, factors)


def offering(session: Exchange, factor: Factor) -> Exchange:
    """A login session that offers this factor. Raises Untestable where it names others only."""
    offered = offered_factors(session)
    if offered and factor not in offered:
        raise Untestable(f"the login session offers {', '.join(offered)}, and not {factor}", "target")
    return session


def judged(exchange: Exchange, *codes: str) -> Exchange:
    """An answer that says something of the step: one of these codes under any status, or none held back."""
    return exchange if exchange.code in codes else unless_paced(exchange)


def delivered(portal: Portal, session: Exchange) -> Generator[Wait, None, Exchange]:
    """The answer to the first send of a session. A cooldown that still runs for the account is waited for."""
    sent = portal.login.send(session)
    for _ in range(TURNS):
        if sent.code != COOLDOWN:
            break
        yield from cooldown_over(portal, session, sent)
        sent = portal.login.send(session)
    return undisturbed(portal, session, judged(sent, COOLDOWN))


def cooldown_over(portal: Portal, session: Exchange, refused: Exchange) -> Iterator[Wait]:
    """Waits for the cooldown that refused a send; at once where it began before the run, so that no other
    sign-in of the account takes the turn."""
    seconds = portal.login.cooldown_before(session, refused)
    if seconds is None:
        yield portal.login.cooldown + SETTLING, "the resend cooldown of the sign-in before"
    else:
        portal.clock.wait(seconds + SETTLING, MAILED_BEFORE)


def undisturbed(portal: Portal, session: Exchange, sent: Exchange) -> Exchange:
    """A refusal for the cooldown that only the session's own sends can have begun. Raises Untestable."""
    elsewhere = portal.login.sent_elsewhere(session) if sent.code == COOLDOWN else None
    longest = max(portal.login.cooldown, LIMITS.mfa_cooldown) + SETTLING
    if elsewhere is not None and sent.time < elsewhere + longest:
        raise Untestable("another sign-in of the account had a code sent meanwhile", "environment")
    return sent


def right_code(
    portal: Portal, account: Account, session: Exchange, factor: Factor
) -> Generator[Wait, None, str]:
    """The code that completes a session by this factor. Raises Untestable where none is to be had."""
    if factor == "EMAIL":
        sent = yield from delivered(portal, session)
        if not sent.success:
            raise Untestable(f"no code is sent for the login session ({refusal_text(sent)})", "target")
    return account.code(factor)


def completed(portal: Portal, session: Exchange | str, factor: Factor, code: str) -> Exchange:
    return judged(portal.login.complete(session, method=factor, code=code), WRONG_CODE, NO_SESSION)


def code_at_hand(portal: Portal, account: Account) -> Iterator[Wait]:
    """Waits until the account's authenticator has a code that was not used, so that a login session does not
    come to its end meanwhile. Raises CannotSignIn where the account is given up."""
    account.attempts.check()
    secret = portal.profile.accounts[account.name].otp_secret
    while secret is not None and (seconds := portal.codes.wait_for_totp(secret)) > 0:
        yield seconds, "the authenticator's next code"


def factor_at_hand(portal: Portal, account: Account) -> Iterator[Wait]:
    """Waits until the account has a code to sign in with, be it one that is mailed."""
    if account.ready_factors[:1] == ("OTP",):
        yield from code_at_hand(portal, account)


def taken_elsewhere(portal: Portal, but: Account, factor: Factor) -> bool | None:
    """Tells whether a code of this factor signs another account in; None if the run cannot try it.

    Where one does, it is not the target that refuses them all.
    """
    names = [name for name in ("limited", "spare", "admin") if name != but.name and portal.has_account(name)]
    others = [portal.account(name) for name in names if portal.account(name).can(factor)]
    for other in others[:1]:
        session = begun(portal, other)
        if factor == "OTP" and not clocks_agree(portal, session):
            return None
        if factor == "EMAIL" and not portal.login.send(session).success:
            return None
        return portal.login.complete(session, method=factor, code=other.code(factor)).success
    return None


def serves_everywhere(portal: Portal, account: Account, factor: Factor) -> bool:
    """Tells whether a mailed code is the fixed code of a test deployment, which may be valid at any time."""
    inbox = portal.profile.accounts[account.name].inbox
    return factor == "EMAIL" and isinstance(portal.profile.inboxes.get(inbox or ""), FixedInbox)


def profile_after_expiry(portal: Portal, token: str, ends: float) -> Generator[Wait, None, Exchange]:
    """The profile as an access token shows it that has come to its end; after a leeway where it is accepted
    still."""
    yield left_until(portal, ends + SETTLING), "the end of an access token"
    expired = answered(portal.call(op.PROFILE, token=token))
    if expired.success:
        yield LEEWAY_SECONDS, "the leeway that a portal may allow the clocks"
        expired = answered(portal.call(op.PROFILE, token=token))
    return expired


def profile_by(portal: Portal, token: str) -> Exchange:
    """The profile as read with a token. Raises Untestable where the account may not read it at all."""
    exchange = answered(portal.call(op.PROFILE, token=token))
    if exchange.status == 403:
        raise Untestable(f"the account may not read its profile ({refusal_text(exchange)})", "credentials")
    return exchange


def flags_of(exchange: Exchange) -> list[bool]:
    """What an answer says of a pending approval: the document has two names for the flag."""
    values = [exchange.at(f"data.{name}") for name in ("pendingApproval", "isPendingApproval")]
    return [value for value in values if isinstance(value, bool)]


def seconds_at(exchange: Exchange, path: str, stated: int) -> float:
    """A time that an answer announces, in seconds, and at most the stated one: that they agree is judged
    elsewhere. Raises Untestable where none is announced."""
    announced = count(exchange, path)
    if announced <= 0:
        raise Untestable(f"{path} announces {announced} seconds: nothing can be waited for", "target")
    return float(min(announced, stated))


def left_until(portal: Portal, moment: float) -> float:
    return max(0.0, moment - portal.clock.now())


def refreshed_after_the_end(portal: Portal, refresh_token: str) -> Exchange:
    """The answer to a refresh of a session that has ended, once the whole portal has heard of that."""
    refreshed = answered(portal.login.refresh(refresh_token))
    if refreshed.success:
        portal.clock.wait(HEARD_OF + SETTLING, "every part of the portal to hear of the end of a session")
        newest = text_at(refreshed, "data.refreshToken") or refresh_token
        refreshed = answered(portal.login.refresh(newest))
    return refreshed


def observe_rotation(portal: Portal, verify: Verify, used: str) -> None:
    """Whether a refresh token that was used is taken again."""
    repeated = answered(portal.login.refresh(used))
    verify.observe("refresh-rotation", repeated, "valid again" if repeated.success else "used up")


def other_than(factor: Factor) -> Factor:
    return "EMAIL" if factor == "OTP" else "OTP"


def method_of(factor: Factor) -> int:
    return METHODS[factor]
