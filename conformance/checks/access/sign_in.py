"""Login sessions and tokens (chapters "Login and token resources", "Moves that are stated", "Limits")."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Iterator
from math import ceil

from conformance.checks.envelope import MILLISECONDS
from conformance.checks.model.places import visit_of
from conformance.checks.records import sent_fields
from conformance.checks.registry import Memory, Predicate, answers, check, has, key_of, reading, successes
from conformance.spec import OPERATIONS, operation
from conformance.spec import endpoints as op
from conformance.spec.tables import LIMITS, MFA_METHODS
from conformance.traffic.capture.bodies import body_of
from conformance.traffic.exchange import ABSENT, Exchange, Json, dig
from conformance.traffic.hidden import CLAIMS
from conformance.traffic.values import is_integer, is_redacted, placed_texts
from conformance.verdicts.comparisons import equal, holds, is_cooldown, is_refused
from conformance.verdicts.findings import HELD, Comparison

OPERATION_OF_LOGOUT = operation(op.LOGOUT)
OPERATION_OF_SEND = operation(op.LOGIN_MFA_SEND)

PROTECTED = tuple(row.key for row in OPERATIONS if row.auth == "jwt")


EXACT = "LIMIT-016"


def _number_rule(
    requirement: str, key: str, path: str, value: int, *, meant: Predicate | None = None
) -> None:
    """One less is what is left of the stated number when the answer is written, cut to a whole one; and less
    by the seconds that the answer took, as where a mail was sent meanwhile."""
    answered = successes(key).where(has(path, is_integer))
    answered = answered if meant is None else answered.where(meant)

    @check(requirement, on=answered.at_its_moment())
    def the_number_is_the_stated_one(exchange: Exchange) -> Iterator[Comparison]:
        least = value - max(1, ceil(exchange.elapsed_ms / 1000))
        yield HELD if least <= exchange.at(path) <= value else equal(exchange, path, value)

    @check(EXACT, on=answered.where(lambda exchange: exchange.at(path) in (value - 1, value)))
    def the_number_is_not_one_less(exchange: Exchange) -> Iterator[Comparison]:
        yield equal(exchange, path, value)


def _by_mail(exchange: Exchange) -> bool:
    """Whether a mail was asked for: how a send for the authenticator is answered is open."""
    return bool(sent_fields(exchange).get("method") == MFA_METHODS["EMAIL"])


_number_rule("LIMIT-005", op.LOGIN_INITIATE, "data.expiresIn", LIMITS.login_session)
_number_rule("LIMIT-006", op.LOGIN_MFA_SEND, "data.codeExpiresIn", LIMITS.mfa_code, meant=_by_mail)
_number_rule("LIMIT-007", op.LOGIN_MFA_SEND, "data.cooldownSeconds", LIMITS.mfa_cooldown, meant=_by_mail)
_number_rule("LIMIT-008", op.LOGIN_COMPLETE, "data.expiresIn", LIMITS.access_token)
_number_rule("LIMIT-009", op.TOKEN_REFRESH, "data.expiresIn", LIMITS.access_token)


@check("LOGIN-021", on=successes(op.LOGIN_INITIATE).where(has("data.mfaMethods", list)))
def a_login_session_names_a_method(exchange: Exchange) -> Iterator[Comparison]:
    yield holds(exchange, "data.mfaMethods", bool(exchange.at("data.mfaMethods")), "at least one method")


@check("LOGIN-085", on=successes(op.LOGIN_INITIATE))
def no_method_is_named_twice(exchange: Exchange) -> Iterator[Comparison]:
    codes = [entry["code"] for name, entry in exchange.coded if name == "mfaMethods"]
    if codes:
        twice = len(codes) != len(set(codes))
        yield holds(exchange, "data.mfaMethods", not twice, "each method once", actual=codes)


@check("LOGIN-023", on=successes(op.LOGIN_MFA_SEND).where(_by_mail).where(has("data.sent", bool)))
def sent_is_true(exchange: Exchange) -> Iterator[Comparison]:
    yield equal(exchange, "data.sent", True)


def _session_asked(exchange: Exchange) -> str | None:
    session = sent_fields(exchange).get("sessionId")
    return session if isinstance(session, str) else None


def _begins_or_sends(exchange: Exchange) -> bool:
    return _by_mail(exchange) or (exchange.success and key_of(exchange) == op.LOGIN_INITIATE)


@check("LOGIN-025", on=answers(op.LOGIN_INITIATE, op.LOGIN_MFA_SEND).where(_begins_or_sends), remembers=True)
def a_send_during_the_cooldown_is_refused(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """Between two sends for one session less than the cooldown passed, on every clock that shows.

    A deployment that announces a shorter cooldown is held to that; the number itself is another check's. What
    is sent for a session that nobody was seen to begin is another rule's matter: there may be none.
    """
    is_begun = key_of(exchange) == op.LOGIN_INITIATE
    session = exchange.at("data.sessionId") if is_begun else _session_asked(exchange)
    if not isinstance(session, str):
        return
    if is_begun:
        memory[session] = {}
        return
    before = memory.get(session)
    if before is None:
        return
    if before and all(_passed(at, exchange) < before["cooldown"] - 1 for at in before["sent"]):
        yield is_refused(
            exchange, before["visit"].exchange(), message="a second code was sent during the cooldown"
        )
    if exchange.success and exchange.at("data.sent") is not False:
        announced = exchange.at("data.cooldownSeconds")
        shorter = is_integer(announced) and 0 < int(announced) < LIMITS.mfa_cooldown
        memory[session] = {
            "cooldown": int(announced) if shorter else LIMITS.mfa_cooldown,
            "sent": _clocks(exchange),
            "visit": visit_of(exchange),
        }


def _clocks(exchange: Exchange) -> list[tuple[str, float]]:
    """When an exchange took place, on each clock that it shows: the sender's, and the portal's timestamp."""
    stamp = exchange.at("timestamp")
    clocks = [("sender", exchange.time)]
    if is_integer(stamp) and int(stamp) in MILLISECONDS:
        clocks.append(("portal", int(stamp) / 1000))
    return clocks


def _passed(before: tuple[str, float], exchange: Exchange) -> float:
    """Seconds since a moment on its own clock; the answer's end counts, so that it is never too few."""
    clock, moment = before
    now = dict(_clocks(exchange)).get(clock, moment)
    return now + (exchange.elapsed_ms / 1000 if clock == "sender" else 0) - moment


