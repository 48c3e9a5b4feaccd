"""Error codes with their HTTP status, and whether an endpoint is offered (chapter "Errors")."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.checks.envelope import is_pending_approval
from conformance.checks.registry import answers, check, errors, reading
from conformance.spec import OPERATIONS, Operation
from conformance.spec.endpoints import LOGIN_COMPLETE, LOGIN_INITIATE, TOKEN_REFRESH
from conformance.spec.tables import ERROR_BY_CODE, ERRORS, INVALID_PARAMETER
from conformance.traffic.exchange import Exchange, Json
from conformance.verdicts.comparisons import (
    OF_THE_SIZE,
    contradicts,
    equal,
    holds,
    is_block_page,
    one_of,
    summary,
)
from conformance.verdicts.findings import HELD, Comparison

STATED: dict[str, str] = {
    "AUTH.INVALID_CREDENTIALS": "ERROR-001",
    "AUTH.SESSION_NOT_FOUND": "ERROR-002",
    "VALIDATION.INVALID_PARAMETER": "ERROR-003",
    "ACCESS.TOKEN_MISSING": "ERROR-004",
    "ACCESS.PERMISSION_DENIED": "ERROR-005",
    "RESOURCE.NOT_FOUND": "ERROR-006",
    "GA2031": "ERROR-007",
    "4000": "ERROR-008",
    "4010": "ERROR-009",
}
"""The codes for which the table names a status."""

GIVEN_AT: dict[str, tuple[str, ...]] = {
    "AUTH.INVALID_CREDENTIALS": (LOGIN_INITIATE,),
    "AUTH.SESSION_NOT_FOUND": (LOGIN_COMPLETE, TOKEN_REFRESH),
}
"""The codes whose row names its endpoints: which status they come with at another one is not stated."""

OF_ANOTHER_MATTER = OF_THE_SIZE | {406, 415}
"""Statuses that speak of the size or the media type: of these the row of a code for fields and
properties says nothing."""

UNSTATED: dict[str, str] = {
    "AUTH.INVALID_CREDENTIALS": "invalid-credentials-status",
    "AUTH.MFA_SEND_COOLDOWN": "mfa-send-cooldown-status",
    "AUTH.MFA_CODE_INVALID": "mfa-code-invalid-status",
    "4030": "bot-challenge-status",
    "4040": "channel-not-found-status",
}
"""The codes for which the table names no status, or two, with the reading under which it is recorded."""


def _status_rule(code: str, requirement: str) -> None:
    @check(
        requirement,
        on=errors(*GIVEN_AT.get(code, ())).by_metadata().where(lambda exchange: exchange.code == code),
    )
    def status_of_the_code(exchange: Exchange) -> Iterator[Comparison]:
        if code in INVALID_PARAMETER and exchange.status in OF_ANOTHER_MATTER:
            return
        message = f"{code} comes with HTTP status {exchange.status}"
        yield one_of(exchange, "status", ERROR_BY_CODE[code].statuses, message=message)


def _status_reading(code: str, key: str) -> None:
    @reading(key, on=errors().by_metadata().where(lambda exchange: exchange.code == code))
    def status_of_the_code(exchange: Exchange) -> Iterator[Json]:
        yield exchange.status


for _code, _requirement in STATED.items():
    _status_rule(_code, _requirement)

for _code, _key in UNSTATED.items():
    _status_reading(_code, _key)


@check("ERROR-012", on=errors().by_metadata().where(lambda exchange: exchange.code == "GA2031"))
def message_of_ga2031_is_the_code(exchange: Exchange) -> Iterator[Comparison]:
    if isinstance(exchange.at("message"), str):
        yield equal(exchange, "message", "GA2031")


FLAGS = tuple(
    f"{place}{name}" for name in ("isPendingApproval", "pendingApproval") for place in ("data.", "")
)
"""Where the flag of a pending approval may stand, that of the error table first: no place is shown there."""


@check("ERROR-023", on=answers(LOGIN_INITIATE).enveloped())
def the_code_of_a_pending_approval_and_its_flag_agree(exchange: Exchange) -> Iterator[Comparison]:
    """A flag that is true beside another code says nothing: the code may be left to it."""
    path = next((path for path in FLAGS if isinstance(exchange.at(path), bool)), None)
    if path is None or (exchange.at(path) and not is_pending_approval(exchange)):
        return
    message = "the code says that the approval is pending, and the flag beside it that it is not"
    yield holds(exchange, path, exchange.at(path) is is_pending_approval(exchange), True, message=message)


@reading("further-error-codes", on=errors().by_metadata())
def code_beyond_the_table(exchange: Exchange) -> Iterator[Json]:
    if exchange.code not in {row.code for row in ERRORS}:
        yield {"code": exchange.code, "status": exchange.status}


@reading(
    "invalid-parameter-code",
    on=answers().by_metadata().where(lambda exchange: exchange.code in INVALID_PARAMETER),
)
def code_of_an_invalid_parameter(exchange: Exchange) -> Iterator[Json]:
    yield exchange.code


# Whether each of the 88 endpoints is offered at all (chapter "Endpoints").

NOT_FOUND = frozenset(row.code for row in ERROR_BY_CODE.values() if 404 in row.statuses or row.code == "4040")


def _offered_rule(operation: Operation) -> None:
    selected = (
        answers(operation.key)
        .by_metadata()
        .through_the_ingress()
        .where(lambda exchange: not is_block_page(exchange))
    )
    of_the_caller = not operation.is_prelogin and "/constants/" not in operation.path
    names_a_record = bool(operation.parameters) or operation.method == "POST" or of_the_caller

    @check(operation.requirement, on=selected)
    def is_offered(exchange: Exchange) -> Iterator[Comparison]:
        """Judges the status of an answer: an enveloped 404 may concern a missing record or workspace."""
        if exchange.status in (405, 501):
            yield contradicts(exchange, "status", "an endpoint that is offered", exchange.status)
        elif exchange.status == 404:
            if exchange.code not in NOT_FOUND and (exchange.envelope is None or not names_a_record):
                yield contradicts(exchange, "status", "an endpoint that is offered", summary(exchange))
        elif operation.data is None and exchange.envelope is not None:
            yield HELD


for _operation in OPERATIONS:
    _offered_rule(_operation)
