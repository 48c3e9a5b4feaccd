"""Sign-in in any order: what the portal does agrees with what the stated moves say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from hypothesis import strategies as st

from cases.authentication.steps import (
    LEEWAY_SECONDS,
    SETTLING,
    WRONG_CREDENTIALS,
    completed,
    judged,
    profile_by,
    seconds_at,
)
from cases.premises import (
    answered,
    may_be_own_rule,
    refusal_text,
    settled,
    text,
    unless_by_own_rule,
    unless_paced,
)
from cases.security.test_session_config import ids
from conformance.cases import (
    COOLDOWN,
    HEARD_OF,
    LIMITS,
    NO_SESSION,
    STEP,
    WRONG_CODE,
    Account,
    Comparison,
    Exchange,
    Factor,
    Machine,
    Portal,
    Search,
    Trial,
    Untestable,
    ended,
    holds,
    is_error,
    is_refused,
    is_success,
    mark,
    move,
    offered_factors,
    op,
    text_at,
)

COMPLETES = {"OTP": "LOGIN-027", "EMAIL": "LOGIN-028"}
SURELY = 120.0
"""Seconds that a login session or code of 300 lives whatever unit is meant, and any token just issued."""

AT_ONCE = 3
MOST = 6
MOST_WRONG = 3
MOST_SENDS = 3
MAILS_SPARED = 15
WHICH = st.integers(0, AT_ONCE - 1)
HOW = ("right", "mailed", "wrong", "used", "other")
SOON = st.sampled_from([0.0, 0.0, 20.0, 62.0])
LATER = st.sampled_from([0.0, 0.0, 0.0, 200.0, 302.0])
AT_LAST = st.sampled_from([0.0, 0.0, 0.0, 3602.0 + LEEWAY_SECONDS])
"""Seconds before a move: less and more than a cooldown, a login session and an access token last."""

T = TypeVar("T")


@dataclass
class Player:
    """An account, and what stays known of it from one example to the next.

    ``proven``: factors whose codes did sign it in, so that a refusal is not the profile's fault.
    ``has_begun``: its password did begin a sign-in, after whatever other cases did to it. ``room``: how many
    more sessions it may have without any being ended for it. ``sent``: when its last code was.
    """

    account: Account
    proven: set[Factor] = field(default_factory=set)
    has_begun: bool = False
    room: int = 0
    sent: float | None = None
    session_ids: set[str] = field(default_factory=set)


@dataclass
class Begun:
    """A login session. ``sent``: when its last code was; ``code``: that code. ``is_newest``: no other was
    begun for the account since; whether that would end it is not stated."""

    player: Player
    answer: Exchange
    lifetime: float
    wrong: int = 0
    used_up: bool = False
    sends: int = 0
    sent: float | None = None
    code: str | None = None
    is_newest: bool = True

    def can(self, factor: Factor) -> bool:
        """Whether the account has the factor and the session offers it, or does not say what it offers."""
        offered = offered_factors(self.answer)
        return self.player.account.can(factor) and (not offered or factor in offered)

    def is_young(self, answer: Exchange) -> bool:
        return self.is_newest and ended(answer) < self.answer.time + min(SURELY, self.lifetime)

    def lives(self, answer: Exchange) -> bool:
        return self.is_newest and ended(answer) < self.answer.time + self.lifetime - SETTLING

    def is_over(self, answer: Exchange) -> bool:
        return answer.time > ended(self.answer) + self.lifetime + SETTLING


@dataclass
class Pair:
    """A token pair. Of each token whether it is alive: True, False, or None where nothing says."""

    player: Player
    answer: Exchange
    access: str
    refresh: str | None
    lifetime: float
    is_refreshed: bool = False
    is_seen: bool = False
    access_lives: bool | None = True
    refresh_lives: bool | None = True
    session_id: str | None = None
    left: float = 0.0
    """When it was logged out."""

    def is_young(self, answer: Exchange) -> bool:
        return ended(answer) < self.answer.time + min(SURELY, self.lifetime)

    def is_over(self, answer: Exchange, *, leeway: float = 0.0) -> bool:
        return answer.time > ended(self.answer) + self.lifetime + leeway + SETTLING

    def doubt(self) -> None:
        """Marks live tokens as uncertain."""
        self.access_lives = None if self.access_lives else self.access_lives
        self.refresh_lives = None if self.refresh_lives else self.refresh_lives


def player(portal: Portal, account: Account) -> Player:
    """Signs the account in. Raises Untestable where it cannot be, or may not read its profile."""
    shared = account.signed_in()
    profile_by(portal, shared.token)
    config = answered(portal.call(op.SESSIONS_CONFIG, token=shared.token))
    listing = answered(portal.call(op.SESSIONS, token=shared.token))
    most = config.at("data.maxSessions") if config.success else 0
    listed = listing.data if isinstance(listing.data, list) else []
    room = most - len(listed) if isinstance(most, int) and not isinstance(most, bool) else 0
    return Player(account, {shared.factor}, room=room)


def newest(listed: Sequence[T], which: int) -> T:
    """Picks an item, counted from the newest: the smallest example then uses the latest item."""
    return listed[-1 - which % len(listed)]


def has_passed(sent: float | None, answer: Exchange) -> bool:
    """Whether no cooldown can still run."""
    return sent is None or answer.time > sent + LIMITS.mfa_cooldown + SETTLING


class SigningIn(Machine):
    """Initiate, send, codes right and wrong, waits, tokens used, refreshed and ended, in any order."""

    def __init__(self, trial: Trial, portal: Portal, players: Sequence[Player]) -> None:
        super().__init__(trial)
        self.portal = portal
        self.players = players
        self.sessions: list[Begun] = []
        self.pairs: list[Pair] = []
        self.used: list[tuple[Player, Factor, str]] = []

    def _start_afresh(self) -> None:
        """No cooldown, no full window and no used code of an example before reaches into this one, and each
        begins with a time step of the authenticator: so that it goes the same way again."""
        clock = self.portal.clock
        sent = max(player.sent or 0.0 for player in self.players)
        opened = clock.now() + self.portal.budget.window + SETTLING
        free = opened if self.portal.budget.initiations_left() < MOST else 0.0
        moment = max(clock.now() + STEP, sent + self.portal.login.cooldown + SETTLING, free)
        clock.wait_until(moment - moment % STEP + STEP, "a fresh start")

    def clean_up(self) -> None:
        for pair in self.pairs:
            if pair.access_lives and self.portal.impact == "disruptive":
                pair.player.room += self.portal.login.logout(pair.access).success

    # --- login sessions

    def may_initiate(self) -> bool:
        return len(self.sessions) < MOST and len(self.pending()) < AT_ONCE

    @move(may_initiate, who=WHICH)
    def initiate(self, who: int) -> None:
        self._initiate(who)

    @move(
        lambda self: len(self.sessions) < MOST and len(self.pairs) < AT_ONCE, who=WHICH, mailed=st.booleans()
    )
    def sign_in(self, who: int, mailed: bool) -> None:
        session = self._initiate(who)
        if mailed and self.may_send(session):
            self._send(session)
        self._complete(session, "mailed" if mailed else "right")

    def _initiate(self, who: int) -> Begun:
        if not self.sessions:
            self._start_afresh()
        chosen = self.players[who % len(self.players)]
        answer = unless_paced(self.portal.login.initiate(chosen.account))
        if answer.code == WRONG_CREDENTIALS and not chosen.has_begun:
            reason = f"{chosen.account}: its password is refused ({refusal_text(answer)})"
            raise Untestable(reason, "credentials")
        chosen.has_begun = True
        self.trial.verify("LOGIN-020", is_success(answer))
        id = text(answer, "data.sessionId")
        if id in chosen.session_ids:
            # Judged on the wire; what this one is in for nobody knows.
            self.trial.spoil()
        chosen.session_ids.add(id)
        lifetime = seconds_at(answer, "data.expiresIn", LIMITS.login_session)
        for older in self.sessions:
            older.is_newest = older.is_newest and older.player is not chosen
        self.sessions.append(Begun(chosen, answer, lifetime))
        return self.sessions[-1]

    def may_send(self, session: Begun) -> bool:
        enough = self.portal.budget.mails_left() > MAILS_SPARED and session.sends < MOST_SENDS
        return enough and session.can("EMAIL")

    def sendable(self) -> list[Begun]:
        return [session for session in self.pending() if self.may_send(session)]

    @move(sendable, which=WHICH, after=SOON)
    def send(self, which: int, after: float) -> None:
        self._wait(after)
        self._send(newest(self.sendable(), which))

    def _send(self, session: Begun) -> None:
        session.sends += 1
        answer = judged(self.portal.login.send(session.answer), COOLDOWN)
        if session.is_young(answer) and not session.wrong:
            if session.sent is not None and ended(answer) < session.sent + LIMITS.mfa_cooldown - SETTLING:
                self.trial.verify("LOGIN-025", is_error(answer, COOLDOWN, session.answer))
            elif all(has_passed(sent, answer) for sent in self._sends_for(session)):
                id = "LOGIN-022" if session.sent is None else "LOGIN-026"
                self.trial.verify(id, is_success(answer, session.answer))
        if answer.success:
            session.sent = session.player.sent = ended(answer)
            session.code = session.player.account.code("EMAIL")

    def _sends_for(self, session: Begun) -> tuple[float | None, ...]:
        """When codes were last sent whose cooldown may be the session's: also those of other cases."""
        return session.sent, session.player.sent, self.portal.login.sent_elsewhere(session.answer)

    def pending(self) -> list[Begun]:
        return [session for session in self.sessions if not session.used_up]

    @move(pending, which=WHICH, how=st.sampled_from(HOW), after=LATER)
    def complete(self, which: int, how: str, after: float) -> None:
        self._wait(after)
        self._complete(newest(self.pending(), which), how)

    def completed(self) -> list[Begun]:
        return [session for session in self.sessions if session.used_up]

    @move(completed, which=WHICH, mailed=st.booleans())
    def complete_again(self, which: int, mailed: bool) -> None:
        session = newest(self.completed(), which)
        self._complete(session, "right" if session.can("OTP") and not mailed else "mailed")

    def _complete(self, session: Begun, how: str) -> None:
        """``how`` names the kind of code: right, mailed, wrong, used, or the other method's."""
        sent = self._code(session, how)
        if sent is None:
            return
        factor, code = sent
        answer = completed(self.portal, session.answer, factor, code)
        if session.used_up:
            self._is_used_up(session, answer)
        elif session.is_over(answer):
            self.trial.verify("LOGIN-033", is_refused(answer, session.answer))
        elif how in ("right", "mailed"):
            self._is_completed(session, answer, factor=factor)
        else:
            self._is_not_completed(session, answer, how, factor=factor)
        if answer.success and not self.trial.is_spoiled:
            session.player.proven.add(factor)
            session.used_up = True
            self.used.append((session.player, factor, code))
            self._opened(session.player, answer)

    def _code(self, session: Begun, how: str) -> tuple[Factor, str] | None:
        """Picks a factor and a code to send; None if no such code exists."""
        account = session.player.account
        if how == "mailed":
            return None if session.code is None else ("EMAIL", session.code)
        if session.wrong >= MOST_WRONG and how != "right":
            return None
        if how == "used":
            return next(
                ((used, code) for player, used, code in reversed(self.used) if player is session.player), None
            )
        if how == "wrong" and (session.can("OTP") or session.code is not None):
            factor: Factor = "OTP" if session.can("OTP") else "EMAIL"
            return factor, account.wrong_code(factor)
        if how == "other" and session.can("EMAIL") and session.can("OTP"):
            return "EMAIL", account.code("OTP")
        return ("OTP", account.code("OTP")) if how == "right" and session.can("OTP") else None

    def _is_used_up(self, session: Begun, answer: Exchange) -> None:
        self.trial.verify("LOGIN-031", is_refused(answer, session.answer))
        if session.is_young(answer) and not answer.success:
            self.trial.verify("LOGIN-032", is_error(answer, NO_SESSION, session.answer))

    def _is_completed(self, session: Begun, answer: Exchange, *, factor: Factor) -> None:
        if answer.code == WRONG_CODE and factor not in session.player.proven:
            reason = f"{session.player.account}: its {factor} codes are refused ({refusal_text(answer)})"
            raise Untestable(reason, "credentials")
        unless_by_own_rule(answer)
        if session.is_young(answer):
            id = "LOGIN-030" if session.wrong else COMPLETES[factor]
            self.trial.verify(id, is_success(answer, session.answer))
        elif session.lives(answer):
            self.trial.verify("LOGIN-034", self._is_known(session, answer))

    def _is_not_completed(self, session: Begun, answer: Exchange, how: str, *, factor: Factor) -> None:
        session.wrong += 1
        if how == "used":
            if factor == "EMAIL":
                self.trial.verify("LOGIN-061", is_refused(answer, session.answer))
        elif how == "other":
            self.trial.verify("LOGIN-059", is_refused(answer, session.answer))
        elif may_be_own_rule(answer):
            return
        elif answer.success or (session.is_young(answer) and session.wrong == 1):
            self.trial.verify("LOGIN-029", is_error(answer, WRONG_CODE, session.answer))
        elif session.is_young(answer):
            self.trial.verify("LOGIN-030", self._is_known(session, answer))
        elif session.lives(answer) and session.wrong == 1:
            self.trial.verify("LOGIN-034", self._is_known(session, answer))

    def _is_known(self, session: Begun, answer: Exchange) -> Comparison:
        """The portal still knows the login session, whatever it says of the code."""
        return holds(answer, "code", answer.code != NO_SESSION, f"no {NO_SESSION}", session.answer)

    # --- tokens

    @move(lambda self: bool(self.pairs), which=WHICH, after=AT_LAST)
    def use(self, which: int, after: float) -> None:
        """Opens the profile by the access token. By the refresh token it does not open."""
        self._wait(after)
        pair = newest(self.pairs, which)
        if pair.refresh is not None and pair.refresh != pair.access:
            stranger = profile_by(self.portal, pair.refresh)
            self.trial.verify("TOKEN-022", is_refused(stranger, pair.answer))
        answer = profile_by(self.portal, pair.access)
        if pair.access_lives is False:
            if answer.time > pair.left + HEARD_OF:
                self.trial.verify("TOKEN-011", is_refused(answer, pair.answer))
        elif pair.is_over(answer, leeway=LEEWAY_SECONDS):
            self.trial.verify("AUTHN-011", is_refused(answer, pair.answer))
        elif pair.access_lives and pair.is_young(answer):
            id = "TOKEN-014" if pair.is_refreshed else "TOKEN-013"
            self.trial.verify(id, is_success(answer, pair.answer))
        if answer.success and pair.access_lives is not False:
            pair.is_seen = pair.access_lives = True

    def refreshable(self) -> list[Pair]:
        return [pair for pair in self.pairs if pair.refresh]

    @move(refreshable, which=WHICH, after=AT_LAST)
    def refresh(self, which: int, after: float) -> None:
        self._wait(after)
        pair = newest(self.refreshable(), which)
        answer = judged(self.portal.login.refresh(pair.refresh), NO_SESSION)
        late = pair.is_over(answer) and ended(answer) < pair.answer.time + pair.lifetime + SURELY
        if pair.refresh_lives is False:
            if answer.time <= pair.left + HEARD_OF:
                return
            self.trial.verify("TOKEN-012", is_refused(answer, pair.answer))
        elif pair.refresh_lives and pair.is_young(answer):
            self.trial.verify("TOKEN-010", is_success(answer, pair.answer))
        elif pair.refresh_lives and late:
            self.trial.verify("AUTHN-012", is_success(answer, pair.answer))
        if not answer.success and pair.refresh_lives is not True:
            # A token that was used before may be taken for stolen, and end all that came of it.
            self._doubt(pair.player)
        if answer.success and not self.trial.is_spoiled:
            pair.doubt()
            self.pairs.append(self._issued(pair.player, answer, is_refreshed=True))

    def leavable(self) -> list[Pair]:
        able = self.portal.impact == "disruptive"
        return [pair for pair in self.pairs if pair.access_lives and able]

    @move(leavable, which=WHICH)
    def logout(self, which: int) -> None:
        pair = newest(self.leavable(), which)
        answer = answered(self.portal.login.logout(pair.access))
        if pair.is_seen and pair.is_young(answer):
            self.trial.verify("TOKEN-012", is_success(answer, pair.answer))
        if not answer.success:
            return
        self.pairs.remove(pair)
        self.pairs.append(pair)
        pair.player.room += 1
        could_refresh = pair.refresh_lives
        # Whether logout ends the account's other sessions is open.
        self._doubt(pair.player)
        pair.access_lives, pair.left = False, ended(answer)
        pair.refresh_lives = False if could_refresh else None

    def listable(self) -> list[Pair]:
        return [pair for pair in self.pairs if pair.access_lives is not False]

    @move(listable, which=WHICH)
    def list_the_sessions(self, which: int) -> None:
        self._list(newest(self.listable(), which))

    def _list(self, pair: Pair) -> None:
        listing = settled(
            self.portal,
            lambda: answered(self.portal.call(op.SESSIONS, token=pair.access)),
            lambda one: not one.success or all(self._is_listed(other, one) for other in self._others(pair)),
        )
        if not listing.success or not isinstance(listing.data, list):
            return
        pair.is_seen = pair.access_lives = True
        own = [
            session
            for session in listing.data
            if isinstance(session, dict) and session.get("isCurrent") is True
        ]
        if len(own) == 1 and isinstance(own[0].get("sessionId"), str):
            pair.session_id = own[0]["sessionId"]
        for other in self._others(pair):
            self._is_listed_rightly(other, listing)

    def _others(self, pair: Pair) -> list[Pair]:
        """The pairs of the account's other sessions, as far as these are known."""
        known = [one for one in self.pairs if one.player is pair.player and one.session_id is not None]
        return [one for one in known if one.session_id != pair.session_id]

    def _is_listed(self, pair: Pair, listing: Exchange) -> bool:
        """Whether a listing shows a session that lives, and none that has ended."""
        return pair.access_lives is None or (pair.session_id in ids(listing)) == pair.access_lives

    def _is_listed_rightly(self, pair: Pair, listing: Exchange) -> None:
        listed = ids(listing)
        is_listed = pair.session_id in listed
        if pair.access_lives is False:
            id, ok, expected = "SESSION-031", not is_listed, f"no session {pair.session_id}, which logged out"
        elif pair.access_lives and pair.is_young(listing):
            id, ok, expected = "SESSION-021", is_listed, f"session {pair.session_id}"
        else:
            return
        self.trial.verify(id, holds(listing, "data", ok, expected, pair.answer, actual=listed))

    # --- what the moves are made of

    def _wait(self, seconds: float) -> None:
        if seconds:
            self.portal.clock.wait(seconds, "what a state machine has set going")

    def _opened(self, player: Player, answer: Exchange) -> None:
        """Notes a new session; beyond the limit of sessions, all others of the player become uncertain."""
        player.room -= 1
        if player.room < 0:
            self._doubt(player)
        self.pairs.append(self._issued(player, answer, is_refreshed=False))
        self._list(self.pairs[-1])

    def _doubt(self, player: Player) -> None:
        for pair in self.pairs:
            if pair.player is player:
                pair.doubt()

    def _issued(self, player: Player, answer: Exchange, *, is_refreshed: bool) -> Pair:
        access = text(answer, "data.accessToken")
        lifetime = seconds_at(answer, "data.expiresIn", LIMITS.access_token)
        issued = Pair(
            player, answer, access, text_at(answer, "data.refreshToken"), lifetime, is_refreshed=is_refreshed
        )
        if any(pair.access == access for pair in self.pairs):
            issued.access_lives = None
        return issued


