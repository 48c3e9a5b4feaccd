"""Secrets that are packed into something else, or known for one only later, are redacted as well."""

from __future__ import annotations

import base64
import json
import random
import re
import string
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from urllib.parse import quote

import pytest
from msgspec.structs import replace

from conformance.check import CheckOptions, check
from conformance.replay import replay
from conformance.spec.endpoints import COUNTRIES
from conformance.tests.replays import options_for, profile_of
from conformance.tests.test_likely_secrets import exchange_of, logged, request_to
from conformance.tests.traffic import NO_TOKEN, answer
from conformance.traffic import capture
from conformance.traffic.exchange import ABSENT, Exchange, Json, Request
from conformance.traffic.redaction.finder import SecretFinder
from conformance.traffic.redaction.redact import Secrets
from reference_impl import serve as reference

DRAW = random.Random(41)
ALNUM = string.ascii_letters + string.digits
BASE58 = re.sub("[0OIl]", "", ALNUM)
SEED = "apple brave coral eagle flame grape honey ivory jelly karma lemon mango"


def letters(alphabet: str, length: int) -> str:
    return "".join(DRAW.choice(alphabet) for _ in range(length))


def block(octets: int) -> str:
    return base64.b64encode(bytes(DRAW.randrange(256) for _ in range(octets))).decode()


def jwe() -> str:
    return ".".join(["eyJhbGciOiJkaXIifQ", "", *(letters(ALNUM, length) for length in (16, 40, 22))])


RANDOM: dict[str, Callable[[], str]] = {
    "base58": lambda: letters(BASE58, 44),
    "jwe": jwe,
    "gitlab": lambda: f"glpat-{letters(ALNUM, 20)}",
    "npm": lambda: f"npm_{letters(ALNUM, 36)}",
    "mail service": lambda: f"SG.{letters(ALNUM, 22)}.{letters(ALNUM, 43)}",
    "pairs": lambda: ":".join(letters("0123456789abcdef", 2) for _ in range(16)),
    "basic": lambda: base64.b64encode(f"user:{letters(ALNUM, 12)}".encode()).decode(),
    "padded": lambda: block(25),
}
"""Kinds that are found wherever a client sends them."""

NAMED: dict[str, Callable[[], str]] = {
    "seed": lambda: " ".join(DRAW.sample(SEED.split(), 12)),
    "password": lambda: f"{letters(string.ascii_lowercase, 5)}{letters('123456789', 2)}!{letters(ALNUM, 4)}",
    "groups": lambda: f"{letters('123456789', 3)} {letters('123456789', 3)}",
    "key line": lambda: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{letters(ALNUM, 43)}",
    "uuid in braces": lambda: f"{{{uuid.UUID(int=DRAW.getrandbits(128), version=4)}}}",
}
"""Kinds that are found under a name that speaks of secrets."""

URL = "http://portal.example.test/web/v1/system/acme/step"


def sent(url: str = URL, body: Json = ABSENT, **headers: str) -> Request:
    pairs = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return Request(method="POST", url=url, headers=pairs, body=body)


def multipart(value: str) -> str:
    return f'--B\r\nContent-Disposition: form-data; name="acmeToken"\r\n\r\n{value}\r\n--B--\r\n'


def sends(make: Callable[[str], Request]) -> Callable[[str], Exchange]:
    return lambda value: exchange_of(make(value), None)


def shows(data: Callable[[str], Json]) -> Callable[[str], Exchange]:
    return lambda value: exchange_of(sent(), data(value))


def carries(payload: Callable[[str], str]) -> Callable[[str], Exchange]:
    return sends(lambda value: sent(body={"payload": payload(value)}))


def redirects(value: str) -> Exchange:
    return exchange_of(sent(), None, headers=[("location", f"{CALLBACK}?acmeToken={coded(value)}")])


