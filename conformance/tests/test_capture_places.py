"""Captures of a store with an address are read as files of this machine are."""

from __future__ import annotations

import gzip
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFile, MemoryFileSystem

from conformance.check import CheckOptions, check
from conformance.cli import main
from conformance.errors import CaptureError, ExitCode
from conformance.tests.replays import written
from conformance.tests.test_work_dask import results
from conformance.tests.test_work_dask import visit as visit
from conformance.traffic import capture
from conformance.traffic.capture.places import matching, place_of
from conformance.traffic.exchange import Exchange


class Failing(MemoryFileSystem):  # type: ignore[misc]
    """A store whose library raises errors of its own in the middle of a file."""

    protocol = ("failing",)

    def open(self, path: str, mode: str = "rb", **options: object) -> object:
        return FailingFile(self, path, b'{"n":')


class Refusing(MemoryFileSystem):  # type: ignore[misc]
    """A store whose errors tell the whole address."""

    protocol = ("refusing",)

    def open(self, path: str, mode: str = "rb", **options: object) -> object:
        raise FileNotFoundError(f"refusing://ann:secret@files.example.test{path}")


class FailingFile(MemoryFile):  # type: ignore[misc]
    def read(self, length: int = -1) -> bytes:
        if self.tell():
            raise RuntimeError("the token has expired.\nTrace: 1")
        return bytes(super().read(length))


@pytest.fixture
def store() -> Iterator[MemoryFileSystem]:
    memory = fsspec.filesystem("memory")
    yield memory
    for name in memory.find("/"):
        memory.rm(name)


def packed_har(exchanges: list[Exchange], folder: Path) -> bytes:
    """A zip that holds a HAR."""
    written(folder / "traffic.har", *exchanges)
    with zipfile.ZipFile(folder / "traffic.zip", "w") as archive:
        archive.write(folder / "traffic.har", "traffic.har")
    return (folder / "traffic.zip").read_bytes()


@pytest.mark.parametrize("form", ["jsonl", "jsonl.gz", "zip"])
def test_a_stored_capture_is_judged_as_a_file_is(
    visit: list[Exchange], tmp_path: Path, store: MemoryFileSystem, form: str
) -> None:
    file = tmp_path / f"capture.{form}"
    lines = written(tmp_path / "visit.jsonl", *visit).read_bytes()
    content = {"jsonl": lambda: lines, "jsonl.gz": lambda: gzip.compress(lines)}
    file.write_bytes(content.get(form, lambda: packed_har(visit, tmp_path))())
    store.pipe(f"/captures/{file.name}", file.read_bytes())

    check([file], CheckOptions(out=tmp_path / "file"))
    check([f"memory://captures/{file.name}"], CheckOptions(out=tmp_path / "stored"))

    assert results(tmp_path / "stored") == results(tmp_path / "file")


def test_a_pattern_names_stored_files_in_the_order_of_their_names(
    visit: list[Exchange], tmp_path: Path, store: MemoryFileSystem
) -> None:
    written(tmp_path / "whole.jsonl", *visit)
    for name, part in (("b", visit[20:]), ("a", visit[:20])):
        store.pipe(f"/captures/{name}.jsonl", written(tmp_path / f"{name}.jsonl", *part).read_bytes())

    main(["check", "memory://captures/*.jsonl", "--out", str(tmp_path / "stored")])
    main(["check", str(tmp_path / "whole.jsonl"), "--out", str(tmp_path / "file")])

    assert results(tmp_path / "stored") == results(tmp_path / "file")


def test_a_broken_line_is_named_with_its_address(store: MemoryFileSystem) -> None:
    store.pipe("/captures/broken.jsonl", b'{"n":\n')

    with pytest.raises(CaptureError, match=r"^memory://captures/broken\.jsonl:1: "):
        list(capture.read("memory://captures/broken.jsonl"))


@pytest.mark.parametrize(
    "address, problem",
    [
        ("memory://captures/missing.jsonl", "memory://captures/missing.jsonl: No such file"),
        ("memory://captures/*.har", "memory://captures/*.har: no file matches"),
        ("unheard-of://captures/a.jsonl", "Protocol not known: unheard-of"),
        ("failing://captures/a.jsonl", "failing://captures/a.jsonl: the token has expired. Give a capture"),
    ],
)
def test_an_address_that_cannot_be_read_is_an_error_of_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], address: str, problem: str
) -> None:
    fsspec.register_implementation("failing", Failing, clobber=True)

    code = main(["check", address, "--out", str(tmp_path)])

    assert code == ExitCode.USAGE
    assert problem in " ".join(capsys.readouterr().err.split())


def test_an_address_without_the_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)

    with pytest.raises(CaptureError, match=r"pip install 'portal-conformance\[scale\]'"):
        list(capture.read("s3://captures/a.jsonl"))


def test_an_address_of_this_machine_is_a_path(visit: list[Exchange], tmp_path: Path) -> None:
    recording = written(tmp_path / "traffic.jsonl", *visit)
    assert place_of(recording.as_uri()) == recording
    assert matching(recording.as_uri().replace("traffic", "tr*")) == [recording]


def test_credentials_of_an_address_are_not_shown_by_an_error() -> None:
    fsspec.register_implementation("refusing", Refusing, clobber=True)

    with pytest.raises(CaptureError) as error:
        list(capture.read("refusing://ann:secret@files.example.test/a.jsonl"))

    assert "secret" not in str(error.value)


def test_no_address_loads_no_library_of_stores() -> None:
    code = "import sys, conformance.check; sys.exit('fsspec' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
