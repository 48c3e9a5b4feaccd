"""Secrets leave in no encoding, and what is not secret leaves whole."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Sequence
from urllib.parse import quote, quote_plus

import pytest
from msgspec.structs import replace

from conformance.traffic.exchange import Exchange, Json, Plain, Request, Response
from conformance.traffic.redaction.redact import Secrets, secrets_in

PASSWORD = 'pä"ss/W0rd+?&=%\\'
TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.kX9-fTq_0aZvG1b2c3"
ENCODINGS: list[Callable[[str], str]] = [
    str,
    json.dumps,
    lambda text: json.dumps(text, ensure_ascii=False),
    lambda text: json.dumps(json.dumps({"password": text})),
    lambda text: quote(text, safe=""),
    lambda text: quote(text),
    quote_plus,
    lambda text: text.encode().hex(),
    lambda text: text.encode().hex().upper(),
    lambda text: base64.b64encode(text.encode()).decode(),
    lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    lambda text: base64.b64encode(b"user:" + text.encode() + b"!").decode(),
    lambda text: base64.b64encode(b"user12:" + text.encode() + b"!!").decode(),
    lambda text: base64.urlsafe_b64encode(b"users:" + text.encode()).decode(),
    lambda text: quote(base64.b64encode(text.encode()).decode(), safe=""),
]


def secrets(*values: tuple[str | bytes, str]) -> Secrets:
    known = Secrets()
    for value, kind in values:
        known.add(value, kind)
    return known


@pytest.mark.parametrize("encode", ENCODINGS)
@pytest.mark.parametrize("value, kind", [(PASSWORD, "password"), (TOKEN, "token"), ("S3cr-et!", "password")])
def test_a_secret_leaves_in_no_encoding(encode: Callable[[str], str], value: str, kind: str) -> None:
    text = f"before <{encode(value)}> after"

    left = secrets((value, kind)).redact(text)

    assert f"[{kind}-1]" in left
    assert left.startswith("before <")
    assert left.endswith("> after")
    assert encode(value)[2:-2] not in left


@pytest.mark.parametrize(
    "text",
    [
        "123456",
        "Your code is 123456.",
        "code=123456&next=1",
        "code%3D123456",
        '{"text": "hello\\n123456"}',
        base64.b64encode(b"123456").decode(),
        base64.b64encode(b'{"code":"123456"}').decode(),
        base64.b64encode(b'{"code": "123456"}').decode(),
        base64.b64encode(b'{"code":  "123456"}').decode(),
        b"123456".hex(),
    ],
)
def test_a_code_of_six_digits_is_taken_out_wherever_it_stands_alone_or_encoded(text: str) -> None:
    assert "[code-1]" in secrets(("123456", "code")).redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "1234567",
        "0.123456",
        "2026-01-01T00:00:00.123456Z",
        "1700000123456",
        "a123456",
        "id_123456",
        "12-123456",
    ],
)
def test_digits_within_a_longer_number_stay(text: str) -> None:
    assert secrets(("123456", "code")).redact(text) == text


def test_a_number_equal_to_a_code_is_taken_out_and_others_stay() -> None:
    known = secrets(("123456", "code"))

    others = {"total": 1234567, "ok": True, "n": 1.5}
    assert known.redact_json({"code": 123456, **others}) == {"code": {"[code-1]": "a number"}, **others}
    assert known.redact_json({"request": {"code": 123456}}) == {"request": {"code": "[code-1]"}}


@pytest.mark.parametrize("value", ["123456", "ends with \\", 'a "quoted" one'])
def test_a_line_of_json_stays_one(value: str) -> None:
    line = json.dumps({"number": 123456, "text": [f"{value}", f'{value}"', f"see :{value},"]}) + "\n"

    left = secrets((value, "secret")).redact_line(line)

    assert left.endswith("\n")
    assert json.loads(left)["text"] == ["[secret-1]", '[secret-1]"', "see :[secret-1],"]


def test_a_password_that_is_a_plain_word_leaves_paths_and_field_names_whole() -> None:
    known, path = secrets(("password", "password")), "/web/v1/system/auth/password/forgot"

    assert known.redact(path) == path
    redacted = known.redact_json({"password": "password", "newPassword": "x"})
    assert redacted == {"password": "[password-1]", "newPassword": "x"}


@pytest.mark.parametrize("code", ["QWXZTRKP", "qwxztrkp", "kiwibanana"])
def test_a_backup_code_of_letters_leaves_in_no_name_of_a_member(code: str) -> None:
    line = secrets((code, "backup-code")).redact_line(f'{{"data":{{"backupCodes":{{"{code}":true}}}}}}\n')

    assert line == '{"data":{"backupCodes":{"[backup-code-1]":true}}}\n'


KEY = bytes(range(200, 232))
EQUAL = (("first-token-1", "token"), ("second-token", "token"), ("first-token-1", "password"))
WITHIN = (("abcdefgh", "password"), ("abcdefgh-ijklmnop", "token"), ("ijklmnop-qrst", "token"))


@pytest.mark.parametrize(
    ("known", "text", "redacted"),
    [
        ([("QWXZTRKP", "backup-code")], "xQWXZTRKPQWXZTRKPy", "x[backup-code-1][backup-code-1]y"),
        ([(KEY, "aes-key")], f"{base64.b64encode(KEY).decode()} {KEY.hex()}", "[aes-key-1] [aes-key-1]"),
        (EQUAL, "first-token-1 second-token first-token-1", "[token-1] [token-2] [token-1]"),
        (WITHIN, "abcdefgh-ijklmnop-qrst", "[token-1]"),
        ([("000000", "code")], '"000000", .000000, 1000000', '"[code-1]", .000000, 1000000'),
    ],
    ids=["capital letters", "bytes", "equal values", "one within another", "a code of one digit"],
)
def test_what_is_known_is_taken_out_and_nothing_of_it_is_left(
    known: Sequence[tuple[str | bytes, str]], text: str, redacted: str
) -> None:
    assert secrets(*known).redact(text) == redacted


@pytest.mark.parametrize("value", ["abc", "    " * 4, "aaaaaaaaaaaa", "null", "2000"])
def test_what_stands_anywhere_is_passed_over(value: str) -> None:
    assert secrets((value, "password")).redact(f"<{value}>") == f"<{value}>"


def exchange(
    path: str = "/x", *, sent: Json = None, answer: Json = None, headers: list[tuple[str, str]] | None = None
) -> Exchange:
    return Exchange(
        n=1,
        started="2026-01-01T00:00:00Z",
        request=Request(method="POST", url=f"http://localhost{path}", headers=headers or [], body=sent),
        response=Response(status=200, body=answer),
    )


JOINED = "a=one1; Path=/\nb=two2; Expires=Wed, 21 Oct 2026 07:28:00 GMT, c=three3"
"""Several cookies as browsers and proxies join them in a HAR."""
GENERATE = "/web/v1/system/security/mfa/backup-codes/generate"
WITHOUT_A_DIGIT = ("bcdfg-hjklm nbvcx-zlkjh qwrtp-sdfgh", "bcdfghjk nbvcxzlk qwrtpsdf")
USED = {"value": "73519264", "used": False, "at": "2026-01-01T00:00:00Z"}


def generated(data: Json, **other: Json) -> Exchange:
    return exchange(GENERATE, answer={"success": True, "data": data, **other})


@pytest.mark.parametrize(
    "shown, kind, expected",
    [
        (exchange(headers=[("authorization", "Bearer tok-1")]), "token", "tok-1"),
        (exchange(headers=[("X-PORTAL-ACCESS-CODE", "ingress")]), "access-code", "ingress"),
        (exchange(headers=[("Cookie", "a=one1; b=two2")]), "cookie", "one1 two2"),
        (exchange(headers=[("Set-Cookie", JOINED)]), "cookie", "one1 two2 three3"),
        (exchange("/login/complete", sent={"code": "123456"}), "code", "123456"),
        (exchange("/login/complete", sent={"code": 123456}), "code", "123456"),
        (exchange("/elsewhere", sent={"code": "EMAIL"}), "", ""),
        (exchange(answer={"code": "2000", "data": {"accessToken": "aaaa"}}), "token", "aaaa"),
        (exchange(answer={"code": "2000", "data": {"refreshToken": "bbbb"}}), "refresh-token", "bbbb"),
        (exchange(sent={"emailConfig": {"password": "smtp-pass"}}), "password", "smtp-pass"),
        (exchange(answer={"data": {"emailConfig": {"password": "******"}}}), "", ""),
        (exchange(answer={"data": {"backupCodes": ["one-1", "two-2"]}}), "backup-code", "one-1 two-2"),
        (generated(["AB12-CD34", "ready"], code="2000", message="Success"), "backup-code", "AB12-CD34"),
        (generated({"items": [USED], "remainingCount": 10}), "backup-code", "73519264"),
        (
            generated({"sheet": "52x36x7s6r\nfcmsffq2aa\nabcdefghij", "note": "Keep these codes, please"}),
            "backup-code",
            "52x36x7s6r fcmsffq2aa abcdefghij",
        ),
        (generated("[backup-code-1]\n[backup-code-2]\n[backup-code-3]"), "", ""),
        (generated("1. 52x36x, 2. 91m200, 3. 7j2kkk1 and no more"), "backup-code", "52x36x 91m200 7j2kkk1"),
        (
            generated({"first": "52x36x7s", "second": "91m200aa", "third": "7j2kkk1b"}),
            "backup-code",
            "52x36x7s 91m200aa 7j2kkk1b",
        ),
        *((generated({"issued": codes.split()}), "backup-code", codes) for codes in WITHOUT_A_DIGIT),
        (generated(None, success=False, code="X.Y1234"), "", ""),
        (exchange(answer={"data": {"otpSecret": "JBSWY3DP"}}), "secret", "JBSWY3DP"),
        (exchange("/a?access_token=qqqq"), "token", "qqqq"),
        (exchange(answer={"data": {"sessionId": "s-1"}}), "", ""),
        (exchange(sent={"keyId": "k", "encReqKey": "cipher", "encRespKey": "cipher"}), "", ""),
    ],
)
def test_secrets_are_known_by_their_place(shown: Exchange, kind: str, expected: str) -> None:
    assert set(secrets_in(shown)) == {(value, kind) for value in expected.split()}


def test_the_decrypted_request_shows_its_secrets_too() -> None:
    seen = replace(exchange(), plain=Plain(request={"oldPassword": "old-one", "newPassword": "new-one"}))

    assert set(secrets_in(seen)) == {("old-one", "password"), ("new-one", "password")}


def test_a_thousand_secrets_cost_little_on_ordinary_traffic() -> None:
    known = Secrets()
    for number in range(1000):
        known.add(f"{TOKEN}{number:04d}", "token")
    text = json.dumps(
        [{"bizId": f"record-{number}", "createdAt": "2026-01-01T00:00:00.123Z"} for number in range(2000)]
    )

    began = time.process_time()
    assert known.redact(text) == text
    assert time.process_time() - began < 5


FEW = 3
"""Of how many tokens all encodings are searched."""


def token(number: int) -> str:
    return f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0{number:04d}MiJ9.kX9-fTq_0a{number:04d}Zv"


def of_tokens(*numbers: int) -> Secrets:
    known = Secrets(fully=FEW)
    for number in numbers:
        known.add(token(number), "token")
    return known


@pytest.mark.parametrize(
    "shape",
    [
        '{"accessToken":"%s"}',
        '[["Authorization","Bearer %s"]]',
        "https://portal.example.test/reset/%s",
        "https://portal.example.test/?token=%s&page=1",
        "The token is %s.",
        '{"text":"a \\"%s\\" in a text"}',
        "sid=%s; Path=/",
    ],
)
def test_an_older_token_is_still_taken_out_as_a_text(shape: str) -> None:
    secrets = of_tokens(*range(20))

    shown = [secrets.redact(shape % token(number)) for number in range(20)]

    assert shown == [shape % f"[token-{number + 1}]" for number in range(20)]


def test_the_newest_tokens_and_every_password_are_taken_out_in_every_encoding() -> None:
    secrets = of_tokens(*range(20))
    secrets.add("a-long-Password-of-the-admin-1", "password")

    for encode in ENCODINGS:
        text = "\n".join(encode(one) for one in ("a-long-Password-of-the-admin-1", token(18), token(19)))
        clean = secrets.redact(text)
        assert "[password-1]" in clean
        assert "[token-19]" in clean
        assert "[token-20]" in clean


def test_a_token_that_grew_old_is_the_same_when_it_comes_again() -> None:
    secrets = of_tokens(*range(10), 0, 1, 2)

    assert len(secrets) == 10
    placeholders = [secrets.placeholder(token(number)) for number in range(3)]
    assert placeholders == ["[token-1]", "[token-2]", "[token-3]"]


def test_what_old_tokens_take_does_not_grow_with_their_encodings() -> None:
    assert of_tokens(*range(200)).size == of_tokens(197, 198, 199).size
