"""Bad input, headers, languages, the envelope: what holds for every endpoint."""

import time
from typing import Any

import pytest

from reference_impl.app import build
from reference_impl.choices import Choices
from reference_impl.routes import ROWS
from reference_impl.tests.client import INVALID, Client, path_of, refusal_of
from reference_impl.tests.conftest import Portals

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
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    2**63,
    2**70,
    1.5,
    "",
    "\0",
    "💥" * 300,
    [],
    {},
    [None],
    {"code": []},
    "x" * 70_000,
)
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


@pytest.mark.parametrize("media_type", ["text/plain", "application/xml", "multipart/form-data; boundary=x"])
def test_only_json_is_read(client: Client, media_type: str) -> None:
    headers = {"Content-Type": media_type}
    answer = client.ask("POST", "/web/v1/system/auth/token/refresh", content=b"{}", headers=headers)

    assert refusal_of(answer) == INVALID


def test_unknown_properties_are_accepted_but_where_they_are_said_not_to_be(portal_with: Portals) -> None:
    body = {"refreshToken": "unknown", "more": 1}
    lenient = portal_with().send("/web/v1/system/auth/token/refresh", body)
    strict = portal_with(choices=Choices(unknown_properties="rejected"))

    assert lenient.status_code == 404
    assert refusal_of(strict.send("/web/v1/system/auth/token/refresh", body)) == INVALID


def test_the_envelope_has_its_six_fields(client: Client) -> None:
    envelope = client.ask("GET", "/web/v1/secure-channel/public-key").json()

    assert list(envelope) == ["version", "timestamp", "success", "code", "message", "data"]
    assert envelope["version"] == "2.0.0"
    assert abs(envelope["timestamp"] - time.time() * 1000) < 60_000


@pytest.mark.parametrize(
    ("language", "told"),
    [
        (None, "An access token is required."),
        ("xx", "An access token is required."),
        ("zh", "需要访问令牌。"),
        ("zh-Hant", "需要存取權杖。"),
        ("en;q=0.1, ja", "アクセストークンが必要です。"),
        ("vi-VN", "Cần có mã truy cập."),
    ],
)
def test_an_error_speaks_the_callers_language(client: Client, language: str | None, told: str) -> None:
    answer = client.but(Accept_Language=language).ask("GET", "/web/v1/system/profile")

    assert answer.json()["message"] == told


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
