"""Codes are read from what a person sees of a mail, in whatever form an inbox hands it out."""

from __future__ import annotations

import json
from base64 import b64encode
from email.message import EmailMessage

import pytest

from conformance.target.portal.inboxes import codes_in
from conformance.target.portal.sign_ins.mail_text import messages
from conformance.target.profile.tables import CODE

SENTENCE = "Your sign-in code is 482913. It expires at 12:00:00.654321 on 2026-11-28."
PAGE = (
    "<html><head><style>body{color:#333333} .b{border:1px solid #202123}</style><title>111111</title></head>"
    f'<body bgcolor="#101112"><h1 style="color:#123456">Hello</h1><p>{SENTENCE}</p>'
    '<script>var t = "222222"</script></body></html>'
)


def mail(*, subtype: str, encoding: str) -> str:
    message = EmailMessage()
    message["Subject"], message["To"] = "Your code", "admin@example.test"
    message.set_content(PAGE if subtype == "html" else SENTENCE, subtype=subtype, cte=encoding)
    return message.as_string()


def with_attachment() -> str:
    message = EmailMessage()
    message.set_content(SENTENCE)
    message.add_attachment("No. 555555", filename="terms.txt")
    return message.as_string()


def mailhog(body: str, encoding: str, kind: str = "text/plain; charset=utf-8") -> str:
    headers = {"Content-Transfer-Encoding": [encoding], "Content-Type": [kind], "Subject": ["Your code"]}
    created = "2026-11-28T12:00:00.123456Z"
    return json.dumps(
        {"total": 1, "items": [{"Created": created, "Content": {"Headers": headers, "Body": body}}]}
    )


@pytest.mark.parametrize(
    "answer",
    [
        SENTENCE,
        PAGE,
        json.dumps([{"html": PAGE}]),
        json.dumps({"messages": [{"subject": "Your code", "text": SENTENCE, "html": PAGE}]}),
        json.dumps([{"received": "2026-11-28T12:00:00.123456+00:00", "id": "a111111", "text": SENTENCE}]),
        mailhog(b64encode(SENTENCE.encode()).decode(), "base64"),
        mailhog(SENTENCE.replace("4829", "4829=\r\n"), "quoted-printable"),
        mailhog(b64encode(PAGE.encode()).decode(), "base64", "text/html; charset=utf-8"),
        mailhog(b64encode(SENTENCE.encode()).decode(), "base64", "text/plain; charset=x-unknown"),
        json.dumps([{"raw": mail(subtype="html", encoding="base64")}]),
        mail(subtype="plain", encoding="quoted-printable"),
        mail(subtype="html", encoding="quoted-printable"),
        json.dumps({"messages": [{"ID": "jsx5YZ", "Size": 654321, "Attachments": 0, "Snippet": SENTENCE}]}),
        json.dumps([{"id": "123456", "size": "654321", "posix-millis": 179500, "subject": SENTENCE}]),
        f"Received: from mx\r\n\tby mx id 123456;\r\nMessage-ID: <111111@example.test>\r\n\r\n{SENTENCE}",
        f"<html><head><meta charset=utf-8><style>a{{color:#123456}}</style><body><p>{SENTENCE}</p>",
        "<p>Your code: <b>4</b><b>8</b><b>2</b><span>913</span></p><p>111</p><p>222</p>",
        with_attachment(),
    ],
)
def test_the_code_is_the_only_one_that_is_seen(answer: str) -> None:
    (text,) = messages(answer)
    assert set(codes_in(text, CODE)) == {"482913"}


@pytest.mark.parametrize(
    "text", ["code:482913", "482913.", "(482913)", "Code: 482913!", "<482913>", "code=482913,", "—482913—"]
)
def test_punctuation_may_stand_around_a_code(text: str) -> None:
    assert codes_in(text, CODE) == ["482913"]


@pytest.mark.parametrize(
    "text",
    [
        "#482913",
        "12:00:00.482913",
        "+482913",
        "482913+00:00",
        "x482913",
        "4829130",
        "1.482913",
        "482913.5",
        "12:482913",
    ],
)
def test_a_part_of_something_else_is_no_code(text: str) -> None:
    assert codes_in(text, CODE) == []
