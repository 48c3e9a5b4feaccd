"""What the answers of a sign-in say (chapter "Authentication", 3 to 6)."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.errors import CannotSignIn, FaultClass
from conformance.spec.tables import MFA_METHODS
from conformance.target.clock import as_seconds
from conformance.target.profile.tables import Factor
from conformance.traffic.exchange import Exchange, Json
from conformance.verdicts.findings import shown

CODE_INVALID = "AUTH.MFA_CODE_INVALID"

METHODS = MFA_METHODS
"""The values of ``method`` on the wire."""


class SignInRefused(Exception):
    """A step of the sequence was refused, or its answer lacks what the next one needs. ``factor`` is that of
    the code that was refused."""

    def __init__(self, step: str, exchange: Exchange, factor: Factor | None = None) -> None:
        super().__init__(f"login/{step} {lacking(exchange, NEEDED.get(step, ''))}")
        self.step = step
        self.exchange = exchange
        self.factor = factor


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


NEEDED = {"initiate": "sessionId", "complete": "accessToken"}
"""The text that the next step needs of an answer."""


def lacking(exchange: Exchange, name: str) -> str:
    """Why an answer does not have a text in its data: it is a refusal, or has something else there."""
    if not exchange.success:
        return f"was refused ({refusal(exchange)})"
    return f"succeeded, and data.{name} is {shown(exchange.at(f'data.{name}'))} in place of a text"


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
