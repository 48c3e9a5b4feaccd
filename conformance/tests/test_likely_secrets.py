"""Secrets in headers and fields of a deployment's own are redacted by their look; ordinary values are not."""

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
from urllib.parse import urlencode

import pytest

from conformance import record
from conformance.check import CheckOptions, check
from conformance.record.log import Log
from conformance.replay import replay
from conformance.target.profile.model import Profile, parse
from conformance.tests.replays import options_for
from conformance.tests.scripted_client import Walker, walk
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


def octets(length: int) -> bytes:
    return bytes(DRAW.randrange(256) for _ in range(length))


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


def test_there_are_forty_kinds_and_forty_places() -> None:
    assert (len(KINDS), len(PLACES)) == (40, 40)


def exchanges() -> Iterator[tuple[Exchange, dict[str, Place]]]:
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


def request_to(path: str, body: Json = ABSENT, *, headers: list[tuple[str, str]] | None = None) -> Request:
    url = f"http://localhost/web/v1/system/{path}"
    return Request(method="GET" if body is ABSENT else "POST", url=url, headers=headers or [], body=body)


def logged(path: Path, *exchanges: Exchange) -> None:
    """Writes exchanges as the recorder does."""
    log = Log(path, Secrets())
    for each in exchanges:
        log.write(each.request, each.response, started=each.started, elapsed_ms=1.0, client="client")
    log.close()


def stands_in(value: str, text: str) -> bool:
    """Whether a text holds the value; four or five digits may be part of a longer number, say of a time."""
    if value not in text:
        return False
    return len(value) > 5 or re.search(rf"(?<![\d.]){re.escape(value)}(?!\d)", text) is not None


def test_nothing_raw_is_in_the_capture_nor_in_what_check_makes_of_it_or_of_what_others_recorded(
    tmp_path: Path,
) -> None:
    planted, made = {}, []
    for exchange, values in exchanges():
        planted.update(values)
        made.append(exchange)
    logged(tmp_path / "traffic.jsonl", *made)
    with capture.Writer(tmp_path / "unused.jsonl") as writer:
        (tmp_path / "raw.jsonl").write_bytes(b"".join(writer.line(exchange) + b"\n" for exchange in made))

    check([tmp_path / "traffic.jsonl"], CheckOptions(out=tmp_path / "reports"))
    others = check([tmp_path / "raw.jsonl"], CheckOptions(out=tmp_path / "others"))

    assert len(planted) > 1400
    folders = (tmp_path / "reports", tmp_path / "others")
    for file in (tmp_path / "traffic.jsonl", *(file for folder in folders for file in folder.iterdir())):
        text = file.read_text(encoding="utf-8", errors="replace")
        raw = [(place.where, place.name, value) for value, place in planted.items() if stands_in(value, text)]
        assert raw == [], file.name
    assert any(
        note.endswith("Where they are none, give --keep verificationCode.") for note in others.run.notes
    )


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


@pytest.mark.parametrize("form", ["bcdfg-hjklm nbvcx-zlkjh qwrtp-sdfgh", "bcdfghjk nbvcxzlk qwrtpsdf"])
def test_backup_codes_without_a_digit_are_redacted(form: str) -> None:
    codes, secrets = form.split(), Secrets()

    secrets.add_from(exchange_of(request_to("security/mfa/backup-codes/generate", {}), {"issued": codes}))

    assert all(secrets.placeholder(code) for code in codes)


def test_what_a_response_returned_is_no_secret_of_the_clients() -> None:
    finder, secrets = SecretFinder(), Secrets()
    id = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"

    finder.register(exchange_of(request_to("acme"), [{"ref": id}]), secrets)
    finder.register(exchange_of(request_to("acme", {"ref": id}), None), secrets)

    assert secrets.placeholder(id) is None


def test_the_filters_of_the_specification_are_no_secrets() -> None:
    finder, secrets = SecretFinder(), Secrets()
    url = "https://portal.example.test/web/v1/system/profile/invitations?statuses=10050303"

    finder.register(Exchange(n=1, started="", request=Request(method="GET", url=url)), secrets)

    assert list(finder.lines()) == []