coded = partial(quote, safe="")
CALLBACK = "https://app.example.test/cb"
PLACES: dict[str, Callable[[str], Exchange]] = {
    "the query": sends(lambda value: sent(f"{URL}?acme_token={coded(value)}")),
    "the fragment": sends(lambda value: sent(f"{URL}#acme_token={coded(value)}")),
    "the referrer": sends(lambda value: sent(referer=f"{CALLBACK}?acmeToken={coded(value)}")),
    "a redirection": redirects,
    "a parameter of a header": sends(lambda value: sent(x_acme_auth=f'keyid="k1", signature="{value}"')),
    "a protocol": sends(lambda value: sent(sec_websocket_protocol=f"token={quote(value)}")),
    "a forwarded header": sends(lambda value: sent(x_forwarded_authorization=f"Bearer {value}")),
    "a list": sends(lambda value: sent(body={"listOfTokens": [value]})),
    "JSON in a text": carries(lambda value: json.dumps({"acmeToken": value})),
    "JSON in base64": carries(
        lambda value: base64.b64encode(json.dumps({"acmeToken": value}).encode()).decode()
    ),
    "JSON in a parameter": carries(lambda value: coded(json.dumps({"acmeToken": value}))),
    "a line of a log": shows(lambda value: {"message": f"late: {json.dumps({'acmeToken': value})}"}),
    "the text of an error": lambda value: replace(
        exchange_of(sent(), None), response=None, error=f"net::ERR {CALLBACK}?acmeToken={coded(value)}"
    ),
    "JSON in a header": sends(lambda value: sent(x_acme=json.dumps({"acmeToken": value}))),
    "the name of a member": shows(lambda value: {"acmeTokens": {value: {"used": False}}}),
    "a form": carries(lambda value: f"a=1&pwd={coded(value)}"),
    "a part of a form": carries(multipart),
    "an element": carries(lambda value: f"<acme:req><acme:token>{value}</acme:token></acme:req>"),
    "a tag of a page": shows(
        lambda value: {"page": f'<html><meta name="csrf-token" content="{value}"></html>'}
    ),
    "an address": sends(
        lambda value: sent(body={"database": f"postgres://svc:{coded(value)}@db.example.test/x"})
    ),
    "a download": shows(lambda value: {"url": f"https://files.example.test/d?acme_token={coded(value)}"}),
    "a key of several words": sends(lambda value: sent(body={"apiAccessKey": value})),
    "a short name": sends(lambda value: sent(body={"pwd": value})),
}

UNNATURAL = {
    *(("the name of a member", kind) for kind in NAMED),
    *(("a forwarded header", kind) for kind in ("seed", "groups")),
    ("a part of a form", "groups"),
}


def planted() -> Iterator[tuple[str, str, str, Exchange]]:
    """Place, kind and value, and the exchange that holds the value there."""
    for place, make_exchange in PLACES.items():
        for kind, make in (RANDOM | NAMED).items():
            value = make()
            if (place, kind) not in UNNATURAL:
                yield place, kind, value.rpartition("AAAAI")[2].strip("{}"), make_exchange(value)


def forms(value: str) -> set[str]:
    return {value, json.dumps(value)[1:-1], quote(value, safe="")}


@pytest.mark.parametrize("name", ["traffic.jsonl", "traffic.har", "traffic.jsonl.gz"])
def test_nothing_that_is_packed_is_raw_in_a_capture_or_a_report(tmp_path: Path, name: str) -> None:
    values = [*planted()]
    logged(tmp_path / name, *(exchange for *_, exchange in values))
    check([tmp_path / name], CheckOptions(out=tmp_path / "reports"))

    assert len(values) > 200
    lines = "\n".join(json.dumps(repr(exchange)) for exchange in capture.read(tmp_path / name))
    reports = [file.read_text(errors="replace") for file in (tmp_path / "reports").iterdir()]
    for text in (lines, *reports):
        assert [
            (place, kind) for place, kind, value, _ in values if any(form in text for form in forms(value))
        ] == []


