"""Judges exchanges by descriptions of the user's own, at paths that the specification does not describe.

What the specification says of all requests stays its own: a general error, and 401 without a token, need no
description.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from conformance.checks.access.without_token import without_token
from conformance.descriptions import (
    DescribedOperation,
    Descriptions,
    SchemaDifference,
    differences,
    media_type_of,
)
from conformance.judging.dispatch import is_of_an_endpoint
from conformance.spec.operations import UNDESCRIBED
from conformance.spec.tables import ERROR_BY_CODE, TOKEN_REFUSED
from conformance.traffic.clip import clipped
from conformance.traffic.exchange import ABSENT, Exchange, Json, Response
from conformance.verdicts.comparisons import contradicts, is_held_back
from conformance.verdicts.deviations import LEARNED, MOST_UNKNOWN, YOURS
from conformance.verdicts.findings import Finding, Ledger, Verdict, endpoint_of

MOST_OF_ONE_ANSWER = 50
"""Deviations of one answer that are noted."""

GENERAL_STATUSES = frozenset({401, 403, 429})
"""Refusals of any endpoint: of the token, the ingress or the permission, and the rate."""

USUAL_REFUSALS = frozenset({400, 404, 409})
"""Refusals that a learned description may lack, as nobody asked for what is refused."""

GONE = frozenset({404, 405, 410, 501})
"""Statuses of a server that has no such endpoint."""

WITHOUT_TOKEN = without_token(UNDESCRIBED)
PROTECTED_BY_DESCRIPTION = "check described.protected_endpoints_ask_for_a_token"


def judge_described(descriptions: Descriptions, exchange: Exchange, ledger: Ledger) -> list[Finding]:
    """Compares an answer with the operation that descriptions have of it. Notes in the ledger what deviates
    from them; returns what contradicts the specification by what they say of the endpoint."""
    request, response = exchange.request, exchange.response
    if request.operation_key != UNDESCRIBED or response is None:
        return []
    operation = descriptions.operation_of(request.method, request.path)
    if operation is None and exchange.success and len(ledger.described.unknown) < MOST_UNKNOWN:
        ledger.described.unknown[endpoint_of(exchange)] = None
    if operation is None or not _is_comparable(exchange, response, operation):
        return []
    ledger.described.endpoints[operation.key] = True
    for deviation in islice(_deviations(operation, exchange, response), MOST_OF_ONE_ANSWER):
        ledger.deviate(deviation)
    if operation.is_hypothesis or not _is_served_without_token(operation, exchange):
        return []
    contradiction = contradicts(exchange, "status", 401, response.status)
    finding = ledger.decide("AUTHN-001", contradiction, case=PROTECTED_BY_DESCRIPTION)
    return [] if finding is None else [finding]


def _is_comparable(exchange: Exchange, response: Response, operation: DescribedOperation) -> bool:
    """Whether the endpoint surely gave the answer. Without an envelope, a success that is no page is its own,
    and an error of the request that its description shows; others may come from a gateway."""
    if exchange.is_sealed or is_held_back(exchange):
        return False
    if is_of_an_endpoint(exchange) or response.status in GONE or _is_led_away(operation, exchange):
        return True
    contents = operation.answers.get(str(response.status))
    label = (response.header("content-type") or "").lower()
    if contents is None or "html" in label:
        return contents is not None and media_type_of(contents, label) is not None
    return response.status < 300 or (response.status in OF_THE_REQUEST and "json" in label)


OF_THE_REQUEST = frozenset({400, 409, 422})
"""Statuses that no gateway gives for the portal."""


def _is_led_away(operation: DescribedOperation, exchange: Exchange) -> bool:
    """Whether a request without a token was redirected to another path, in place of being refused."""
    if not 300 <= (exchange.status or 0) < 400 or operation.is_protected is not True:
        return False
    location = str(exchange.at("headers.location") or "")
    return exchange.request.path not in location and WITHOUT_TOKEN.takes(exchange)


def _is_served_without_token(operation: DescribedOperation, exchange: Exchange) -> bool:
    return operation.is_protected is True and exchange.success and WITHOUT_TOKEN.takes(exchange)


def _deviations(operation: DescribedOperation, exchange: Exchange, response: Response) -> Iterator[Finding]:
    def deviation(part: str, path: str, expected: Json, actual: Json) -> Finding:
        return Finding(
            f"{LEARNED if operation.is_hypothesis else YOURS}-{part}",
            Verdict.OPEN,
            operation.key,
            f"described at {operation.source}",
            clipped(expected),
            clipped(actual),
            path,
            exchanges=(exchange.n,),
        )

    is_listed = operation.contents_for(response.status) is not None
    if operation.answers and not is_listed and not _is_expected(operation, exchange, response):
        statuses = [int(name) if name.isdecimal() else name for name in operation.answers]
        yield deviation("STATUS", "status", {"one of": statuses}, response.status)
    for difference in _differences(operation, exchange, response):
        yield deviation("BODY", *difference)
    for name in _lacking(operation, exchange) if exchange.success else ():
        yield deviation("REQUIRED", f"request.{name}", "a refusal without it", "success")
    if operation.is_hypothesis and _is_served_without_token(operation, exchange):
        yield deviation("TOKEN", "status", 401, response.status)
    if operation.is_protected is False and exchange.code in TOKEN_REFUSED and WITHOUT_TOKEN.takes(exchange):
        yield deviation("TOKEN", "status", "an answer without a token", response.status)


def _is_expected(operation: DescribedOperation, exchange: Exchange, response: Response) -> bool:
    """Whether an answer is an error that the specification shows for all endpoints, or that traffic of
    another day may well have lacked. That there is no such record says nothing of a request that names none:
    then the endpoint is gone."""
    if response.status in GONE and not is_of_an_endpoint(exchange):
        return False
    if response.status in GENERAL_STATUSES or response.status >= 500:
        return True
    row = ERROR_BY_CODE.get(exchange.code or "")
    is_general = row is not None and (not row.statuses or response.status in row.statuses)
    if not (is_general or (operation.is_hypothesis and response.status in USUAL_REFUSALS)):
        return False
    names_something = exchange.request.query or exchange.request.body is not ABSENT or "{" in operation.path
    return response.status != 404 or bool(names_something)


def _differences(
    operation: DescribedOperation, exchange: Exchange, response: Response
) -> Iterator[SchemaDifference]:
    """What the body of an answer has otherwise than its description shows."""
    contents = operation.contents_for(response.status)
    if not contents or response.is_unknown or "*" in response.lacks:
        return
    label = response.header("content-type") or ""
    media_type = media_type_of(contents, label)
    plain = ABSENT if exchange.plain is None else exchange.plain.response
    body = plain if plain is not ABSENT else response.json
    if media_type is None and plain is ABSENT:
        yield "headers.content-type", {"one of": list(contents)}, label
        return
    schema = contents.get(media_type or "application/json")
    if schema is not None and body is not ABSENT:
        yield from differences(schema, body, is_hypothesis=operation.is_hypothesis)


def _lacking(operation: DescribedOperation, exchange: Exchange) -> Iterator[str]:
    """Required parameters, and a required body, that a request lacks."""
    request = exchange.request
    sent = {name for name, _ in request.query}
    for row in operation.parameters:
        is_in_query, is_header = row.place == "query", row.place == "header"
        is_absent = row.name not in sent if is_in_query else is_header and request.is_without(row.name)
        if row.is_required and is_absent:
            yield f"{row.place}.{row.name}"
    if operation.needs_body and request.body is ABSENT and request.form is None and exchange.plain is None:
        yield "body"
