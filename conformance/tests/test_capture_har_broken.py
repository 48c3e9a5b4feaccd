"""HAR files that are cut off, damaged or odd in places, and read in pieces of any size."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import pytest
import zstandard

from conformance.errors import CaptureError
from conformance.tests.har_files import DIALECTS, many_entries, one_entry, read
from conformance.tests.replays import written
from conformance.traffic import capture


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"log": {"entries": [{"a": 1} {"b": 2}]}}', "',' or ']' is missing"),
        ('{"log": {"entries": [{"a": nil}]}}', "invalid character"),
        ('{"log": {"entries": {}}}', "'\\[' is missing"),
        ('{"log": {"pages": []}}', 'no "entries"'),
        ('{"entries": [{}]}', 'no "entries"'),
        ('{"log": 3}', "'{' is missing"),
        ("", "the file ends here"),
    ],
)
def test_a_broken_file_is_told_by_what_breaks(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "broken.har"
    path.write_text(text)

    with pytest.raises(CaptureError, match=told):
        list(capture.read(path))


def packed(path: Path, suffix: str) -> Path:
    """The file in another one, packed as its suffix says."""
    raw, out = path.read_bytes(), path.with_name(path.name + suffix)
    if suffix == ".zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("one.har", raw)
    else:
        out.write_bytes(gzip.compress(raw) if suffix == ".gz" else zstandard.compress(raw))
    return out


def random_entries(folder: Path) -> Path:
    """Entries that cannot be packed well, so that half of the packed file holds some of them."""
    path = many_entries(folder, 41)
    text = path.read_text()
    for at in range(41):
        text = text.replace('"[]"', f'"[\\"{Random(at).randbytes(6000).hex()}\\"]"', 1)
    path.write_text(text)
    return path


def random_lines(folder: Path) -> Path:
    return written(folder / "one.jsonl", *capture.read(random_entries(folder)))


@pytest.mark.parametrize("write", [random_entries, random_lines])
@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_packed_file_that_is_cut_off_gives_what_it_holds_where_the_user_says_so(
    tmp_path: Path, suffix: str, write: Callable[[Path], Path]
) -> None:
    path = packed(write(tmp_path), suffix)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    with pytest.raises(CaptureError, match=r"one\.\S+:\d+: the packed file ends early .*--salvage"):
        list(capture.read(path))
    reader = capture.read(path, salvage=True)
    assert 0 < len(list(reader)) < 41
    assert "the packed file ends early" in reader.notes[0]


@pytest.mark.parametrize(
    "suffix, broken, told",
    [
        (".gz", lambda raw: raw[:-8] + bytes(8), r"damaged .*41 complete entries"),
        (".gz", lambda raw: raw[:12], "the packed file ends early"),
        (".zip", lambda raw: raw[:200] + bytes(20) + raw[220:], "ends early or is damaged"),
        (".zip", lambda raw: raw[: len(raw) // 2], "ends early or is damaged"),
    ],
    ids=["a wrong sum", "broken at once", "bytes in a zip", "a zip cut off"],
)
def test_a_packed_file_that_is_damaged_is_told_so(
    tmp_path: Path, suffix: str, broken: Callable[[bytes], bytes], told: str
) -> None:
    path = packed(many_entries(tmp_path, 41), suffix)
    path.write_bytes(broken(path.read_bytes()))

    with pytest.raises(CaptureError, match=told):
        list(capture.read(path))


def test_an_attachment_that_is_damaged_is_told_by_name(tmp_path: Path) -> None:
    har = one_entry(tmp_path, response={"content": {"size": 2, "_file": "body.json"}})
    path = tmp_path / "one.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.write(har, "one.har")
        archive.writestr("body.json", '{"unlike": "anything"}')
    path.write_bytes(path.read_bytes().replace(b"unlike", b"UNLIKE"))

    with pytest.raises(CaptureError, match=r"body\.json in it is damaged"):
        list(capture.read(path))


def test_an_unsorted_file_that_is_cut_off_gives_what_stands_before_the_break_in_order(tmp_path: Path) -> None:
    text = (DIALECTS / "chrome.har").read_text()
    path = tmp_path / "cut.har"
    path.write_text(text[: text.index('"_resourceType": "websocket"')])

    with pytest.raises(CaptureError, match="5 complete entries"):
        list(capture.read(path))
    started = [exchange.started[17:23] for exchange in capture.read(path, salvage=True)]
    assert started == ["00.250", "01.500", "02.000", "03.000"]


out_of_order = partial(many_entries, count=3, startedDateTime="2025-01-01T00:00:00Z")


def test_half_a_surrogate_pair_becomes_the_replacement_character_also_out_of_order(tmp_path: Path) -> None:
    for count, write in ((1, one_entry), (3, out_of_order)):
        path = write(tmp_path)
        path.write_text(path.read_text().replace('"[]"', '"[\\"\\ud83d\\"]"'))

        bodies = [exchange.response and exchange.response.body for exchange in capture.read(path)]

        assert bodies == [["\ufffd"]] * count


def test_an_entry_deeper_than_can_be_decoded_is_refused_not_crashed_on(tmp_path: Path) -> None:
    path = one_entry(tmp_path)
    path.write_text(path.read_text().replace('"time": 1', '"deep": ' + "[" * 100_000 + "]" * 100_000))

    with pytest.raises(CaptureError, match="nested too deeply"):
        list(capture.read(path))


@pytest.mark.parametrize("chunk", [1, 7, 64, 1000])
@pytest.mark.parametrize("name", ["chrome.har", "charles.har"])
def test_where_the_reads_end_makes_no_difference(
    monkeypatch: pytest.MonkeyPatch, name: str, chunk: int
) -> None:
    expected, _ = read(name)
    monkeypatch.setattr("conformance.traffic.capture.scan.CHUNK", chunk)

    exchanges, _ = read(name)

    assert exchanges == expected


def test_an_odd_entry_among_usual_ones_is_read_in_its_place(tmp_path: Path) -> None:
    exchanges = list(capture.read(many_entries(tmp_path, 41, time="12")))

    assert [exchange.started[17:19] for exchange in exchanges] == [f"{second:02}" for second in range(41)]
    assert [exchange.elapsed_ms for exchange in exchanges] == [1] * 20 + [12] + [1] * 20


def test_a_break_among_usual_entries_is_told_by_its_line_and_byte(tmp_path: Path) -> None:
    path = many_entries(tmp_path, 41, time=-77)
    path.write_text(path.read_text().replace("-77", "-7x"))
    byte = path.read_text().index("-7x") + 2
    line = path.read_text()[:byte].count("\n") + 1

    with pytest.raises(CaptureError, match=rf"one\.har:{line}: .*\(byte {byte}\).* the 20 complete entries"):
        list(capture.read(path))
