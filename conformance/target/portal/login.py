"""The sign-in sequence, without I/O (chapter "Authentication", 3 to 6)."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

from conformance.errors import CannotSignIn, FaultClass
from conformance.spec.endpoints import LOGIN_COMPLETE, LOGIN_INITIATE, LOGIN_MFA_SEND
from conformance.spec.tables import MFA_METHODS
from conformance.target.clock import LONGEST_WAIT, as_seconds
from conformance.target.portal.budget import retry_after
from conformance.target.profile.tables import Factor
from conformance.traffic.exchange import Exchange, Json
from conformance.verdicts.comparisons import is_cooldown

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
