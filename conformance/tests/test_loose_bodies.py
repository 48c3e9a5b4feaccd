"""Secrets in bodies that are no JSON, in any syntax with names and values. Ordinary texts stay readable."""

from __future__ import annotations

import json
from base64 import b64encode, encodebytes
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from conformance.check import CheckOptions, check
from conformance.record.log import Log
from conformance.replay.engine.log import ReplayLog
from conformance.tests.test_likely_secrets import KINDS, exchange_of, request_to, stands_in
from conformance.traffic import capture
from conformance.traffic.capture.bodies import body_of, bytes_of
from conformance.traffic.exchange import Exchange, Json, Request, Response
from conformance.traffic.redaction.finder import SecretFinder
from conformance.traffic.redaction.redact import Secrets

COMPLETE = "auth/login/complete"
SYNTAXES: dict[str, Callable[[str, str], str]] = {
    "a form": lambda name, value: f"email=a%40b&{name}={quote_plus(value)}&x=1",
    "a form that nobody encoded": lambda name, value: f"email=a@b&{name}={value}",
    "a form as plain text": lambda name, value: f"email=a@b\r\n{name}={value}\r\n",
    "brackets in a form": lambda name, value: f"user[{name}]={quote_plus(value)}",
    "JSON in a form": lambda name, value: f"payload={quote(json.dumps({name: value}), safe='')}",
    "JSON that is cut off": lambda name, value: f'{{"email":"a","{name}":"{value}',
    "JSON that is cut off behind it": lambda name, value: f'{{"{name}": "{value}", "x',
    "single quotes": lambda name, value: f"{{'{name}': '{value}', 'x': 1}}",
    "no quotes": lambda name, value: f"{{{name}: {value}, email: a@b}}",
    "a comma too much": lambda name, value: f'{{"{name}":"{value}",}}',
    "a list": lambda name, value: f'{{"{name}":["{value}"],}}',
    "an object": lambda name, value: f'{{"{name}":{{"value":"{value}"}},}}',
    "NaN": lambda name, value: f'{{"{name}":"{value}","x":NaN}}',
    "a line end in it": lambda name, value: f'{{"note":"a\nb","{name}":"{value}"}}',
    "a byte order mark": lambda name, value: f'\ufeff{{"{name}":"{value}",}}',
    "JSON in a string": lambda name, value: json.dumps(json.dumps({name: value})),
    "JSON in a string of a list": lambda name, value: json.dumps([json.dumps({name: value})]),
    "JSON in a field": lambda name, value: json.dumps({"payload": json.dumps({name: value})}),
    "lines of JSON": lambda name, value: f'{{"a":1}}\n{{"{name}":"{value}"}}\n',
    "a pair": lambda name, value: f'[["{name}", "{value}"],]',
    "GraphQL": lambda name, value: f'mutation {{ login(email: "a", {name}: "{value}") {{ ok }} }}',
    "an arrow": lambda name, value: f'{{"{name}" => "{value}"}}',
    "another arrow": lambda name, value: f"email -> a@b\n{name} -> {value}\n",
    "an S-expression": lambda name, value: f'(login (email "a@b") ({name} "{value}"))',
    "a call of JSONP": lambda name, value: f'callback({{"{name}":"{value}"}});',
    "an event": lambda name, value: f'event: a\ndata: {{"{name}":"{value}"}}\n\n',
    "a comment in JSON": lambda name, value: f'{{"{name}": /* new */ "{value}"}}',
    "PHP": lambda name, value: f'a:1:{{s:{len(name)}:"{name}";s:{len(value)}:"{value}";}}',
    "lines": lambda name, value: f"email: a@b\n{name}: {value}\n",
    "a file of settings": lambda name, value: f"[user]\n{name} = {value}\n",
    "a variable": lambda name, value: f'export USER=a\nexport {name}="{value}"\n',
    "YAML": lambda name, value: f"user:\n  - email: a@b\n    {name}: '{value}'\n",
    "YAML in a block": lambda name, value: f"{name}: |-\n  {value}\nemail: a@b\n",
    "items of YAML": lambda name, value: f"{name}:\n  - {value}\n  - other-12\n",
    "an element": lambda name, value: f'<?xml version="1.0"?><login><{name}>{value}</{name}></login>',
    "an element with a prefix": lambda name, value: f'<s:{name} type="a">\n{value}\n</s:{name}>',
    "characters of an element": lambda name, value: f"<a><{name}><![CDATA[{value}]]></{name}></a>",
    "an element within": lambda name, value: f"<a><{name}><text>{value}</text></{name}></a>",
    "an attribute": lambda name, value: f'<login {name}="{value}" email="a"/>',
    "a field of a page": lambda name, value: f'<input type="text" name="{name}" value="{value}">',
    "a field the other way round": lambda name, value: f'<input value="{value}" name="{name}">',
    "a property list": lambda name, value: f"<dict><key>{name}</key><string>{value}</string></dict>",
    "a named entry": lambda name, value: f'<map><entry key="{name}">{value}</entry></map>',
    "a part": lambda name, value: (
        f'--B\r\nContent-Disposition: form-data; name="{name}"\r\nContent-Type: text/plain\r\n'
        f"\r\n{value}\r\n--B--\r\n"
    ),
    "a part that is cut off": lambda name, value: (
        f"--B\r\nContent-Disposition: form-data; name={name}\r\n\r\n{value}"
    ),
    "a table": lambda name, value: f"email,{name}\na@b,{value}\nc@d,\n",
    "a table with bars": lambda name, value: f"email|{name}\na@b|{value}\n",
    "base64": lambda name, value: b64encode(f'{{"{name}":"{value}"}}'.encode()).decode(),
    "base64 in lines": lambda name, value: (
        encodebytes(f'{{"email":"{"b" * 60}","{name}":"{value}"}}'.encode()).decode()
    ),
    "base64 in a form": lambda name, value: f"data={b64encode(f'{name}={value}'.encode()).decode()}",
    "encoded twice": lambda name, value: quote(quote(f'{{"{name}":"{value}"}}', safe=""), safe=""),
    "entities": lambda name, value: f"{{&quot;{name}&quot;:&quot;{value}&quot;}}",
}  # fmt: skip


