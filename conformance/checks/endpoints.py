"""Whether each of the 88 endpoints is offered at all (chapter "Endpoints")."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.checks.registry import answers, check
from conformance.spec import OPERATIONS, Operation
from conformance.spec.tables import ERROR_BY_CODE
from conformance.traffic.exchange import Exchange
from conformance.verdicts.comparisons import contradicts, summary
from conformance.verdicts.findings import HELD, Comparison

NOT_FOUND = frozenset(row.code for row in ERROR_BY_CODE.values() if 404 in row.statuses or row.code == "4040")


def _offered_rule(operation: Operation) -> None:
    selected = answers(operation.key).by_metadata().through_the_ingress()
    of_the_caller = not operation.is_prelogin and "/constants/" not in operation.path
    names_a_record = bool(operation.parameters) or operation.method == "POST" or of_the_caller

    @check(f"OP-{operation.number:03}", on=selected)
    def is_offered(exchange: Exchange) -> Iterator[Comparison]:
        """A 404 in the envelope may speak of a record, or of a workspace that a caller has none of."""
        if exchange.status in (405, 501):
            yield contradicts(exchange, "status", "an endpoint that is offered", exchange.status)
        elif exchange.status == 404:
            if exchange.code not in NOT_FOUND and (exchange.envelope is None or not names_a_record):
                yield contradicts(exchange, "status", "an endpoint that is offered", summary(exchange))
        elif operation.data is None and exchange.envelope is not None:
            yield HELD


for _operation in OPERATIONS:
    _offered_rule(_operation)
