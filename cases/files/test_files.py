"""The file record: who may read it, and which headers it takes (chapter "Files")."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

import pytest

from cases.premises import answered, granted, outcome, refusal_text
from conformance.cases import (
    READS_FILE_HEADERS,
    Account,
    Portal,
    Untestable,
    Verify,
    equal,
    is_error_of_table,
    is_refused,
    lacking,
    mark,
    op,
)


@mark.requirement("FILE-023", "FILE-026")
def test_a_file_record_is_the_one_asked_for(portal: Portal, verify: Verify, admin: Account) -> None:
    file = portal.record("file")

    read = granted(portal.call(op.FILE, token=admin.token, fileBizId=file))
    if "bizId" in (read.data or {}):
        verify("FILE-023", equal(read, "data.bizId", file))


@mark.requirement("FILE-020", "FILE-021")
@mark.needs("accounts.limited")
def test_an_account_without_the_permission_reads_no_file(
    portal: Portal, verify: Verify, admin: Account, limited: Account
) -> None:
    file = portal.record("file")
    read = granted(portal.call(op.FILE, token=admin.token, fileBizId=file))

    refused = answered(portal.call(op.FILE, token=limited.token, fileBizId=file))
    if refused.status == 401:
        raise Untestable(f"[accounts.limited] is not taken as signed in ({refusal_text(refused)})", "target")
    verify("FILE-020", is_refused(refused, read, message="an account without file:read was served"))
    verify("FILE-021", is_error_of_table(refused, "ACCESS.PERMISSION_DENIED", read))


HEADER = "X-API-Key"


def ways_to_send(key: str, header: str = HEADER) -> Mapping[str, Mapping[str, str]]:
    """An API key as portals usually take one; ``header`` is the one that the profile names."""
    return {
        HEADER: {header: key},
        "Api-Key": {"Api-Key": key},
        "Authorization: ApiKey": {"Authorization": f"ApiKey {key}"},
        "Authorization: Bearer": {"Authorization": f"Bearer {key}"},
    }


@mark.requirement("FILE-022")
@pytest.mark.parametrize("way", ways_to_send(""))
def test_an_api_key_opens_no_file(portal: Portal, verify: Verify, admin: Account, way: str) -> None:
    file = portal.record("file")
    read = granted(portal.call(op.FILE, token=admin.token, fileBizId=file))

    settings = portal.profile.portal
    for key in filter(None, (secrets.token_hex(20), settings.api_key)):
        headers = ways_to_send(key, settings.api_key_header)[way]
        refused = answered(portal.call(op.FILE, fileBizId=file, headers=headers))
        message = f"an API key was accepted, sent as {way.replace(HEADER, settings.api_key_header)}"
        verify("FILE-022", is_refused(refused, read, message=message))
    if settings.api_key is None:
        verify.doubt("FILE-022", lacking(portal.profile, "api_key") or "")


@mark.requirement("FILE-025")
def test_what_the_file_read_does_without_its_headers(portal: Portal, verify: Verify, admin: Account) -> None:
    """All of them at once, and one by one where that is refused: then it shows which are wanted."""
    file, token = portal.record("file"), admin.token
    granted(portal.call(op.FILE, token=token, fileBizId=file))
    names = [name for name in READS_FILE_HEADERS if name != "X-PORTAL-ACCESS-CODE"]

    bare = answered(portal.call(op.FILE, token=token, fileBizId=file, headers=dict.fromkeys(names)))
    if bare.success:
        verify.observe("file-required-headers", bare, "served without them")
        return
    alone = {name: portal.call(op.FILE, token=token, fileBizId=file, headers={name: None}) for name in names}
    wanted = [name for name, answer in alone.items() if not answered(answer).success]
    verify.observe("file-required-headers", bare, {"wanted": wanted, "without them": outcome(bare)})
