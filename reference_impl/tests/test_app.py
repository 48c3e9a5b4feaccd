"""Bad input at every endpoint, and how a portal is built."""

import time
from typing import Any

import pytest

from reference_impl import errors
from reference_impl.app import build
from reference_impl.choices import Choices
from reference_impl.messages import LANGUAGES, TEXTS
from reference_impl.routes import ROWS
from reference_impl.tests.client import INVALID, NOT_FOUND, Client, path_of, refusal_of

DEEP = b"[" * 5000 + b"]" * 5000
BODIES: dict[str, bytes] = {
    "nothing": b"",
    "broken": b"{",
    "array": b"[]",
    "null": b"null",
    "number": b"1",
    "text": b'"text"',
    "deep": DEEP,
    "deep within": b'{"bizId":' + DEEP + b"}",
    "bad utf-8": b'{"bizId":"\xff\xfe"}',
    "lone surrogate": b'{"bizId":"\\ud800"}',
    "huge number": b'{"page":' + b"9" * 5000 + b"}",
    "not a number": b'{"page":NaN}',
    "infinite": b'{"page":1e999}',
    "byte order mark": b"\xef\xbb\xbf{}",
}
NUMBERS, WORDS = (-1, 2**63, 2**70, 1.5), ("", "\0", "💥" * 300, "x" * 70_000)
VALUES: tuple[Any, ...] = (None, True, *NUMBERS, *WORDS, [], {}, [None], {"code": []})
LOGOUT_LAST = sorted(ROWS, key=lambda row: row.path.endswith("/logout"))
"""Of one session all endpoints are called: the one that ends it at the end."""


@pytest.fixture
def caller(admin: Client) -> Client:
    """Signed in and past the bot challenge."""
    return admin.verified()


def test_no_bad_body_gives_a_server_error(caller: Client) -> None:
    headers = {"Content-Type": "application/json"}
    answers = {
        (row.name, name): caller.ask(row.method, path_of(row), content=content, headers=headers)
        for row in LOGOUT_LAST
        for name, content in BODIES.items()
    }

    assert [at for at, answer in answers.items() if answer.status_code >= 500] == []
    envelope = {"success", "code", "message", "data"}
    assert [at for at, answer in answers.items() if not envelope <= answer.json().keys()] == []


def test_no_bad_value_gives_a_server_error(caller: Client) -> None:
    statuses = {
        (row.name, at): caller.send(row.path, dict.fromkeys(row.takes.fields, value)).status_code
        for row in LOGOUT_LAST
        if row.method == "POST"
        for at, value in enumerate(VALUES)
    }

    assert [at for at, status in statuses.items() if status >= 500] == []


def test_no_bad_header_or_query_gives_a_server_error(caller: Client) -> None:
    headers: dict[str, Any] = {
        "Content-Type": "text/plain",
        "Accept-Language": "xx;q=yy,;;,zh-Hant;q=0.1",
        "X-Workspace-Id": "é".encode(),
        "X-Secure-Channel-Session-Id": "unknown",
    }
    query = "a=1&a=2&page=1&page=x&statuses=&statuses=x&%FF=%FF&startTime=0001-01-01T00:00:00%2B14:00&sort=,"
    statuses = {
        row.name: caller.ask(
            row.method, f"{path_of(row)}?{query}", headers=headers, content=b"{}"
        ).status_code
        for row in LOGOUT_LAST
    }

    assert [name for name, status in statuses.items() if status >= 500] == []


def test_a_body_larger_than_the_portal_reads_is_invalid(client: Client) -> None:
    content = b'{"email":"' + b"x" * (3 << 20) + b'"}'
    answer = client.ask("POST", "/web/v1/system/auth/login/initiate", content=content)

    assert refusal_of(answer) == INVALID


@pytest.mark.parametrize("path", ["/", "/web/v1/system/profile/", "/web/v1/system/roles/no%0Arole"])
def test_an_unknown_path_or_id_is_not_found(admin: Client, path: str) -> None:
    assert refusal_of(admin.ask("GET", path)) == NOT_FOUND


def test_every_code_has_its_words_in_every_language() -> None:
    codes = {error.code for error in errors.table(Choices()).values()}

    assert not {(code, language) for code in codes for language in LANGUAGES} - TEXTS.keys()


def test_a_seeded_portal_is_built_the_same_again() -> None:
    first, second = (build(seed=7).state.seeded for _ in range(2))

    assert first == second
    assert build(seed=8).state.seeded != first


def test_a_portal_is_cheap_to_build() -> None:
    build()
    began = time.process_time()
    for _ in range(10):
        build()

    assert (time.process_time() - began) / 10 < 0.03
