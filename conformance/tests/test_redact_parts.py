"""Short words are secrets only in their context, parts of secrets leave no more than whole ones."""

from __future__ import annotations

import base64
import json

import pytest

from conformance.tests.test_redact import exchange
from conformance.traffic.exchange import Json
from conformance.traffic.redaction.redact import Secrets

STATEMENT = "An unknown account leaves other accounts untouched."
PASSWORD = "Long-Passw0rd-of-the-admin"
LINES: list[tuple[Json, Json]] = [
    ({"headers": [["X-PORTAL-ACCESS-CODE", "other"]]}, {"headers": [["X-PORTAL-ACCESS-CODE", "[code-1]"]]}),
    ({"password": "other", "kind": "other"}, {"password": "[code-1]", "kind": "other"}),
    ({"password": {"value": "other"}}, {"password": {"value": "[code-1]"}}),
    ({"backupCodes": ["first", "other"]}, {"backupCodes": ["first", "[code-1]"]}),
    ({"text": STATEMENT}, {"text": STATEMENT}),
    ({"text": '{"password": "other"}'}, {"text": '{"password": "[code-1]"}'}),
    ({"url": "/a?password=other&sort=other"}, {"url": "/a?password=[code-1]&sort=other"}),
    ({"Authorization": "Bearer other"}, {"Authorization": "Bearer [code-1]"}),
    (
        {"headers": [{"name": "Authorization", "value": "Bearer other"}]},
        {"headers": [{"name": "Authorization", "value": "Bearer [code-1]"}]},
    ),
]


def registered(value: str, kind: str = "code") -> Secrets:
    secrets = Secrets()
    secrets.add(value, kind)
    return secrets


@pytest.mark.parametrize("line, redacted", LINES)
def test_a_short_word_is_redacted_where_a_field_names_a_secret_and_nowhere_else(
    line: Json, redacted: Json
) -> None:
    assert json.loads(registered("other").redact_line(json.dumps(line) + "\n")) == redacted


SHORT = ("other", "code")
PHRASE = ("not the password", "password")
OF_LETTERS = ("JBSWYDPEHPKPXPAB", "otp-secret")


@pytest.mark.parametrize(
    ("value", "kind", "text", "redacted"),
    [
        (*SHORT, STATEMENT, STATEMENT),
        (*SHORT, "password: other", "password: [code-1]"),
        (*SHORT, '{\\"password\\":\\"other\\"}', '{\\"password\\":\\"[code-1]\\"}'),
        (*SHORT, "%22password%22%3A%22other%22", "%22password%22%3A%22[code-1]%22"),
        (*SHORT, "refused for password=otherwise", "refused for password=otherwise"),
        ("light", "cookie", "Cookie: theme=light; a=b", "Cookie: theme=[cookie-1]; a=b"),
        ("light", "cookie", "the light version", "the light version"),
        (PASSWORD, "password", f"{PASSWORD} {PASSWORD[:12]}", f"[password-1] {PASSWORD[:12]}"),
        (*PHRASE, "The email or the password is wrong.", "The email or the password is wrong."),
        (*PHRASE, "it is not the password", "it is [password-1]"),
        (*OF_LETTERS, "x?secret=JBSWYDPEHPKPXPAB", "x?secret=[otp-secret-1]"),
        (*OF_LETTERS, "x?a=JBSWYDPEHPKP", "x?a=[part-of-otp-secret-1]"),
    ],
)
def test_a_short_word_needs_a_name_before_it_and_neither_words_nor_short_pieces_are_parts(
    value: str, kind: str, text: str, redacted: str
) -> None:
    assert registered(value, kind).redact(text) == redacted


@pytest.mark.parametrize("kind", ["password", "token"])
@pytest.mark.parametrize("part", [PASSWORD[:20], PASSWORD[-20:], PASSWORD[:22], PASSWORD[1:]])
def test_a_part_of_a_secret_is_redacted(kind: str, part: str) -> None:
    assert registered(PASSWORD, kind).redact(f"<{part}>") == f"<[part-of-{kind}-1]>"


@pytest.mark.parametrize("part", [PASSWORD[:20], PASSWORD[-20:]])
def test_a_part_of_a_password_is_redacted_in_its_encodings_too(part: str) -> None:
    secrets = registered(PASSWORD, "password")

    for encoded in (base64.b64encode(part.encode()).decode(), part.encode().hex()):
        assert secrets.redact(f"<{encoded}>") == "<[part-of-password-1]>"


def test_a_secret_that_equals_a_part_of_another_has_a_placeholder_of_its_own() -> None:
    secrets = registered(PASSWORD, "password")
    secrets.add(PASSWORD[:20], "password")

    assert secrets.redact(f"{PASSWORD[:20]} {PASSWORD}") == "[password-2] [password-1]"


def test_what_the_suite_made_up_is_no_secret_where_it_is_sent() -> None:
    secrets = Secrets()
    wrong = secrets.made_up("Wrong-password-1")

    secrets.add_from(exchange(sent={"password": wrong, "newPassword": "a-good-password"}))

    assert secrets.placeholder(wrong) is None
    assert secrets.redact(f"{wrong} a-good-password") == f"{wrong} [password-1]"


def test_a_secret_that_was_made_from_another_names_it_and_the_difference() -> None:
    secrets = registered(PASSWORD, "password")

    near = secrets.altered(PASSWORD.swapcase(), "password", of=PASSWORD, by="letters in the other case")
    secrets.add_from(exchange(sent={"refreshToken": "issued-by-the-portal-0"}), origin="first seen in #1")
    secrets.add_from(exchange(sent={"password": near}), origin="first seen in #2")

    assert secrets.redact(near) == "[password-2]"
    assert secrets.origins == {
        "[password-2]": "password-1, letters in the other case",
        "[refresh-token-1]": "first seen in #1",
    }


def test_a_secret_that_is_acquired_stays_one_whatever_was_made_up() -> None:
    secrets = Secrets()
    secrets.add(secrets.made_up("123456"), "code")

    assert secrets.redact("123456") == "[code-1]"


def test_a_part_that_holds_the_id_of_the_run_stays_readable_and_the_whole_is_redacted() -> None:
    secrets = Secrets()
    secrets.make_public("suite-4a97f2")

    secrets.add_from(exchange(sent={"password": "mail-suite-4a97f2-1"}))

    assert secrets.redact("mail-suite-4a97f2-1 suite-4a97f2-1") == "[password-1] suite-4a97f2-1"


def test_a_name_that_a_recorded_run_made_up_is_no_secret() -> None:
    secrets = Secrets()

    secrets.add_from(exchange(sent={"turnstileToken": "suite-4a97f2-6", "password": "suite-4a97f2-secret"}))

    assert secrets.redact("suite-4a97f2-6, suite-4a97f2-67 and suite-4a97f2-secret") == (
        "suite-4a97f2-6, suite-4a97f2-67 and [password-1]"
    )


@pytest.mark.parametrize("length", [21, 22, 23, 24])
def test_three_quarters_are_redacted_however_they_are_rounded(length: int) -> None:
    value = "Aq7-Zk2_Wm9xPb4rTd6vHs3j"[:length]
    secrets = registered(value, "password")

    for kept in (3 * length // 4, -(-3 * length // 4)):
        assert secrets.redact(f"({value[:kept]})") == "([part-of-password-1])"
        assert secrets.redact(f"({value[-kept:]})") == "([part-of-password-1])"
