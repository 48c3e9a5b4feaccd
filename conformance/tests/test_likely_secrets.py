"""Secrets in headers and fields of a deployment's own, also packed into something else or known for one only
later, are redacted by their look; ordinary values are not."""

from __future__ import annotations

import base64
import json
import random
import re
import string
import tomllib
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from msgspec.structs import replace

from conformance import record
from conformance.check import CheckOptions, check
from conformance.record.log import Log
from conformance.replay import replay
from conformance.spec.endpoints import COUNTRIES
from conformance.target.profile.model import Profile, parse
from conformance.tests.replays import options_for, profile_of, written
from conformance.tests.scripted_client import Walker, walk
from conformance.tests.traffic import NO_TOKEN, answer
from conformance.traffic import capture
from conformance.traffic.exchange import ABSENT, Exchange, Json, Request, Response
from conformance.traffic.redaction.finder import SecretFinder
from conformance.traffic.redaction.redact import Secrets
from reference_impl import serve as reference

DRAW = random.Random(35)


def letters(alphabet: str, length: int) -> str:
    return "".join(DRAW.choice(alphabet) for _ in range(length))


def unread(length: int) -> str:
    """Letters that are no word."""
    return letters("bcdfghjklmnpqrstvwxz", length)


ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
BASE58 = re.sub("[0OIl]", "", ALNUM)
SEED = "apple brave coral eagle flame grape honey ivory jelly karma lemon mango"


def with_a_digit(make: Callable[[], str]) -> Callable[[], str]:
    def made() -> str:
        value = make()
        while not any(letter.isdigit() for letter in value):
            value = make()
        return value

    return made


def some(alphabet: str, length: int) -> Callable[[], str]:
    """So many letters of an alphabet, a digit among them."""
    return with_a_digit(partial(letters, alphabet, length))


def encoded(encode: Callable[[bytes], bytes], length: int) -> Callable[[], str]:
    return lambda: encode(b"\x01\x9f" + octets(length)).decode()


def jwt() -> str:
    parts = (json.dumps({"alg": "HS256"}), json.dumps({"sub": letters(ALNUM, 8)}), letters(ALNUM, 32))
    return ".".join(base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts)


def jwe() -> str:
    return ".".join(["eyJhbGciOiJkaXIifQ", "", *(letters(ALNUM, length) for length in (16, 40, 22))])


def octets(length: int) -> bytes:
    return bytes(DRAW.randrange(256) for _ in range(length))


def block(length: int) -> str:
    return base64.b64encode(octets(length)).decode()


OPAQUE: dict[str, Callable[[], str]] = {
    "jwt": jwt,
    **{f"hex-{n}": some(HEX, n) for n in (24, 32, 40, 48, 64)},
    **{f"upper-hex-{n}": some(HEX.upper(), n) for n in (32, 64)},
    **{f"base64-{n}": encoded(base64.b64encode, n) for n in (24, 32, 48)},
    **{f"base64url-{n}": encoded(base64.urlsafe_b64encode, n) for n in (24, 33)},
    **{f"alnum-{n}": some(ALNUM, n) for n in (20, 24, 32, 43)},
    "stripe": with_a_digit(lambda: f"sk_live_{letters(ALNUM, 24)}"),
    "github": with_a_digit(lambda: f"ghp_{letters(ALNUM, 36)}"),
    "slack": with_a_digit(lambda: f"xoxb-{letters(string.digits, 12)}-{letters(ALNUM, 24)}"),
    "aws": with_a_digit(lambda: f"AKIA{letters(string.ascii_uppercase + string.digits, 16)}"),
    "google": with_a_digit(lambda: f"AIza{letters(ALNUM, 35)}"),
    "turnstile": with_a_digit(lambda: f"0.{letters(ALNUM, 40)}.{letters(ALNUM, 22)}.{letters(HEX, 64)}"),
    "uuid": lambda: str(uuid.UUID(bytes=octets(16), version=4)),
    "six-digits": lambda: letters("123456789", 6),
    "seven-digits": lambda: letters("123456789", 7),
    "eight-digits": lambda: letters("123456789", 8),
}
"""Kinds of secrets that are found wherever a client sends them."""

