"""The examples of a rule as exchanges: the rule holds for the lawful one, and rejects the unlawful one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from conformance.checks.registry import Memory
from conformance.errors import BrokenRule, RuleError
from conformance.rules.rule import ENDPOINT, PARAMETER, Example, OwnRule
from conformance.spec.tables import SUCCESS_CODE
from conformance.target.profile.errors import hint_at
from conformance.traffic.exchange import ABSENT, Exchange, Json, Request, Response
from conformance.verdicts.comparisons import summary
from conformance.verdicts.findings import HELD, Comparison, Contradiction, endpoint_of, shown

KEYS: Mapping[str, str] = {
    "data": "the data of the answer, within the envelope of a success",
    "code": "the result code of a refusal",
    "body": "the whole body, in place of data and code",
    "status": "the HTTP status (200; of a refusal 400)",
    "headers": "headers of the answer, by name",
    "endpoint": "the method and path, where it is not the first endpoint of the rule",
    "query": "what follows the question mark of the address",
    "sent": "the JSON body of the request",
}
"""The keys of an example."""

THE_KEYS = f" The keys are {', '.join(KEYS)}."
FIRST_MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def prove(rule: OwnRule) -> None:
    """Tries a rule on its examples. RuleError: it has none, holds for the unlawful one, rejects the lawful
    one, or decides nothing of it."""
    lawful = _comparisons(rule, rule.lawful, "lawful")
    wrong = next((each for each in lawful if isinstance(each, Contradiction)), None)
    if wrong is not None:
        raise RuleError(
            f"{rule.id} rejects its lawful example at {wrong.path or 'the answer'}: expected "
            f"{shown(wrong.expected)}, seen {shown(wrong.actual)}. Mend the rule or the example."
        )
    if not lawful:
        raise RuleError(f"{rule.id} compares nothing in its lawful example. {WHY_NOTHING}")
    if all(each is HELD for each in _comparisons(rule, rule.unlawful, "unlawful")):
        raise RuleError(f"{rule.id} does not reject its unlawful example. Mend the rule or the example.")


WHY_NOTHING = "Mend the example, or the place that the rule looks at."


def _comparisons(rule: OwnRule, examples: Example | Sequence[Example], name: str) -> list[Comparison]:
    """What a rule decides of the exchanges of an example, in their order."""
    several = examples if isinstance(examples, list | tuple) else [examples]
    if not several:
        raise RuleError(f'{rule.id} has no {name} example. Write {name}, such as {{"data": [{{"id": 1}}]}}.')
    memory: tuple[Memory, ...] = (Memory(),) if rule.check.remembers else ()
    decided: list[Comparison] = []
    for number, example in enumerate(several, 1):
        place = f"{rule.id}: {name} example{f' number {number}' if len(several) > 1 else ''}"
        exchange = _exchange(rule, example, number, place)
        if not _is_selected(rule, exchange):
            raise RuleError(f"{place} is none of the answers that the rule is about: {_seen(exchange)}.")
        try:
            decided += rule.check.judging(exchange, *memory)
        except BrokenRule as broken:
            raise RuleError(f"{broken} (in the {name} example of {rule.id}).") from None
    return decided


def _is_selected(rule: OwnRule, exchange: Exchange) -> bool:
    return exchange.request.operation_key in rule.check.on.keys and rule.check.on.takes(exchange)


def _seen(exchange: Exchange) -> str:
    return f"{endpoint_of(exchange)}, {summary(exchange)}"


def _exchange(rule: OwnRule, example: Example, number: int, place: str) -> Exchange:
    """RuleError: the example has a key that there is not, or a value of another type."""
    row = _row(example, place)
    status, headers = row.get("status", 400 if "code" in row else 200), row.get("headers", {})
    if type(status) is not int or not isinstance(headers, dict):
        raise RuleError(f"{place}: status is a number and headers are a table.")
    method, _, path = _endpoint(rule, row, place).partition(" ")
    query = f"?{row['query']}" if row.get("query") else ""
    moment = FIRST_MOMENT + timedelta(seconds=number)
    body = row["body"] if "body" in row else _envelope(row, moment)
    return Exchange(
        n=number,
        started=moment.isoformat(),
        request=Request(
            method=method,
            url=f"https://portal.example.test{path}{query}",
            headers=[("X-PORTAL-ACCESS-CODE", "example")],
            body=row.get("sent", ABSENT),
        ),
        response=Response(
            status=status,
            headers=[
                ("Content-Type", "application/json"),
                *((str(key), str(headers[key])) for key in headers),
            ],
            body=body,
        ),
    )


def _row(example: Example, place: str) -> Mapping[str, Json]:
    if isinstance(example, str):
        try:
            example = json.loads(example)
        except ValueError as wrong:
            raise RuleError(f"{place} is a text that is not JSON: {wrong}.") from None
    if not isinstance(example, Mapping) or not example:
        raise RuleError(f"{place} is {shown(example)}. Write a table with data or body.")
    for key in example:
        if key not in KEYS:
            raise RuleError(f'{place} has no key "{key}".{hint_at(str(key), KEYS, THE_KEYS)}')
    return example


def _endpoint(rule: OwnRule, row: Mapping[str, Json], place: str) -> str:
    """The endpoint of an example, with an id for each parameter."""
    named = row.get("endpoint") or next(iter(rule.endpoints), None)
    if not isinstance(named, str) or not ENDPOINT.fullmatch(named):
        raise RuleError(f"{place} needs an endpoint, as the rule names none: GET /web/v1/system/roles")
    method, _, path = PARAMETER.sub("1", named).partition(" ")
    return f"{method.replace('*', 'GET')} {path.replace('*', '1')}"


def _envelope(row: Mapping[str, Json], moment: datetime) -> Json:
    return {
        "success": "code" not in row,
        "code": row.get("code", SUCCESS_CODE),
        "message": "Success",
        "data": row.get("data"),
        "timestamp": int(moment.timestamp() * 1000),
        "version": "2.0.0",
    }
