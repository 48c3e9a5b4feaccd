"""What the user lists with --redact is redacted wherever it stands, whatever its type; all else stays."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from conformance import record
from conformance.check import CheckOptions, check
from conformance.errors import UsageError
from conformance.tests.scripted_client import Walker
from conformance.tests.test_likely_secrets import exchange_of, request_to
from conformance.traffic import capture
from conformance.traffic.exchange import Json, Request
from conformance.traffic.redaction.finder import finder_of
from conformance.traffic.redaction.redact import Secrets
from reference_impl import serve as reference

PLACEHOLDER = re.compile(r"\[secret-\d+\]")


def written(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def redacted(listed: list[str], sent: Request, data: Json = None, *, keep: list[str] | None = None) -> Any:
    secrets = Secrets()
    return finder_of(listed, keep or []).register(exchange_of(sent, data), secrets)


def test_the_recorder_redacts_what_a_pattern_matches_in_paths_keys_and_texts(tmp_path: Path) -> None:
    out = tmp_path / "traffic.jsonl"
    options = record.RecordOptions(redact=[r"/zq-[a-z]+/", "acmeNote"])
    with reference.start() as portal, record.serve(portal.url, out, options) as recorder:
        walker = Walker(recorder.url, tomllib.loads(portal.profile()))
        walker.get("/acme/zq-path/zq%2Dencoded?at=zq-query")
        walker.post("/acme", {"zq-key": {"deep": ["zq-value"]}, "acmeNote": {"a": [7, 2.5, "active", True]}})
        walker.http.post("/web/v1/system/acme", content="a line\nzq-text", headers={"x-plain": "zq-header"})

    text = out.read_text()
    assert re.findall(r"zq[-%]\w+", text) == []
    [posted] = [
        line["request"]["body"] for line in written(out) if isinstance(line, dict) and "acmeNote" in str(line)
    ]
    (key,) = posted.keys() - {"acmeNote"}
    assert PLACEHOLDER.fullmatch(key)
    *masked, last = posted["acmeNote"]["a"]
    assert all(PLACEHOLDER.fullmatch(value) for value in masked)
    assert last is True


def test_check_redacts_the_same_in_what_others_recorded(tmp_path: Path) -> None:
    body = {"pinHint": {"digits": [42, "red"], "on": False, "off": None}, "size": 42, "colour": "red"}
    writer = capture.Writer(tmp_path / "raw.jsonl")
    sent = request_to("acme/zq-path", body)
    writer.write_line(writer.line(exchange_of(sent, {"pinHint": 1.5, "zq-key": "zq-text"})))
    writer.close()

    options = CheckOptions(out=tmp_path / "reports", redact=["pin_hint", "/zq-[a-z]+/"])
    check([tmp_path / "raw.jsonl"], options)

    [line] = written(tmp_path / "reports" / "exchanges.jsonl")
    assert isinstance(line, dict)
    clean = line["request"]["body"]
    assert (clean["size"], clean["colour"]) == (42, "red")
    assert clean["pinHint"]["on"] is False
    assert clean["pinHint"]["off"] is None
    assert all(PLACEHOLDER.fullmatch(value) for value in clean["pinHint"]["digits"])
    assert PLACEHOLDER.fullmatch(line["response"]["body"]["data"]["pinHint"])
    for file in (tmp_path / "reports").iterdir():
        assert "zq-" not in file.read_text(encoding="utf-8", errors="replace"), file.name


@pytest.mark.parametrize(
    "value", ["active", "true", "ab", 7, 0, 1234, -3, 2.5, "ACTIVE", "2000", "2031-05-06T07:08:09Z"]
)
@pytest.mark.parametrize(
    "within", [lambda value: value, lambda value: [value], lambda value: {"a": [{"b": value}]}]
)
def test_a_listed_name_is_redacted_whatever_stands_under_it(value: Json, within: Any) -> None:
    clean = redacted(["acmePin"], request_to("acme", {"acmePin": within(value)}), {"other": value})

    leaf = clean.request.body["acmePin"]
    while isinstance(leaf, dict | list):
        leaf = next(iter(leaf.values())) if isinstance(leaf, dict) else leaf[0]
    assert PLACEHOLDER.fullmatch(leaf)
    assert clean.data == {"other": value}


def test_a_listed_name_in_a_query_is_redacted_and_one_that_is_kept_is_not() -> None:
    sent = request_to("acme?acme_pin=ab&page=ab")

    assert redacted(["acmePin"], sent).request.url.endswith("acme?acme_pin=[secret-1]&page=ab")
    assert redacted(["acmePin"], sent, keep=["ACME_PIN"]).request == sent
    likely = request_to("acme", X_Plain="hello-world", x_challenge_response="abcd1234")
    clean = redacted(["x_plain"], likely, keep=["X-Challenge-Response"]).request
    assert (clean.header("x-plain"), clean.header("x-challenge-response")) == ("[secret-1]", "abcd1234")
    with pytest.raises(UsageError, match="pattern"):
        finder_of(["/(/"], [])


@pytest.mark.parametrize("pattern", ["/x*/", "/(zz)?/", "/|zq/", "/$/", "/(?=a)/"])
def test_a_pattern_that_matches_an_empty_text_leaves_what_it_does_not_match(pattern: str) -> None:
    sent = request_to("acme/banana?q=banana", {"note": "a banana", "banana": ["", 12]})

    assert redacted([pattern], sent, {"banana": "banana"}).request == sent


def test_a_pattern_leaves_the_origin_the_names_of_the_specification_and_placeholders() -> None:
    sent = request_to("acme", {"email": "someone", "note": "[token-1]"})

    clean = redacted(["/[a-z]+-?[0-9]?/"], sent, {"bizId": 1})

    assert clean.request.url.startswith("http://localhost/")
    assert clean.request.body.keys() >= {"email"}
    assert "[token-1]" in clean.request.body.values()
    assert clean.envelope.keys() == {"success", "code", "message", "data"}
    assert clean.code == "2000"


def test_a_listed_code_leaves_the_code_of_the_answer() -> None:
    clean = redacted(["code"], request_to("acme", {"code": "ab"}), {"code": "cd"})

    assert clean.code == "2000"
    assert clean.request.body == {"code": "[secret-1]"}
    assert clean.data == {"code": "[secret-3]"}
