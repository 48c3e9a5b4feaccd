"""Small files that a user names are read in bounded memory and time, in the encodings that editors write."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from conformance.errors import ProfileError
from conformance.target.profile.model import load
from conformance.traffic.documents import document_text

TEXT = "profile = 1  # größer\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_encodings_of_editors_are_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "portal.toml"
    path.write_bytes(TEXT.encode(encoding))
    assert document_text(path) == TEXT


@pytest.mark.parametrize(
    "raw, name",
    [
        (gzip.compress(b"", mtime=0), "packed with gzip"),
        (b"PK\3\4", "a zip"),
        (b"-----BEGIN PGP MESSAGE-----\n", "encrypted with PGP"),
    ],
    ids=["gzip", "zip", "PGP"],
)
def test_what_is_no_text_is_named(tmp_path: Path, raw: bytes, name: str) -> None:
    path = tmp_path / "portal.toml"
    path.write_bytes(raw)
    with pytest.raises(ProfileError, match=f"(?i)it is {name}"):
        load(path)


def test_a_pipe_is_read_to_its_end() -> None:
    reading, writing = os.pipe()
    os.write(writing, TEXT.encode())
    os.close(writing)
    assert document_text(Path(f"/dev/fd/{reading}")) == TEXT
    os.close(reading)


def test_a_pipe_that_nobody_writes_to_is_given_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match=r"took more than 0\.1 s"):
        document_text(tmp_path / "pipe", pipe_seconds=0.1)


def test_what_never_ends_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="larger than 16 mib"):
        load(Path("/dev/zero"))

    profile = tmp_path / "portal.toml"
    profile.write_text('[portal]\nurl = "http://127.0.0.1:1"\naccess_code = "${file:/dev/zero}"\n')
    with pytest.raises(ProfileError, match=r"access_code cannot be read from /dev/zero"):
        load(profile)
