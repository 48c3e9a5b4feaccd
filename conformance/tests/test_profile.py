"""A profile is read whole, and a mistake in it is named with table, key and what was probably meant."""

# ruff: noqa: E501 (a table is read row by row)

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.errors import ProfileError
from conformance.target.profile.model import load, parse

MINIMAL = """
[portal]
url = "http://127.0.0.1:8000"
access_code = "ingress"

[accounts.admin]
email = "admin@example.test"
password = "a password"
"""


def mistake(text: str, **environ: str) -> str:
    with pytest.raises(ProfileError) as caught:
        parse(text, environ, name="portal.toml")
    return str(caught.value)


def test_an_address_an_access_code_and_one_account_are_enough() -> None:
    profile = parse(MINIMAL, {})

    assert profile.accounts["admin"].email == "admin@example.test"
    assert profile.limits.max_mails == 20
    assert profile.secure_channel.payload == "iv+ciphertext+tag"
    assert not profile.secure_channel.is_pinned("payload")
    assert profile.clock.advance is None


OPERATION = '[operations."POST /web/v1/system/notifications/email/validate/smtp"]'


@pytest.mark.parametrize(
    "text, secret",
    [
        ("", ("ingress", "access-code")),
        ("", ("a password", "password")),
        ('[inboxes.p]\nkind = "imap"\nhost = "h"\nusername = "u"\npassword = "mail"\n', ("mail", "password")),
        ('[inboxes.c]\nkind = "fixed"\ncode = "000000"\n', ("000000", "code")),
        ('[bot_challenge]\ntoken = "bot"\n', ("bot", "bot-token")),
        ('[portal]\nother_access_code = "tenants"\n', ("tenants", "access-code")),
        ('[portal]\napi_key = "a key"\n', ("a key", "api-key")),
        (f'{OPERATION}\nbody = {{password = "${{SMTP}}"}}\n', ("smtp-password", "profile-value")),
    ],
)
def test_what_a_profile_keeps_secret_is_known(text: str, secret: tuple[str, str]) -> None:
    text = MINIMAL.replace("[portal]\n", text) if text.startswith("[portal]") else MINIMAL + text

    assert secret in {row[:2] for row in parse(text, {"SMTP": "smtp-password"}).secrets()}


@pytest.mark.parametrize(
    "text, said",
    [
        (MINIMAL.replace("password =", "pasword ="), 'portal.toml: [accounts.admin] has no key "pasword". Did you mean "password"?'),
        (MINIMAL.replace("[accounts.admin]", "[acounts.admin]"), 'portal.toml: the profile has no table "acounts". Did you mean "accounts"?'),
        (MINIMAL + "[limit]\n[readings]\nbogus = 1\n", '[readings] has no reading "bogus".'),
        (MINIMAL + "[limit]\n[readings]\nbogus = 1\n", 'the profile has no table "limit".'),
        (MINIMAL + "[acounts.spare]\n", 'portal.toml: the profile has no table "acounts". Did you mean "accounts"?'),
        (MINIMAL.replace('password = "a password"', ""), "portal.toml: [accounts.admin] has no password, which is needed."),
        (MINIMAL.replace('access_code = "ingress"', ""), "portal.toml: [portal] has no access_code, which is needed."),
        ('[accounts.admin]\nemail="a"\npassword="b"\n', "portal.toml: there is no table [portal], which is needed."),
        ('[portal]\nurl="http://localhost"\naccess_code="b"\n', "portal.toml: there is no account. Add the table [accounts.admin]"),
        (MINIMAL.replace('"ingress"', "7"), "portal.toml: [portal] access_code must be a text, not 7."),
        (MINIMAL.replace("[accounts.admin]", 'timeout = "ten"\n[accounts.admin]'), 'portal.toml: [portal] timeout must be a number, not "ten".'),
        (MINIMAL.replace("[accounts.admin]", "verify = 3\n[accounts.admin]"), "portal.toml: [portal] verify must be"),
        (MINIMAL + 'mfa = "OPT"\n', 'portal.toml: [accounts.admin] mfa must be "EMAIL" or "OTP", not "OPT". Did you mean "OTP"?'),
        (MINIMAL + 'otp_secret = "not base32!"\n', "portal.toml: [accounts.admin] otp_secret must be base32"),
        (MINIMAL + 'inbox = "mail"\n', 'portal.toml: [accounts.admin] inbox is "mail", but the profile has no such inbox. Add the table [inboxes.mail].'),
        (MINIMAL.replace("accounts.admin", "accounts.amdin"), 'portal.toml: [accounts] has no account "amdin". Did you mean "admin"?'),
        (MINIMAL + '[inboxes.mail]\nkind = "htpp"\n', 'portal.toml: [inboxes.mail] must be "http", "imap", "command", "fixed", not "htpp". Did you mean "http"?'),
        (MINIMAL + '[inboxes.mail]\nurl = "x"\n', "portal.toml: [inboxes.mail] has no kind, which is needed"),
        (MINIMAL + '[inboxes.mail]\nkind = "http"\nulr = "x"\nurl = "y"\n', 'portal.toml: [inboxes.mail] has no key "ulr". Did you mean "url"?'),
        (MINIMAL + '[inboxes.mail]\nkind = "http"\nurl = "y"\npattern = "("\n', "portal.toml: [inboxes.mail] pattern must be a regular expression"),
        (MINIMAL + '[operations."POST /web/v1/system/auth/pasword/change"]\n', 'Did you mean "POST /web/v1/system/auth/password/change"?'),
        (MINIMAL + '[operations."POST /web/v1/system/auth/password/change"]\nbody = {a = "{unqiue}"}\n', "has no placeholder {unqiue}. Did you mean {unique}?"),
        (MINIMAL + '[readings]\ninvalid-credential-status = 401\n', 'portal.toml: [readings] has no reading "invalid-credential-status". Did you mean "invalid-credentials-status"?'),
        (MINIMAL + '[limits]\nmax_mails = -1\n', "portal.toml: [limits] max_mails is not right: input should be greater than or equal to 0."),
        (MINIMAL + '[secure_channel]\npayload = "tag"\n', "portal.toml: [secure_channel] payload must be iv, ciphertext and tag"),
        (MINIMAL.replace("http://127.0.0.1:8000", "127.0.0.1"), "portal.toml: [portal] url must be an address"),
        (MINIMAL + '[expect]\naccounts = ["spare"]\n', '[expect] accounts names "spare", and there is no such account. Add the table'),
        (MINIMAL + '[expect]\nchapters = ["LOGN"]\n', 'has no chapter "LOGN". Did you mean "LOGIN"?'),
        ("profile = 2\n" + MINIMAL, "portal.toml: profile = 2 is not supported by this version; write profile = 1."),
        ("[portal\n", "portal.toml: this is not TOML: "),
        (MINIMAL.replace("a password", "${ADMIN_PASSWORD}"), "portal.toml: [accounts.admin] password needs the environment variable ADMIN_PASSWORD, which is not set."),
        (MINIMAL.replace("a password", "${file:/nowhere/at-all}"), "portal.toml: [accounts.admin] password cannot be read from /nowhere/at-all"),
    ],
)  # fmt: skip
def test_a_mistake_is_said_with_where_what_and_what_next(text: str, said: str) -> None:
    assert said in re.sub(r"portal\.toml:\d+: ", "portal.toml: ", mistake(text))


