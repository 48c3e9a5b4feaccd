"""Whose tokens are whose: authenticators at sign-in, and refreshes after a logout (chapter "Authentication").

Whose token a request has is known where the whole sign-in was seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from conformance.checks.access.changed import SOON_SECONDS
from conformance.checks.access.sign_in import HEARD_OF
from conformance.checks.envelope import is_mask
from conformance.checks.model.places import viewer_of
from conformance.checks.records import records, sent_fields
from conformance.checks.registry import Memory, answers, check, key_of
from conformance.spec import endpoints as op
from conformance.spec.tables import MFA_METHODS
from conformance.traffic.exchange import Exchange, Json
from conformance.verdicts.comparisons import contradicts, holds, is_granted, is_refused
from conformance.verdicts.findings import HELD, Comparison


class Factors(NamedTuple):
    """What is known of an account's authenticator: whether it was shown as not enabled before it was set up,
    when it was, and the sign-in that offered it since."""

    is_off: bool = False
    set_up: float | None = None
    offered: Exchange | None = None


STEPS = (op.LOGIN_INITIATE, op.LOGIN_COMPLETE, op.TOKEN_REFRESH)


@check(
    "MFA-015",
    on=answers(*STEPS, op.MFA, op.OTP_SETUP, op.OTP_VERIFY, op.OTP_REVOKE).at_its_moment(),
    remembers=True,
    compares=True,
)
def what_is_not_verified_is_not_offered(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """Contradicted where it is shown as not enabled before and after it is offered: whoever enabled it in
    between, or a part of the portal that lags behind, would show it once."""
    key, host = key_of(exchange), exchange.request.parts.netloc
    if key == op.LOGIN_INITIATE:
        yield from _offered(exchange, memory)
    elif key in STEPS:
        _signed_in(exchange, memory)
    elif (email := memory.get(f"{host} token {exchange.request.bearer}")) is not None:
        account = f"{host} account {email}"
        factors: Factors = memory.get(account, Factors())
        if key == op.MFA and exchange.success:
            is_off = _is_off(exchange)
            if factors.offered is not None and is_off:
                message = f"it was set up and not verified, and exchange {exchange.n} shows it as not enabled"
                yield contradicts(factors.offered, "data.mfaMethods", "no authenticator", "OTP", message)
            memory[account] = Factors(is_off, factors.set_up if is_off else None)
        elif key == op.OTP_SETUP and is_granted(exchange) and factors.is_off:
            memory[account] = Factors(is_off=True, set_up=exchange.time)
        elif key == op.OTP_REVOKE or (key == op.OTP_VERIFY and not _is_client_error(exchange)):
            memory.pop(account, None)
            memory[f"{host} revoked {email}"] = exchange.time


def _is_client_error(exchange: Exchange) -> bool:
    status = exchange.status
    return status is not None and 400 <= status < 500 and not exchange.success


def _offered(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """Notes whose sign-in it is, and whether the authenticator is offered: not where one was revoked just
    before."""
    email, host = _whose_sign_in(exchange, memory), exchange.request.parts.netloc
    account = f"{host} account {email}"
    factors: Factors = memory.get(account, Factors())
    was_revoked = exchange.time < memory.get(f"{host} revoked {email}", 0.0) + HEARD_OF
    if (
        email is None
        or factors.set_up is None
        or exchange.time > factors.set_up + SOON_SECONDS
        or was_revoked
    ):
        return
    codes = _offered_codes(exchange)
    if "OTP" in codes:
        memory[account] = factors._replace(offered=factors.offered or exchange)
    elif codes:
        yield HELD


def _offered_codes(exchange: Exchange) -> list[Json]:
    return [entry["code"] for name, entry in exchange.coded if name == "mfaMethods"]


def _whose_sign_in(exchange: Exchange, memory: Memory) -> str | None:
    """The address that begins to sign in, noted by its login session."""
    email, session = sent_fields(exchange).get("email"), exchange.at("data.sessionId")
    if not exchange.success or not isinstance(email, str) or not isinstance(session, str) or is_mask(email):
        return None
    memory[f"{exchange.request.parts.netloc} session {session}"] = email.casefold()
    return email.casefold()


def _signed_in(exchange: Exchange, memory: Memory) -> None:
    """Notes whose tokens are issued, by the login session or the refresh token that was sent."""
    host, sent = exchange.request.parts.netloc, sent_fields(exchange)
    name = "session" if key_of(exchange) == op.LOGIN_COMPLETE else "refresh token"
    email = memory.get(f"{host} {name} {sent.get('sessionId' if name == 'session' else 'refreshToken')}")
    for kind, path in (("token", "data.accessToken"), ("refresh token", "data.refreshToken")):
        token = exchange.at(path)
        if exchange.success and isinstance(token, str) and email is not None:
            memory[f"{host} {kind} {token}"] = email


def _is_off(exchange: Exchange) -> bool:
    """Whether the authenticator is shown, and shown as not enabled."""
    settings = [setting for _, setting in records(exchange) if _is_authenticator(setting.get("mfaMethod"))]
    return len(settings) == 1 and settings[0].get("isEnabled") is False


def _is_authenticator(method: Json) -> bool:
    return isinstance(method, dict) and method.get("value") == MFA_METHODS["OTP"]


@check(
    "MFA-012",
    on=answers(*STEPS, op.OTP_SETUP, op.OTP_VERIFY, op.OTP_REVOKE).at_its_moment(),
    remembers=True,
    compares=True,
)
def what_was_revoked_is_not_offered(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """Once the change has had its time, and where no other is set up since."""
    key, host = key_of(exchange), exchange.request.parts.netloc
    if key == op.LOGIN_INITIATE:
        email = _whose_sign_in(exchange, memory)
        revoked = memory.get(f"{host} revoked {email}", 0.0)
        codes = _offered_codes(exchange)
        if not codes or exchange.time > revoked + SOON_SECONDS:
            return
        if "OTP" not in codes or exchange.time > revoked + HEARD_OF:
            message = "an authenticator that was revoked is offered"
            yield holds(exchange, "data.mfaMethods", "OTP" not in codes, "no authenticator", message=message)
    elif key in STEPS:
        _signed_in(exchange, memory)
    elif (email := memory.get(f"{host} token {exchange.request.bearer}")) is not None:
        memory.pop(f"{host} revoked {email}", None)
        if key == op.OTP_REVOKE and is_granted(exchange):
            memory[f"{host} revoked {email}"] = exchange.time


@check("TOKEN-012", on=answers(*STEPS[1:], op.LOGOUT).at_its_moment(), remembers=True)
def no_refresh_after_the_logout(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """Of the token pair that logged out, once every part of a portal has heard of it."""
    host, key = exchange.request.parts.netloc, key_of(exchange)
    if key == op.LOGOUT:
        if is_granted(exchange) and viewer_of(exchange) is not None:
            memory[f"{host} ended {exchange.request.bearer}"] = exchange.time + exchange.elapsed_ms / 1000
        return
    if key == op.TOKEN_REFRESH:
        access = memory.get(f"{host} pair {sent_fields(exchange).get('refreshToken')}")
        ended = memory.get(f"{host} ended {access}") if access is not None else None
        if ended is not None:
            if is_granted(exchange) and exchange.time > ended + HEARD_OF:
                yield is_refused(exchange, message="a refresh token was accepted after the logout")
            elif exchange.status in (400, 401, 404) and not exchange.success:
                yield HELD
    access, refresh = exchange.at("data.accessToken"), exchange.at("data.refreshToken")
    if exchange.success and isinstance(access, str) and isinstance(refresh, str):
        memory.pop(f"{host} ended {access}", None)
        memory[f"{host} pair {refresh}"] = access
