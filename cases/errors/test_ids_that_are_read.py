"""Ids in what reads one record: of nobody, of another kind of record, and the beginning of one (chapter
"Errors"). A new kind of record is a row."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import pytest

from cases.nobody import KINDS, asked_for_nobody
from cases.premises import authorized, granted
from cases.reading import read
from conformance.cases import (
    BY_KEY,
    Account,
    Exchange,
    Portal,
    Untestable,
    Verify,
    is_error_of_table,
    mark,
    op,
)


@dataclass(frozen=True)
class ReadById:
    """An endpoint that reads one record by its id. ``unknown`` is the requirement that there is none of an
    unknown id, ``own`` that the record is the one asked for; ``wire`` are judged by the answers as well."""

    kind: str
    key: str
    parameter: str
    unknown: str
    own: str | None = None
    wire: tuple[str, ...] = ()

    def ask(self, portal: Portal, caller: Account, id: str) -> Exchange:
        return authorized(read(portal, BY_KEY[self.key], token=caller.token, ids={self.parameter: id}))


READ_BY_ID = (
    ReadById("account", op.ACCOUNT, "userBizId", "ACCOUNT-031", "ACCOUNT-033", ("ERROR-006",)),
    ReadById(
        "institution",
        op.INSTITUTION,
        "institutionBizId",
        "INSTITUTION-010",
        "INSTITUTION-011",
        ("INSTITUTION-011", "STATE-002", "ERROR-006"),
    ),
    ReadById("role", op.ROLE, "roleBizId", "ROLE-011", "ROLE-010"),
    ReadById("role", op.ROLE_PERMISSIONS, "roleBizId", "ROLE-014"),
    ReadById("file", op.FILE, "fileBizId", "FILE-024", "FILE-023"),
)
NEARLY = [pytest.param(by, id=by.kind, marks=mark.requirement(by.own)) for by in READ_BY_ID if by.own]


@pytest.mark.parametrize(
    "by", [pytest.param(by, id=by.key, marks=mark.requirement(by.unknown, *by.wire)) for by in READ_BY_ID]
)
def test_an_unknown_id_reads_no_record(portal: Portal, verify: Verify, admin: Account, by: ReadById) -> None:
    existing = portal.record(by.kind)
    granted(by.ask(portal, admin, existing))

    unknown = asked_for_nobody(portal, existing, lambda id: by.ask(portal, admin, id))
    verify(by.unknown, is_error_of_table(unknown, "RESOURCE.NOT_FOUND"))


@pytest.mark.parametrize("by", NEARLY)
def test_an_id_of_another_kind_reads_no_other_record(portal: Portal, admin: Account, by: ReadById) -> None:
    """Two records of different kinds may have one id. So not the refusal is judged, but what is read."""
    others = set()
    for other in KINDS:
        with suppress(Untestable):
            others.add(portal.record(other))
    with suppress(Untestable):
        others.discard(portal.record(by.kind))
    if not others:
        raise Untestable("no id of another kind of record is known")

    for other in sorted(others):
        by.ask(portal, admin, other)


@pytest.mark.parametrize("by", NEARLY)
def test_the_beginning_of_an_id_reads_no_record(portal: Portal, admin: Account, by: ReadById) -> None:
    """As above: not the refusal is judged, but what is read."""
    id = portal.record(by.kind)
    if len(id) < LONG:
        raise Untestable("ids are short, so that the beginning of one may be another's", "environment")
    by.ask(portal, admin, id[:-1])


LONG = 8
