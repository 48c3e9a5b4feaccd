"""The examples of a rule as exchanges: the rule holds for the lawful one, and rejects the unlawful one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from conformance.checks.registry import Memory
from conformance.errors import BrokenRule, RuleError
from conformance.rules.rule import ENDPOINT, PARAMETER, OwnRule
from conformance.spec.tables import SUCCESS_CODE
from conformance.target.profile.errors import hint_at
from conformance.traffic.exchange import ABSENT, Exchange, Json, Request, Response
from conformance.verdicts.comparisons import summary
from conformance.verdicts.findings import Comparison, Contradiction, endpoint_of, shown

KEYS = ("data", "code", "body", "status", "headers", "endpoint", "query", "sent")
"""The keys of an example: parts of the answer, and of the request."""

FIRST_MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def prove(rule: OwnRule) -> None:
    """Tries a rule on its examples. RuleError: it has none, rejects the lawful one, decides nothing of it, or
    holds for the unlawful one."""
    lawful = _decided(rule, rule.lawful, "lawful")
    wrong = next((each for each in lawful if isinstance(each, Contradiction)), None)
    if wrong is not None:
        raise RuleError(
            f"{rule.id} rejects its lawful example at {wrong.path or 'the answer'}: expected "
            f"{shown(wrong.expected)}, seen {shown(wrong.actual)}. Mend the rule or the example."
        )
    if not lawful:
        raise RuleError(f"{rule.id} compares nothing in its lawful example. Mend the example, or its place.")
    if not any(isinstance(each, Contradiction) for each in _decided(rule, rule.unlawful, "unlawful")):
        raise RuleError(f"{rule.id} does not reject its unlawful example. Mend the rule or the example.")


def _decided(rule: OwnRule, examples: Json, name: str) -> list[Comparison]:
    """What a rule decides of the answers of an example, in their order."""
    several = examples if isinstance(examples, list | tuple) else [examples]
    if not several:
        raise RuleError(f'{rule.id} has no {name} example. Write {name}, such as {{"data": [{{"id": 1}}]}}.')
    memory: tuple[Memory, ...] = (Memory(),) if rule.check.remembers else ()
    decided: list[Comparison] = []
    for number, example in enumerate(several, 1):
        place = f"{rule.id}: {name} example{f' number {number}' if len(several) > 1 else ''}"
        exchange = _exchange(rule, _row(example, place), number, place)
        if exchange.request.operation_key not in rule.check.on.keys or not rule.check.on.takes(exchange):
            answer = f"{endpoint_of(exchange)}, {shown(summary(exchange))}"
            raise RuleError(f"{place} is none of the answers that the rule is about: {answer}.")
        try:
            decided += rule.check.judging(exchange, *memory)
        except BrokenRule as broken:
            raise RuleError(f"{broken} (in the {name} example of {rule.id}).") from None
    return decided


def _row(example: Json, place: str) -> Mapping[str, Json]:
    """RuleError: the example is no mapping, or has a key that there is not, or a value of another type."""
    try:
        row = json.loads(example) if isinstance(example, str) else example
    except ValueError as wrong:
        raise RuleError(f"{place} is a text that is not JSON: {wrong}.") from None
    if not isinstance(row, Mapping) or not row:
        raise RuleError(f"{place} is {shown(row)}. Write a table with data or body.")
    for key in row:
        if key not in KEYS:
            raise RuleError(f'{place} has no key "{key}".{hint_at(str(key), KEYS, f" Keys are: {KEYS}")}')
    if type(row.get("status", 200)) is not int or not isinstance(row.get("headers", {}), Mapping):
        raise RuleError(f"{place}: status is a number, and headers are a table.")
    return row


def _exchange(rule: OwnRule, row: Mapping[str, Json], number: int, place: str) -> Exchange:
    named = row.get("endpoint") or next(iter(rule.endpoints), "")
    if not ENDPOINT.fullmatch(str(named)):
        raise RuleError(f"{place} needs an endpoint, as the rule names none: GET /web/v1/system/roles")
    method, _, path = PARAMETER.sub("1", named).partition(" ")
    query, moment = row.get("query", ""), FIRST_MOMENT + timedelta(seconds=number)
    envelope = {
        "success": "code" not in row,
        "code": row.get("code", SUCCESS_CODE),
        "message": "Success",
        "data": row.get("data"),
        "timestamp": int(moment.timestamp() * 1000),
        "version": "2.0.0",
    }
    return Exchange(
        n=number,
        started=moment.isoformat(),
        request=Request(
            method=method.replace("*", "GET"),
            url=f"https://portal.example.test{path.replace('*', '1')}{'?' * bool(query)}{query}",
            headers=[("X-PORTAL-ACCESS-CODE", "example")],
            body=row.get("sent", ABSENT),
        ),
        response=Response(
            status=row.get("status", 400 if "code" in row else 200),
            headers=[(str(name), str(value)) for name, value in row.get("headers", {}).items()],
            body=row.get("body", envelope),
        ),
    )
