"""Requests without a token, at every endpoint (chapter "Authentication")."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.checks.access.sign_in import PROTECTED
from conformance.checks.registry import CREDENTIALS, Memory, Selection, answers, check, errors, reading
from conformance.spec import OPERATIONS
from conformance.spec.operations import UNDESCRIBED
from conformance.spec.tables import INVALID_PARAMETER, TOKEN_REFUSED
from conformance.traffic.exchange import Exchange, Json
from conformance.verdicts.comparisons import contradicts, equal, holds, is_held_back, may_keep_a_rate, one_of
from conformance.verdicts.findings import Comparison

PRELOGIN = tuple(row.key for row in OPERATIONS if row.is_prelogin)
UNMARKED = tuple(row.key for row in OPERATIONS if row.auth == "unmarked")


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
    if exchange.status == 406 and exchange.request.header("accept-language") is not None:
        return False
    return "x-client-hash" not in missing and not (missing and exchange.status == 400)


def is_not_of_its_form(exchange: Exchange) -> bool:
    """Whether a refusal speaks of the request's form: a body or an id of ours may well be malformed. Which of
    two errors is told first is not stated."""
    match = exchange.request.operation
    takes = match is not None and (match.needs_body or bool(match.parameters))
    return takes and exchange.status == 400 and exchange.code in INVALID_PARAMETER


def is_refused_at_the_ingress(exchange: Exchange) -> bool:
    """Whether the answer is a portal mismatch, which a wrong access code is answered with before any token is
    looked at ("Authentication", 1). Its status and code are not shown: a code that names the portal or the
    ingress is taken for one."""
    code = str(exchange.code).upper()
    return any(word in code for word in ("PORTAL", "INGRESS", "MISMATCH"))


def is_unknown_address(exchange: Exchange) -> bool:
    """Whether a slash behind the path makes it another one, which the portal does not have or leads away
    from."""
    return exchange.request.path.endswith("/") and exchange.status in (301, 302, 307, 308, 404)


def told_of_its_token(exchange: Exchange) -> bool:
    if is_refused_at_the_ingress(exchange) or is_unknown_address(exchange):
        return False
    return may_lack_a_header(exchange) and not is_not_of_its_form(exchange)


def is_of_its_body(exchange: Exchange) -> bool:
    match = exchange.request.operation
    return match is not None and match.needs_body and is_not_of_its_form(exchange)


@check("AUTHN-001", on=without_token(*PROTECTED).where(told_of_its_token))
@check("AUTHN-004", on=without_token(*UNMARKED).where(told_of_its_token))
@check(
    "AUTHN-023",
    on=without_token(*PROTECTED)
    .where(lambda exchange: exchange.status == 401 or is_of_its_body(exchange))
    .where(may_lack_a_header),
)
def no_token_is_401(exchange: Exchange) -> Iterator[Comparison]:
    yield equal(exchange, "status", 401)


@check("AUTHN-001", on=without_token(UNDESCRIBED).at_its_moment(), remembers=True)
def no_token_is_401_where_it_was_before(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """Which of the endpoints that are not described are protected shows by a refusal for a missing token."""
    request = exchange.request
    address = f"{request.method} {request.parts.netloc}{request.path}"
    if exchange.code == "ACCESS.TOKEN_MISSING":
        memory[address] = True
    elif exchange.success and address in memory:
        yield contradicts(exchange, "status", 401, exchange.status)


@check("AUTHN-002", on=without_token(*PROTECTED).where(told_of_its_token))
def no_token_has_one_of_two_codes(exchange: Exchange) -> Iterator[Comparison]:
    yield one_of(exchange, "code", TOKEN_REFUSED)


@check("AUTHN-005", on=without_token(*PRELOGIN))
def a_prelogin_endpoint_wants_no_token(exchange: Exchange) -> Iterator[Comparison]:
    missing = exchange.code == "ACCESS.TOKEN_MISSING"
    yield holds(exchange, "code", not missing, "any code but ACCESS.TOKEN_MISSING")


@reading("missing-token-code", on=without_token(*PROTECTED).where(lambda exchange: exchange.status == 401))
def code_of_a_missing_token(exchange: Exchange) -> Iterator[Json]:
    yield exchange.code


@reading(
    "permission-denied",
    on=errors(*UNMARKED, *PROTECTED)
    .by_metadata()
    .where(lambda exchange: exchange.status == 403 and exchange.code != "ACCESS.PORTAL_MISMATCH"),
)
def refusal_of_a_permission(exchange: Exchange) -> Iterator[Json]:
    yield exchange.code