def exchange_with(raw: bytes, where: str = "request", path: str = COMPLETE) -> Exchange:
    body, form = body_of(raw)
    held = Response(status=200, body=body, form=form) if where == "response" else Response(status=204)
    sent = request_to(path, {"a": 1})
    if where == "request":
        sent = Request(method="POST", url=sent.url, body=body, form=form)
    return Exchange(n=1, started="2031-05-06T07:08:09Z", client="c", request=sent, response=held)


def written(path: Path, *exchanges: Exchange) -> Log:
    log = Log(path, Secrets())
    for each in exchanges:
        log.write(each.request, each.response, started=each.started, elapsed_ms=1.0, client="c")
    log.close()
    return log


def said_in(path: Path) -> str:
    """What a capture holds, also in base64 and with characters of two bytes."""
    octets = [
        bytes_of(message)
        for each in capture.read(path)
        for message in (each.request, each.response)
        if message is not None
    ]
    return path.read_text(encoding="utf-8") + b"\n".join(octets).decode("latin-1").replace("\0", "")


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_a_value_of_any_kind_is_redacted_in_a_body_of_any_syntax(tmp_path: Path, syntax: str) -> None:
    out, write = tmp_path / "traffic.jsonl", SYNTAXES[syntax]
    sent = {kind: make() for kind, make in KINDS.items()}
    shown = {kind: KINDS[kind]() for kind in sorted(KINDS)[::4]}

    written(
        out,
        *(exchange_with(write("password", value).encode()) for value in sent.values()),
        *(exchange_with(write("access_token", value).encode(), "response") for value in shown.values()),
    )

    text = said_in(out)
    assert [pair for pair in (*sent.items(), *shown.items()) if stands_in(pair[1], text)] == []


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_a_value_behind_any_name_of_a_secret_is_redacted(tmp_path: Path, syntax: str) -> None:
    out, write = tmp_path / "traffic.jsonl", SYNTAXES[syntax]
    names = ("code", "pinCode", "one-time-password", "VAULT_KEY", "challengeAnswer", "verification_code")
    values = {name: KINDS["eight-digits"]() for name in names} | {"clientSecret": KINDS["alnum-16"]()}

    written(out, *(exchange_with(write(name, value).encode()) for name, value in values.items()))

    text = said_in(out)
    assert [pair for pair in values.items() if pair[1] in text] == []


