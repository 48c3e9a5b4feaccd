"""Recordings as people have them: packed, encoded or exported in other ways than the standard's."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import tracemalloc
import zipfile
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from conformance.errors import CaptureError
from conformance.tests.har_files import one_entry
from conformance.traffic import capture
from conformance.traffic.capture.files import seekable
from conformance.traffic.exchange import Exchange, Response

TOKEN = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.c2lnbmF0dXJl"
BODY = json.dumps({"success": True, "code": "2000", "message": "ok", "data": {"accessToken": TOKEN}})


def answered(text: object, **content: object) -> dict[str, object]:
    return {"content": {"mimeType": "application/octet-stream", "text": text, **content}}


def with_header(name: str, value: str, **more: object) -> dict[str, object]:
    return {"headers": [{"name": name, "value": value}], **more}


def the_one(path: Path) -> Exchange:
    (exchange,) = capture.read(path)
    return exchange


def response_in(path: Path) -> Response:
    response = the_one(path).response
    assert response
    return response


def zip_of(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def recorded(har: bytes) -> bytes:
    """The exchanges of a HAR as a capture."""
    with TemporaryDirectory() as folder:
        source, path = Path(folder, "a.har"), Path(folder, "a.jsonl")
        source.write_bytes(har)
        with capture.Writer(path) as writer:
            for exchange in capture.read(source):
                writer.write(exchange)
        return path.read_bytes()


def zipped(folder: Path, *names: str) -> Path:
    path = folder / "exported.zip"
    har = one_entry(folder, response=answered(BODY)).read_bytes()
    is_har = {name: name.endswith(".har") and "._" not in name for name in names}
    path.write_bytes(zip_of({name: har if is_har[name] else b"\0\5\x16\7" for name in names}))
    return path


@pytest.mark.parametrize(
    "text", [BODY, f" {BODY}\n", json.dumps([BODY])], ids=["an envelope", "with blanks", "an array"]
)
def test_plain_text_that_is_called_base64_is_read_as_text(tmp_path: Path, text: str) -> None:
    response = response_in(one_entry(tmp_path, response=answered(text, encoding="base64")))
    assert response.body == json.loads(text)


@pytest.mark.parametrize(
    "written",
    [
        lambda packed: packed,
        lambda packed: "\r\n".join(packed[at : at + 76] for at in range(0, len(packed), 76)),
        lambda packed: packed.rstrip("=").replace("+", "-").replace("/", "_"),
    ],
    ids=["one line", "lines", "of URLs"],
)
def test_base64_is_decoded_in_each_form(tmp_path: Path, written: Callable[[str], str]) -> None:
    text = written(b64encode(BODY.encode()).decode())
    response = response_in(one_entry(tmp_path, response=answered(text, encoding="base64")))
    assert response.body == json.loads(BODY)


@pytest.mark.parametrize(
    "content, state",
    [
        (answered(b64encode(BODY.encode()).decode()[:120], encoding="base64", size=len(BODY)), "truncated"),
        (answered("REDACTED", encoding="base64"), "sanitized"),
        (answered(gzip.compress(BODY.encode()).decode("latin-1")), "json"),
        (answered(gzip.compress(BODY.encode()).decode(errors="replace")), "undecodable"),
        (answered("", _form="not-json", _kept={"text": BODY}), "omitted"),
        (answered("Unavailable.", encoding="base64", size=12), "not-json"),
    ],
    ids=["cut off", "taken out", "bytes as text", "damaged bytes", "a claim of our own", "plain"],
)
def test_a_body_that_is_not_what_its_entry_claims_is_not_judged_as_that(
    tmp_path: Path, content: dict[str, object], state: str
) -> None:
    response = with_header("Content-Encoding", "gzip", **content)
    assert response_in(one_entry(tmp_path, response=response)).state == state


def test_a_packing_that_cannot_be_undone_is_named(tmp_path: Path) -> None:
    body = answered(b64encode(b"\x1b\x4d\x00\x98\xff").decode(), encoding="base64")
    reader = capture.read(one_entry(tmp_path, response=with_header("Content-Encoding", "br", **body)))
    assert [exchange.response and exchange.response.state for exchange in reader] == ["undecodable"]
    assert "packed as br" in reader.notes[0]


@pytest.mark.parametrize("name", ["content", "postData"])
def test_a_json_value_in_place_of_the_text_of_a_body_is_that_body(tmp_path: Path, name: str) -> None:
    value, place = json.loads(BODY), {"content": "response", "postData": "request"}[name]
    exchange = the_one(one_entry(tmp_path, **{place: {name: {"text": value}}}))
    message = exchange.response if place == "response" else exchange.request
    assert message
    assert message.body == value


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
@pytest.mark.parametrize("suffix", [".har", ".jsonl"])
def test_other_encodings_of_unicode_are_read(tmp_path: Path, encoding: str, suffix: str) -> None:
    text = one_entry(tmp_path, response=answered(BODY)).read_text()
    if suffix == ".jsonl":
        with capture.Writer(tmp_path / "plain.jsonl") as writer:
            writer.write(the_one(tmp_path / "one.har"))
        text = (tmp_path / "plain.jsonl").read_text()
    path = tmp_path / f"encoded{suffix}"
    path.write_bytes(text.encode(encoding))

    assert response_in(path).body == json.loads(BODY)


@pytest.mark.parametrize("beside", ["__MACOSX/._one.har", "._one.har", "notes.txt"])
def test_a_zip_may_hold_more_than_its_har(tmp_path: Path, beside: str) -> None:
    assert response_in(zipped(tmp_path, beside, "one.har"))


@pytest.mark.parametrize(
    "pack",
    [
        lambda har: gzip.compress(gzip.compress(har)),
        lambda har: gzip.compress(har.decode().encode("utf-16")),
        lambda har: zip_of({"one.har": har.decode().encode("utf-16-le")}),
        lambda har: zip_of({"one.jsonl": recorded(har)}),
        lambda har: zip_of({"one.har.gz": gzip.compress(har), "__MACOSX/._one.har.gz": b"\0"}),
    ],
    ids=["packed twice", "UTF-16 packed", "UTF-16 in a zip", "a capture in a zip", "packed in a zip"],
)
def test_what_is_within_a_packing_is_known_by_its_own_first_bytes(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "exported"
    path.write_bytes(pack(one_entry(tmp_path, response=answered(BODY)).read_bytes()))
    assert response_in(path).body == json.loads(BODY)


def test_a_zip_of_several_hars_names_them(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match=r"holds one\.har, two\.har"):
        list(capture.read(zipped(tmp_path, "one.har", "two.har")))


@pytest.mark.parametrize("flag, said", [(0x1, "encrypted"), (0x20, "patched")], ids=["encrypted", "patched"])
def test_a_zip_that_cannot_be_unpacked_is_named(tmp_path: Path, flag: int, said: str) -> None:
    path = zipped(tmp_path, "one.har")
    raw = bytearray(path.read_bytes())
    for magic, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        raw[raw.index(magic) + place] |= flag
    path.write_bytes(raw)
    with pytest.raises(CaptureError, match=said):
        list(capture.read(path))


@pytest.mark.parametrize(
    "write, name",
    [
        (lambda raw: lzma.compress(raw), "xz"),
        (lambda raw: bz2.compress(raw), "bzip2"),
        (lambda raw: b"<!DOCTYPE html><title>Sign in</title>", "HTML"),
        (lambda raw: b"\x0a\x0d\x0d\x0a" + bytes(24), "pcapng"),
        (lambda raw: gzip.compress(bytes(257) + b"ustar\x0000" + bytes(248) + raw), "a tar archive"),
        (lambda raw: b"version https://git-lfs.github.com/spec/v1\noid sha256:a\n", "git lfs pull"),
        (lambda raw: zip_of({}), "holds none"),
    ],
    ids=["xz", "bzip2", "a page", "packets", "a packed tar", "a pointer", "an empty zip"],
)
def test_a_format_that_is_not_read_is_named(
    tmp_path: Path, write: Callable[[bytes], bytes], name: str
) -> None:
    path = tmp_path / "traffic.har"
    path.write_bytes(write(one_entry(tmp_path).read_bytes()))
    with pytest.raises(CaptureError, match=name):
        list(capture.read(path))


def test_a_folder_is_refused_with_the_way_to_give_its_files(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match=r"is a folder\. Give its files: .*/\*\.har"):
        list(capture.read(tmp_path))


def test_a_pipe_is_refused_before_it_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (Path("-"), tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(CaptureError, match="is not a file"):
            list(capture.read(path))


NOT_MODIFIED = {"response": {"status": 304}}


@pytest.mark.parametrize(
    "changes, reason",
    [
        ({"_fetchedViaServiceWorker": True}, "answered by a service worker"),
        ({"response": {"_fetchedViaServiceWorker": True}}, "answered by a service worker"),
        ({"request": with_header("if-none-match", '"1"'), **NOT_MODIFIED}, "answered from a cache"),
        ({"request": with_header("If-Modified-Since", "x"), **NOT_MODIFIED}, "answered from a cache"),
        (
            {"response": with_header("Non-Authoritative-Reason", "HSTS", status=307)},
            "answered by the browser",
        ),
        ({"response": {"status": 103}}, "an interim answer"),
    ],
    ids=["a worker", "a worker's answer", "a tag", "a date", "HTTPS by itself", "early hints"],
)
def test_an_answer_that_the_browser_gave_is_set_aside(
    tmp_path: Path, changes: dict[str, object], reason: str
) -> None:
    reader = capture.read(one_entry(tmp_path, **changes))
    assert list(reader) == []
    assert reader.set_aside == {reason: 1}


def test_an_entry_that_is_recorded_twice_is_read_once(tmp_path: Path) -> None:
    path = one_entry(tmp_path)
    (entry,) = json.loads(path.read_text())["log"]["entries"]
    path.write_text(json.dumps({"log": {"entries": [entry, entry, {**entry, "time": 2}]}}))
    reader = capture.read(path)
    assert [exchange.elapsed_ms for exchange in reader] == [1, 2]
    assert reader.set_aside == {"recorded twice": 1}


@pytest.mark.parametrize("name, state", [("Range", "truncated"), ("Accept", "json")])
def test_a_part_that_was_asked_for_is_not_judged_as_the_whole(tmp_path: Path, name: str, state: str) -> None:
    path = one_entry(tmp_path, request=with_header(name, "bytes=0-1"), response={"status": 206})
    assert response_in(path).state == state


def test_a_304_that_nobody_asked_for_is_the_portal_s(tmp_path: Path) -> None:
    assert the_one(one_entry(tmp_path, **NOT_MODIFIED)).status == 304


def test_a_packed_file_unfolds_in_bounded_memory(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "bomb.jsonl.zst"
    path.write_bytes(zstandard.ZstdCompressor().compress(b"{" + b"a" * (300 << 20)))

    tracemalloc.start()
    with pytest.raises(CaptureError, match="longer than 128 MiB"):
        list(capture.read(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400 << 20


def test_a_packed_har_that_unfolds_beyond_reason_is_refused_on_the_way(tmp_path: Path) -> None:
    path = tmp_path / "bomb.har.gz"
    path.write_bytes(gzip.compress(b'{"log": {"entries": [' + b" " * (64 << 20)))
    with pytest.raises(CaptureError, match="unfolds to more than"), seekable(path, plausible=1 << 20):
        pass
