"""The single calls of a sign-in, for cases and accounts, and what each login session remembers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Protocol

from conformance.errors import CannotSignIn
from conformance.spec.endpoints import LOGIN_COMPLETE, LOGIN_INITIATE, LOGIN_MFA_SEND, LOGOUT, TOKEN_REFRESH
from conformance.target.clock import LONGEST_WAIT, Clock
from conformance.target.portal.budget import Budget, retry_after
from conformance.target.portal.calls.caller import Caller, CallOptions
from conformance.target.portal.login import CODE_INVALID, METHODS, expires_in, lacking, text_at
from conformance.target.portal.sign_ins.session import LeftSessions
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.values import is_integer


class SignInAccount(Protocol):
    """The part of an account that its sign-ins need."""

    name: str
    email: str
    password: str

    def usable_password(self) -> str: ...

    def was_answered(self, initiated: Exchange) -> None: ...

    def code_was_answered(self, code: Json, completed: Exchange) -> None: ...

    def mark_inbox(self) -> object: ...


@dataclass(frozen=True)
class Begun:
    """A started login session: account and client hash."""

    email: str
    client_hash: str | None
    account: str = ""


MAILED_BEFORE = "the resend cooldown of a code that was mailed shortly before this run, as `doctor` does"


class Login:
    """The single calls, for cases. A session's client hash is kept through its steps."""

    def __init__(
        self,
        calls: Caller,
        clock: Clock,
        budget: Budget,
        account_of: Callable[[str], SignInAccount | None],
        wrong_password: Callable[[], str],
    ) -> None:
        self._calls = calls
        self._budget = budget
        self._account_of = account_of
        self._wrong_password = wrong_password
        self._begun: dict[str, Begun] = {}
        self._sent: dict[str, dict[str, float]] = {}
        self._newest: dict[str, str] = {}
        self.left = LeftSessions(clock)
        self.cooldown = 60.0
        self._is_cooldown_of_session = False
        self.logged_out: dict[str, int] = {}
        """By account how many sessions a logout ended at once by the portal's count, where it was several."""

    def initiate(
        self,
        account: SignInAccount | str,
        password: str | None = None,
        *,
        client_hash: str | None = None,
        within_budget: bool = True,
    ) -> Exchange:
        """Begins a sign-in. An email without a password gets one that is wrong for everybody.

        Raises CannotSignIn where the profile's own password is refused and has never signed in; OutOfBudget
        for one wrong password too many; RateLimited. ``within_budget`` False: at once, whatever the window
        holds.
        """
        email = account if isinstance(account, str) else account.email
        owner = self._account_of(email)
        if password is None:
            password = self._wrong_password() if isinstance(account, str) else account.usable_password()
        if owner is not None and password != owner.password:
            self._budget.failed_sign_in(owner.email)
        options = CallOptions(
            json={"email": email, "password": password},
            client_hash=client_hash,
            client=owner.name if owner else "",
            within_budget=within_budget,
        )
        exchange = self._calls.call(LOGIN_INITIATE, options)
        self.remember(exchange, email, client_hash)
        if owner is not None and password == owner.password:
            owner.was_answered(exchange)
        return exchange

    def send(self, session: Exchange | str, method: int | str = "EMAIL") -> Exchange:
        """Has a code delivered. What is in the inbox before is remembered: no old code is taken."""
        id = session_id(session)
        begun = self._begun.get(id)
        owner = self._account_of(begun.email) if begun else None
        if owner is not None and method in ("EMAIL", METHODS["EMAIL"]):
            owner.mark_inbox()
        body = {"sessionId": id, "method": METHODS.get(str(method), method)}
        exchange = self._step(LOGIN_MFA_SEND, body)
        if exchange.success and begun is not None:
            elsewhere = self.sent_elsewhere(session)
            runs_elsewhere = elsewhere is not None and exchange.time < elsewhere + self.cooldown
            self._is_cooldown_of_session |= runs_elsewhere
            self._sent.setdefault(begun.email.lower(), {})[id] = exchange.time + exchange.elapsed_ms / 1000
        cooldown = exchange.at("data.cooldownSeconds")
        if exchange.success and isinstance(cooldown, int) and 0 < cooldown < 3600:
            self.cooldown = float(cooldown)
        return exchange

    def complete(
        self, session: Exchange | str, *, method: int | str, code: Json, client_hash: str | None = None
    ) -> Exchange:
        """Ends a sign-in with a code. Raises OutOfBudget after too many in a row that were refused."""
        body = {"sessionId": session_id(session), "method": METHODS.get(str(method), method), "code": code}
        begun = self._begun.get(body["sessionId"])
        if begun is None:
            return self._step(LOGIN_COMPLETE, body, client_hash)

        self._budget.code(begun.email)
        exchange = self._step(LOGIN_COMPLETE, body, client_hash)
        if exchange.success or exchange.code == CODE_INVALID:
            self._budget.code_was(begun.email, right=exchange.success)
            account = self._account_of(begun.email)
            if account is not None:
                account.code_was_answered(code, exchange)
        self._remember_token(exchange, begun.account, begun.client_hash)
        return exchange

    def is_first_send(self, email: str) -> bool:
        """Whether this run has had no code sent for an account: a cooldown that runs began before the run."""
        return email.lower() not in self._sent

    def cooldown_before(self, session: Exchange | str, refused: Exchange) -> float | None:
        """The seconds that a cooldown still runs which began before this run, where one refused a send; None
        where this run may have begun it."""
        begun = self._begun.get(session_id(session))
        if begun is None or not self.is_first_send(begun.email):
            return None
        seconds = retry_after(refused)
        return self.cooldown if seconds is None else min(seconds, LONGEST_WAIT)

    def sent_elsewhere(self, session: Exchange | str) -> float | None:
        """When a code was last sent for another login session of the account (epoch seconds); None: never.
        A cooldown that is counted for the account began then."""
        id = session_id(session)
        begun = self._begun.get(id)
        sent = self._sent.get(begun.email.lower(), {}) if begun is not None else {}
        return max((moment for other, moment in sent.items() if other != id), default=None)

    def sends_from(self, email: str) -> float:
        """The moment (epoch seconds) from which no cooldown can refuse a code to an account: that of another
        login session counts, unless one was seen not to."""
        sent = self._sent.get(email.lower(), {})
        if self._is_cooldown_of_session or not sent:
            return -inf
        return max(sent.values()) + self.cooldown

    def refresh(self, refresh_token: Json, *, client: str = "") -> Exchange:
        body = {"refreshToken": refresh_token}
        exchange = self._calls.call(TOKEN_REFRESH, {"json": body, "client": client})
        self._remember_token(exchange, client, None)
        return exchange

    def _remember_token(self, exchange: Exchange, account: str, client_hash: str | None) -> None:
        access, seconds = text_at(exchange, "data.accessToken"), expires_in(exchange)
        self._calls.remember_token(access, account, client_hash, seconds)

    def logout(self, token: str) -> Exchange:
        """Ends the session of a token; a portal may end all of its account by it."""
        answer = self._calls.call(LOGOUT, {"token": token})
        number = answer.at("data.terminatedSessions")
        if answer.success and is_integer(number) and number > 1:
            self.logged_out[answer.client] = max(number, self.logged_out.get(answer.client, 0))
        return answer

    def remember(self, initiated: Exchange, email: str, client_hash: str | None) -> None:
        id = text_at(initiated, "data.sessionId")
        owner = self._account_of(email)
        if id is not None:
            self._begun[id] = Begun(email, client_hash, owner.name if owner else "")
            self._newest[email.lower()] = id

    def is_newest(self, session: Exchange | str) -> bool:
        """Whether no other login session of its account was begun since: whether one ends those before is not
        stated."""
        id = session_id(session)
        begun = self._begun.get(id)
        return begun is None or self._newest.get(begun.email.lower()) == id

    def _step(self, key: str, body: Json, client_hash: str | None = None) -> Exchange:
        begun = self._begun.get(str(body["sessionId"]))
        if begun is not None and client_hash is None:
            client_hash = begun.client_hash
        client = begun.account if begun else ""
        return self._calls.call(key, {"json": body, "client_hash": client_hash, "client": client})


def session_id(session: Exchange | str) -> str:
    """The id of a login session. Raises CannotSignIn where the answer that should have it does not."""
    if isinstance(session, str):
        return session
    id = text_at(session, "data.sessionId")
    if id is None:
        raise CannotSignIn(
            f"no login session was opened: login/initiate {lacking(session, 'sessionId')}", "target"
        )
    return id
