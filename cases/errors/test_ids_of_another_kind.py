"""Ids that are nearly right: of another kind of record, or the beginning of one (chapter "Errors")."""

from __future__ import annotations

from contextlib import suppress

import pytest

from cases.nobody import KINDS
from cases.premises import authorized
from cases.reading import read
from conformance.cases import BY_KEY, Account, Portal, Untestable, op, requirement

READ_BY_ID = {
    "account": (op.ACCOUNT, "userBizId", "ACCOUNT-033"),
    "institution": (op.INSTITUTION, "institutionBizId", "INSTITUTION-011"),
    "role": (op.ROLE, "roleBizId", "ROLE-010"),
    "file": (op.FILE, "fileBizId", "FILE-023"),
}
"""By kind of record: the endpoint that reads one, its parameter, and that it reads the one asked for."""


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=requirement(READ_BY_ID[kind][2])) for kind in READ_BY_ID]
)
def test_an_id_of_another_kind_reads_no_other_record(portal: Portal, admin: Account, kind: str) -> None:
    """Two records of different kinds may have one id. So not the refusal is judged, but what is read."""
    key, parameter, _ = READ_BY_ID[kind]
    others = set()
    for other in KINDS:
        with suppress(Untestable):
            others.add(portal.record(other))
    with suppress(Untestable):
        others.discard(portal.record(kind))
    if not others:
        raise Untestable("no id of another kind of record is known")

    for other in sorted(others):
        authorized(read(portal, BY_KEY[key], token=admin.token, ids={parameter: other}))


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=requirement(READ_BY_ID[kind][2])) for kind in READ_BY_ID]
)
def test_the_beginning_of_an_id_reads_no_record(portal: Portal, admin: Account, kind: str) -> None:
    """As above: not the refusal is judged, but what is read."""
    key, parameter, _ = READ_BY_ID[kind]
    id = portal.record(kind)
    if len(id) < LONG:
        raise Untestable("ids are short, so that the beginning of one may be another's", "environment")
    authorized(read(portal, BY_KEY[key], token=admin.token, ids={parameter: id[:-1]}))


LONG = 8