@pytest.mark.parametrize("raw", [b"password=%s", b"<password>%s</password>", b'{"password":"%s"'])
@pytest.mark.parametrize("word", ["hunter", "correcthorse"])
def test_a_short_word_is_redacted_behind_the_name_and_the_rest_stays(
    tmp_path: Path, raw: bytes, word: str
) -> None:
    log = written(tmp_path / "traffic.jsonl", exchange_with(raw % word.encode()))

    text = said_in(tmp_path / "traffic.jsonl")
    assert word not in text
    assert "[password-1]" in text
    assert log.finder.left_out == 0


OPAQUE_BODIES = {
    "UTF-16": '{"email":"a","password":"Wide-1234",}'.encode("utf-16"),
    "UTF-16 without a mark": "email=a&password=Wide-1234".encode("utf-16-le"),
    "Latin-1": "password=Wide-1234-\xe4".encode("latin-1"),
    "MessagePack": b"\x82\xa5email\xa1a\xa8password\xa9Wide-1234",
    "a password alone": b"Wide-1234",
    "a JSON string": b'"Wide-1234"',
}


@pytest.mark.parametrize("kind", OPAQUE_BODIES)
def test_a_body_that_cannot_be_read_is_left_out_where_secrets_are_sent(tmp_path: Path, kind: str) -> None:
    out = tmp_path / "traffic.jsonl"

    log = written(out, exchange_with(OPAQUE_BODIES[kind]))

    assert "Wide-1234" not in said_in(out)
    assert [each.request.state for each in capture.read(out)] == ["sanitized"]
    assert list(log.finder.lines()) == ["1 body could not be read for secrets, and was left out."]


@pytest.mark.parametrize(
    "body",
    [
        {"base64": "A"},
        {"base64": "é"},
        {"text": f'email,password\na,"{"b" * 150_000}"'},
        {"text": r'{"pass\ud800word":"\ud800\u12",'},
        {"text": "password:" + "[" * 5_000},
    ],
)
def test_what_is_broken_itself_breaks_nothing(body: Json) -> None:
    finder, secrets = SecretFinder(), Secrets()

    for path in (COMPLETE, "orders"):
        finder.register(exchange_of(request_to(path, body), None), secrets)

    assert finder.left_out <= 2


def test_a_file_that_is_sent_elsewhere_stays(tmp_path: Path) -> None:
    out = tmp_path / "traffic.jsonl"

    log = written(out, exchange_with(b"\x89PNG\r\n\x1a\n\0\0", path="profile/avatar"))

    assert log.finder.left_out == 0
    assert [each.request.state for each in capture.read(out)] == ["base64"]


