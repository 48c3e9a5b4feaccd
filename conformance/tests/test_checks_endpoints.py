"""The checks of ``conformance.checks.endpoints``: each of the 88 is offered."""

from __future__ import annotations

from conformance.spec import BY_KEY, OPERATIONS
from conformance.spec import endpoints as op
from conformance.tests.proof import Bound, Proof
from conformance.tests.traffic import answer, envelope
from conformance.traffic.exchange import Exchange, Json

FIRST = OPERATIONS[0]
ANYTHING: tuple[Json, ...] = (None, {}, [1], "done")


def refused(key: str, code: str = "NOTHING_HERE", status: int = 404) -> Exchange:
    return answer(key, body=envelope(code), status=status)


def page_in_place(key: str, **other: Json) -> Exchange:
    return answer(key, body={"length": 1}, status=404, form="not-json", **other)


OF_A_RECORD = (op.SESSIONS_CONFIG, op.WORKSPACES_CURRENT, op.ROLES, op.ROLE, op.ACCOUNTS_QUERY)
"""A 404 of another code may speak of a record or of a workspace that nobody has."""

PROOFS = [
    *(Proof(BY_KEY[key].requirement, refused(key), [], silent=True) for key in OF_A_RECORD),
    *(
        Proof(row.requirement, answer(row.key, data), [])
        for row in OPERATIONS
        if row.data is None
        for data in ANYTHING
    ),
    Proof(
        FIRST.requirement,
        page_in_place(FIRST.key, headers={"X-PORTAL-ACCESS-CODE": None}),
        [refused(FIRST.key, "METHOD", 501)],
        silent=True,
    ),
]

BOUNDS = [
    Bound(
        "a record that is not found is no missing endpoint",
        " ".join(row.requirement for row in OPERATIONS),
        lawful=[refused(row.key, "RESOURCE.NOT_FOUND") for row in OPERATIONS],
    ),
    *(
        Bound("a 404 of another code speaks of no record", BY_KEY[key].requirement, wrong=[refused(key)])
        for key in (op.PUBLIC_KEY, op.COUNTRIES)
    ),
    Bound(
        "what is not offered is told of the status",
        FIRST.requirement,
        wrong=[refused(FIRST.key, "METHOD", status) for status in (405, 501)],
        at=["status"],
    ),
    Bound("a page speaks of no record", BY_KEY[op.ROLE].requirement, wrong=[page_in_place(op.ROLE)]),
]