@check("LOGIN-031", on=answers(op.LOGIN_COMPLETE), remembers=True)
def a_completed_session_is_used_up(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    session = _session_asked(exchange)
    if session is None:
        return
    if session in memory:
        message = "a used-up login session was completed again"
        yield is_refused(exchange, memory[session].exchange(), message=message)
    elif exchange.success:
        memory[session] = visit_of(exchange)


@check("LOGIN-072", on=answers(op.LOGIN_COMPLETE, op.LOGIN_MFA_SEND), remembers=True)
def no_code_is_sent_for_a_completed_session(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """An answer that reports no sent code contradicts nothing. A refusal for the cooldown tells nothing."""
    session = _session_asked(exchange)
    if session is None:
        return
    if exchange.request.operation is OPERATION_OF_SEND:
        if session in memory and not is_cooldown(exchange):
            sent = exchange.success and exchange.at("data.sent") is not False
            message = "a code was sent for a used-up login session"
            yield holds(exchange, "data.sent", not sent, False, memory[session].exchange(), message=message)
    elif exchange.success:
        memory[session] = visit_of(exchange)


@check("LOGIN-064", on=successes(op.LOGIN_INITIATE, op.LOGIN_COMPLETE).at_its_moment(), remembers=True)
def every_sign_in_has_a_session_of_its_own(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """While a session is pending, its own client may be given it again: nothing is said against that."""
    if key_of(exchange) == op.LOGIN_COMPLETE:
        if (used := _session_asked(exchange)) in memory:
            memory[str(used)] = None
        return
    session, sent = exchange.at("data.sessionId"), exchange.sent
    if isinstance(session, str) and isinstance(sent, dict):
        client = sent.get("email"), exchange.request.header("x-client-hash")
        is_its_own = session not in memory or memory[session] == client
        expected = "an id not returned before, but to the same client while its sign-in is pending"
        yield holds(exchange, "data.sessionId", is_its_own, expected)
        memory[session] = client


@check("LOGOUT-003", on=successes(op.LOGOUT, op.LOGIN_COMPLETE, op.TOKEN_REFRESH), remembers=True)
def logout_ends_at_least_one_session(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """Of a token that was issued: a portal may let anybody log out who has no session."""
    issued = exchange.at("data.accessToken")
    if isinstance(issued, str):
        memory[issued] = True
    ended = exchange.at("data.terminatedSessions")
    if is_integer(ended) and memory.pop(exchange.request.bearer or "", False):
        yield holds(exchange, "data.terminatedSessions", ended >= 1, "at least 1")


@check("LOGOUT-004", on=successes(op.LOGOUT).where(has("data.success", bool)))
def logout_says_success(exchange: Exchange) -> Iterator[Comparison]:
    yield equal(exchange, "data.success", True)


# Tokens on the wire.


def claims_of(token: Json) -> dict[str, Json] | None:
    """The payload of a JWT; None where a token is opaque."""
    if not isinstance(token, str) or token.count(".") != 2:
        return None
    return _object_in(token.split(".")[1])


def _header_of(token: str) -> dict[str, Json]:
    return _object_in(token.split(".")[0]) or {}


def _object_in(part: str) -> dict[str, Json] | None:
    """The JSON object that a part of a token encodes; None where it is none: bytes are no claims."""
    try:
        octets = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except (ValueError, binascii.Error):
        return None
    value, _ = body_of(octets)
    return value if isinstance(value, dict) and octets.lstrip().startswith(b"{") else None


def is_jwt(token: str) -> bool:
    """Whether a token is a JWT: signed in three parts, or encrypted in five, behind a header in JSON."""
    return token.count(".") in (2, 4) and bool(_header_of(token))


PROFILE_CLAIMS = frozenset(
    {"email", "accountEmail", "name", "accountName", "phone", "accountPhone"}
    | {"phone_number", "given_name", "family_name"}
)


OF_THE_ISSUER = frozenset({"iss", "aud", "azp", "client_id"})
"""Claims that name who issues a token and whom it is for, and never the account."""

SUBJECT = "sub"
"""The claim without which a token names nobody: that it may not be an address is implied only."""

ADDRESS = re.compile(r"[^@\s:/]+@[^@\s:/]+\.[^@\s:/]+")
"""An email address, and not an id with a realm behind it."""

OF_THE_TOKEN = frozenset({"jti", "sid", "session_state", "nonce", "at_hash"})
"""Claims that name the token or its session: with a node behind it, an id there looks like an address."""

INTERNAL = (
    *(".internal", ".local", ".localdomain", ".svc", ".lan", ".intranet", ".corp", ".home.arpa"),
    ".invalid",
)
"""Domains in which nobody has mail: what stands before them is the name of a machine's part."""


A_TOKEN = re.compile(r"[\w.~+/-]{16,}=*")
"""What is written as a token is (RFC 6750, 2.1), and too long for the words and signs by which tools take one
out of a recording."""


@check("TOKEN-025", on=successes(op.LOGIN_COMPLETE))
def the_access_token_is_a_jwt(exchange: Exchange) -> Iterator[Comparison]:
    """A recorder that hides the token may say of its claims that there are none."""
    token = exchange.at("data.accessToken")
    kinds = dig(exchange.hidden, [token, CLAIMS]) if is_redacted(token) and exchange.hidden else ABSENT
    is_token = isinstance(token, str) and A_TOKEN.fullmatch(token) and any(map(str.isdigit, token))
    if is_token or kinds is not ABSENT:
        held = is_jwt(token) if is_token else kinds is not None
        yield holds(exchange, "data.accessToken", held, "a JWT", actual="another form")


@check(
    "TOKEN-018",
    on=successes(op.LOGIN_COMPLETE, op.TOKEN_REFRESH).where(
        lambda exchange: claims_of(exchange.at("data.accessToken")) is not None
    ),
)
def the_access_token_is_minimal(exchange: Exchange) -> Iterator[Comparison]:
    """No claim is named as profile data is, unless it repeats the subject's id; none holds an address."""
    claims = claims_of(exchange.at("data.accessToken")) or {}
    telling = sorted(
        name
        for name, value in claims.items()
        if value
        and name not in OF_THE_ISSUER | OF_THE_TOKEN | {SUBJECT}
        and ((name in PROFILE_CLAIMS and value != claims.get(SUBJECT)) or _holds_an_address(value))
    )
    yield holds(
        exchange, "data.accessToken", not telling, "no claim with profile data", actual={"claims": telling}
    )


@check("TOKEN-024", on=successes(op.LOGIN_COMPLETE, op.TOKEN_REFRESH))
def the_subject_is_no_address(exchange: Exchange) -> Iterator[Comparison]:
    claims = claims_of(exchange.at("data.accessToken")) or {}
    if SUBJECT in claims:
        is_id = not _holds_an_address(claims[SUBJECT])
        yield holds(exchange, "data.accessToken", is_id, "an id as subject", actual={"claims": [SUBJECT]})


def _holds_an_address(value: Json) -> bool:
    texts = (text.strip() for _, text in placed_texts(value))
    return any(ADDRESS.fullmatch(text) and not text.lower().endswith(INTERNAL) for text in texts)


@check(
    "TOKEN-020", on=successes(op.LOGIN_COMPLETE, op.TOKEN_REFRESH).where(has("data.expiresIn", is_integer))
)
def exp_follows_from_expires_in(exchange: Exchange) -> Iterator[Comparison]:
    claims = claims_of(exchange.at("data.accessToken")) or {}
    if is_integer(claims.get("exp")) and is_integer(claims.get("iat")):
        announced, lifetime = int(exchange.at("data.expiresIn")), int(claims["exp"] - claims["iat"])
        is_near, expected = abs(lifetime - announced) <= 1, {"exp - iat": announced}
        yield holds(exchange, "data.accessToken", is_near, expected, actual={"exp - iat": lifetime})


SKEW_SECONDS = 600.0
"""Seconds by which the clocks of a portal's servers may differ."""


@check(
    "TOKEN-029",
    on=successes(op.LOGIN_COMPLETE, op.TOKEN_REFRESH)
    .at_its_moment()
    .where(has("data.expiresIn", is_integer))
    .where(has("timestamp", is_integer)),
)
def exp_follows_from_the_answer(exchange: Exchange) -> Iterator[Comparison]:
    """By the portal's own clock, which the answer shows."""
    claims, stamp = claims_of(exchange.at("data.accessToken")) or {}, exchange.at("timestamp")
    if is_integer(claims.get("exp")) and int(stamp) in MILLISECONDS:
        expected = int(stamp / 1000 + exchange.at("data.expiresIn"))
        is_near = abs(claims["exp"] - expected) <= SKEW_SECONDS
        actual = {"exp": claims["exp"]}
        yield holds(exchange, "data.accessToken", is_near, {"exp": expected}, actual=actual)


ALIKE_SECONDS = 2.0
"""Seconds within which two tokens may have been issued at one time."""


@check("TOKEN-021", on=successes(op.LOGIN_COMPLETE, op.TOKEN_REFRESH), remembers=True)
def every_access_token_is_new(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """Tokens of one second may be alike: a JWT counts its times in seconds, and need hold nothing else."""
    token = exchange.at("data.accessToken")
    if isinstance(token, str) and not exchange.time - memory.get(token, -ALIKE_SECONDS) < ALIKE_SECONDS:
        is_new, expected = token not in memory, "a token not returned before"
        yield holds(exchange, "data.accessToken", is_new, expected, actual="one returned before")
        memory[token] = exchange.time


@reading("access-token-form", on=successes(op.LOGIN_COMPLETE, op.TOKEN_REFRESH))
def form_of_the_access_token(exchange: Exchange) -> Iterator[str]:
    token = exchange.at("data.accessToken")
    if isinstance(token, str) and not is_redacted(token):
        yield f"JWT {_header_of(token).get('alg')}" if claims_of(token) is not None else "opaque"


HEARD_OF = 5.0
"""Seconds in which every part of a portal has heard of a logout."""


@check("TOKEN-011", on=answers(op.LOGOUT, *PROTECTED), remembers=True)
def a_token_is_refused_after_its_logout(exchange: Exchange, memory: Memory) -> Iterable[Comparison]:
    """Requests on their way meanwhile may still be served; another logout asks for no more than a token."""
    request = exchange.request
    token = request.bearer
    if token is None:
        return ()
    if request.method == "POST" and request.operation is OPERATION_OF_LOGOUT:
        if exchange.success:
            memory.setdefault(token, (visit_of(exchange), exchange.time + exchange.elapsed_ms / 1000))
        return ()
    if token not in memory:
        return ()
    visit, ended = memory[token]
    refused = is_refused(exchange, visit.exchange(), message="a token was accepted after its logout")
    return (refused,) if refused is HELD or exchange.time > ended + HEARD_OF else ()


# The same answer, whoever asks.


def generic_message(exchange: Exchange) -> Json:
    """The message to whoever forgot a password, with a placeholder where it repeats the address: the text is
    the same still."""
    message, email = exchange.at("data.message"), sent_fields(exchange).get("email")
    if not (isinstance(message, str) and isinstance(email, str) and email):
        return message
    return re.sub(re.escape(email), "{email}", message, flags=re.IGNORECASE)


@check("PASSWORD-003", on=successes(op.PASSWORD_FORGOT), remembers=True)
def a_forgotten_password_is_answered_alike(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """Where it is granted: a challenge that failed, or a rate, may be told by ``success`` false."""
    language = json.dumps([exchange.request.header(name) for name in ("accept-language", "x-locale")])
    message = generic_message(exchange)
    if exchange.at("data.success") is not True or message is ABSENT:
        return
    if language in memory:
        before, visit = memory[language]
        yield holds(exchange, "data.message", before == message, before, visit.exchange())
    memory[language] = message, visit_of(exchange)