def test_a_private_key_is_redacted_line_by_line_wherever_it_stands(tmp_path: Path) -> None:
    lines = [block(48), block(48)]
    pem = "-----BEGIN PRIVATE KEY-----\n{}\n{}\n-----END PRIVATE KEY-----".format(*lines)
    public = pem.replace("PRIVATE", "PUBLIC").replace(lines[0], "A" * 64)
    logged(tmp_path / "traffic.jsonl", *(exchange_of(sent(), {"note": text}) for text in (pem, public)))

    text = (tmp_path / "traffic.jsonl").read_text()
    assert not any(line in text for line in lines)
    assert "A" * 64 in text


@pytest.mark.parametrize("name", ["traffic.jsonl", "traffic.har", "traffic.jsonl.gz"])
def test_what_a_response_showed_before_it_was_known_for_a_secret_is_redacted_there(
    tmp_path: Path, name: str
) -> None:
    ticket, other = letters(ALNUM, 32), letters(ALNUM, 32)
    logged(
        tmp_path / name,
        exchange_of(request_to("acme"), {"blob": ticket, "further": other}),
        exchange_of(request_to("acme", headers=[("X-Acme-Token", ticket)]), None),
        exchange_of(request_to("acme", headers=[("Authorization", f"Bearer {other}")]), None),
    )

    first, *later = capture.read(tmp_path / name)
    assert len(later) == 2
    assert first.data["blob"] == later[0].request.header("x-acme-token")
    assert first.data["further"] == later[1].request.bearer
    assert ticket not in repr([first, *later])
    assert other not in repr([first, *later])


@pytest.mark.parametrize("cache", [False, True])
def test_a_replay_shows_nothing_of_what_a_recording_of_others_holds_raw(tmp_path: Path, cache: bool) -> None:
    challenge, ticket = letters(ALNUM, 32), letters(ALNUM, 40)
    with capture.Writer(tmp_path / "traffic.jsonl") as writer:
        for status in (200, 403):
            headers = {**NO_TOKEN, "X-Acme-Response": challenge}
            writer.write(answer(COUNTRIES, body={"nextTicketToken": ticket}, status=status, headers=headers))
    with reference.start() as portal:
        replay([tmp_path / "traffic.jsonl"], profile_of(portal), options_for(tmp_path / "out", cache=cache))

    texts = [file.read_text(errors="replace") for file in (tmp_path / "out").iterdir()]
    assert len(texts) > 3
    assert not any(value in text for text in texts for value in (challenge, ticket))


ORDINARY: list[Json] = [
    "Version 2.1 (build 4711)!",
    "https://app.example.test/orders?page=2&sort=createdAt,desc&status=IN_PROGRESS",
    "/assets/main.css?v=3",
    "<p class='note' id='intro'>Hello, world</p>",
    "text/html; charset=utf-8; boundary=frontier",
    "max-age=3600, must-revalidate",
    "a = b + c; x=1",
    '{"page": 1, "columns": ["name", "status"], "code": "AL"}',
    "report-2026-01-01.pdf",
    "#ff00aa",
    "+1 555 0148",
    "aa:bb:cc:dd:ee:ff",
    "1.2.3-rc.4+build.5",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)",
    "The pin code is sent by mail",
    "-----BEGIN CERTIFICATE-----",
    {"primaryKey": "order-line", "countryCode": "DE", "passCount": 4711, "codeCount": 1234},
    {"authMethod": "MAIL", "tokenType": "Bearer", "passwordPolicy": "eight letters"},
]


@pytest.mark.parametrize("value", ORDINARY)
def test_what_is_ordinary_is_no_secret_in_whatever_it_is_packed(value: Json) -> None:
    finder = SecretFinder()

    finder.register(exchange_of(sent(body={"view": value}), {"shown": value}), Secrets())

    assert finder.counts == {}
