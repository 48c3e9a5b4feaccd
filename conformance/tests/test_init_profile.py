"""The profile that ``setup --print`` prints is valid as it stands, and so is all that it suggests."""

from __future__ import annotations

import re

from conformance.spec.endpoints import CHANNEL_CREATE
from conformance.spec.operations import OPERATIONS
from conformance.target.profile.model import Profile, parse
from conformance.target.profile.placeholders import PLACEHOLDERS
from conformance.target.profile.references import PLACEHOLDER
from conformance.target.profile.tables import ACCOUNTS
from conformance.target.profile.template import GUESSES, text

ENVIRON = {
    "PORTAL_ACCESS_CODE": "code",
    "OTHER_ACCESS_CODE": "code of another portal",
    "PORTAL_API_KEY": "key",
    "ADMIN_PASSWORD": "password",
    "ADMIN_OTP_SECRET": "JBSWY3DPEHPK3PXP",
    "SPARE_PASSWORD": "password",
    "LIMITED_PASSWORD": "password",
    "PENDING_PASSWORD": "password",
    "IMAP_PASSWORD": "password",
    "BOT_TOKEN": "token",
}


def uncommented() -> str:
    """The file with every example taken up and filled in: lines that are a table or a key, behind a "# "."""
    return re.sub(r'(?m)^# (?=\[|"?[\w-]+"? = )', "", text()).replace(f'"{PLACEHOLDER}"', '"a value"')


def test_it_is_valid_as_it_stands() -> None:
    profile = parse(text(), ENVIRON)

    assert set(profile.accounts) == {"admin"}
    assert profile.operations == {}


def test_everything_that_it_suggests_is_valid_too() -> None:
    profile = parse(uncommented(), ENVIRON)

    assert set(profile.accounts) == set(ACCOUNTS)
    assert {inbox.kind for inbox in profile.inboxes.values()} == {"http", "imap", "command", "fixed"}
    assert profile.clock.advance is not None
    assert profile.readings == {"invalid-credentials-status": 401}


def test_it_names_every_table_and_key_of_a_profile() -> None:
    written = text()

    for name, field in Profile.model_fields.items():
        keys = getattr(field.annotation, "model_fields", {})
        assert re.search(rf"(?m)^(# )?(\[{name}\b|{name} =)", written), name
        assert [key for key in keys if not re.search(rf"(?m)^(# )?{key} = ", written)] == []
    assert all(f"{{{name}}}" in written for name in PLACEHOLDERS)


def test_it_has_a_body_for_every_endpoint_whose_body_is_not_shown() -> None:
    profile = parse(uncommented(), ENVIRON)
    unknown = {row.key for row in OPERATIONS if {"N1", "N3", "N6"} & set(row.gaps)}

    assert unknown <= set(profile.operations)
    assert all(profile.operations[key].body for key in unknown)
    assert "userBizId" in profile.operations["POST /web/v1/system/accounts/admin/password/reset"].body
    assert "emailConfig" in profile.operations[CHANNEL_CREATE].body  # whose password is to be masked


def test_every_guess_of_a_body_is_for_an_endpoint() -> None:
    assert [end for end in GUESSES if not any(row.path.endswith(end) for row in OPERATIONS)] == []


def test_a_name_that_it_suggests_begins_once_with_the_runs_id() -> None:
    run = "suite-1a2b3c"

    names = re.findall(r'"([^"\n]*)\{unique\}[^"\n]*"', text())

    assert names
    assert [before for before in names if (before + run).count("suite-") > 1] == []