NAMED: dict[str, Callable[[], str]] = {
    "four-digits": lambda: letters("123456789", 4),
    "five-digits": lambda: letters("123456789", 5),
    "ten-digits": lambda: letters("123456789", 10),
    "backup-4-4": with_a_digit(lambda: f"{letters(HEX, 4)}-{letters(HEX, 4)}"),
    "backup-5-5": with_a_digit(lambda: f"{unread(3)}{letters(string.digits, 2)}-{unread(5)}"),
    "backup-letters": lambda: f"{unread(5)}-{unread(5)}",
    "backup-letters-4": lambda: f"{unread(4)}-{unread(4)}-{unread(4)}",
    "base32": some(string.ascii_uppercase + "234567", 32),
    "alnum-8": with_a_digit(lambda: f"{unread(4)}{letters(string.digits, 4)}"),
    "alnum-10": with_a_digit(lambda: f"{unread(5)}{letters(string.digits, 5)}"),
    "alnum-12": with_a_digit(lambda: f"{unread(6)}{letters(string.digits, 6)}"),
    "nanoid": with_a_digit(lambda: f"aZ{letters(ALNUM + '_-', 19)}"),
    "alnum-16": some(ALNUM, 16),
}
"""Kinds that may be anything: they are found where a name speaks of them."""

PACKED: dict[str, Callable[[], str]] = {
    "base58": lambda: letters(BASE58, 44),
    "jwe": jwe,
    "gitlab": lambda: f"glpat-{letters(ALNUM, 20)}",
    "npm": lambda: f"npm_{letters(ALNUM, 36)}",
    "mail service": lambda: f"SG.{letters(ALNUM, 22)}.{letters(ALNUM, 43)}",
    "pairs": lambda: ":".join(letters(HEX, 2) for _ in range(16)),
    "basic": lambda: base64.b64encode(f"user:{letters(ALNUM, 12)}".encode()).decode(),
    "padded": lambda: block(25),
    "seed": lambda: " ".join(DRAW.sample(SEED.split(), 12)),
    "password": lambda: f"{letters(string.ascii_lowercase, 5)}{letters('123456789', 2)}!{letters(ALNUM, 4)}",
    "groups": lambda: f"{letters('123456789', 3)} {letters('123456789', 3)}",
    "key line": lambda: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{letters(ALNUM, 43)}",
    "uuid in braces": lambda: f"{{{uuid.UUID(int=DRAW.getrandbits(128), version=4)}}}",
}
"""Kinds that are found where they are packed into something else, under a name that speaks of secrets."""

KINDS = {**OPAQUE, **NAMED}


@dataclass(frozen=True)
class Place:
    """A place in an exchange. ``is_named``: a word in its name says that a secret stands there."""

    where: str
    name: str
    is_named: bool


NAMES = {
    "header": """x-challenge-response X-Sms-Code x-device-token X-OTP x-step-up-secret X_Session_Token
        x-vendor-api-key X-Signing-Key x-portal-pin""",
    "body": """verificationCode verification_code VERIFICATION_CODE mailedCode smsOtp one-time-password
        userPin deviceToken challengeAnswer vaultKey clientSecret rememberMeToken""",
    "query": "resetCode magic_token invite-key otpValue",
    "form": "confirm_code csrfToken",
    "response": "recoveryKey device_secret nextChallenge downloadToken pinCode",
    "response header": "x-next-token X-Refresh-Secret",
}
PLAIN = {"header": "x-step-two X-Acme-Edge acme-device", "body": "proof blob", "query": "ticket"}
PLACES = [
    Place(where, name, is_named=names is NAMES)
    for names in (NAMES, PLAIN)
    for where, listed in names.items()
    for name in listed.split()
]

Planted = tuple[Exchange, dict[str, Any]]
"""An exchange, and the places of the values that stand in it."""


def exchanges() -> Iterator[Planted]:
    """For each kind an exchange that holds a value of its own in each place."""
    for number, (kind, make) in enumerate(KINDS.items(), 1):
        planted = {make(): place for place in PLACES if place.is_named or kind in OPAQUE}
        by_place = {place: value for value, place in planted.items()}
        yield _exchange(number, by_place), planted


