"""What every endpoint that only reads answers a caller who may read (chapter "Endpoints")."""

from __future__ import annotations

import pytest

from cases.every_endpoint.test_in_between import values_of
from cases.premises import WRITTEN, authorized, refusal_text
from cases.reading import READABLE, read
from conformance.cases import (
    HELD,
    INVALID_PARAMETER,
    Account,
    Comparison,
    Exchange,
    Operation,
    ParameterSet,
    Portal,
    Untestable,
    Verify,
    contradicts,
    extra_fields,
    is_success,
    judged_in,
    mark,
    offered,
    op,
)


def rows() -> list[ParameterSet]:
    """What the answers show is judged on the wire; the case names it, as nothing else would show it."""
    return [
        pytest.param(
            row,
            id=row.key,
            marks=mark.requirement(
                offered(row.key), "ENV-021", "RESOURCE-005", "RESOURCE-006", *judged_in(row, "success")
            ),
        )
        for row in READABLE
    ]


@pytest.mark.parametrize("row", rows())
def test_an_endpoint_that_reads_answers_what_it_holds(
    portal: Portal, verify: Verify, admin: Account, row: Operation
) -> None:
    token = None if row.is_prelogin else admin.token
    exchange = authorized(read(portal, row, token=token))
    if exchange.success:
        verify("ENV-021", shows_no_secret(portal, exchange))
        if row.data and not extra_fields(row, exchange):
            verify.observe("extra-fields", exchange, "none")
        return
    if _fails_again(portal, row, exchange, token) or _is_nowhere(portal, row, exchange, token):
        verify(offered(row.key), is_success(exchange))
        return
    if not asks_for_little(row) or exchange.code not in INVALID_PARAMETER:
        raise Untestable(f"{row.key} was refused ({refusal_text(exchange)})", "target")
    verify(offered(row.key), is_success(exchange))


LONG_ENOUGH = 12
"""Letters of a secret that stands within another text by no chance."""


def shows_no_secret(portal: Portal, exchange: Exchange) -> Comparison:
    """Whether no text of an answer is, or holds, a secret that the portal was given: no account's password or
    authenticator secret, and no access code."""
    secrets = {portal.profile.portal.access_code: "the access code"}
    for name, account in portal.profile.accounts.items():
        secrets[account.password] = f"the password of [accounts.{name}]"
        secrets[account.otp_secret or ""] = f"the authenticator secret of [accounts.{name}]"
    secrets.pop("", None)
    for at, text in values_of(exchange).items():
        for secret, kind in secrets.items() if isinstance(text, str) else ():
            if text == secret or (len(secret) >= LONG_ENOUGH and secret in text):
                return contradicts(exchange, at, "no secret", kind)
    return HELD


def asks_for_little(row: Operation) -> bool:
    """Whether nothing that the request holds could lawfully be called invalid."""
    return not row.parameters and row.method == "GET" and row.key != op.OWN_INVITATIONS


def _fails_again(portal: Portal, row: Operation, exchange: Exchange, token: str | None) -> bool:
    """Whether a request in order ends in a server error, and does so after a while as well."""
    if exchange.status != 500:
        return False
    portal.clock.wait(WRITTEN, "an endpoint that failed to answer")
    return read(portal, row, token=token).status == 500


def _is_nowhere(portal: Portal, row: Operation, exchange: Exchange, token: str | None) -> bool:
    """Whether a path that names no record is answered as one that nobody has: 404 may speak of a workspace
    that the caller has none of."""
    if exchange.status != 404 or row.parameters or row.key == op.WORKSPACES_CURRENT:
        return False
    unknown = portal.get(f"{row.path}-{portal.unique()}", token=token, method=row.method)
    return unknown.status == 404 and [unknown.code, unknown.at("message")] == [
        exchange.code,
        exchange.at("message"),
    ]
