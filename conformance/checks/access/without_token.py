"""Requests without a token, at every endpoint (chapter "Authentication")."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.checks.access.sign_in import PROTECTED
from conformance.checks.registry import CREDENTIALS, Memory, Selection, answers, check, errors, reading
from conformance.spec import OPERATIONS, operation
from conformance.spec.endpoints import LOGIN_COMPLETE, LOGIN_INITIATE, TOKEN_REFRESH
from conformance.spec.tables import ERROR_BY_CODE, INVALID_PARAMETER, TOKEN_REFUSED
from conformance.traffic.exchange import Exchange, Json
from conformance.verdicts.comparisons import contradicts, equal, is_held_back, may_keep_a_rate, one_of
from conformance.verdicts.findings import HELD, Comparison

PRELOGIN = tuple(row.key for row in OPERATIONS if row.is_prelogin)
UNMARKED = tuple(row.key for row in OPERATIONS if row.auth == "unmarked")
SIGN_IN = (LOGIN_INITIATE, LOGIN_COMPLETE, TOKEN_REFRESH)
OPERATIONS_OF_SIGN_IN = [operation(key) for key in SIGN_IN]


def without_token(*keys: str) -> Selection:
    """Requests that carry neither a token nor any other credential, and came through the ingress."""

    def bare(exchange: Exchange) -> bool:
        names = {name.lower() for name, _ in exchange.request.headers}.union(exchange.request.lacks)
        return not names & (CREDENTIALS | {"*"})

    return answers(*keys).by_metadata().through_the_ingress().where(bare).where(not_held_back)


def not_held_back(exchange: Exchange) -> bool:
    """Whether the answer speaks of authentication at all: not of the rate, the ingress or the gateway."""
    return not is_held_back(exchange) and not may_keep_a_rate(exchange) and exchange.code != "4030"


LISTED_AS_REQUIRED = ("x-client-hash", "x-request-id", "x-locale")
"""What a client itself is to send with every request; the other headers are an edge proxy's."""


def may_lack_a_header(exchange: Exchange) -> bool:
    """A request that a portal may refuse for its headers says nothing of its token."""
    missing = [name for name in LISTED_AS_REQUIRED if exchange.request.header(name) is None]
    return "x-client-hash" not in missing and not (missing and exchange.status == 400)


def is_not_of_its_form(exchange: Exchange) -> bool:
    """Whether a refusal speaks of the request's form: a body or an id of ours may well be malformed. Which of
    two errors is told first is not stated."""
    match = exchange.request.operation
    takes = match is not None and (match.needs_body or bool(match.parameters))
    return takes and exchange.status == 400 and exchange.code in INVALID_PARAMETER


def names_the_ingress(code: Json) -> bool:
    """Whether a code is one of a portal mismatch by its words: the code of it is not shown."""
    words = str(code).upper()
    return any(word in words for word in ("PORTAL", "INGRESS", "MISMATCH"))


def may_be_a_portal_mismatch(exchange: Exchange, accepted: Memory) -> bool:
    """Whether a refusal may be of the access code, which is looked at before any token ("Authentication", 1).
    Its status and code are not shown. So a code of nobody's may be that of a portal mismatch, until an answer
    has shown that the portal accepts this access code."""
    if exchange.success or (exchange.status or 0) < 400:
        return False
    if names_the_ingress(exchange.code):
        return True
    return exchange.code not in ERROR_BY_CODE and _ingress_of(exchange) not in accepted


def _ingress_of(exchange: Exchange) -> str:
    return exchange.request.header("x-portal-access-code") or ""


def is_judged_without_token(exchange: Exchange, accepted: Memory) -> bool:
    """Whether an answer is to the want of a token; a successful sign-in shows an accepted access code."""
    if exchange.request.operation in OPERATIONS_OF_SIGN_IN:
        accepted[_ingress_of(exchange)] = True
        return False
    return not may_be_a_portal_mismatch(exchange, accepted)


def told_of_its_token(*keys: str) -> Selection:
    """Answers to requests without a token; and successful sign-ins, which show accepted access codes."""
    asked = without_token(*keys)

    def is_told(exchange: Exchange) -> bool:
        if exchange.request.bearer is not None:
            return False
        if exchange.request.operation in OPERATIONS_OF_SIGN_IN:
            return exchange.success is True
        return asked.takes(exchange) and may_lack_a_header(exchange) and not is_not_of_its_form(exchange)

    return answers(*SIGN_IN, *keys).where(is_told)


@check("AUTHN-001", on=told_of_its_token(*PROTECTED), remembers=True)
def no_token_is_401(exchange: Exchange, accepted: Memory) -> Iterator[Comparison]:
    if is_judged_without_token(exchange, accepted):
        yield equal(exchange, "status", 401)


@check("AUTHN-002", on=told_of_its_token(*PROTECTED), remembers=True)
def no_token_has_one_of_two_codes(exchange: Exchange, accepted: Memory) -> Iterator[Comparison]:
    if is_judged_without_token(exchange, accepted):
        yield one_of(exchange, "code", TOKEN_REFUSED)


@check("AUTHN-004", on=told_of_its_token(*UNMARKED), remembers=True)
def no_token_is_401_also_where_unmarked(exchange: Exchange, accepted: Memory) -> Iterator[Comparison]:
    if is_judged_without_token(exchange, accepted):
        yield equal(exchange, "status", 401)


@check("AUTHN-005", on=without_token(*PRELOGIN))
def a_prelogin_endpoint_wants_no_token(exchange: Exchange) -> Iterator[Comparison]:
    missing = exchange.code == "ACCESS.TOKEN_MISSING"
    yield contradicts(exchange, "code", "no demand for a token", exchange.code) if missing else HELD


@reading("missing-token-code", on=without_token(*PROTECTED).where(lambda exchange: exchange.status == 401))
def code_of_a_missing_token(exchange: Exchange) -> Iterator[Json]:
    yield exchange.code


@reading(
    "permission-denied",
    on=errors(*UNMARKED, *PROTECTED).by_metadata().where(lambda exchange: exchange.status == 403),
)
def refusal_of_a_permission(exchange: Exchange) -> Iterator[Json]:
    yield exchange.code