@mark.requirement(
    "LOGIN-020", "LOGIN-022", "LOGIN-025", "LOGIN-026", "LOGIN-027", "LOGIN-028", "LOGIN-029", "LOGIN-030",
    "LOGIN-031", "LOGIN-032", "LOGIN-033", "LOGIN-034", "LOGIN-059", "LOGIN-061", "LOGIN-064",
    "TOKEN-010", "TOKEN-011", "TOKEN-012", "TOKEN-013", "TOKEN-014", "TOKEN-021", "TOKEN-022",
    "AUTHN-011", "AUTHN-012", "SESSION-021", "SESSION-031",
)  # fmt: skip
@mark.needs("clock")
@mark.sign_ins(48)
def test_a_sign_in_follows_the_stated_moves_in_any_order(portal: Portal, search: Search) -> None:
    players = able(portal)

    search.through(lambda trial: SigningIn(trial, portal, players))


def able(portal: Portal) -> list[Player]:
    """Those accounts that may be signed out without harm to others; else the one that all use.

    Raises Untestable where none can be signed in."""
    players: list[Player] = []
    for name in ("limited", "spare", "admin"):
        if portal.has_account(name) and not (players and name == "admin"):
            try:
                players.append(player(portal, portal.account(name)))
            except Untestable as reason:
                refused = reason
    if not players:
        raise refused
    return players