def test_a_mistake_in_an_address_that_the_command_names_is_not_said_of_the_file() -> None:
    with pytest.raises(ProfileError, match=r"^--target: \[portal\] url must be an address") as caught:
        parse(MINIMAL, {}, target="nonsense", name="portal.toml")

    assert "portal.toml" not in str(caught.value)


def test_every_mistake_is_told_at_once_and_a_mistyped_key_as_one() -> None:
    lines = mistake(
        MINIMAL.replace("password =", "pasword =").replace("access_code", "acces_code") + 'mfa = "OPT"\n'
    ).splitlines()

    assert len(lines) == 3
    assert 'has no key "acces_code". Did you mean "access_code"?' in lines[0]
    assert 'has no key "pasword". Did you mean "password"?' in lines[1]
    assert all(re.match(r"portal\.toml:\d+: ", line) for line in lines)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_value_that_ends_a_line_ends_before_it(tmp_path: Path, end: str) -> None:
    """Shells and editors leave a line end behind a secret; none is sent."""
    (tmp_path / "code").write_bytes(f"ingress{end}".encode())
    text = MINIMAL.replace("a password", "${ADMIN_PASSWORD}").replace(
        "ingress", f"${{file:{tmp_path / 'code'}}}"
    )

    profile = parse(text, {"ADMIN_PASSWORD": f" a password{end}"})

    assert profile.accounts["admin"].password == " a password"
    assert profile.portal.access_code == "ingress"


def test_the_environment_and_files_fill_in_what_the_profile_leaves_out(tmp_path: Path) -> None:
    (tmp_path / "code.txt").write_text("from the file\n")
    path = tmp_path / "portal.toml"
    path.write_text(MINIMAL.replace("a password", "${ADMIN_PASSWORD}").replace("ingress", "${file:code.txt}"))

    profile = load(path, {"ADMIN_PASSWORD": "from the environment"})

    assert profile.accounts["admin"].password == "from the environment"
    assert profile.portal.access_code == "from the file"


def test_a_doubled_dollar_is_a_dollar() -> None:
    assert parse(MINIMAL.replace("a password", "pa$${X}"), {}).accounts["admin"].password == "pa${X}"


def test_a_file_that_is_not_there_is_named_with_the_command_that_writes_one(tmp_path: Path) -> None:
    with pytest.raises(
        ProfileError, match=r"none\.toml: there is no such file\. `portal-conformance setup --print`"
    ):
        load(tmp_path / "none.toml")


def test_all_variables_that_are_missing_or_empty_are_named_at_once() -> None:
    text = MINIMAL.replace("ingress", "${A_CODE}").replace("admin@example.test", "${A_MAIL}")

    lines = mistake(text.replace("a password", "${file:gone}"), A_MAIL="").splitlines()

    assert [line.partition(": ")[2] for line in lines[:2]] == [
        "[portal] access_code needs the environment variable A_CODE, which is not set.",
        "[accounts.admin] email needs the environment variable A_MAIL, which is empty. Fill it.",
    ]
    assert "[accounts.admin] password cannot be read" in lines[2]
