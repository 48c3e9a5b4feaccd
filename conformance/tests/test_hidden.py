"""What a recording says of the secrets that it hides, and what it keeps to itself."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from conformance.record.log import Log
from conformance.traffic import capture
from conformance.traffic.exchange import Json, Request, Response
from conformance.traffic.hidden import form_of, mistake_of, mistaken, password_of
from conformance.traffic.redaction.redact import Secrets

INITIATE, COMPLETE = "/web/v1/system/auth/login/initiate", "/web/v1/system/auth/login/complete"
CHANGE = "/web/v1/system/auth/password/change"
CLAIMS = {
    "sub": "person09@example.test",
    "iat": 1,
    "ctx": {"who": "Person Nine", "is": True},
    "person l": "x",
}


def packed(value: Json) -> str:
    return urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def jwt(claims: Json) -> str:
    return f"{packed({'alg': 'none'})}.{packed(claims)}.c2lnbmF0dXJl"


Sent = tuple[str, Json, Response]


def granted(path: str, body: Json, data: Json) -> Sent:
    return path, body, Response(status=200, body={"success": True, "code": "2000", "data": data})


def refused(path: str, body: Json, status: int = 401, code: str = "4010") -> Sent:
    return path, body, Response(status=status, body={"success": False, "code": code, "data": None})


def recorded(out: Path, *exchanges: Sent) -> list[dict[str, Json]]:
    """What is said of the secrets of these exchanges."""
    log = Log(out, Secrets())
    for path, body, response in exchanges:
        log.write(
            Request(method="POST", url=f"http://portal.example.test{path}", body=body),
            response,
            started="2026-01-02T03:04:05+00:00",
            elapsed_ms=1.0,
            client="",
        )
    log.close()
    return [each.hidden or {} for each in capture.read(out)]


@pytest.mark.parametrize("name", ["traffic.jsonl", "traffic.har"])
def test_of_a_hidden_token_the_kinds_of_its_claims_are_recorded(tmp_path: Path, name: str) -> None:
    encrypted = f"{packed({'alg': 'dir', 'enc': 'A256GCM'})}.a.b.c.d"
    tokens = (jwt(CLAIMS), "1" * 40, encrypted)

    hidden = recorded(tmp_path / name, *(granted(COMPLETE, {}, {"accessToken": token}) for token in tokens))

    kinds = {"sub": "email", "iat": "number", "ctx.who": "text", "ctx.is": "flag"}
    assert [said["claims"] for each in hidden for said in each.values()] == [kinds, None, {}]
    text = (tmp_path / name).read_text(encoding="utf-8")
    assert [part for part in ("Nine", "person09") if part in text] == []


def test_how_a_hidden_password_was_mistaken_is_recorded_with_the_right_one(tmp_path: Path) -> None:
    def tried(password: str) -> Json:
        return {"email": "a@example.test", "password": password}

    hidden = recorded(
        tmp_path / "traffic.jsonl",
        refused(INITIATE, tried("sECRET-1x")),
        refused(INITIATE, tried("Quite-another-2")),
        granted(INITIATE, tried("Secret-1X"), {"sessionId": "s"}),
        refused(INITIATE, tried("Secret-1")),
    )

    mistakes = [{name: said["mistake"] for name, said in each.items()} for each in hidden]
    assert mistakes == [{}, {}, {"[password-1]": "another case"}, {"[password-4]": "no last letter"}]
    assert hidden[3]["[password-4]"]["of"] == "[password-3]"


@pytest.mark.parametrize(
    "password, meant, live, expected",
    [
        ("sECRET-1", "Secret-1", "Other-word-9", "oTHER-WORD-9"),
        ("Secret-2", "Secret-1", "Other-word-a", "Other-word-b"),
        ("Secret-", "Secret-1", "Other-word-9", "Other-word-"),
        ("Secret-", "Secret-1", "Other-wo", None),
        ("sECRET-1", "Secret-1", "1234567890", None),
    ],
)
def test_a_password_is_mistaken_in_the_same_way_and_another_password_is_no_mistake(
    password: str, meant: str, live: str, expected: str | None
) -> None:
    mistake = mistake_of(password, meant)

    assert mistake is not None
    assert mistaken(live, mistake) == expected
    assert mistake_of(meant, meant) is mistake_of("Quite-another-2", meant) is None


@pytest.mark.parametrize(
    "path, field, value, form",
    [
        (INITIATE, "password", "Short-1", {"length": 7}),
        (INITIATE, "password", "Long-1" * 30, {"length": 180}),
        (INITIATE, "password", "only-small-letters", {}),
        (INITIATE, "password", "Schön-genug-1", None),
        (CHANGE, "newPassword", "only-small-letters", {"lacks": ["capitals", "digits"]}),
        (CHANGE, "oldPassword", "only-small-letters", {}),
        (COMPLETE, "code", 482915, {"kind": "number"}),
        (COMPLETE, "code", "482915", None),
    ],
)
def test_of_a_refused_secret_its_form_is_recorded_as_far_as_it_may_be_the_cause(
    tmp_path: Path, path: str, field: str, value: Json, form: Json
) -> None:
    out, body = tmp_path / "traffic.jsonl", {"email": "a@example.test", field: value}

    hidden = recorded(out, refused(path, body, 400, "VALIDATION.INVALID_PARAMETER"))

    assert [each["form"] for each in hidden[0].values()] == ([] if form is None else [form])
    assert str(value) not in out.read_text(encoding="utf-8")


@pytest.mark.parametrize("length", [1, 7, 128, 300])
def test_a_password_is_made_up_in_a_form(length: int) -> None:
    password = password_of({"length": length, "lacks": ["digits"]})

    assert password is not None
    assert len(password) == length
    assert not any(letter.isdigit() for letter in password)
    assert form_of(password_of({}) or "", is_new=True) == {}
    assert password_of({"length": "x"}) is None
    assert password_of({"lacks": ["small letters", "capitals", "digits", "signs"]}) is None
