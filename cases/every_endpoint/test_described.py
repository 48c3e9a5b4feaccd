"""Endpoints that a description of the user's own adds: what reads is called, and guarded as the 88 are.

Its answers are compared with the description on the wire. Nothing that changes is called.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from urllib.parse import quote, urlencode

from cases.every_endpoint.test_ingress import ACCESS_CODE, foreign_codes, is_rejected
from cases.every_endpoint.tokens import NONE_AT_ALL, changed_claims, forged
from cases.nobody import asked_for_nobody
from cases.premises import answered, granted
from conformance.cases import (
    RECORD_OF_PARAMETER,
    TOKEN_REFUSED,
    Account,
    DescribedOperation,
    Portal,
    Untestable,
    Verify,
    is_refused,
    mark,
    own_ids,
    records_in,
)

PARAMETER = re.compile(r"{([^{}/]+)}")
OF_AN_ID = re.compile(r"(_?[Bb]iz)?_?(Id|id|ID)\Z")


@mark.requirement("HEADER-001", "HEADER-002", "AUTHN-001", "AUTHN-006", "AUTHN-007")
@mark.needs("descriptions")
def test_what_a_description_adds_is_guarded(portal: Portal, verify: Verify, admin: Account) -> None:
    """Also asked for an unknown id: the judge compares the answer with its description."""
    for read in _reads(portal, admin.token):
        with suppress(Untestable):
            _verify_guarded(portal, verify, admin.token, read)
        with suppress(Untestable):
            _ask_for_nobody(portal, read, admin.token)


def _ask_for_nobody(portal: Portal, read: DescribedRead, token: str) -> None:
    if read.ids:
        asked_for_nobody(portal, read.ids[-1], lambda id: portal.get(read.path(id), token=token))


@dataclass(frozen=True)
class DescribedRead:
    """A described endpoint that reads, with ids for its path and what its query requires."""

    row: DescribedOperation
    ids: tuple[str, ...]
    query: str

    def path(self, last: str | None = None) -> str:
        """The path with its ids; ``last`` stands in place of the last one."""
        values = iter(self.ids if last is None else (*self.ids[:-1], last))
        return PARAMETER.sub(lambda _: quote(next(values), safe=""), self.row.path) + self.query


def _verify_guarded(portal: Portal, verify: Verify, token: str, read: DescribedRead) -> None:
    """Without an access code, with others, without a token, with none and with a forged one. Raises
    Untestable where the endpoint cannot be called."""
    path = read.path()
    served = granted(portal.get(path, token=token))
    for rule, code in foreign_codes(portal, read.row.key):
        rejected = answered(portal.get(path, token=token, headers={ACCESS_CODE: code}))
        verify(rule, is_rejected(rejected, served))
    without = answered(portal.get(path))
    is_protected = read.row.is_protected and not read.row.is_hypothesis
    if is_protected or without.code in TOKEN_REFUSED:
        verify("AUTHN-001", is_refused(without, served, message="a request without a token was served"))
        none_at_all, other = portal.secrets.made_up(NONE_AT_ALL), forged(portal, token, changed_claims)
        verify("AUTHN-006", is_refused(answered(portal.get(path, token=none_at_all))))
        verify("AUTHN-007", is_refused(answered(portal.get(path, token=other))))


def _reads(portal: Portal, token: str) -> Iterator[DescribedRead]:
    """The GETs of the descriptions, those without ids first: what these list are ids of the others."""
    rows = [row for row in portal.profile.extend.described().operations if row.method == "GET"]
    listed: dict[str, list[str]] = {}
    for row in sorted(rows, key=lambda row: row.path.count("{")):
        with suppress(Untestable):
            ids = tuple(_id(portal, row, name, listed) for name in PARAMETER.findall(row.path))
            read = DescribedRead(row, ids, _query(row))
            if not ids:
                records = records_in(answered(portal.get(read.path(), token=token)).data)
                shown = [id for record in records for id in own_ids(record)[:1]]
                listed[row.path] = shown
                listed.setdefault(row.path.rpartition("/")[0], shown)
            yield read


def _query(row: DescribedOperation) -> str:
    """What the query of an endpoint requires. Raises Untestable where no value of it is shown."""
    needed = [each for each in row.parameters if each.place == "query" and each.is_required]
    if any(not each.examples for each in needed):
        raise Untestable(f"the description of {row.key} shows no value of a parameter that it requires")
    query = urlencode({each.name: each.examples[0] for each in needed})
    return f"?{query}" if query else ""


def _id(portal: Portal, row: DescribedOperation, name: str, listed: Mapping[str, list[str]]) -> str:
    """The id of a record that the profile names, or that a listing or the description shows. ``listed``: ids
    by the beginning of their paths. Raises Untestable."""
    record = RECORD_OF_PARAMETER.get(name, OF_AN_ID.sub("", name).lower())
    if hasattr(portal.profile.records, record):
        with suppress(Untestable):
            return portal.record(record)
    examples = chain.from_iterable(each.examples for each in row.parameters if each.name == name)
    for id in chain(listed.get(row.path.partition(f"/{{{name}}}")[0], ()), examples):
        return str(id)
    raise Untestable(f"no id is known for {name} of {row.key}")
