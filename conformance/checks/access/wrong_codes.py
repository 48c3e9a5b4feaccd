"""What a wrong code leaves of a login session (chapter "Moves that are stated")."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.checks.records import sent_fields
from conformance.checks.registry import Memory, answers, check, key_of
from conformance.spec import endpoints as op
from conformance.spec.tables import COOLDOWN, LIMITS, NO_SESSION, WRONG_CODE
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.values import is_integer
from conformance.verdicts.comparisons import holds
from conformance.verdicts.findings import HELD, Comparison

MAY_END_SIGN_INS = (
    op.PASSWORD_CHANGE,
    op.PASSWORD_RESET,
    op.PASSWORD_INIT,
    op.SESSIONS_TERMINATE_ALL,
    op.ACCOUNT_STATUS,
)
"""What may end login sessions as well: their effects are not shown (N1, N5)."""

EXPECTED = "a code by which the login session still exists"


@check(
    "LOGIN-090",
    on=answers(op.LOGIN_INITIATE, op.LOGIN_MFA_SEND, op.LOGIN_COMPLETE, *MAY_END_SIGN_INS),
    remembers=True,
)
def a_code_can_be_sent_after_a_wrong_one(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """While the login session lasts, and where no other of the account was begun after it."""
    key = key_of(exchange)
    if key == op.LOGIN_INITIATE:
        _begun(exchange, memory)
    elif key == op.LOGIN_COMPLETE:
        _tried(exchange, memory)
    elif key == op.LOGIN_MFA_SEND:
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
    memory[session] = {
        "account": account,
        "ends": exchange.time + seconds,
        "tried": False,
        "wrong": 0,
        "last": exchange.n,
        "client": exchange.request.header("x-client-hash"),
    }


def _tried(exchange: Exchange, memory: Memory) -> None:
    session = sent_fields(exchange).get("sessionId")
    if not isinstance(session, str) or session not in memory:
        return
    if exchange.success:
        del memory[session]
    elif exchange.code == WRONG_CODE:
        login = memory[session]
        memory[session] = login | {"tried": True, "wrong": login["wrong"] + 1, "last": exchange.n}


MARGIN_SECONDS = 5.0
"""Seconds before its end in which a login session may be gone by another clock."""


def _attempts_rule(requirement: str, wrong: range) -> None:
    """``wrong``: how many wrong codes were sent before. The session counts as ended by the last of them where
    nothing else was sent in between: a completion whose answer was lost would have used it up."""

    @check(requirement, on=answers(op.LOGIN_INITIATE, op.LOGIN_COMPLETE, *MAY_END_SIGN_INS), remembers=True)
    def wrong_codes_leave_the_session(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
        key = key_of(exchange)
        if key == op.LOGIN_INITIATE:
            _begun(exchange, memory)
        elif key == op.LOGIN_COMPLETE:
            login = memory.get(str(sent_fields(exchange).get("sessionId")))
            if login is not None and login["wrong"] in wrong:
                yield from _still_valid(exchange, login, memory)
            _tried(exchange, memory)
        elif exchange.success:
            memory.clear()


def _still_valid(exchange: Exchange, login: Json, memory: Memory) -> Iterator[Comparison]:
    """Judges "no session" only for the client hash of the sign-in, which all its steps must share."""
    if exchange.success:
        yield HELD
        return
    session = sent_fields(exchange)["sessionId"]
    is_of_the_client = exchange.request.header("x-client-hash") == login["client"]
    is_newest = memory.get(login["account"]) == session
    ended = exchange.time + exchange.elapsed_ms / 1000
    in_time = ended < login["ends"] - MARGIN_SECONDS and exchange.n == login["last"] + 1
    if exchange.code == NO_SESSION and is_of_the_client and is_newest and in_time:
        count = login["wrong"]
        message = f"after {count} wrong code{'s' if count > 1 else ''} the login session is unknown"
        yield holds(exchange, "code", False, EXPECTED, message=message)


_attempts_rule("LOGIN-030", range(1, 2))
_attempts_rule("LOGIN-080", range(2, 1000))


def _sent(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    session = sent_fields(exchange).get("sessionId")
    login = memory.get(session) if isinstance(session, str) else None
    if login is None or not login["tried"]:
        return
    is_gone = exchange.code == NO_SESSION or exchange.status == 404
    if is_gone and memory.get(login["account"]) != session:
        return
    is_told = is_gone or exchange.success or exchange.code == COOLDOWN
    if is_told and exchange.time + exchange.elapsed_ms / 1000 < login["ends"]:
        message = "after a wrong code the login session is unknown to MFA send"
        yield holds(exchange, "code", not is_gone, EXPECTED, message=message)