def _exchange(number: int, values: dict[Place, str]) -> Exchange:
    def fields(where: str) -> dict[str, str]:
        return {place.name: value for place, value in values.items() if place.where == where}

    form = fields("form")
    body: Json = {"outer": {"inner": [fields("body")]}}
    url = f"http://localhost/web/v1/system/acme/step?{urlencode({**fields('query'), **form})}"
    sent = Request(method="POST", url=url, headers=list(fields("header").items()), body=body)
    headers = [("content-type", "application/json"), *fields("response header").items()]
    return exchange_of(sent, fields("response"), headers=headers, number=number)


def exchange_of(
    sent: Request, data: Json, *, headers: list[tuple[str, str]] | None = None, number: int = 1
) -> Exchange:
    """A success with data."""
    body = {"success": True, "code": "2000", "message": "Success", "data": data}
    return Exchange(
        n=number,
        started="2031-05-06T07:08:09Z",
        elapsed_ms=1.0,
        client="client",
        request=sent,
        response=Response(status=200, headers=headers or [], body=body),
    )


def request_to(path: str = "acme/step", body: Json = ABSENT, **headers: str) -> Request:
    pairs = [(name.replace("_", "-"), value) for name, value in headers.items()]
    method = "GET" if body is ABSENT else "POST"
    return Request(method=method, url=f"http://localhost/web/v1/system/{path}", headers=pairs, body=body)


def multipart(value: str) -> str:
    return f'--B\r\nContent-Disposition: form-data; name="acmeToken"\r\n\r\n{value}\r\n--B--\r\n'


def sends(make: Callable[[str], Request]) -> Callable[[str], Exchange]:
    return lambda value: exchange_of(make(value), None)


def shows(data: Callable[[str], Json]) -> Callable[[str], Exchange]:
    return lambda value: exchange_of(request_to(), data(value))


def carries(payload: Callable[[str], str]) -> Callable[[str], Exchange]:
    return sends(lambda value: request_to(body={"payload": payload(value)}))


def redirects(value: str) -> Exchange:
    return exchange_of(request_to(), None, headers=[("location", f"{CALLBACK}?acmeToken={coded(value)}")])


coded = partial(quote, safe="")
CALLBACK = "https://app.example.test/cb"
PACKAGES: dict[str, Callable[[str], Exchange]] = {
    "the query": sends(lambda value: request_to(f"acme/step?acme_token={coded(value)}")),
    "the fragment": sends(lambda value: request_to(f"acme/step#acme_token={coded(value)}")),
    "the referrer": sends(lambda value: request_to(referer=f"{CALLBACK}?acmeToken={coded(value)}")),
    "a redirection": redirects,
    "a parameter of a header": sends(
        lambda value: request_to(x_acme_auth=f'keyid="k1", signature="{value}"')
    ),
    "a protocol": sends(lambda value: request_to(sec_websocket_protocol=f"token={quote(value)}")),
    "a forwarded header": sends(lambda value: request_to(x_forwarded_authorization=f"Bearer {value}")),
    "a list": sends(lambda value: request_to(body={"listOfTokens": [value]})),
    "JSON in a text": carries(lambda value: json.dumps({"acmeToken": value})),
    "JSON in base64": carries(
        lambda value: base64.b64encode(json.dumps({"acmeToken": value}).encode()).decode()
    ),
    "JSON in a parameter": carries(lambda value: coded(json.dumps({"acmeToken": value}))),
    "a line of a log": shows(lambda value: {"message": f"late: {json.dumps({'acmeToken': value})}"}),
    "the text of an error": lambda value: replace(
        exchange_of(request_to(), None), response=None, error=f"net::ERR {CALLBACK}?acmeToken={coded(value)}"
    ),
    "JSON in a header": sends(lambda value: request_to(x_acme=json.dumps({"acmeToken": value}))),
    "the name of a member": shows(lambda value: {"acmeTokens": {value: {"used": False}}}),
    "a form": carries(lambda value: f"a=1&pwd={coded(value)}"),
    "a part of a form": carries(multipart),
    "an element": carries(lambda value: f"<acme:req><acme:token>{value}</acme:token></acme:req>"),
    "a tag of a page": shows(
        lambda value: {"page": f'<html><meta name="csrf-token" content="{value}"></html>'}
    ),
    "an address": sends(
        lambda value: request_to(body={"database": f"postgres://svc:{coded(value)}@db.example.test/x"})
    ),
    "a download": shows(lambda value: {"url": f"https://files.example.test/d?acme_token={coded(value)}"}),
    "a key of several words": sends(lambda value: request_to(body={"apiAccessKey": value})),
    "a short name": sends(lambda value: request_to(body={"pwd": value})),
}

