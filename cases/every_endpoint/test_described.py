"""Endpoints that a description of the user's own adds: what reads is called, and guarded as the 88 are.

Its answers are compared with the description on the wire. Nothing that changes is called.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
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
    for row in _reads(portal):
        with suppress(Untestable):
            _verify_guarded(portal, verify, admin.token, row)


@mark.requirement("AUTHN-001")
@mark.needs("descriptions")
def test_an_unknown_id_is_answered_as_described(portal: Portal, admin: Account) -> None:
    for row in _reads(portal):
        with suppress(Untestable):
            _ask_for_nobody(portal, row, admin.token)


def _ask_for_nobody(portal: Portal, row: DescribedOperation, token: str) -> None:
    *others, last = _ids(portal, row, token) or [""]
    if last:
        asked_for_nobody(portal, last, lambda id: portal.get(_path(row, *others, id), token=token))


def _verify_guarded(portal: Portal, verify: Verify, token: str, row: DescribedOperation) -> None:
    """Without an access code, with others, without a token, with none and with a forged one. Raises
    Untestable where the endpoint cannot be called."""
    path = _path(row, *_ids(portal, row, token))
    served = granted(portal.get(path, token=token))
    for rule, code in foreign_codes(portal, row.key):
        rejected = answered(portal.get(path, token=token, headers={ACCESS_CODE: code}))
        verify(rule, is_rejected(rejected, served))
    without = answered(portal.get(path))
    if row.is_protected or without.code in TOKEN_REFUSED:
        verify("AUTHN-001", is_refused(without, served, message="a request without a token was served"))
        verify("AUTHN-006", is_refused(answered(portal.get(path, token=portal.secrets.made_up(NONE_AT_ALL)))))
        verify(
            "AUTHN-007", is_refused(answered(portal.get(path, token=forged(portal, token, changed_claims))))
        )


def _reads(portal: Portal) -> list[DescribedOperation]:
    return [row for row in portal.profile.extend.described().read().operations if row.method == "GET"]


def _path(row: DescribedOperation, *ids: str) -> str:
    """The path with these ids, and what its query requires. Raises Untestable where no value is shown."""
    needed = [each for each in row.parameters if each.place == "query" and each.is_required]
    if any(not each.examples for each in needed):
        raise Untestable(f"the description of {row.key} shows no value of a parameter that it requires")
    values = iter(ids)
    path = PARAMETER.sub(lambda _: quote(next(values), safe=""), row.path)
    query = urlencode({each.name: each.examples[0] for each in needed})
    return f"{path}?{query}" if query else path


def _ids(portal: Portal, row: DescribedOperation, token: str) -> list[str]:
    return [_id(portal, row, name, token) for name in PARAMETER.findall(row.path)]


def _id(portal: Portal, row: DescribedOperation, name: str, token: str) -> str:
    """The id of a record that is known, or that a listing or the description shows. Raises Untestable."""
    record = RECORD_OF_PARAMETER.get(name, OF_AN_ID.sub("", name).lower())
    if hasattr(portal.profile.records, record):
        with suppress(Untestable):
            return portal.record(record)
    examples = chain.from_iterable(each.examples for each in row.parameters if each.name == name)
    shown = chain(_listed(portal, row.path.partition(f"/{{{name}}}")[0], token), map(str, examples))
    id = next(shown, None)
    if id is None:
        raise Untestable(f"no id is known for {name} of {row.key}")
    return id


def _listed(portal: Portal, before: str, token: str) -> Iterator[str]:
    """The ids that described listings show at the beginning of a path, or one word below it."""
    for row in _reads(portal):
        if "{" not in row.path and before in (row.path, row.path.rpartition("/")[0]):
            with suppress(Untestable):
                answer = granted(portal.get(_path(row), token=token))
                for listed in records_in(answer.data):
                    yield from own_ids(listed)[:1]
