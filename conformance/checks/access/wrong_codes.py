"""What a wrong code leaves of a login session (chapter "Moves that are stated")."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.checks.records import sent_fields
from conformance.checks.registry import Memory, answers, check
from conformance.spec.endpoints import (
    ACCOUNT_STATUS,
    LOGIN_COMPLETE,
    LOGIN_INITIATE,
    LOGIN_MFA_SEND,
    PASSWORD_CHANGE,
    PASSWORD_INIT,
    PASSWORD_RESET,
    SESSIONS_TERMINATE_ALL,
)
from conformance.spec.tables import COOLDOWN, LIMITS, NO_SESSION, WRONG_CODE
from conformance.traffic.exchange import Exchange
from conformance.traffic.values import is_integer
from conformance.verdicts.comparisons import holds
from conformance.verdicts.findings import Comparison

MAY_END_SIGN_INS = (PASSWORD_CHANGE, PASSWORD_RESET, PASSWORD_INIT, SESSIONS_TERMINATE_ALL, ACCOUNT_STATUS)
"""What may end login sessions as well: their effects are not shown (N1, N5)."""


@check(
    "LOGIN-090",
    on=answers(LOGIN_INITIATE, LOGIN_MFA_SEND, LOGIN_COMPLETE, *MAY_END_SIGN_INS),
    remembers=True,
)
def a_code_can_be_sent_after_a_wrong_one(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """While the login session lasts, and where no other of the account was begun after it."""
    operation = exchange.request.operation
    key = None if operation is None else operation.key
    if key == LOGIN_INITIATE:
        _begun(exchange, memory)
    elif key == LOGIN_COMPLETE:
        _tried(exchange, memory)
    elif key == LOGIN_MFA_SEND:
        yield from _sent(exchange, memory)
    elif exchange.success:
        memory.clear()


def _begun(exchange: Exchange, memory: Memory) -> None:
    session, email = exchange.at("data.sessionId"), sent_fields(exchange).get("email")
    if not (exchange.success and isinstance(session, str) and isinstance(email, str)):
        return
    account, lasts = f"the newest of {email.casefold()}", exchange.at("data.expiresIn")
    seconds = min(int(lasts), LIMITS.login_session) if is_integer(lasts) else LIMITS.login_session
    memory[account] = session
    memory[session] = {"account": account, "ends": exchange.time + seconds, "tried": False}


def _tried(exchange: Exchange, memory: Memory) -> None:
    session = sent_fields(exchange).get("sessionId")
    if not isinstance(session, str) or session not in memory:
        return
    if exchange.success:
        del memory[session]
    elif exchange.code == WRONG_CODE:
        memory[session] = memory[session] | {"tried": True}


def _sent(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    session = sent_fields(exchange).get("sessionId")
    login = memory.get(session) if isinstance(session, str) else None
    if login is None or not login["tried"] or memory.get(login["account"]) != session:
        return
    is_gone = exchange.code == NO_SESSION or exchange.status == 404
    is_told = is_gone or exchange.success or exchange.code == COOLDOWN
    if is_told and exchange.time + exchange.elapsed_ms / 1000 < login["ends"]:
        message = "after a wrong code the login session is unknown to MFA send"
        yield holds(exchange, "code", not is_gone, "the session to be known", message=message)