UNNATURAL = {
    *(
        ("the name of a member", kind)
        for kind in ("seed", "password", "groups", "key line", "uuid in braces")
    ),
    *(("a forwarded header", kind) for kind in ("seed", "groups")),
    ("a part of a form", "groups"),
}


def packages() -> Iterator[Planted]:
    """For each kind and each way to pack it an exchange, with the value that is packed there."""
    for place, make_exchange in PACKAGES.items():
        for kind, make in PACKED.items():
            value = make()
            if (place, kind) not in UNNATURAL:
                yield make_exchange(value), {value.rpartition("AAAAI")[2].strip("{}"): (place, kind)}


def logged(path: Path, *exchanges: Exchange) -> None:
    """Writes exchanges as the recorder does."""
    log = Log(path, Secrets())
    for each in exchanges:
        log.write(each.request, each.response, started=each.started, elapsed_ms=1.0, client="client")
    log.close()


def stands_in(value: str, text: str) -> bool:
    """Whether a text holds the value; four or five digits may be part of a longer number, say of a time."""
    if len(value) <= 5:
        return re.search(rf"(?<![\d.]){re.escape(value)}(?!\d)", text) is not None
    return any(form in text for form in {value, json.dumps(value)[1:-1], quote(value, safe="")})


def texts_of(folder: Path) -> list[str]:
    """The files of a folder, without digests: their digits are there by chance."""
    files = (file.read_text(errors="replace") for file in folder.iterdir())
    return [re.sub(r"\b[0-9a-f]{64}\b", "", text) for text in files]


def raw_in(planted: list[Planted], folder: Path, *texts: str) -> list[tuple[Any, str]]:
    """Values that stand as they are in some text or in a file of a folder, with their places."""
    reports = texts_of(folder)
    places = [(place, value) for _, values in planted for value, place in values.items()]
    return [row for row in places for text in (*texts, *reports) if stands_in(row[1], text)]


@pytest.mark.parametrize("name", ["traffic.jsonl", "traffic.har", "traffic.jsonl.gz"])
def test_nothing_raw_is_in_a_capture_nor_in_what_check_makes_of_it(tmp_path: Path, name: str) -> None:
    planted = [*exchanges(), *packages()]
    logged(tmp_path / name, *(exchange for exchange, _ in planted))
    check([tmp_path / name], CheckOptions(out=tmp_path))

    lines = "\n".join(json.dumps(repr(exchange)) for exchange in capture.read(tmp_path / name))
    assert sum(len(values) for _, values in planted) > 1600
    assert raw_in(planted, tmp_path, lines) == []


def test_nothing_raw_is_in_what_check_makes_of_what_others_recorded(tmp_path: Path) -> None:
    planted = [*exchanges()]
    recording = written(tmp_path / "raw.jsonl", *(exchange for exchange, _ in planted))
    told = check([recording], CheckOptions(out=tmp_path / "reports"))

    assert raw_in(planted, tmp_path / "reports") == []
    assert any(note.endswith("Where they are none, give --keep verificationCode.") for note in told.run.notes)


def texts(value: Json) -> Iterator[str]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts(inner)
    elif isinstance(value, str):
        yield value


def test_ordinary_values_of_the_reference_portal_are_no_secrets(tmp_path: Path) -> None:
    out = tmp_path / "traffic.jsonl"
    with (
        reference.start() as portal,
        record.serve(portal.url, out, record.RecordOptions(open_channel=True)) as recorder,
    ):
        walk(recorder.url, portal.profile())
        finder = recorder.log.finder

    bodies = [[one.request.json, one.response and one.response.json] for one in capture.read(out)]
    ordinary = {*texts(bodies)}
    assert len(ordinary) > 500
    assert finder.counts.total() <= len(ordinary) / 100, finder.counts


