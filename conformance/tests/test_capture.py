"""Captures: one exchange a line, read as a stream, written so that a crash loses at most the last line."""

from __future__ import annotations

import gzip
import sys
import zlib
from pathlib import Path
from secrets import token_urlsafe

import msgspec
import pytest
from msgspec.structs import replace

from conformance.errors import CaptureError
from conformance.tests.full_disk import no_more_than
from conformance.traffic import capture
from conformance.traffic.capture.bodies import answered, body_of, bytes_of
from conformance.traffic.exchange import ABSENT, Exchange, Json, Plain, Request, Response


def exchange(n: int = 1, *, answer: Json = None, **changes: object) -> Exchange:
    """A valid exchange; one keyword makes it another."""
    body, form = body_of(msgspec.json.encode({"success": True, "data": answer}))
    whole: dict[str, object] = {
        "n": n,
        "started": f"2026-01-01T00:00:{n % 60:02d}.250+00:00",
        "elapsed_ms": 12.5,
        "client": "127.0.0.1",
        "request": Request(
            method="POST",
            url="http://localhost:8000/web/v1/system/roles?page=1",
            headers=[("X-Twice", "a"), ("X-Twice", "b")],
            body={"name": "é"},
        ),
        "response": Response(
            status=200, headers=[("content-type", "application/json")], body=body, form=form
        ),
    }
    return Exchange(**{**whole, **changes})  # type: ignore[arg-type]


def answer(**changes: object) -> Response:
    whole = {"status": 200, "headers": [("content-type", "application/json")], **changes}
    return Response(**whole)  # type: ignore[arg-type]


ODD = [
    exchange(),
    exchange(response=None, error="connection reset"),
    exchange(plain=Plain(request={"password": "«password:1»"}, response={"success": True})),
    exchange(request=Request(method="GET", url="http://localhost/", headers=[("a", "b")], lacks=("cookie",))),
    exchange(response=answer(status=204)),
    exchange(request=replace(exchange().request, body={"length": 6}, form="not-json")),
    exchange(response=answer(body={"length": 6, "digest": "a1b2"}, form="not-json")),
    exchange(response=answer(body={"text": "{}"})),
    exchange(response=answer(form="omitted")),
    exchange(response=answer(form="truncated")),
    exchange(response=answer(body=[1, 2.5, None, "x"])),
]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.har", "a.har.gz"])
def test_what_is_written_is_read_back_the_same(tmp_path: Path, name: str) -> None:
    written = [msgspec.structs.replace(one, n=n) for n, one in enumerate(ODD, 1)]

    with capture.Writer(tmp_path / name) as writer:
        for one in written:
            writer.write(one)

    assert list(capture.read(tmp_path / name)) == written


@pytest.mark.parametrize("name", ["a.jsonl", "a.har", "a.jsonl.gz", "a.har.gz", "a.jsonl.zst", "a.har.zst"])
def test_where_there_is_no_more_room_the_file_ends_behind_the_last_whole_line(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    writer = capture.Writer(path)
    told = [replace(exchange(number), client=token_urlsafe(500)) for number in range(20)]
    with no_more_than(6_000), pytest.raises(CaptureError, match="cannot be written"):
        any(map(writer.write, told))
    with pytest.raises(CaptureError, match="any more"):
        writer.write(exchange())
    writer.close()

    reader = capture.read(path)
    kept = [each.client for each in reader]
    assert kept == [each.client for each in told[: len(kept)]]
    assert 2 < len(kept) < 20
    assert reader.notes == []


def lines(count: int) -> bytes:
    return b"".join(msgspec.json.encode(exchange(n)) + b"\n" for n in range(1, count + 1))


def test_a_cut_off_last_line_is_refused_with_its_number_unless_the_user_says_so(tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl"
    path.write_bytes(lines(3)[:-20])

    with pytest.raises(CaptureError, match=r"cut\.jsonl:3: the line is cut off\. .*--salvage.*2 lines"):
        list(capture.read(path))

    reader = capture.read(path, salvage=True)
    assert [one.n for one in reader] == [1, 2]
    assert "2 lines before it were used" in reader.notes[0]


CLAIMED = msgspec.json.encode(exchange(response=answer(body={"accessToken": "a"}, form="not-json")))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b'{"n": "1"}', r":2: the line is not an exchange: .*\$\.n"),
        (b"{'n': 1}", r":2: JSON is malformed"),
        (b'{"n": 1, "started": ""}', r":2: the line is not an exchange: .*request"),
        (b"\xff\xfe", r":2: JSON is malformed"),
        (CLAIMED, r":2: .*body.*is not its length"),
    ],
)
def test_a_broken_line_is_told_by_number_and_by_what_breaks(tmp_path: Path, line: bytes, told: str) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_bytes(lines(1) + line + b"\n" + lines(1))

    with pytest.raises(CaptureError, match=told):
        list(capture.read(path))


