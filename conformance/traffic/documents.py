"""Reads the small files that a user names: a profile, a secret, a baseline."""

from __future__ import annotations

import codecs
import errno
import os
import re
import stat
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from select import select
from typing import Any

from conformance.errors import UsageError

LARGEST_DOCUMENT = 16 << 20
"""Bytes of a document."""

PIPE_SECONDS = 30.0
"""The longest wait for the writer of a pipe, such as ``<(decrypt portal.toml)``."""

CHUNK = 1 << 16

GZIP, ZSTANDARD, ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", (b"PK\x03\x04", b"PK\x05\x06")
TAR_AT = 257
"""Where a tar archive says what it is."""
FORMATS: Mapping[bytes, str] = {
    GZIP: "packed with gzip",
    ZSTANDARD: "packed with Zstandard",
    **dict.fromkeys(ZIP, "a zip"),
    b"\xfd7zX": "packed with xz",
    b"BZh91AY": "packed with bzip2",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"Rar!": "a RAR archive",
    b"\x04\x22\x4d\x18": "packed with LZ4",
    b"\xd4\xc3\xb2\xa1": "a packet capture (pcap)",
    b"\x0a\x0d\x0d\x0a": "a packet capture (pcapng)",
    b"SQLi": "an SQLite database",
    b"%PDF": "a PDF",
    b"<!DO": "an HTML page",
    b"<htm": "an HTML page",
    b"<?xm": "an XML document",
    b"version https://git-lfs": "a pointer of Git LFS, whose file `git lfs pull` brings",
    b"-----BEGIN PGP": "encrypted with PGP",
    b"age-encryption.org": "encrypted with age",
    **dict.fromkeys((b"\x78\x01", b"\x78\x9c", b"\x78\xda"), "packed with zlib"),
}
"""Formats other than text, by the first bytes of a file."""


def format_of(beginning: bytes) -> str | None:
    """The name of a file's format, by its first bytes; None where it may be text."""
    if beginning.startswith(b"ustar", TAR_AT):
        return "a tar archive"
    return next((name for first, name in FORMATS.items() if beginning.startswith(first)), None)


def document_text(path: Path, *, pipe_seconds: float = PIPE_SECONDS) -> str:
    """The text of a file in UTF-8, or in UTF-16 with a byte order mark.

    Raises OSError, with the reason, where it cannot be read, is too large, is of another format, or is a pipe
    that stays open; UnicodeDecodeError.
    """
    raw = _bytes(path, pipe_seconds)
    if name := format_of(raw):
        raise OSError(errno.EINVAL, f"it is {name}")
    is_utf_16 = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return raw.decode("utf-16" if is_utf_16 else "utf-8-sig")


def user_text(path: Path, *, error: type[UsageError], missing: str) -> str:
    """As ``document_text``, with an error of a class for what keeps it from being read; ``missing`` says what
    to do where there is no such file."""
    try:
        return document_text(path)
    except FileNotFoundError:
        problem = f"there is no such file. {missing}"
    except OSError as refused:
        problem = f"cannot be read ({(refused.strerror or str(refused)).lower()}). Check the path."
    except UnicodeDecodeError as broken:
        problem = f"cannot be read ({broken}). Save it as UTF-8."
    raise error(f"{path}: {problem}")


def toml_tables(text: str, name: str, *, error: type[UsageError]) -> dict[str, Any]:
    """The tables of a text in TOML, with an error of a class, which names the line, where it is none."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        line = re.search(r"at line (\d+)", str(problem))
        where = f"{name}:{line[1]}" if line is not None else name
        raise error(f"{where}: this is not TOML: {problem}.") from None


def _bytes(path: Path, pipe_seconds: float) -> bytes:
    """Opened without blocking, as a pipe may have no writer."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with open(handle, "rb", buffering=0) as file:
        is_pipe = stat.S_ISFIFO(os.fstat(handle).st_mode)
        until = time.monotonic() + pipe_seconds
        raw = b""
        while len(raw) <= LARGEST_DOCUMENT:
            if is_pipe and not select([handle], [], [], max(0.0, until - time.monotonic()))[0]:
                raise OSError(errno.ETIMEDOUT, f"the writer of this pipe took more than {pipe_seconds:g} s")
            chunk = file.read(CHUNK)
            if not chunk:
                return raw
            raw += chunk
    raise OSError(errno.EFBIG, f"it is larger than {LARGEST_DOCUMENT >> 20} MiB")