@dataclass(frozen=True)
class Visit:
    """A client at a recorder that knows the profile of its portal."""

    portal: reference.Running
    profile: Profile
    walker: Walker
    finder: SecretFinder


@contextmanager
def recorded(out: Path) -> Iterator[Visit]:
    with reference.start() as portal:
        text = portal.profile()
        profile = parse(text, {})
        with record.serve(portal.url, out, profile=profile) as recorder:
            yield Visit(portal, profile, Walker(recorder.url, tomllib.loads(text)), recorder.log.finder)


def test_the_recorder_redacts_what_the_profile_knows_and_lists_what_it_took(tmp_path: Path) -> None:
    out = tmp_path / "traffic.jsonl"
    with recorded(out) as visit:
        visit.walker.get("/profile", **{"x-challenge-response": "0.Qk3rT9zLwXv2"})
        password = visit.profile.accounts["spare"].password
        visit.walker.post("/acme/verify", {"verificationCode": "481526", "note": password})

    text = out.read_text()
    assert [secret for secret in ("0.Qk3rT9zLwXv2", "481526", password) if secret in text] == []
    assert {line.partition(": ")[2] for line in visit.finder.lines()} == {
        "1 value of x-challenge-response. Where they are none, give --keep x-challenge-response.",
        "1 value of verificationCode. Where they are none, give --keep verificationCode.",
    }


def test_the_ids_of_the_profile_are_no_secrets_in_a_recording_or_a_replay(tmp_path: Path) -> None:
    out = tmp_path / "ids.jsonl"
    with recorded(out) as visit:
        walker, workspace = visit.walker, str(visit.profile.records.workspace)
        walker.post("/currency-grants", {"ws": workspace, "ccy": "JPY"})
        text = out.read_text(encoding="utf-8")
        walker.sign_in(walker.profile["accounts"]["admin"])
        walker.get("/profile")
        walker.post("/currency-grants", {"ws": workspace, "ccy": "JPY"})
        changed = out.read_text(encoding="utf-8").replace('"VALIDATION.INVALID_PARAMETER"', '"4000"')
        out.write_text(changed, encoding="utf-8")
        told = replay([out], visit.profile, options_for(tmp_path / "reports"))

    assert f'"ws":"{workspace}"' in text.replace(" ", "")
    assert not any("ws" in line for line in visit.finder.lines())
    assert told.run.regressions
    assert workspace in (tmp_path / "reports" / "exchanges.jsonl").read_text("utf-8")


def test_what_a_response_returned_is_no_secret_of_the_clients() -> None:
    finder, secrets = SecretFinder(), Secrets()
    id = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"

    finder.register(exchange_of(request_to("acme"), [{"ref": id}]), secrets)
    finder.register(exchange_of(request_to("acme", {"ref": id}), None), secrets)

    assert secrets.placeholder(id) is None


def test_the_filters_of_the_specification_are_no_secrets() -> None:
    finder = SecretFinder()

    finder.register(exchange_of(request_to("profile/invitations?statuses=10050303"), None), Secrets())

    assert list(finder.lines()) == []


def test_a_private_key_is_redacted_line_by_line_wherever_it_stands(tmp_path: Path) -> None:
    lines = [block(48), block(48)]
    pem = "-----BEGIN PRIVATE KEY-----\n{}\n{}\n-----END PRIVATE KEY-----".format(*lines)
    public = pem.replace("PRIVATE", "PUBLIC").replace(lines[0], "A" * 64)
    logged(tmp_path / "traffic.jsonl", *(exchange_of(request_to(), {"note": text}) for text in (pem, public)))

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
        exchange_of(request_to("acme", X_Acme_Token=ticket), None),
        exchange_of(request_to("acme", Authorization=f"Bearer {other}"), None),
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

    texts = texts_of(tmp_path / "out")
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

    finder.register(exchange_of(request_to(body={"view": value}), {"shown": value}), Secrets())

    assert finder.counts == {}