def test_a_file_that_is_not_there_is_told_by_name(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match=r"nothing\.jsonl: No such file"):
        capture.read(tmp_path / "nothing.jsonl")


def test_without_the_extra_a_zstandard_file_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path := tmp_path / "a.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    monkeypatch.setitem(sys.modules, "zstandard", None)

    with pytest.raises(CaptureError, match=r"portal-conformance\[replay\]"):
        capture.read(path)


@pytest.mark.parametrize(
    ("raw", "body", "state"),
    [
        (b"", ABSENT, "empty"),
        (b'{"a": 1}', {"a": 1}, "json"),
        (b"null", None, "json"),
        (b'["\\ud83d"]', ["\ufffd"], "json"),
        (b'"{\\"v\\": 1}"', '{"v": 1}', "json"),
        (b"<html>", {"length": 6}, "not-json"),
        (b'{"a": NaN}', {"length": 10}, "not-json"),
        (b"\xff\x00", {"length": 2}, "not-json"),
        (b'"Wide-1234"', {"length": 11}, "not-json"),
        (b'"\\ud83d"', {"length": 8}, "not-json"),
        (b"123456789012345678901234567890", 123456789012345678901234567890, "json"),
        (b"[1e999, -1e999]", [1.7976931348623157e308, -1.7976931348623157e308], "json"),
    ],
)
def test_a_body_is_held_as_json_where_it_is_json(raw: bytes, body: Json, state: str) -> None:
    held, form = body_of(raw)
    answer = Response(status=200, body=held, form=form)

    assert (answer.body, answer.state) == (body, state)


@pytest.mark.parametrize(("raw", "kept"), [(b"", b""), (b'{"a":[1,2.5,"x"]}', None), (b"<html>", b"")])
def test_the_bytes_of_a_json_body_can_be_had_back_and_of_no_other(raw: bytes, kept: bytes | None) -> None:
    body, form = body_of(raw)

    assert bytes_of(Response(status=200, body=body, form=form)) == (raw if kept is None else kept)


def test_the_digest_of_a_response_that_is_no_json_tells_that_it_changed() -> None:
    old, new = (answered(page, None) for page in (b"<html>a", b"<html>b"))

    assert old[1] == new[1] == "not-json"
    assert (old[0]["length"], len(old[0]["digest"])) == (7, 4)
    assert old == answered(b"<html>a", None) != new


def test_a_packed_body_unpacks_to_a_byte_beyond_its_limit_only() -> None:
    from conformance.traffic.capture import bodies

    packed = gzip.compress(b"0" * (bodies.LARGEST_BODY + 10))

    assert len(bodies.unpacked(packed, "gzip") or b"") == bodies.LARGEST_BODY + 1


def _layers(content: bytes, count: int) -> bytes:
    for _ in range(count):
        content = gzip.compress(content, mtime=0)
    return content


@pytest.mark.parametrize(
    "raw, encoding, form",
    [
        (_layers(b"{}", 1), "gzip", None),
        (_layers(b"{}", 2), "gzip, gzip", None),
        (gzip.compress(b"[1,", mtime=0) + gzip.compress(b"2]", mtime=0), "gzip", None),
        (b"{}", "identity", None),
        (_layers(b"{}", 3), "gzip, gzip, gzip", "undecodable"),
        (_layers(b" " * 2000, 1), "gzip", "truncated"),
        (_layers(b" " * 2000, 2), "gzip, gzip", "truncated"),
        (zlib.compress(b" " * 2000), "deflate", "truncated"),
        (gzip.compress(b"{}", mtime=0)[:-9], "gzip", "undecodable"),
        (gzip.compress(b"{}", mtime=0) + b"more", "gzip", "undecodable"),
        (gzip.compress(b"{}", mtime=0)[:-8] + bytes(8), "gzip", "undecodable"),
        (b"{}", "gzip", "undecodable"),
        (b"\x28\xb5\x2f\xfd\x00", "zstd", "undecodable"),
        (b"\xff\xfe\x00", "x-rot13", "undecodable"),
    ],
)
def test_an_answer_is_unpacked_within_bounds_or_not_judged(raw: bytes, encoding: str, form: str) -> None:
    assert answered(raw, encoding, most=1000)[1] == form


def test_an_answer_that_was_cut_says_so() -> None:
    assert answered(b"x" * 200_000, None, is_cut=True) == (ABSENT, "truncated")


@pytest.mark.parametrize(
    "raw, form",
    [
        (b"[" * 100 + b"]" * 100, None),
        (b"[" * 102 + b"]" * 102, "undecodable"),
        (b"[" * 5000 + b"]" * 5000, "undecodable"),
        (b'{"a":' * 500 + b"1e999" + b"}" * 500, "undecodable"),
        (b"[" + b"{}," * 500 + b"{}]", None),
    ],
)
def test_json_is_held_as_deep_as_it_can_be_followed(raw: bytes, form: str | None) -> None:
    assert body_of(raw)[1] == form
