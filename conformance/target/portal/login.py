"""The sign-in sequence, without I/O, and the calls it is made of (chapter "Authentication", 3 to 6)."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from conformance.errors import CannotSignIn, FaultClass
from conformance.spec.endpoints import LOGIN_COMPLETE, LOGIN_INITIATE, LOGIN_MFA_SEND, LOGOUT, TOKEN_REFRESH
from conformance.spec.tables import MFA_METHODS
from conformance.target.clock import LONGEST_WAIT, as_seconds
from conformance.target.portal.budget import retry_after
from conformance.target.portal.sign_ins.session import LeftSessions
from conformance.target.profile.tables import Factor
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.values import is_integer
from conformance.verdicts.comparisons import is_cooldown

if TYPE_CHECKING:
    from conformance.target.portal import Portal
    from conformance.target.portal.accounts import ProfileAccount


CODE_INVALID = "AUTH.MFA_CODE_INVALID"

METHODS = MFA_METHODS
"""The values of ``method`` on the wire."""


@dataclass(frozen=True)
class Call:
    """To be sent; the Exchange is wanted back."""

    key: str
    body: Json


@dataclass(frozen=True)
class Ask:
    """A code is wanted back: of the authenticator, or the one mailed after the last send; after the refusal
    of a mailed one a later one, or None where there is none."""

    factor: Factor
    refused: str | None = None


@dataclass(frozen=True)
class Wait:
    """Time must pass; nothing is wanted back."""

    seconds: float
    why: str


Step = Call | Ask | Wait

CODES_TRIED: Mapping[Factor, int] = {"EMAIL": 3, "OTP": 3}
"""How many codes one sign-in tries: an authenticator's current one may have been used elsewhere, a clock be
off, or the mail of an earlier send come late. Three refusals stay below a usual lock-out."""

Answer = Exchange | str | None


@dataclass(frozen=True)
class Tokens:
    """A token pair and the answers that gave it. ``expires_in`` as on the wire, None if no number."""

    access: str
    refresh: str | None
    expires_in: float | None
    factor: Factor
    initiated: Exchange
    completed: Exchange


class SignInRefused(Exception):
    """A step of the sequence was refused, or its answer lacks what the next one needs. ``factor`` is that of
    the code that was refused."""

    def __init__(self, step: str, exchange: Exchange, factor: Factor | None = None) -> None:
        super().__init__(f"login/{step} was refused ({refusal(exchange)})")
        self.step = step
        self.exchange = exchange
        self.factor = factor


def sign_in(
    email: str, password: str, *, factors: Sequence[Factor], cooldown: float = 60.0
) -> Generator[Step, Answer, Tokens]:
    """The sequence as steps to take: send each Call, answer each Ask, pass each Wait; Tokens at the end.

    ``factors`` are what the account can do, the preferred one first. Raises SignInRefused.
    """
    initiated = yield Call(LOGIN_INITIATE, {"email": email, "password": password})
    assert isinstance(initiated, Exchange)
    session = text_at(initiated, "data.sessionId")
    if session is None:
        raise SignInRefused("initiate", initiated)
    factor = chosen_factor(initiated, factors)
    if factor == "EMAIL":
        yield from _send(session, cooldown)
    refused, code = initiated, None
    for _ in range(CODES_TRIED[factor]):
        answer = yield Ask(factor, code)
        if not isinstance(answer, str):
            break
        code = answer
        completed = yield Call(
            LOGIN_COMPLETE, {"sessionId": session, "method": METHODS[factor], "code": code}
        )
        assert isinstance(completed, Exchange)
        access = text_at(completed, "data.accessToken")
        if access is not None:
            return Tokens(
                access,
                text_at(completed, "data.refreshToken"),
                expires_in(completed),
                factor,
                initiated,
                completed,
            )
        refused = completed
        if completed.code != CODE_INVALID:
            break
    raise SignInRefused("complete", refused, factor if refused.code == CODE_INVALID else None)


def _send(session: str, cooldown: float) -> Generator[Step, Answer, None]:
    """Sends a code, and retries. A cooldown counted per account may run since the previous sign-in: one retry
    follows it. Retry-After may belong to another refusal and be shorter: one retry follows the whole
    cooldown."""
    call = Call(LOGIN_MFA_SEND, {"sessionId": session, "method": METHODS["EMAIL"]})
    sent = yield call
    assert isinstance(sent, Exchange)
    asked = retry_after(sent)
    first = cooldown if asked is None else min(asked, LONGEST_WAIT)
    for seconds in (first, cooldown - first):
        if is_cooldown(sent) and seconds > 0:
            yield Wait(seconds, "the resend cooldown")
            sent = yield call
            assert isinstance(sent, Exchange)
    if not sent.success:
        raise SignInRefused("mfa/send", sent)


def chosen_factor(initiated: Exchange, factors: Sequence[Factor]) -> Factor:
    """The preferred factor of those that the answer offers. Raises CannotSignIn: the account has none.

    Where none of the account's factors is offered, the preferred one: the list may be what is wrong.
    """
    if not factors:
        raise CannotSignIn("the account has neither an otp_secret nor an inbox", "configuration")
    offered = offered_factors(initiated)
    return next((factor for factor in factors if factor in offered), factors[0])


def offered_factors(initiated: Exchange) -> tuple[str, ...]:
    """The codes in ``mfaMethods``, by code or by value."""
    methods = initiated.at("data.mfaMethods")
    names: dict[Json, str] = {value: name for name, value in METHODS.items()}
    items = [item for item in methods if isinstance(item, dict)] if isinstance(methods, list) else []
    return tuple(
        item["code"] if isinstance(item.get("code"), str) else names.get(item.get("value"), "")
        for item in items
    )


def text_at(exchange: Exchange, path: str) -> str | None:
    """A text in a successful answer; None where it is missing, empty or something else."""
    value = exchange.at(path) if exchange.success else None
    return value if isinstance(value, str) and value else None


def expires_in(exchange: Exchange) -> float | None:
    return as_seconds(exchange.at("data.expiresIn"))


def refusal(exchange: Exchange) -> str:
    """What an answer says, short: status, code and message."""
    parts = [f"HTTP {exchange.status}" if exchange.status else exchange.error or "no answer"]
    if exchange.envelope is not None:
        message = exchange.envelope.get("message")
        parts += [part for part in (exchange.code, message if isinstance(message, str) else None) if part]
    return ", ".join(dict.fromkeys(part.removesuffix(".") for part in parts))


def blame(refused: SignInRefused) -> FaultClass:
    if refused.exchange.status is None:
        return "environment"
    return "target" if refused.exchange.status >= 500 or refused.exchange.success else "credentials"


@dataclass(frozen=True)
class Begun:
    """A started login session: account and client hash."""

    email: str
    client_hash: str | None
    account: str = ""


MAILED_BEFORE = "the resend cooldown of a code that was mailed shortly before this run, as `doctor` does"


class Login:
    """The single calls, for cases. A session's client hash is kept through its steps."""

    def __init__(self, portal: Portal) -> None:
        self._portal = portal
        self._begun: dict[str, Begun] = {}
        self._sent: dict[str, dict[str, float]] = {}
        self._newest: dict[str, str] = {}
        self.left = LeftSessions(portal.clock)
        self.cooldown = 60.0
        self._is_cooldown_of_session = False
        self.logged_out: dict[str, int] = {}
        """By account how many sessions a logout ended at once by the portal's count, where it was several."""

    def initiate(
        self,
        account: ProfileAccount | str,
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
        portal = self._portal
        email = account if isinstance(account, str) else account.email
        owner = portal.account_of(email)
        if password is None:
            password = portal.wrong_password() if isinstance(account, str) else account.usable_password()
        if owner is not None and password != owner.password:
            portal.budget.failed_sign_in(owner.email)
        exchange = portal.call(
            LOGIN_INITIATE,
            json={"email": email, "password": password},
            client_hash=client_hash,
            client=owner.name if owner else "",
            within_budget=within_budget,
        )
        self.remember(exchange, email, client_hash)
        if owner is not None and password == owner.password:
            owner.was_answered(exchange)
        return exchange

    def send(
        self, session: Exchange | str, method: int | str = "EMAIL", *, client_hash: str | None = None
    ) -> Exchange:
        """Has a code delivered. What is in the inbox before is remembered: no old code is taken."""
        id = session_id(session)
        begun = self._begun.get(id)
        owner = self._portal.account_of(begun.email) if begun else None
        if owner is not None and method in ("EMAIL", METHODS["EMAIL"]):
            owner.mark_inbox()
        exchange = self._step(
            LOGIN_MFA_SEND, {"sessionId": id, "method": METHODS.get(str(method), method)}, client_hash
        )
        if exchange.success and begun is not None:
            self._is_cooldown_of_session |= self._runs_elsewhere(session, exchange.time)
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

        self._portal.budget.code(begun.email)
        exchange = self._step(LOGIN_COMPLETE, body, client_hash)
        if exchange.success or exchange.code == CODE_INVALID:
            self._portal.budget.code_was(begun.email, right=exchange.success)
            account = self._portal.account_of(begun.email)
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

    def _runs_elsewhere(self, session: Exchange | str, moment: float) -> bool:
        elsewhere = self.sent_elsewhere(session)
        return elsewhere is not None and moment < elsewhere + self.cooldown

    def refresh(self, refresh_token: Json, *, client: str = "") -> Exchange:
        exchange = self._portal.call(TOKEN_REFRESH, json={"refreshToken": refresh_token}, client=client)
        self._remember_token(exchange, client, None)
        return exchange

    def _remember_token(self, exchange: Exchange, account: str, client_hash: str | None) -> None:
        access, seconds = text_at(exchange, "data.accessToken"), expires_in(exchange)
        self._portal.calls.remember_token(access, account, client_hash, seconds)

    def logout(self, token: str) -> Exchange:
        """Ends the session of a token; a portal may end all of its account by it."""
        answer = self._portal.call(LOGOUT, token=token)
        number = answer.at("data.terminatedSessions")
        if answer.success and is_integer(number) and number > 1:
            self.logged_out[answer.client] = max(number, self.logged_out.get(answer.client, 0))
        return answer

    def remember(self, initiated: Exchange, email: str, client_hash: str | None) -> None:
        id = text_at(initiated, "data.sessionId")
        owner = self._portal.account_of(email)
        if id is not None:
            self._begun[id] = Begun(email, client_hash, owner.name if owner else "")
            self._newest[email.lower()] = id

    def is_newest(self, session: Exchange | str) -> bool:
        """Whether no other login session of its account was begun since: whether one ends those before is not
        stated."""
        id = session_id(session)
        begun = self._begun.get(id)
        return begun is None or self._newest.get(begun.email.lower()) == id

    def _step(self, key: str, body: Json, client_hash: str | None) -> Exchange:
        begun = self._begun.get(str(body["sessionId"]))
        if begun is not None and client_hash is None:
            client_hash = begun.client_hash
        return self._portal.call(
            key, json=body, client_hash=client_hash, client=begun.account if begun else ""
        )


def session_id(session: Exchange | str) -> str:
    """The id of a login session. Raises CannotSignIn where the answer that should have it does not."""
    if isinstance(session, str):
        return session
    id = text_at(session, "data.sessionId")
    if id is None:
        raise CannotSignIn(f"no login session was opened: {refusal(session)}", "target")
    return id