ORDINARY = [
    (
        "<!DOCTYPE html><html><head><title>502 Bad Gateway</title><style>.token{color:#123456}</style></head>"
        '<body><label for="password">Password:</label><input type="password" name="password" value="">'
        "<p>Error code: 502. Password: please enter it again. Token: expired</p></body></html>"
    ),
    (
        '<html><script>document.onkeydown = function(key){ if(key.code==13){} };</script><p class="password">'
        "Passwords: at least 8 characters</p><table><tr><th>Key</th><td>order-line</td></tr></table></html>"
    ),
    "bizId,name,countryCode,status\n1001,Order one,DE,OPEN\n1002,Order two,AL,CLOSED\n",
    "id;code;name\n1;AL;Albania\n2;DE;Germany\n",
    "The password is wrong",
    "password: required",
    "Token: expired at 12:00",
    "Error: code: E42, key: order-line, message: not found",
    "pin: must have 6 digits",
    "status: ok\nversion: 1.2.3\nkey: value\n",
    '{"success":false,"code":"4001","message":"The password is wrong",}',
    "<error><code>404</code><key>NoSuchKey</key><message>Not found</message></error>",
    "TypeError: Cannot read property 'token' of undefined\n    at login (/app/src/password.js:12:34)",
    "Too many requests. Retry after 60 s.",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_texts_stay_as_they_are(text: str) -> None:
    finder, secrets = SecretFinder(), Secrets()
    exchange = exchange_of(request_to("orders"), None, page=text)

    assert finder.register(exchange, secrets) is exchange
    secrets.add_from(exchange)
    assert secrets.redact(text) == text
    assert finder.counts == {}


@pytest.mark.parametrize("syntax", ["a form", "single quotes", "JSON in a string", "a part", "lines"])
def test_check_redacts_what_others_recorded(tmp_path: Path, syntax: str) -> None:
    sent, shown = (KINDS["alnum-16"]() for _ in range(2))
    exchanges = [
        exchange_with(SYNTAXES[syntax]("password", sent).encode()),
        exchange_with(SYNTAXES[syntax]("accessToken", shown).encode(), "response"),
        exchange_with(OPAQUE_BODIES["UTF-16"]),
    ]
    for name in ("raw.har", "raw.jsonl"):
        with capture.Writer(tmp_path / name) as writer:
            for exchange in exchanges:
                writer.write(exchange)

        checked = check([tmp_path / name], CheckOptions(out=tmp_path / "reports"))

        text = said_in(tmp_path / "reports" / "exchanges.jsonl")
        texts = [file.read_text(errors="replace") for file in (tmp_path / "reports").iterdir()]
        assert not any(value in each for value in (sent, shown, "Wide-1234") for each in (text, *texts))
        assert "1 body could not be read for secrets, and was left out." in checked.run.notes


def test_check_in_parts_leaves_out_what_nobody_can_read(tmp_path: Path) -> None:
    with capture.Writer(tmp_path / "raw.jsonl") as writer:
        for _ in range(4):
            writer.write(exchange_with(OPAQUE_BODIES["a password alone"]))

    checked = check([tmp_path / "raw.jsonl"], CheckOptions(out=tmp_path / "reports", workers=2))

    assert "Wide-1234" not in said_in(tmp_path / "reports" / "exchanges.jsonl")
    assert "4 bodies could not be read for secrets, and were left out." in checked.run.notes


@pytest.mark.parametrize(
    "raw", [*OPAQUE_BODIES.values(), b"email=a&password=Wide-1234", b'["{\\"password\\":\\"Wide-1234\\"}"]']
)
def test_a_replay_logs_none_of_it(tmp_path: Path, raw: bytes) -> None:
    log = ReplayLog(tmp_path / "exchanges.jsonl", Secrets())
    for _ in range(3):
        log.add(exchange_with(raw))
        log.add(exchange_with(b'["{\\"password\\":\\"Wide-1234\\"}"]', "response", "orders"))
    log.close()

    assert log.count == 6
    assert "Wide-1234" not in said_in(log.path)


def test_what_the_specification_names_a_secret_is_not_taken_for_one_by_its_look(tmp_path: Path) -> None:
    with capture.Writer(tmp_path / "raw.jsonl") as writer:
        for body in ({"code": "135790"}, {"text": "code=246802"}, {"text": '{"code":"975313",}'}):
            writer.write(exchange_of(request_to(COMPLETE, body), None))

    checked = check([tmp_path / "raw.jsonl"], CheckOptions(out=tmp_path / "reports"))

    assert not any("by their look" in note for note in checked.run.notes)
    text = (tmp_path / "reports" / "exchanges.jsonl").read_text(encoding="utf-8")
    assert not any(code in text for code in ("135790", "246802", "975313"))
